import MarkdownIt, { type Token } from 'markdown-it';
import type { Screen } from '../terminal/screen.ts';
import { renderTable } from '../terminal/table.ts';
import { escapeControls } from '../terminal/text-width.ts';
import { type StyledText, wrapStyled } from './wrap-styled.ts';

/** Linear time on hostile input; HTML is text. What is nested deeper is left out. */
const parser = new MarkdownIt({ html: false, maxNesting: 50 });

/**
 * Markdown as lines for a terminal: no marks of Markdown are left, text is broken between words,
 * tables fit the width.
 */
export function renderMarkdown(text: string, screen: Screen): readonly string[] {
  const rendering: MarkdownPage = { screen, lines: [], containers: [] };
  for (const token of groupTables(parser.parse(text, {}))) renderBlock(rendering, token);
  return rendering.lines;
}

interface MarkdownPage {
  readonly screen: Screen;
  readonly lines: string[];
  /** The lists and quotes around the block. */
  readonly containers: Container[];
}

interface Container {
  readonly kind: 'list' | 'item' | 'quote';
  /** In front of the first line, such as a bullet; then `rest`. */
  first: string;
  readonly rest: string;
  /** The number of the next item of a list; undefined for bullets. */
  next?: number | undefined;
}

/** A token, or all tokens of a table. */
type Block = Token | { readonly type: 'table'; readonly rows: readonly (readonly Token[])[] };

function renderBlock(rendering: MarkdownPage, block: Block): void {
  const { screen, containers } = rendering;
  const { unicode } = screen;
  if ('rows' in block) return renderMarkdownTable(rendering, block.rows);
  const { type } = block;
  if (type === 'list_item_open') return openItem(rendering);
  if (type === 'bullet_list_open' || type === 'ordered_list_open') {
    const next = type === 'bullet_list_open' ? undefined : Number(block.attrGet('start') ?? 1);
    containers.push({ kind: 'list', first: '', rest: '', next });
  } else if (type === 'blockquote_open') {
    const bar = unicode ? '│ ' : '> ';
    containers.push({ kind: 'quote', first: bar, rest: bar });
  } else if (/^(?:bullet_list|ordered_list|list_item|blockquote)_close$/.test(type)) {
    containers.pop();
  } else if (type === 'hr') {
    addLines(rendering, [(unicode ? '─' : '-').repeat(Math.min(screen.width ?? 40, 40))]);
  } else renderText(rendering, block);
}

function openItem({ screen, containers }: MarkdownPage): void {
  const list = containers.at(-1);
  const bullet = screen.unicode ? '• ' : '- ';
  const first = list?.next === undefined ? bullet : `${list.next}. `;
  if (list?.next !== undefined) list.next += 1;
  containers.push({ kind: 'item', first, rest: ' '.repeat(first.length) });
}

function renderText(rendering: MarkdownPage, token: Token): void {
  const { screen } = rendering;
  if (token.type === 'fence' || token.type === 'code_block') {
    const code = token.content.replace(/\n$/, '').replaceAll('\t', '  ').split('\n');
    return addLines(
      rendering,
      code.map((line) => `  ${escapeControls(line)}`),
    );
  }
  if (token.type === 'heading_open') {
    rendering.containers.push({ kind: 'item', first: '', rest: '' });
    return;
  }
  if (token.type === 'heading_close') {
    rendering.containers.pop();
    return;
  }
  if (token.type !== 'inline') return;
  const isHeading =
    rendering.containers.at(-1)?.rest === '' && rendering.containers.at(-1)?.kind === 'item';
  const texts = styledTexts(token.children ?? [], isHeading);
  const width = (screen.width ?? Number.POSITIVE_INFINITY) - prefixWidth(rendering);
  addLines(rendering, wrapStyled(texts, Math.max(width, 8), screen));
}

function prefixWidth({ containers }: MarkdownPage): number {
  return containers.reduce((sum, { rest }) => sum + rest.length, 0);
}

/** Adds a block, with an empty line before it unless it begins or goes on with a list. */
function addLines({ lines, containers }: MarkdownPage, block: readonly string[]): void {
  const isItemStart = containers.some(({ kind, first }) => kind === 'item' && first.trim() !== '');
  const isSameList = isItemStart && lines.at(-1) !== undefined && isInList(lines);
  if (lines.length > 0 && !isSameList) lines.push('');
  for (const line of block) {
    const prefix = containers.map((container) => {
      const { first } = container;
      container.first = container.rest;
      return first;
    });
    lines.push(`${prefix.join('')}${line}`.trimEnd());
  }
}

