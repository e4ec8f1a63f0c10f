import MarkdownIt, { type Token } from 'markdown-it';
import type { DocumentBlock, ParsedDocument } from './document-block.ts';

/**
 * Reads Markdown or MDX. Front matter, comments, code blocks, and lines of `import` and `export`
 * are left out. Any text is a document; only what is nested more than `deepest` levels deep becomes
 * a problem.
 */
export function readMarkdown(body: string): ParsedDocument {
  const text = blankUnread(body);
  const state: MarkdownState = { lines: text.split('\n'), blocks: [], problems: [], markers: [] };
  for (const token of parser.parse(text, {})) readMarkdownToken(state, token);
  flushText(state);
  return { blocks: state.blocks, problems: state.problems.slice(0, 1) };
}

/** Quotes and lists inside one another; the parser drops what is nested deeper. */
const deepest = 100;

/**
 * markdown-it takes linear time on hostile input (nested brackets, unclosed marks, tags, backticks)
 * and limits nesting; micromark needs 112 s for 200 kB of `**a`. Indented text is prose, as in MDX.
 * Struck-out text keeps its marks, so that a reader sees that it no longer holds.
 */
const parser = new MarkdownIt({ maxNesting: deepest });
parser.disable(['code', 'html_block', 'strikethrough']);
parser.inline.ruler.at('html_inline', (state, isDryRun) => {
  const end = tagEnd(state.src, state.pos);
  if (end < 0) return false;
  const isLineBreak = /^<br\b/i.test(state.src.slice(state.pos, state.pos + 4));
  if (isLineBreak && !isDryRun) state.pending += ' ';
  state.pos = end;
  return true;
});

/**
 * The end of the HTML or JSX tag that starts here, or -1. A tag ends at the next `>` before any
 * other `<`, so the search never passes over the same text twice.
 */
function tagEnd(text: string, start: number): number {
  if (!/^<\/?[A-Za-z]/.test(text.slice(start, start + 3))) return -1;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === '<') return -1;
    if (character === '>') return at + 1;
  }
  return -1;
}

interface MarkdownState {
  readonly lines: readonly string[];
  readonly blocks: DocumentBlock[];
  readonly problems: { line: number; reason: string }[];
  /** Markers of list items whose text has not begun, like `- ` or `2. `. */
  readonly markers: string[];
  /** Paragraphs and list items with no blank line between them are one text. */
  text?: { readonly line: number; readonly parts: string[]; end: number } | undefined;
  table?: OpenTable | undefined;
  headingLevel?: number | undefined;
}

interface OpenTable {
  readonly line: number;
  readonly header: string[];
  readonly rows: { readonly cells: string[]; readonly line: number }[];
  isHeader: boolean;
  /** The line of the row that is open; cells have none. */
  rowLine: number;
  /** Whether a line without `|` has ended it, although Markdown counts the line as a row. */
  hasEnded: boolean;
}

function readMarkdownToken(state: MarkdownState, token: Token): void {
  const line = (token.map?.[0] ?? 0) + 1;
  switch (token.type) {
    case 'heading_open':
      flushText(state);
      state.headingLevel = Number(token.tag.slice(1));
      return;
    case 'heading_close':
      state.headingLevel = undefined;
      return;
    case 'list_item_open':
      state.markers.push(`${token.info}${token.markup} `);
      return checkDepth(state, token, line);
    case 'list_item_close':
      state.markers.length = 0;
      return;
    case 'blockquote_open':
      return checkDepth(state, token, line);
    case 'fence':
    case 'hr':
      return flushText(state);
    case 'inline':
      return readInline(state, token, line);
    default:
      return readTableToken(state, token, line);
  }
}

function checkDepth(state: MarkdownState, token: Token, line: number): void {
  if (token.level < deepest - 1) return;
  const reason = `quotes and lists are nested more than ${deepest} levels deep; what is inside is not read`;
  state.problems.push({ line, reason });
}

