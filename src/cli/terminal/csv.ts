import type { Cell } from '../../warehouse/warehouse.ts';
import type { Table } from './table.ts';

/** RFC 4180 with `\n` line ends. NULL is an empty field; an empty text is `""`. */
export function renderCsv({ columns, rows }: Table): string {
  const lines = [
    columns.map(({ name }) => renderField(name)),
    ...rows.map((row) => row.map(renderField)),
  ];
  return lines.map((line) => `${line.join(',')}\n`).join('');
}

function renderField(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  const text = String(cell);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
