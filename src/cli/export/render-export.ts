import { UserError } from '../../lib/error.ts';
import { renderCsv } from '../terminal/csv.ts';
import { numberForPeople, type Table } from '../terminal/table.ts';
import { escapeControls } from '../terminal/text-width.ts';

export const exportFormats = ['csv', 'parquet', 'xlsx', 'md'] as const;
export type ExportFormat = (typeof exportFormats)[number];

interface ExportOptions {
  readonly format: ExportFormat;
  /** In CSV: puts an apostrophe before text that a spreadsheet would take for a formula. */
  readonly escapesFormulas: boolean;
}

/** The rows as the content of a file. */
export async function renderExport(
  table: Table,
  { format, escapesFormulas }: ExportOptions,
): Promise<string | Uint8Array> {
  switch (format) {
    case 'csv':
      return renderCsv(escapesFormulas ? withoutFormulas(table) : table);
    case 'md':
      return renderMarkdownRows(table);
    case 'xlsx':
      return (await import('./workbook.ts')).renderWorkbook(table);
    case 'parquet':
      return (await import('./parquet.ts')).renderParquet(table);
  }
  return format satisfies never;
}

/** The format that a file name stands for. */
export function formatOfFile(path: string): ExportFormat {
  const [, suffix = ''] = /\.(\w+)$/.exec(path) ?? [];
  const format = suffix.toLowerCase() === 'markdown' ? 'md' : suffix.toLowerCase();
  const known = exportFormats.find((name) => name === format);
  if (known !== undefined) return known;
  throw new UserError('format_unknown', `The name of the file tells no format: ${path}`, {
    hint: `end it with .${exportFormats.join(', .')}, or add --format`,
    exitCode: 2,
  });
}

function withoutFormulas({ columns, rows }: Table): Table {
  return {
    columns: columns.map((column) => ({ ...column, name: withoutFormula(column.name) })),
    rows: rows.map((row) =>
      row.map((cell) => (typeof cell === 'string' ? withoutFormula(cell) : cell)),
    ),
  };
}

/** A number that is text because of its many digits stays a number. */
function withoutFormula(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(?:\.\d+)?$/.test(text);
  return isFormula ? `'${text}` : text;
}

function cellForPeople(cell: Table['rows'][number][number]): string {
  return typeof cell === 'number' ? numberForPeople(cell) : String(cell ?? 'NULL');
}

function renderMarkdownRows({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const isNumber = columns.map(({ type }) => type === 'integer' || type === 'decimal');
  return [
    line(columns.map(({ name }) => markdownCell(name))),
    line(isNumber.map((right) => (right ? '---:' : '---'))),
    ...rows.map((row) => line(columns.map((_, index) => markdownCell(cellForPeople(row[index]))))),
    '',
  ].join('\n');
}

/** Text as it is, whatever Markdown or HTML is in it. */
function markdownCell(text: string): string {
  return escapeControls(text)
    .replaceAll(/[\\`*_{}[\]()#+!|~]/g, (mark) => `\\${mark}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');
}
