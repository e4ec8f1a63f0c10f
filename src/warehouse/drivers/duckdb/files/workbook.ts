import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatCount } from '../../../../lib/format-count.ts';
import { shortHash } from '../../../../lib/hash.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import { warehouseError } from '../../../warehouse-error.ts';
import type { FileOptions } from './file-options.ts';
import type { FileTable } from './file-tables.ts';
import type { ReadableTable } from './readable-tables.ts';
import { countFilled, countTitleRows, type GridCell, type GridRow, isEmpty } from './title-rows.ts';
import { requireSmallArchive } from './zip-members.ts';

interface Sheet {
  readonly sheet: string;
  readonly data: readonly GridRow[];
}

const largestWorkbook = 512 * 2 ** 20;
/** Rows in which the start of the table is looked for. */
const firstRows = 50;

/**
 * One table for each sheet with rows: with one sheet it has the name of the workbook, with several
 * `<workbook>_<sheet>`. The types of the cells become the types of the columns.
 */
export async function readWorkbook(
  { name, files: [path = ''], options }: FileTable,
  folder: string,
): Promise<readonly ReadableTable[]> {
  await requireSmallArchive(path, largestWorkbook);
  const { default: readSheets } = await import('read-excel-file/node');
  const all = (await readSheets(path, { trim: false })) as unknown as readonly Sheet[];
  const sheets = chooseSheets(path, all, options);
  const isOnly = sheets.length === 1;
  return Promise.all(
    sheets.map(async ({ sheet, data }) => {
      const { names, rows, assumptions } = readGrid(data, options);
      const columns = names.map((column, at) => ({ column, type: typeOf(rows, at) }));
      const file = join(folder, `${shortHash(`${path}\n${sheet}`)}.csv`);
      const lines = rows.map((row) => names.map((_name, at) => csvCell(row[at])).join(','));
      await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
      const types = columns.map(
        ({ column, type }) => `${duckdb.literal(column)}: ${duckdb.literal(type)}`,
      );
      const format = `auto_detect = false, header = false, delim = ',', quote = '"', escape = '"', allow_quoted_nulls = false`;
      return {
        name: isOnly ? name : `${name}_${sheet}`,
        call: `read_csv(${duckdb.literal(file)}, ${format}, columns = {${types.join(', ')}})`,
        assumptions: assumptions.map((text) => `(sheet ${sheet}) ${text}`),
      };
    }),
  );
}

function chooseSheets(path: string, all: readonly Sheet[], options: FileOptions): readonly Sheet[] {
  const wanted = options.sheet?.toLowerCase();
  const named = all.filter(({ sheet }) => wanted === undefined || sheet.toLowerCase() === wanted);
  const names = all.map(({ sheet }) => sheet).join(', ');
  if (named.length === 0)
    throw warehouseError(
      'not_a_database',
      `${basename(path)} could not be loaded: it has no sheet ${options.sheet}; it has ${names}.`,
    );
  const filled = named.filter(({ data }) => data.some((row) => countFilled(row) > 0));
  if (filled.length > 0) return filled;
  throw warehouseError(
    'not_a_database',
    `${basename(path)} could not be loaded: its sheets have no rows.`,
  );
}

/** The names and rows of the table on a sheet, without lines above it and without empty rows. */
function readGrid(data: readonly GridRow[], { header, skip_lines: skip }: FileOptions) {
  const filled = data.slice(skip ?? 0).filter((row) => countFilled(row) > 0);
  const width = Math.max(0, ...filled.slice(0, firstRows).map(countFilled));
  const fuller = filled.findIndex((row) => countFilled(row) * 2 >= width);
  const start = skip === undefined ? Math.max(fuller, countTitleRows(filled)) : 0;
  const table = filled.slice(Math.max(0, start));
  const [first = []] = table;
  const looksLikeNames = first.every((cell) => isEmpty(cell) || typeof cell === 'string');
  const hasNames = header ?? looksLikeNames;
  const rows = hasNames ? table.slice(1) : table;
  const columns = table.reduce((most, row) => Math.max(most, row.length), 0);
  const names = uniqueNames(
    Array.from({ length: columns }, (_empty, at) => (hasNames ? cellText(first[at]).trim() : '')),
  );
  const assumptions = [
    ...(start > 0
      ? [`has ${formatCount(start, 'row')} above its table, left out (skip_lines)`]
      : []),
    ...(hasNames || header !== undefined
      ? []
      : [`has no row of names: its columns are ${names.join(', ')} (header)`]),
  ];
  return { names, rows, assumptions };
}

/** `column2` for a column without a name; `total_2` for the second of a name. */
function uniqueNames(wishes: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return wishes.map((wish, at) => {
    const base = wish === '' ? `column${at}` : wish;
    let name = base;
    for (let count = 2; used.has(name.toLowerCase()); count++) name = `${base}_${count}`;
    used.add(name.toLowerCase());
    return name;
  });
}

function typeOf(rows: readonly GridRow[], at: number): string {
  const cells = rows.map((row) => row[at]).filter((cell) => !isEmpty(cell));
  if (cells.length === 0) return 'VARCHAR';
  if (cells.every((cell) => typeof cell === 'boolean')) return 'BOOLEAN';
  if (cells.every((cell) => typeof cell === 'number'))
    return cells.every((cell) => Number.isSafeInteger(cell)) ? 'BIGINT' : 'DOUBLE';
  if (!cells.every((cell) => cell instanceof Date)) return 'VARCHAR';
  return cells.every((cell) => cell.getTime() % 86_400_000 === 0) ? 'DATE' : 'TIMESTAMP';
}

function csvCell(cell: GridCell): string {
  return isEmpty(cell) ? '' : `"${cellText(cell).replaceAll('"', '""')}"`;
}

/** A date without a time as a day. */
function cellText(cell: GridCell): string {
  if (!(cell instanceof Date)) return String(cell ?? '');
  const text = cell.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text.replace('T', ' ').slice(0, -1);
}
