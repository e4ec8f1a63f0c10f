import { UserError } from '../../../lib/error.ts';

/**
 * `key: value` or `key: name { … }`. A list holds the texts of its members, a pair in it as `name:
 * value`.
 */
export interface LookmlEntry {
  readonly key: string;
  /** The name of a block; else empty. */
  readonly name: string;
  readonly value: string | readonly string[] | readonly LookmlEntry[];
  /** From its key to its end. */
  readonly place: LookmlPlace;
}

export interface LookmlPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Where a block or a list ends. */
  readonly lastLine?: number;
}

export type LookmlBlock = LookmlEntry & { readonly value: readonly LookmlEntry[] };

export function isBlock(entry: LookmlEntry): entry is LookmlBlock {
  return Array.isArray(entry.value) && !isTextList(entry.value);
}

function isTextList(value: readonly unknown[]): boolean {
  return value.length > 0 && value.every((member) => typeof member === 'string');
}

/** The blocks of these entries that have the given key. */
export function blocksWithKey(
  entries: readonly LookmlEntry[],
  key: string,
): readonly LookmlBlock[] {
  return entries.filter((entry): entry is LookmlBlock => entry.key === key && isBlock(entry));
}

/** The text of a block's property, the last one if it is repeated; undefined if there is none. */
export function textProperty(entry: LookmlEntry, key: string): string | undefined {
  const value = isBlock(entry)
    ? entry.value.findLast((property) => property.key === key)?.value
    : undefined;
  return typeof value === 'string' ? value : undefined;
}

const spacePattern = /(?:\s+|#[^\n]*)*/y;
const keyPattern = /([A-Za-z_][\w-]*)\s*:/y;
const wordPattern = /[^\s{}[\],"#;]+/y;
const quotedPattern = /"((?:[^"\\]|\\[^])*)"/y;
/** Keys whose value may be SQL or HTML that ends with `;;`. */
const codeKey = /^(?:sql|html|expression)/;
const notCodeKey = /^sql_distinct_key_|^sql_case/;

/** The entries of a LookML file. Throws `import_invalid` with the line. */
export function parseLookml(text: string, file = ''): readonly LookmlEntry[] {
  const ends = { line: 1, lineEnd: placeOf(text, '\n', 0), codeEnd: placeOf(text, ';;', 0) };
  return parseEntries({ text, file, position: 0, depth: 0, ...ends }, false);
}

/** The text and how far it is parsed. */
interface LookmlCursor {
  readonly text: string;
  readonly file: string;
  position: number;
  /** How many blocks are open. */
  depth: number;
  line: number;
  /** Where the next line ends, and the next code; the end of the text if none does. */
  lineEnd: number;
  codeEnd: number;
}

/** Files that people write have at most five. */
const deepestBlock = 100;

function parseEntries(cursor: LookmlCursor, isInsideBlock: boolean): readonly LookmlEntry[] {
  const entries: LookmlEntry[] = [];
  for (;;) {
    if (isInsideBlock && takeSymbol(cursor, '}')) return entries;
    takePattern(cursor, spacePattern);
    if (cursor.position >= cursor.text.length && !isInsideBlock) return entries;
    const line = currentLine(cursor);
    const key = takePattern(cursor, keyPattern)?.[1];
    if (key === undefined) throw syntaxError(cursor, 'property');
    const parsed = parseValue(cursor, key);
    // Behind a word the spaces are parsed, too.
    const lastLine = typeof parsed.value === 'string' ? line : currentLine(cursor);
    entries.push({ key, place: { file: cursor.file, line, lastLine }, ...parsed });
  }
}

function currentLine(cursor: LookmlCursor): number {
  while (cursor.lineEnd < cursor.position) {
    cursor.line += 1;
    cursor.lineEnd = placeOf(cursor.text, '\n', cursor.lineEnd + 1);
  }
  return cursor.line;
}

/** Searched for once: a search for what a text does not have reads it to its end. */
function placeOf(text: string, part: string, from: number): number {
  const place = text.indexOf(part, from);
  return place < 0 ? text.length : place;
}

function parseValue(cursor: LookmlCursor, key: string): Pick<LookmlEntry, 'name' | 'value'> {
  const code = codeKey.test(key) && !notCodeKey.test(key) ? takeCode(cursor) : undefined;
  if (code !== undefined) return { name: '', value: code };
  if (takeSymbol(cursor, '{')) return { name: '', value: parseBlock(cursor) };
  if (takeSymbol(cursor, '[')) return { name: '', value: parseList(cursor) };
  const value = takeScalar(cursor);
  if (value === undefined) throw syntaxError(cursor, `value of ${key}`);
  return takeSymbol(cursor, '{') ? { name: value, value: parseBlock(cursor) } : { name: '', value };
}

function parseBlock(cursor: LookmlCursor): readonly LookmlEntry[] {
  cursor.depth += 1;
  if (cursor.depth > deepestBlock) throw syntaxError(cursor, 'end of a block');
  const entries = parseEntries(cursor, true);
  cursor.depth -= 1;
  return entries;
}

function parseList(cursor: LookmlCursor): readonly string[] {
  const members: string[] = [];
  // Lists may begin with a comma, as they may end with one.
  takeSymbol(cursor, ',');
  while (!takeSymbol(cursor, ']')) {
    const member = takeScalar(cursor);
    if (member === undefined) throw syntaxError(cursor, 'member of a list');
    const isPair = member.endsWith(':') || takeSymbol(cursor, ':');
    const value = isPair ? takeScalar(cursor) : undefined;
    members.push(value === undefined ? member : `${member.replace(/:$/, '')}: ${value}`);
    takeSymbol(cursor, ',');
  }
  return members;
}

/** The text up to `;;`; undefined if there is none, or if the value is a plain yes or no. */
function takeCode(cursor: LookmlCursor): string | undefined {
  if (cursor.codeEnd < cursor.position)
    cursor.codeEnd = placeOf(cursor.text, ';;', cursor.position);
  const end = cursor.codeEnd;
  const code = end === cursor.text.length ? undefined : cursor.text.slice(cursor.position, end);
  if (code === undefined || /^\s*(?:yes|no)\b/.test(code)) return undefined;
  cursor.position = end + 2;
  return code.trim();
}

/** A quoted text without its quotes, or a word. */
function takeScalar(cursor: LookmlCursor): string | undefined {
  takePattern(cursor, spacePattern);
  const quoted = takePattern(cursor, quotedPattern);
  return quoted === undefined
    ? takePattern(cursor, wordPattern)?.[0]
    : quoted[1]?.replaceAll(/\\(["\\])/g, '$1');
}

function takeSymbol(cursor: LookmlCursor, symbol: string): boolean {
  takePattern(cursor, spacePattern);
  if (cursor.text[cursor.position] !== symbol) return false;
  cursor.position += 1;
  return true;
}

function takePattern(cursor: LookmlCursor, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.position;
  const match = pattern.exec(cursor.text) ?? undefined;
  cursor.position += match?.[0].length ?? 0;
  return match;
}

function syntaxError({ text, position }: LookmlCursor, expected: string): UserError {
  const line = text.slice(0, position).split('\n').length;
  return new UserError(
    'import_invalid',
    `This is not valid LookML: ${expected} expected in line ${line}`,
    { hint: 'Check the file with Looker.', exitCode: 2 },
  );
}
