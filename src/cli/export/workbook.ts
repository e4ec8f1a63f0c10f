import writeWorkbook from 'write-excel-file/node';
import type { CellObject, Row } from 'write-excel-file/node';
import { UserError } from '../../lib/error.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import type { Table } from '../terminal/table.ts';

/** Limits of the format. */
const mostRows = 1_048_575;
const longestCell = 32_767;

/**
 * An XLSX workbook with one sheet. Text is text, also if it begins like a formula; numbers with
 * more digits than a double holds are text.
 */
export async function renderWorkbook({ columns, rows }: Table): Promise<Uint8Array> {
  if (rows.length > mostRows) throw tooLargeError('more rows than a sheet can have');
  const header = columns.map(({ name }): CellObject => ({
    value: cellText(name),
    type: String,
    fontWeight: 'bold',
  }));
  const body = rows.map((row): Row =>
    columns.map(({ type }, index) => workbookCell(row[index], type)),
  );
  return writeWorkbook([header, ...body]).toBuffer();
}

const formats: Readonly<Record<string, string>> = {
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
};

function workbookCell(value: Cell | undefined, type: string | undefined): CellObject | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return { value, type: Number };
  if (typeof value === 'boolean') return { value, type: Boolean };
  const format = formats[type ?? ''];
  const date = format === undefined ? undefined : dateOf(value);
  return date === undefined || format === undefined
    ? { value: cellText(value), type: String }
    : { value: date, type: Date, format };
}

/** Workbooks count days from 1900. */
function dateOf(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/.test(text)) return undefined;
  const date = new Date(`${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1901 ? undefined : date;
}

function cellText(text: string): string {
  if (text.length > longestCell) throw tooLargeError('a text that is too long for a cell');
  return text.toWellFormed().replaceAll(notInXml, '\ufffd');
}

/** XML has no place for these. */
const notInXml =
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function tooLargeError(what: string): UserError {
  return new UserError('export_too_large', `The rows have ${what}.`, {
    hint: 'export them as CSV or Parquet',
  });
}
