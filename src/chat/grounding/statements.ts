import type { WrittenNumber } from './numbers/read-numbers.ts';

/** A sentence, a line, or the row of a table in an answer. Places are in UTF-16 units. */
export interface Statement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** True for an item of a list or the row of a table: it stands for itself. */
  readonly isEntry: boolean;
  /** What stands above the list or the table of an entry. */
  readonly lead?: string | undefined;
  /** Of the row of a table: its cells behind the first, with what stands above them. */
  readonly cells: readonly TableCell[];
}

interface TableCell {
  readonly start: number;
  readonly end: number;
  readonly header: string;
}

/** The statements of a text, in its order. Together they cover it. */
export function splitStatements(text: string): readonly Statement[] {
  const spans = splitSpans(text);
  let header: readonly string[] | undefined;
  let lead = '';
  return spans.map(({ start, end }, index): Statement => {
    const own = text.slice(start, end);
    const isRow = /^\s*\|/.test(own);
    const next = spans[index + 1];
    const startsTable = next !== undefined && isRule(text.slice(next.start, next.end));
    if (!isRow) header = undefined;
    else if (startsTable) header = rowCells(own).map((cell) => cell.text.trim());
    const cells =
      isRow && header !== undefined && !startsTable
        ? rowCells(own).map((cell, column) => ({
            start: start + cell.start,
            end: start + cell.end,
            header: header?.[column] ?? '',
          }))
        : [];
    const isEntry = isRow || /^\s*(?:[-*•]|\d{1,3}[.)])\s/.test(own);
    if (!isEntry && own.trim() !== '') lead = own;
    return { start, end, text: own, isEntry, cells, ...(isEntry && { lead }) };
  });
}

function isRule(line: string): boolean {
  return /^\s*\|?[\s:|-]*-[\s:|-]*$/.test(line);
}

interface RowCell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function rowCells(line: string): readonly RowCell[] {
  let start = line.indexOf('|') + 1;
  return line
    .slice(start)
    .replace(/\|?\s*$/, '')
    .split('|')
    .map((text) => {
      const cell = { text, start, end: start + text.length };
      start = cell.end + 1;
      return cell;
    });
}

function splitSpans(text: string): readonly { readonly start: number; readonly end: number }[] {
  const spans = [];
  const ends =
    /\n|(?<=[.!?…][*_)\]]*)(?<!(?:^|\n)[ \t]*\d{1,3}\.)(?<!(?<!\d)\d{1,2}\.(?=\s+(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Quartal)(?!\p{L})))(?<!(?<!\p{L})(?:[Tt]sd|[Mm]io|[Mm]rd|tys|ca|approx|vs|Std)\.)(?<!(?<!\p{L})\p{Lu}\.)(?:\s*\[q\d+(?:\s*,\s*q\d+)*\])?\s+(?=[\p{Lu}*_]|\/\p{L})|(?<=\][.!?])\s+|(?<=(?:[)%]|(?<!(?:approx|incl|inkl|excl|exkl))(?<=\p{Ll}{4}))[.!?])\s+(?=[€$£]?\d)|(?<=\])\s+(?=\p{Lu})|(?<=[。！？])/gu;
  let start = 0;
  for (const match of text.matchAll(ends)) {
    const end = match.index + match[0].length;
    spans.push({ start, end });
    start = end;
  }
  return [...spans, { start, end: text.length }];
}

/** The first row of a funnel, or the last of a table, is 100 %. */
export function isWholeEntry(
  { isPercent, sign, readings }: WrittenNumber,
  { cells }: Statement,
): boolean {
  return isPercent && sign === undefined && cells.length > 0 && readings[0]?.value === 100;
}
