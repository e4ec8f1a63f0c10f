import { readFileSync } from 'node:fs';

/** The words of a text file, separated by white space. Lines that start with `#` are comments. */
export function readWordList(file: URL): ReadonlySet<string> {
  return new Set(readWordLines(file).flat());
}

/** The words of each line. */
export function readWordLines(file: URL): readonly (readonly string[])[] {
  const text = readFileSync(file, 'utf8').replace(/^#.*$/gm, '');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.trim().split(/\s+/));
}
