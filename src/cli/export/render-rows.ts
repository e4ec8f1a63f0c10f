import { UserError } from '../../lib/error.ts';
import { renderCsv } from '../terminal/csv.ts';
import type { RowFormat, Screen } from '../terminal/screen.ts';
import { renderRecords, renderTable, type Table } from '../terminal/table.ts';

/** Formats that no terminal can show. */
const binary: readonly RowFormat[] = ['parquet', 'xlsx'];

/** The rows of a result as `--format` asks for them, with a line end where they are text. */
export async function renderRows(table: Table, screen: Screen): Promise<string | Uint8Array> {
  const { format } = screen;
  if (binary.includes(format) && screen.width !== undefined)
    throw new UserError('usage', `${format} is no text that a terminal can show.`, {
      hint: `write it into a file: … --format ${format} > rows.${format}`,
      exitCode: 2,
    });
  if (format === 'csv') return renderCsv(table);
  if (format === 'jsonl') return renderJsonLines(table);
  if (format === 'vertical') return `${renderRecords(table, screen)}\n`;
  if (format === 'markdown' || format === 'parquet' || format === 'xlsx') {
    const { renderExport } = await import('./render-export.ts');
    const wanted = format === 'markdown' ? 'md' : format;
    return renderExport(table, { format: wanted, escapesFormulas: false });
  }
  return `${renderTable(table, screen)}\n`;
}

/** One object for each row. Of columns with one name the later ones get a number. */
function renderJsonLines({ columns, rows }: Table): string {
  const names = new Set<string>();
  for (const { name } of columns) {
    let unique = name;
    for (let count = 2; names.has(unique); count++) unique = `${name}_${count}`;
    names.add(unique);
  }
  const keys = [...names];
  const lines = rows.map((row) =>
    JSON.stringify(Object.fromEntries(keys.map((key, index) => [key, row[index] ?? null]))),
  );
  return lines.map((line) => `${line}\n`).join('');
}
