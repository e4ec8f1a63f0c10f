/** Kinds of packets of TDS 7.4. */
export const packetKinds = {
  batch: 1,
  procedure: 3,
  answer: 4,
  attention: 6,
  login: 0x10,
  prelogin: 0x12,
} as const;

export interface TdsMessage {
  readonly kind: number;
  readonly body: Buffer;
  /** True if the client took its request back before it was whole. */
  readonly isIgnored: boolean;
}

const headLength = 8;
const packetLength = 4096;

/** Joins packets to messages; a message may come in many pieces. */
export function messageReader(take: (message: TdsMessage) => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0);
  let parts: Buffer[] = [];
  return (bytes) => {
    held = Buffer.concat([held, bytes]);
    while (held.length >= headLength && held.length >= held.readUInt16BE(2)) {
      const length = held.readUInt16BE(2);
      if (length < headLength) throw new Error('a packet without a length');
      const [kind = 0, status = 0] = held;
      parts.push(held.subarray(headLength, length));
      held = held.subarray(length);
      if ((status & 1) === 0) continue;
      const body = Buffer.concat(parts);
      parts = [];
      take({ kind, body, isIgnored: (status & 2) !== 0 });
    }
  };
}

/** A message as the packets that carry it. */
export function packetsOf(kind: number, body: Buffer): Buffer {
  const most = packetLength - headLength;
  const count = Math.max(1, Math.ceil(body.length / most));
  return Buffer.concat(
    Array.from({ length: count }, (_, index) => {
      const part = body.subarray(index * most, (index + 1) * most);
      const head = Buffer.alloc(headLength);
      head[0] = kind;
      head[1] = index === count - 1 ? 1 : 0;
      head.writeUInt16BE(part.length + headLength, 2);
      head[6] = (index + 1) % 256;
      return Buffer.concat([head, part]);
    }),
  );
}
