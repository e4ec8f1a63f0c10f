import type { Cell } from '../../warehouse/warehouse.ts';
import type { Screen } from './screen.ts';
import { escapeControls, padText, textWidth, truncateText } from './text-width.ts';

// Own code: table packages such as cli-table3 neither align numbers by type nor fall back to
// records.

export interface Table {
  readonly columns: readonly { readonly name: string; readonly type?: string }[];
  readonly rows: readonly (readonly (Cell | undefined)[])[];
}

const minColumnWidth = 8;
const gap = '  ';

/**
 * Aligned columns. If the terminal is too narrow for them: one block per row, one line per column.
 */
export function renderTable(table: Table, screen: Screen): string {
  const cells = table.rows.map((row) => row.map(cellText));
  const isNumeric = table.columns.map(
    (column, index) =>
      column.type === 'integer' ||
      column.type === 'decimal' ||
      table.rows.some((row) => typeof row[index] === 'number'),
  );
  const natural = table.columns.map(({ name }, index) =>
    Math.max(textWidth(name), ...cells.map((row) => textWidth(row[index] ?? ''))),
  );
  // Text can be cut, numbers and dates cannot: half of one is another.
  const least = table.columns.map(({ name, type }, index) => {
    const texts = cells.map((row) => row[index] ?? '');
    const isWhole = isNumeric[index] || isDateColumn(type, texts);
    const room = isWhole ? Math.max(0, ...texts.map(textWidth)) : 0;
    return Math.max(room, Math.min(textWidth(name), minColumnWidth));
  });
  const widths =
    screen.width === undefined ? natural : fitColumns(natural, { least, total: screen.width });
  const total = widths.reduce((sum, width) => sum + width + gap.length, -gap.length);
  if (screen.width !== undefined && total > screen.width && widths.length > 1)
    return renderRecords(table, screen);
  const renderLine = (texts: readonly string[]): string => {
    const padded = texts.map((text, index) => {
      const width = widths[index] ?? 0;
      return padText(truncateText(text, width), width, isNumeric[index] ? 'right' : 'left');
    });
    return padded.join(gap).trimEnd();
  };
  const header = renderLine(table.columns.map(({ name }) => escapeControls(name)));
  return [screen.style('bold', header), ...cells.map(renderLine)].join('\n');
}

const dateText = /^\d{4}-(?:\d\d(?:-\d\d)?|[QW]\d{1,2})\b/;

function isDateColumn(type: string | undefined, texts: readonly string[]): boolean {
  return type?.startsWith('date') === true || texts.some((text) => dateText.test(text));
}

/** Lines of left-aligned columns without a header; all rows have as many cells as the first. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => textWidth(row[index] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => padText(cell, widths[index] ?? 0, 'left'))
      .join(gap)
      .trimEnd(),
  );
}

/** One block per row, one line per column. Nothing is cut where the width is unknown. */
export function renderRecords({ columns, rows }: Table, { style, width = Infinity }: Screen) {
  const longest = Math.max(...columns.map(({ name }) => textWidth(name)));
  const nameWidth = Math.min(longest, Math.floor(width / 2));
  const records = rows.map((row, rowIndex) => {
    const lines = columns.map(({ name }, index) => {
      const label = padText(truncateText(escapeControls(name), nameWidth), nameWidth, 'left');
      return truncateText(`${label}${gap}${cellText(row[index])}`, width).trimEnd();
    });
    return [style('bold', `row ${rowIndex + 1}`), ...lines].join('\n');
  });
  return records.join('\n\n');
}

function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return '';
  if (cell === null) return 'NULL';
  if (typeof cell === 'number') return numberForPeople(cell);
  return escapeControls(String(cell));
}

/**
 * 15 digits are exact in a double: 40.59, not 40.589999999999996. An integer keeps its own. CSV
 * and JSON have every digit.
 */
export function numberForPeople(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1e15) return String(value);
  return String(withoutDust(Number(value.toPrecision(15))));
}

/** How many digits of a sum of doubles are right. The more terms it has, the fewer. */
const sumDigits = [12, 13, 14, 15];
/** A number that just happens to have so many zeros or nines is one of 100,000. */
const dustDigits = 5;

/**
 * 7225.4 for 7225.40000000001, which a sum of doubles comes to: a number with five zeros or nines
 * and more before its last right digit.
 */
function withoutDust(value: number): number {
  if (Number.isInteger(value)) return value;
  const rounded = sumDigits
    .map((digits) => ({ digits, to: Number(value.toPrecision(digits)) }))
    .find(({ digits, to }) => significantDigits(to) <= digits - dustDigits)?.to;
  if (rounded === undefined) return value;
  return digitsWritten(value) - digitsWritten(rounded) >= dustDigits ? rounded : value;
}

function significantDigits(value: number): number {
  return digitsWritten(Number(value.toExponential().split('e')[0]));
}

function digitsWritten(value: number): number {
  return String(value).replaceAll(/\D/g, '').length;
}

interface ColumnRoom {
  /** How narrow each column may get. */
  readonly least: readonly number[];
  readonly total: number;
}

/** Narrows the widest columns first until the row fits; none gets narrower than 8 or its least. */
function fitColumns(natural: readonly number[], { least, total }: ColumnRoom): readonly number[] {
  const room = total - gap.length * (natural.length - 1);
  let limit = Math.max(...natural, minColumnWidth);
  const fit = () =>
    natural.map((width, index) => Math.max(Math.min(width, limit), least[index] ?? 0));
  const needed = () => fit().reduce((sum, width) => sum + width, 0);
  while (limit > minColumnWidth && needed() > room) limit -= 1;
  return fit();
}
