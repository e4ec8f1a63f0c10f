/** What a client says when it logs in. */
export interface ClientLogin {
  readonly user: string;
  readonly password: string;
  readonly application: string;
  readonly database: string;
  readonly isReadOnly: boolean;
  /** An access token of Entra, in place of user and password. */
  readonly token: string | undefined;
}

/** Places of the fixed part, in bytes: offset and length of each text. */
const places = { user: 40, password: 44, application: 48, database: 68 } as const;
const [typeFlags, extension] = [26, 56];

export function readLogin(body: Buffer): ClientLogin {
  const text = (at: number): Buffer => {
    const start = body.readUInt16LE(at);
    return body.subarray(start, start + body.readUInt16LE(at + 2) * 2);
  };
  // Its halves are swapped after every bit was turned.
  const password = text(places.password).map((byte) => {
    const turned = byte ^ 0xa5;
    return ((turned << 4) | (turned >> 4)) & 0xff;
  });
  return {
    user: text(places.user).toString('utf16le'),
    password: Buffer.from(password).toString('utf16le'),
    application: text(places.application).toString('utf16le'),
    database: text(places.database).toString('utf16le'),
    isReadOnly: ((body[typeFlags] ?? 0) & 0x20) !== 0,
    token: readToken(body),
  };
}

/** Of the extension with the number 2. */
function readToken(body: Buffer): string | undefined {
  const pointer = body.readUInt16LE(extension);
  for (let at = body.readUInt32LE(pointer); body[at] !== 0xff; at += 5 + body.readUInt32LE(at + 1))
    if (body[at] === 2) {
      // One byte of options, then the length of the token.
      const length = body.readUInt32LE(at + 6);
      return body.toString('utf16le', at + 10, at + 10 + length);
    }
  return undefined;
}

/** The answer to the greeting: a version of 2022, and whether the link is encrypted. */
export function preloginAnswer(isEncrypted: boolean): Buffer {
  const head = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff]);
  const version = Buffer.from([16, 0, 0x10, 0, 0, 0]);
  return Buffer.concat([head, version, Buffer.from([isEncrypted ? 1 : 2])]);
}

/** The text of a batch, behind the headers of its message. */
export function batchText(body: Buffer): string {
  return body.subarray(body.readUInt32LE(0)).toString('utf16le');
}

/** The statement that a call of `sp_executesql` (procedure 10) runs; undefined for another call. */
export function executedText(body: Buffer): string | undefined {
  const call = body.subarray(body.readUInt32LE(0));
  if (call.readUInt16LE(0) !== 0xffff || call.readUInt16LE(2) !== 10) return undefined;
  // Flags of the call; name and status of the parameter; then its type.
  let at = 6;
  at += 1 + (call[at] ?? 0) * 2 + 1;
  const kind = call[at];
  const most = call.readUInt16LE(at + 1);
  at += 8;
  if (kind !== 0xe7) throw new Error(`a statement of the type ${kind}`);
  if (most !== 0xffff) {
    const length = call.readUInt16LE(at);
    return call.toString('utf16le', at + 2, at + 2 + length);
  }
  at += 8;
  const chunks: Buffer[] = [];
  for (let size = call.readUInt32LE(at); size > 0; size = call.readUInt32LE(at)) {
    chunks.push(call.subarray(at + 4, at + 4 + size));
    at += 4 + size;
  }
  return Buffer.concat(chunks).toString('utf16le');
}
