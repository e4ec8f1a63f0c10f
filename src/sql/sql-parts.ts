/** A part of a SQL text: a comment, a quoted text or name, or code between them. */
export interface SqlPart {
  readonly kind: 'comment' | 'quoted' | 'code';
  readonly text: string;
  readonly start: number;
}

interface PartOptions {
  /** Whether `[name]` is a quoted name, as in SQLite and SQL Server. */
  readonly hasBrackets?: boolean;
  /** Whether `$tag$…$tag$` is a quoted text, as in Postgres. */
  readonly hasDollarQuotes?: boolean;
}

const closers: Readonly<Record<string, string>> = { "'": "'", '"': '"', '`': '`', '[': ']' };
const dollarTag = /\$\w{0,60}\$/y;

/**
 * The parts of a text, in time that is proportional to its length. A doubled quote ends one part
 * and begins the next. What is opened and never closed is code.
 */
export function* splitSqlParts(text: string, options: PartOptions = {}): Generator<SqlPart> {
  const opener = new RegExp(
    `--|/\\*|['"\`${options.hasBrackets === true ? '[' : ''}${options.hasDollarQuotes === true ? '$' : ''}]`,
    'g',
  );
  const findEnd = endFinder(text);
  let codeStart = 0;
  for (;;) {
    const match = opener.exec(text);
    if (match === null) break;
    const { index: start } = match;
    const end = findEnd(start);
    if (end === undefined) continue;
    if (start > codeStart)
      yield { kind: 'code', text: text.slice(codeStart, start), start: codeStart };
    const isComment = match[0].length === 2;
    yield { kind: isComment ? 'comment' : 'quoted', text: text.slice(start, end), start };
    [codeStart, opener.lastIndex] = [end, end];
  }
  if (codeStart < text.length)
    yield { kind: 'code', text: text.slice(codeStart), start: codeStart };
}

/**
 * Finds where the part ends that opens at an offset. Remembers what has no end, and does not look
 * for it again.
 */
function endFinder(text: string): (start: number) => number | undefined {
  const missing = new Set<string>();
  const endAfter = (closer: string, from: number): number | undefined => {
    if (missing.has(closer)) return undefined;
    const found = text.indexOf(closer, from);
    if (found >= 0) return found + closer.length;
    missing.add(closer);
    return undefined;
  };
  let openTags = 0;
  return (start) => {
    if (text.startsWith('--', start)) return lineEnd(text, start);
    if (text.startsWith('/*', start)) return endAfter('*/', start + 2);
    const closer = closers[text.charAt(start)];
    if (closer !== undefined) return endAfter(closer, start + 1);
    dollarTag.lastIndex = start;
    const tag = dollarTag.exec(text)?.[0];
    if (tag === undefined || openTags > mostOpenTags) return undefined;
    const end = endAfter(tag, start + tag.length);
    if (end === undefined) openTags += 1;
    return end;
  };
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

/**
 * Each tag without an end costs a search through the rest of the text. After so many, the text is
 * no SQL.
 */
const mostOpenTags = 100;
