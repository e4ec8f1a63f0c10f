import {
  markdownCode,
  markdownHeading,
  markdownInlineCode,
  markdownLines,
  markdownTable,
  unreadMark,
} from '../documents/markdown-text.ts';
import {
  blockTags,
  capturingTags,
  hiddenTags,
  macroKind,
  type MacroKind,
} from './storage-elements.ts';
import { readStorageTokens } from './storage-tokens.ts';

/** The Markdown of a page in storage format; undefined if it has no content. */
export function pageMarkdown(
  { title, labels }: { readonly title: string; readonly labels: readonly string[] },
  storage: string,
): string | undefined {
  const page: OpenPage = {
    lines: [],
    open: [],
    ignored: 0,
    text: '',
    hidden: 0,
    lists: 0,
    mark: '',
  };
  const addText = (text: string) => {
    if (page.hidden === 0) page.text += text;
  };
  readStorageTokens(storage, {
    open: (tag, attributes) => openElement(page, tag, attributes),
    close: (tag) => closeElement(page, tag),
    text: (text) => {
      const top = page.open.at(-1);
      // The code of a macro is in an element of its own.
      if (top?.macro !== 'code') addText(top?.tag === 'pre' ? text : text.replaceAll('\n', ' '));
    },
    code: addText,
  });
  while (page.open.length > 0) closeTop(page);
  endBlock(page);
  const text = page.lines.join('\n').trim();
  if (text === '') return undefined;
  const front = labels.length === 0 ? [] : ['---', `labels: ${JSON.stringify(labels)}`, '---', ''];
  return `${[...front, markdownHeading(1, title), '', text].join('\n')}\n`;
}

interface Element {
  readonly tag: string;
  /** Of a macro or a parameter. */
  readonly name: string;
  readonly macro: MacroKind | undefined;
  readonly isHidden: boolean;
  /** The text around an element whose own text is put together first. */
  readonly textAround: string | undefined;
  /** Of a macro. */
  readonly parameters: Map<string, string>;
  /** The title of the page that a link leads to. */
  target?: string;
}

interface CellTable {
  readonly depth: number;
  readonly rows: { readonly cells: string[]; isHeader: boolean }[];
}

interface OpenPage {
  readonly lines: string[];
  readonly open: Element[];
  /** How many elements are open that are too deep to count. */
  ignored: number;
  /** Of the block, or of the capturing element, that is open. */
  text: string;
  /** How many open elements hide their content. */
  hidden: number;
  lists: number;
  /** What stands before the next block: the mark of its list item. */
  mark: string;
  table?: CellTable | undefined;
}

/** Deeper elements are only text: each level of some costs as much as the text inside. */
const deepestElement = 200;

function openElement(page: OpenPage, tag: string, attributes: ReadonlyMap<string, string>): void {
  if (page.ignored > 0 || page.open.length >= deepestElement) {
    page.ignored += 1;
    return;
  }
  const name = attributes.get('ac:name') ?? '';
  const isMacro = tag === 'ac:structured-macro' || tag === 'ac:macro';
  const macro = isMacro ? macroKind(name) : undefined;
  const isHidden = hiddenTags.has(tag) || macro === 'view';
  const isSeen = page.hidden === 0 && !isHidden;
  if (isSeen) beginElement(page, { tag, name, macro, attributes });
  const isCapturing = isSeen && (capturingTags.has(tag) || macro === 'status' || macro === 'code');
  const textAround = isCapturing ? page.text : undefined;
  if (isCapturing) page.text = '';
  page.open.push({ tag, name, macro, isHidden, textAround, parameters: new Map() });
  if (isHidden) page.hidden += 1;
}

interface SeenElement extends Pick<Element, 'tag' | 'name' | 'macro'> {
  readonly attributes: ReadonlyMap<string, string>;
}

function beginElement(page: OpenPage, { tag, name, macro, attributes }: SeenElement): void {
  const isBlock = blockTags.has(tag) || (macro !== undefined && macro !== 'status');
  if (isBlock) endBlock(page);
  if (macro === 'unknown') pushBlock(page, [unreadMark(`Confluence macro ${name}`)]);
  if (tag === 'ul' || tag === 'ol') page.lists += 1;
  if (tag === 'li' || tag === 'ac:task') page.mark = '- ';
  if (tag === 'br') page.text += '\n';
  if (tag === 'time') page.text += attributes.get('datetime') ?? '';
  beginLinkTarget(page, tag, attributes.get('ri:content-title'));
  beginTablePart(page, tag);
}

function beginLinkTarget(page: OpenPage, tag: string, title: string | undefined): void {
  if (tag === 'ri:user') page.text += '@person';
  const link = page.open.at(-1);
  if (tag === 'ri:page' && link !== undefined && title !== undefined) link.target = title;
}

