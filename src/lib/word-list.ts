import { readFileSync } from 'node:fs';

/** The words of a text file, which white space parts; lines that start with `#` are remarks. */
export function readWordList(file: URL): ReadonlySet<string> {
  const text = readFileSync(file, 'utf8').replace(/^#.*$/gm, '');
  return new Set(text.trim().split(/\s+/));
}
