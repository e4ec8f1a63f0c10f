import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { countLines } from '../../lib/line-counter.ts';
import type { DocumentBlock, ParsedDocument, TableRow } from './document-block.ts';

/**
 * Reads HTML tag by tag, in linear time and without a tree, so that no depth of nesting matters.
 * What is not closed ends where the next block begins. Any text is a document.
 */
export function readHtml(body: string): ParsedDocument {
  const text = body.replaceAll('\r', '');
  const state: HtmlState = {
    blocks: [],
    text: '',
    hasWords: false,
    textLine: 1,
    headingLevel: 0,
    hiddenDepth: 0,
  };
  const lineAt = countLines(text);
  const append = (part: string, start: number) => {
    if (state.hiddenDepth > 0) return;
    const firstWord = part.search(/\S/);
    if (!state.hasWords && firstWord >= 0) {
      state.hasWords = true;
      state.textLine = lineAt(start + firstWord);
    }
    state.text += part;
  };
  let textEnd = 0;
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...ignoredTokens,
      ontext: (start, end) => {
        textEnd = end;
        append(text.slice(start, end), start);
      },
      ontextentity: (codepoint, end) => {
        append(String.fromCodePoint(codepoint), textEnd);
        textEnd = end;
      },
      onopentagname: (start, end) => {
        textEnd = end;
        openTag(state, text.slice(start, end).toLowerCase(), lineAt(start));
      },
      onclosetag: (start, end) => closeTag(state, text.slice(start, end).toLowerCase()),
    },
  );
  tokenizer.write(text);
  tokenizer.end();
  endText(state);
  endTable(state);
  return { blocks: state.blocks, problems: [] };
}

/** Elements whose content no reader sees. */
const hiddenTags = new Set(['script', 'style', 'title', 'template', 'noscript', 'svg']);
/** Elements that begin a new text. */
const blockTags = new Set([
  'p',
  'div',
  'li',
  'ul',
  'ol',
  'section',
  'article',
  'dl',
  'dt',
  'dd',
  'blockquote',
  'pre',
  'main',
  'header',
  'footer',
  'table',
  'tr',
]);

interface HtmlState {
  readonly blocks: DocumentBlock[];
  text: string;
  /** Whether `text` has more than white space. */
  hasWords: boolean;
  /** The line of its first word. */
  textLine: number;
  /** 0 outside of a heading. */
  headingLevel: number;
  /** How many elements of `hiddenTag` are open. */
  hiddenDepth: number;
  hiddenTag?: string;
  table?: HtmlTable | undefined;
}

interface HtmlTable {
  readonly line: number;
  header: string[];
  readonly rows: TableRow[];
  /** Of the row that is open. */
  cells: string[];
  rowLine: number;
  isHeaderRow: boolean;
  isInCell: boolean;
}

const ignore = () => undefined;
const ignoredTokens: Omit<
  TokenizerCallbacks,
  'ontext' | 'ontextentity' | 'onopentagname' | 'onclosetag' | 'isInForeignContext'
> = {
  onattribdata: ignore,
  onattribentity: ignore,
  onattribend: ignore,
  onattribname: ignore,
  oncdata: ignore,
  oncomment: ignore,
  ondeclaration: ignore,
  onend: ignore,
  onopentagend: ignore,
  onprocessinginstruction: ignore,
  onselfclosingtag: ignore,
};

function openTag(state: HtmlState, tag: string, line: number): void {
  if (state.hiddenDepth > 0 || hiddenTags.has(tag)) return hide(state, tag);
  const level = headingLevelOf(tag);
  if (tag === 'br') state.text += ' ';
  else if (tag === 'code') state.text += '`';
  else if (level > 0) {
    endText(state);
    state.headingLevel = level;
  } else if (tag === 'table') openTable(state, line);
  else if (state.table !== undefined) openTableTag(state, state.table, { tag, line });
  else if (blockTags.has(tag)) endText(state);
}

function hide(state: HtmlState, tag: string): void {
  if (state.hiddenDepth === 0) state.hiddenTag = tag;
  if (state.hiddenTag === tag) state.hiddenDepth += 1;
}

function headingLevelOf(tag: string): number {
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0;
}

function openTable(state: HtmlState, line: number): void {
  endText(state);
  endTable(state);
  state.table = {
    line,
    header: [],
    rows: [],
    cells: [],
    rowLine: line,
    isHeaderRow: false,
    isInCell: false,
  };
}

function openTableTag(
  state: HtmlState,
  table: HtmlTable,
  { tag, line }: { readonly tag: string; readonly line: number },
): void {
  if (tag === 'tr') {
    endRow(state);
    table.rowLine = line;
  } else if (tag === 'td' || tag === 'th') {
    endCell(state);
    table.isInCell = true;
    table.isHeaderRow ||= tag === 'th' && isEmptyTable(table);
  }
}

function isEmptyTable({ header, rows }: HtmlTable): boolean {
  return header.length === 0 && rows.length === 0;
}

function closeTag(state: HtmlState, tag: string): void {
  if (state.hiddenDepth > 0) {
    if (state.hiddenTag === tag) state.hiddenDepth -= 1;
  } else if (tag === 'code') state.text += '`';
  else if (tag === 'table') endTable(state);
  else if (tag === 'td' || tag === 'th') endCell(state);
  else if (tag === 'tr') endRow(state);
  else if (blockTags.has(tag) || headingLevelOf(tag) > 0) endText(state);
}

/** Ends the open text or heading. Text inside of a table belongs to its cells. */
function endText(state: HtmlState): void {
  if (state.table !== undefined) return;
  const text = takeText(state);
  const { textLine: line, headingLevel: level } = state;
  if (text !== '' && level > 0) state.blocks.push({ kind: 'heading', level, text, line });
  else if (text !== '') state.blocks.push({ kind: 'text', text, line });
  state.headingLevel = 0;
}

function endCell(state: HtmlState): void {
  const text = takeText(state);
  if (state.table?.isInCell !== true) return;
  state.table.cells.push(text);
  state.table.isInCell = false;
}

function endRow(state: HtmlState): void {
  const { table } = state;
  if (table === undefined) return;
  endCell(state);
  const { cells, rowLine: line } = table;
  const isHeader = table.isHeaderRow || isEmptyTable(table);
  if (cells.length > 0 && isHeader) table.header = cells;
  else if (cells.length > 0) table.rows.push({ cells, line });
  table.cells = [];
  table.isHeaderRow = false;
}

function endTable(state: HtmlState): void {
  endRow(state);
  const { table } = state;
  state.table = undefined;
  if (table === undefined || table.header.length === 0) return;
  const { header, rows, line } = table;
  state.blocks.push({ kind: 'table', header, rows, line });
}

function takeText(state: HtmlState): string {
  const text = state.text.replaceAll(/\s+/g, ' ').trim();
  state.text = '';
  state.hasWords = false;
  return text;
}
