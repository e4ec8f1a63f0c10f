import { PassThrough } from 'node:stream';

/** A line with Enter behind it, or keys (in chunks), once the screen shows `when`. */
export type Typed = string | { readonly keys: string | readonly string[]; readonly when?: RegExp };

/** A prompt for a message, the next line of one, or a permission. */
const prompt = /› |» |\]o: /;

/** A keyboard: each entry is typed once its text has appeared since the one before. */
export function openTypedInput(entries: readonly Typed[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const rest = [...entries];
  let seen = '';
  return {
    stdin,
    /** Takes what is written on the screen. */
    see(text: string): void {
      seen += text;
      const [next] = rest;
      const when = typeof next === 'object' ? (next.when ?? prompt) : prompt;
      if (!when.test(seen)) return;
      seen = '';
      rest.shift();
      // After what is being written now.
      setImmediate(() => {
        if (next === undefined) stdin.end();
        else for (const chunk of chunksOf(next)) stdin.write(chunk);
      });
    },
  };
}

function chunksOf(entry: Typed): readonly string[] {
  if (typeof entry === 'string') return [`${entry}\r`];
  return typeof entry.keys === 'string' ? [entry.keys] : entry.keys;
}
