/**
 * The paragraph of a text that has the line, from 1, with the headings above it and the name of the
 * file.
 */
export function paragraphAround(text: string, line: number, path: string): string {
  const lines = text.split('\n');
  const isBlank = (index: number) => (lines[index] ?? '').trim() === '';
  let [start, end] = [line - 1, line - 1];
  while (start > 0 && !isBlank(start - 1)) start -= 1;
  while (end + 1 < lines.length && !isBlank(end + 1)) end += 1;
  const headings: string[] = [];
  let level = 7;
  for (let index = start; index >= 0 && level > 1; index -= 1) {
    const [, marks = ''] = /^\s{0,3}(#{1,6})\s/.exec(lines[index] ?? '') ?? [];
    if (marks === '' || marks.length >= level) continue;
    level = marks.length;
    headings.unshift(lines[index] ?? '');
  }
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  // A list or a table that a sentence introduces belongs to it.
  const before = /^\s*([-*+|]|\d+[.)])/.test(lines[start] ?? '')
    ? paragraphBefore(lines, start)
    : [];
  return [name, ...headings, ...before, ...lines.slice(start, end + 1)].join('\n');
}

function paragraphBefore(lines: readonly string[], start: number): readonly string[] {
  let end = start - 1;
  while (end >= 0 && (lines[end] ?? '').trim() === '') end -= 1;
  let first = end;
  while (first > 0 && (lines[first - 1] ?? '').trim() !== '') first -= 1;
  return end < 0 ? [] : lines.slice(first, end + 1);
}