function beginTablePart(page: OpenPage, tag: string): void {
  if (tag === 'table') page.table ??= { depth: page.open.length, rows: [] };
  const { table } = page;
  if (table === undefined || !isOwnPart(page, table)) return;
  if (tag === 'tr') table.rows.push({ cells: [], isHeader: true });
  const row = table.rows.at(-1);
  if (tag === 'td' && row !== undefined) row.isHeader = false;
}

/** False inside of a cell: a table there is part of its text. */
function isOwnPart({ open }: OpenPage, { depth }: CellTable): boolean {
  return !open.slice(depth, depth + 4).some(({ tag }) => tag === 'td' || tag === 'th');
}

/** Elements that an end closes along with its own: more are no XHTML. */
const mostImplied = 4;

function closeElement(page: OpenPage, tag: string): void {
  if (page.ignored > 0) {
    page.ignored -= 1;
    return;
  }
  const top = page.open.slice(-mostImplied).findLastIndex((element) => element.tag === tag);
  if (top < 0) return;
  const first = Math.max(0, page.open.length - mostImplied) + top;
  while (page.open.length > first) closeTop(page);
}

function closeTop(page: OpenPage): void {
  const element = page.open.pop();
  if (element === undefined) return;
  if (element.isHidden) page.hidden -= 1;
  if (page.hidden > 0 || element.isHidden) return;
  const { tag, macro, textAround } = element;
  if (textAround !== undefined) return endCapture(page, element, textAround);
  if (blockTags.has(tag) || macro !== undefined) endBlock(page, headingLevel(tag));
  if (tag === 'ul' || tag === 'ol') page.lists -= 1;
  if (tag === 'table' && page.table?.depth === page.open.length) endTable(page);
}

function headingLevel(tag: string): number | undefined {
  return /^h[1-6]$/.test(tag) ? Math.min(6, Number(tag[1]) + 1) : undefined;
}

function endCapture(page: OpenPage, element: Element, textAround: string): void {
  const { tag, macro, name, parameters, target } = element;
  const own = page.text;
  page.text = textAround;
  if (macro === 'code' || tag === 'pre') pushCode(page, own, parameters.get('language') ?? '');
  else if (macro === 'status') page.text += parameters.get('title') ?? '';
  else if (tag === 'code') page.text += markdownInlineCode(own);
  else if (tag === 'ac:link') page.text += own.trim() === '' ? (target ?? '') : own;
  else if (tag === 'ac:parameter') setParameter(page, name, own.trim());
  else endCell(page, own);
}

/** Code in a cell is one line of it. */
function pushCode(page: OpenPage, code: string, language: string): void {
  const text = code.replace(/^\n/, '').trimEnd();
  if (page.table === undefined) pushBlock(page, markdownCode(text, language));
  else page.text += markdownInlineCode(text.replaceAll('\n', ' '));
}

function setParameter(page: OpenPage, name: string, value: string): void {
  const macro = page.open.at(-1);
  macro?.parameters.set(name, value);
  const isTitle = name === 'title' && macro?.macro === 'text';
  if (isTitle) pushBlock(page, markdownLines(value));
}

function endCell(page: OpenPage, text: string): void {
  const { table } = page;
  if (table !== undefined && isOwnPart(page, table)) table.rows.at(-1)?.cells.push(text);
  else page.text += ` ${text} `;
}

/** A block inside of a cell is part of its text. */
function endBlock(page: OpenPage, level?: number): void {
  if (page.table !== undefined) {
    if (page.text !== '' && !page.text.endsWith(' ')) page.text += ' ';
    return;
  }
  const { text } = page;
  page.text = '';
  if (text.trim() === '') return;
  pushBlock(page, level === undefined ? markdownLines(text) : [markdownHeading(level, text)]);
}

/** Adds a block; in a cell, as text. */
function pushBlock(page: OpenPage, lines: readonly string[]): void {
  if (lines.length === 0) return;
  if (page.table !== undefined) {
    page.text += ` ${lines.join(' ')} `;
    return;
  }
  const indent = '  '.repeat(Math.max(0, page.lists - (page.mark === '' ? 0 : 1)));
  const rest = ' '.repeat(page.mark.length);
  const marked = lines.map((line, index) => `${indent}${index === 0 ? page.mark : rest}${line}`);
  page.lines.push(...marked, '');
  page.mark = '';
}

function endTable(page: OpenPage): void {
  const rows = page.table?.rows ?? [];
  page.table = undefined;
  page.text = '';
  const [first, ...others] = rows;
  if (first === undefined) return;
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const isHeadless = !first.isHeader && others.length === 0;
  const header = isHeadless ? [] : first.cells;
  const filled = Array.from({ length: width }, (_, index) => header[index] ?? '');
  const body = (isHeadless ? rows : others).map(({ cells }) => cells);
  pushBlock(page, markdownTable(filled, body));
}
