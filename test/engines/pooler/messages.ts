/** A message of the protocol of Postgres: its kind, its length, its body. */
export function message(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

export function errorMessage(code: string, text: string): Buffer {
  return message('E', Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));
}

/** The parameters of a message that begins a login. */
export function startupParameters(bytes: Buffer): ReadonlyMap<string, string> {
  const words = bytes.toString('utf8', 8).split('\0');
  const pairs = words.flatMap((word, index) =>
    index % 2 === 0 && word !== '' ? [[word, words[index + 1] ?? ''] as const] : [],
  );
  return new Map(pairs);
}

/**
 * A listener that cuts a stream into whole messages. Before the login, messages have no kind.
 */
export function readMessages(
  hasKind: true | (() => boolean),
  take: (bytes: Buffer) => void,
): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const head = hasKind === true || hasKind() ? 1 : 0;
      if (held.length < head + 4) return;
      const length = head + held.readInt32BE(head);
      if (held.length < length) return;
      const whole = held.subarray(0, length);
      held = held.subarray(length);
      take(whole);
    }
  };
}
