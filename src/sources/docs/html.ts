import type { Block, Row } from './block.ts';

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  euro: '€',
};
/** Their text is nothing that a reader sees. */
const unseen =
  /<(script|style|head|template|noscript|svg)\b[^>]*>[\s\S]*?<\/\1\s*>|<!--[\s\S]*?-->|<!doctype[^>]*>/gi;
const token = /<(\/?)([a-z][a-z0-9]*)\b[^>]*>|[^<]+|</gi;
const breaks = new Set([
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

interface Reading {
  readonly blocks: Block[];
  text: string;
  line: number;
  heading: number;
  table:
    | {
        header: string[];
        readonly rows: Row[];
        readonly line: number;
        cells: string[];
        isHead: boolean;
        isInCell: boolean;
        rowLine: number;
      }
    | undefined;
}

/** The blocks of HTML, read tag by tag; whatever is not closed is closed by what follows. Total: any text is a document. */
export function htmlBlocks(body: string): Block[] {
  const seen = body
    .replaceAll('\r', '')
    .replaceAll(unseen, (part) => part.replaceAll(/[^\n]/g, ' '));
  const reading: Reading = { blocks: [], text: '', line: 1, heading: 0, table: undefined };
  let line = 1;
  for (const [part = '', slash = '', tag] of seen.matchAll(token)) {
    if (tag === undefined) {
      if (reading.text.trim() === '')
        reading.line = line + (part.slice(0, part.search(/\S|$/)).split('\n').length - 1);
      reading.text += decoded(part);
    } else if (slash === '') opened(reading, tag.toLowerCase(), line);
    else closed(reading, tag.toLowerCase());
    line += part.split('\n').length - 1;
  }
  flush(reading);
  endTable(reading);
  return reading.blocks;
}

function opened(reading: Reading, tag: string, line: number): void {
  const level = /^h([1-6])$/.exec(tag)?.[1];
  if (tag === 'br') reading.text += ' ';
  else if (tag === 'code') reading.text += '`';
  else if (level !== undefined) {
    flush(reading);
    reading.heading = Number(level);
  } else if (tag === 'table') {
    flush(reading);
    endTable(reading);
    reading.table = {
      header: [],
      rows: [],
      line,
      cells: [],
      isHead: false,
      isInCell: false,
      rowLine: line,
    };
  } else if (reading.table && tag === 'tr') {
    endRow(reading);
    reading.table.rowLine = line;
  } else if (reading.table && (tag === 'td' || tag === 'th')) {
    endCell(reading);
    reading.table.isInCell = true;
    reading.table.isHead ||=
      tag === 'th' && reading.table.header.length === 0 && reading.table.rows.length === 0;
  } else if (!reading.table && breaks.has(tag)) flush(reading);
}

function closed(reading: Reading, tag: string): void {
  if (tag === 'code') reading.text += '`';
  else if (tag === 'table') endTable(reading);
  else if (tag === 'td' || tag === 'th') endCell(reading);
  else if (tag === 'tr') endRow(reading);
  else if (!reading.table && (breaks.has(tag) || /^h[1-6]$/.test(tag))) flush(reading);
}

function flush(reading: Reading): void {
  const text = reading.text.replaceAll(/\s+/g, ' ').trim();
  if (reading.table) return;
  const { line, heading: level } = reading;
  if (text !== '')
    reading.blocks.push(
      level > 0 ? { kind: 'heading', level, text, line } : { kind: 'text', text, line },
    );
  [reading.text, reading.heading] = ['', 0];
}

function endCell(reading: Reading): void {
  const text = reading.text.replaceAll(/\s+/g, ' ').trim();
  reading.text = '';
  if (!reading.table?.isInCell) return;
  reading.table.cells.push(text);
  reading.table.isInCell = false;
}

function endRow(reading: Reading): void {
  const { table } = reading;
  if (!table) return;
  endCell(reading);
  if (
    table.cells.length > 0 &&
    (table.isHead || (table.header.length === 0 && table.rows.length === 0))
  )
    table.header = table.cells;
  else if (table.cells.length > 0) table.rows.push({ cells: table.cells, line: table.rowLine });
  [table.cells, table.isHead] = [[], false];
}

function endTable(reading: Reading): void {
  endRow(reading);
  const { table } = reading;
  reading.table = undefined;
  if (table && table.header.length > 0)
    reading.blocks.push({
      kind: 'table',
      header: table.header,
      rows: table.rows,
      line: table.line,
    });
}

function decoded(text: string): string {
  return text.replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}
