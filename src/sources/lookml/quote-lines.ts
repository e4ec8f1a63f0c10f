import type { LookmlPlace } from '../../semantic/formats/lookml/parse.ts';

/** A quote has 300 characters at most. */
const mostLines = 20;

/** The lines of a place, no further to the right than they are from its first line. */
export function quoteLines(lines: readonly string[], { line, lastLine = line }: LookmlPlace) {
  const [first, ...others] = lines.slice(line - 1, Math.min(lastLine, line - 1 + mostLines));
  if (first === undefined) return undefined;
  const margin = indentOf(first);
  const shifted = others.map((text) => text.slice(Math.min(margin, indentOf(text))).trimEnd());
  return [first.trim(), ...shifted].join('\n');
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}