function readTableToken(state: MarkdownState, { type }: Token, line: number): void {
  const { table } = state;
  if (type === 'table_open') {
    flushText(state);
    state.table = { line, header: [], rows: [], isHeader: true, rowLine: line, hasEnded: false };
  } else if (table === undefined) return;
  else if (type === 'thead_close') table.isHeader = false;
  else if (type === 'tr_open' && !table.isHeader) {
    table.rowLine = line;
    table.hasEnded ||= !state.lines[line - 1]?.includes('|');
    if (!table.hasEnded) table.rows.push({ cells: [], line });
  } else if (type === 'table_close') {
    const { header, rows } = table;
    state.blocks.push({ kind: 'table', header, rows, line: table.line });
    state.table = undefined;
  }
}

function readInline(state: MarkdownState, token: Token, line: number): void {
  const text = plainTextOf(token.children ?? []);
  const { table, headingLevel: level } = state;
  if (table !== undefined && !table.hasEnded)
    (table.isHeader ? table.header : table.rows.at(-1)?.cells)?.push(text.trim());
  else if (level !== undefined)
    state.blocks.push({ kind: 'heading', level, text: text.trim(), line });
  else if (table !== undefined && text !== '')
    addText(state, text, { line: table.rowLine, end: table.rowLine });
  else if (table === undefined) addText(state, text, { line, end: token.map?.[1] ?? line });
}

function addText(
  state: MarkdownState,
  text: string,
  { line, end }: { readonly line: number; readonly end: number },
): void {
  if (state.text !== undefined && line > state.text.end + 1) flushText(state);
  state.text ??= { line, parts: [], end };
  state.text.parts.push(`${state.markers.splice(0).join('')}${text}`);
  state.text.end = end;
}

function flushText(state: MarkdownState): void {
  if (state.text !== undefined) {
    const text = state.text.parts.join('\n').trim();
    if (text !== '') state.blocks.push({ kind: 'text', text, line: state.text.line });
  }
  state.text = undefined;
}

/**
 * Links and images as their words, emphasis without its marks, no tags; code keeps its backticks.
 */
function plainTextOf(tokens: readonly Token[]): string {
  const parts: string[] = [];
  const openMarks: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'em_open') openMarks.push(parts.length);
    if (token.type === 'em_close') {
      const start = openMarks.pop() ?? 0;
      const [before = '', after = ''] = [parts[start - 1], tokens[index + 1]?.content];
      // A `*` next to a letter on its outer side is a product, as in price*quantity*rate.
      const isProduct = /\w$/.test(before) || /^\w/.test(after);
      if (isProduct) parts[start] = token.markup;
      parts.push(isProduct ? token.markup : '');
    } else parts.push(inlineText(token));
  }
  return parts.join('');
}

function inlineText({ type, content, children }: Token): string {
  if (type === 'code_inline') return `\`${content}\``;
  if (type === 'softbreak' || type === 'hardbreak') return '\n';
  return type === 'image' ? plainTextOf(children ?? []) : content;
}

/** The text with spaces in place of what is not read, so that every line keeps its number. */
function blankUnread(body: string): string {
  const lines = body
    .replace(/^\uFEFF/, '')
    .replaceAll('\r', '')
    .split('\n');
  const start = frontMatterEnd(lines);
  const kept = lines.map((line, index) => (index < start || isModuleLine(line) ? '' : line));
  const text = kept.join('\n');
  return blankBetween(blankBetween(text, '<!--', '-->'), '{/*', '*/}');
}

function frontMatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== '---') return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

/** A line of MDX such as `import Note from './note'` or `export const year = 2024`. */
function isModuleLine(line: string): boolean {
  return /^(import|export)\s.*(from|['"{=])/.test(line);
}

function blankBetween(text: string, open: string, close: string): string {
  const parts: string[] = [];
  let read = 0;
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, read)) {
    const closing = text.indexOf(close, start + open.length);
    if (closing < 0) break;
    const end = closing + close.length;
    parts.push(text.slice(read, start), text.slice(start, end).replaceAll(/[^\n]/g, ' '));
    read = end;
  }
  return [...parts, text.slice(read)].join('');
}
