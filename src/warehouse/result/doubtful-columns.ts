import type { TableRef } from '../../sql/dialect.ts';
import type { DoubtfulColumn } from '../driver.ts';

/**
 * What is in doubt about the columns that a statement names, in one of the tables that it reads. A
 * statement that reads all columns names each.
 */
export function warnOfDoubts(
  doubts: readonly DoubtfulColumn[],
  sql: string,
  tables: readonly TableRef[],
): readonly string[] {
  const read = new Set(tables.map(({ table }) => table.toLowerCase()));
  const words = new Set(sql.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
  const readsAll = /(?:select|distinct|,)\s*\*|\.\s*\*|^\s*from\b/i.test(sql);
  const isNamed = (column: string): boolean =>
    readsAll ||
    (column.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).every((word) => words.has(word));
  return doubts
    .filter(({ table, column }) => read.has(table.toLowerCase()) && isNamed(column))
    .map(({ text }) => text);
}