/** True if the last line is of a list: the next item follows without an empty line. */
function isInList(lines: readonly string[]): boolean {
  return /^(?:[│>] )*\s*(?:[•-]|\d+\.) |^\s{2,}\S/.test(lines.at(-1) ?? '');
}

/** The texts of a paragraph with how they are shown. */
function styledTexts(tokens: readonly Token[], isBold: boolean): readonly StyledText[] {
  let strong = isBold ? 1 : 0;
  const links: string[] = [];
  const texts: StyledText[] = [];
  const add = (text: string, style: StyledText['style'] = strong > 0 ? 'bold' : undefined) =>
    texts.push({ text: escapeControls(text), style });
  for (const { type, content, attrGet, ...token } of tokens.map(readable)) {
    if (type === 'strong_open') strong += 1;
    else if (type === 'strong_close') strong -= 1;
    else if (type === 'hardbreak') texts.push({ text: '\n', style: undefined });
    else if (type === 'softbreak') add(' ');
    else if (type === 'link_open') links.push(String(attrGet('href') ?? ''));
    else if (type === 'link_close') addAddress(links.pop() ?? '');
    else if (type === 'image') add(plainText(token.children));
    else if (content !== '') add(content);
  }
  return texts;

  function addAddress(address: string): void {
    const shown = texts.at(-1)?.text;
    if (address === '') return;
    // What opens is what is shown: a text cannot lead elsewhere.
    const opened = { text: escapeControls(address), style: undefined, address };
    if (shown === address) texts[texts.length - 1] = { ...opened, style: texts.at(-1)?.style };
    else texts.push({ text: ' (', style: undefined }, opened, { text: ')', style: undefined });
  }
}

function readable(token: Token) {
  return {
    type: token.type,
    content: token.content,
    children: token.children ?? [],
    attrGet: (name: string) => token.attrGet(name),
  };
}

function plainText(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content, children }) =>
      type === 'softbreak' || type === 'hardbreak' ? ' ' : children ? plainText(children) : content,
    )
    .join('');
}

/** Puts the tokens of each table together: a list of rows, each with its cells. */
function groupTables(tokens: readonly Token[]): readonly Block[] {
  const blocks: Block[] = [];
  let rows: Token[][] | undefined;
  for (const token of tokens) {
    if (token.type === 'table_open') rows = [];
    else if (token.type === 'table_close') {
      blocks.push({ type: 'table', rows: rows ?? [] });
      rows = undefined;
    } else if (rows === undefined) blocks.push(token);
    else if (token.type === 'tr_open') rows.push([]);
    else if (token.type === 'inline') rows.at(-1)?.push(token);
  }
  return blocks;
}

/** What people write as a number: `1,234.50`, `-5 %`, `€ 3.2M`, `n/a`. */
const numberText =
  /^(?:[-+−(]?\s*[\p{Sc}]?\s*[-+−]?\d[\d\s.,'’]*\)?\s*(?:%|[\p{Sc}]|[kKMB]|[A-Z]{3})?|n\/a|NULL|[-–—])?$/u;

function renderMarkdownTable(rendering: MarkdownPage, rows: readonly (readonly Token[])[]): void {
  const [header = [], ...body] = rows;
  const cells = body.map((row) => row.map(({ children }) => plainText(children ?? []).trim()));
  const columns = header.map(({ children }, index) => {
    const texts = cells.map((row) => row[index] ?? '');
    const isNumeric = texts.some((text) => /\d/.test(text)) && texts.every(isNumberText);
    return { name: plainText(children ?? []).trim(), type: isNumeric ? 'decimal' : 'string' };
  });
  const width =
    rendering.screen.width && Math.max(rendering.screen.width - prefixWidth(rendering), 8);
  const table = renderTable({ columns, rows: cells }, { ...rendering.screen, width });
  addLines(rendering, table.split('\n'));
}

function isNumberText(text: string): boolean {
  return text.length <= 40 && numberText.test(text) && !/^\d{4}-\d\d/.test(text);
}
