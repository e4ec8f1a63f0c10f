import type { Cell } from '../../warehouse/warehouse.ts';
import type { Screen } from './screen.ts';
import { escapeControls, textWidth, truncateText } from './text-width.ts';

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
  const widths = screen.width === undefined ? natural : fitColumns(natural, screen.width);
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

function renderRecords({ columns, rows }: Table, { style, width = 80 }: Screen): string {
  const nameWidth = Math.min(
    Math.max(...columns.map(({ name }) => textWidth(name))),
    Math.floor(width / 2),
  );
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
  // 15 digits are exact in a double: 40.59, not 40.589999999999996. CSV and JSON have every digit.
  // An integer keeps its own.
  if (typeof cell === 'number' && !Number.isInteger(cell))
    return String(Number(cell.toPrecision(15)));
  return escapeControls(String(cell));
}

function padText(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'right' ? space + text : text + space;
}

/** Narrows the widest columns first until the row fits; no column gets narrower than 8. */
function fitColumns(natural: readonly number[], total: number): readonly number[] {
  const room = total - gap.length * (natural.length - 1);
  let limit = Math.max(...natural, minColumnWidth);
  const needed = () => natural.reduce((sum, width) => sum + Math.min(width, limit), 0);
  while (limit > minColumnWidth && needed() > room) limit -= 1;
  return natural.map((width) => Math.min(width, limit));
}
