import { readFileSync } from 'node:fs';

/** The words of a text file, separated by white space. Lines that start with `#` are comments. */
export function readWordList(file: URL): ReadonlySet<string> {
  const text = readFileSync(file, 'utf8').replace(/^#.*$/gm, '');
  return new Set(text.trim().split(/\s+/));
}
