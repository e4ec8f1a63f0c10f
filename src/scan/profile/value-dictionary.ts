import type { DatabaseSync } from 'node:sqlite';
import type { TableRef } from '../../sql/dialect.ts';
import type { ColumnSchema } from '../../warehouse/warehouse.ts';
import { looksPersonal } from '../personal/personal-value.ts';
import type { TableProfile } from './table-profile.ts';

/** Columns with more distinct values are not kept in the dictionary. */
const maxDistinct = 100;
/** Values were cut to 100 characters when they were read, so a longer one is incomplete. */
const maxLength = 99;

/**
 * The values of a column that may be stored: those of a column with few, and of them none that
 * looks like a person.
 */
export function storableValues(
  column: ColumnSchema,
  { distinct, values }: { readonly distinct: number; readonly values: readonly string[] },
) {
  if (column.type !== 'string' || distinct > maxDistinct) return [];
  return [...new Set(values)]
    .filter((value) => value !== '' && value.length <= maxLength && !looksPersonal(value))
    .sort();
}

/**
 * Names of the columns that rules such as those of `scan.no_values` select: table.column or
 * schema.table.column.
 */
export function selectColumns(
  { schema, table }: TableRef,
  columns: readonly Pick<ColumnSchema, 'name'>[],
  rules: readonly string[],
): string[] {
  const patterns = rules.map((rule) => rule.toLowerCase().split('.'));
  const isSelected = (column: string): boolean =>
    patterns.some((parts) => {
      const names = [schema, table, column].slice(-parts.length);
      return parts.every((part, index) => part === '*' || part === names[index]?.toLowerCase());
    });
  return columns.map(({ name }) => name).filter(isSelected);
}

export interface DictionaryColumn {
  readonly table: TableRef;
  readonly column: string;
  readonly values: readonly string[];
  /** True if `values` are all values of the column. */
  readonly isWhole: boolean;
}

/** A table of its own, because a search reads all values and profiles are large. */
export const createValuesTable =
  'CREATE TABLE IF NOT EXISTS scan_values (connection TEXT, place TEXT, name TEXT, vals TEXT, whole INTEGER, PRIMARY KEY (connection, place, name))';

/** Replaces the stored values of one table. */
export function saveValues(
  db: DatabaseSync,
  { connection, table, profile }: { connection: string; table: string; profile: TableProfile },
): void {
  db.prepare('DELETE FROM scan_values WHERE connection = ? AND place = ?').run(connection, table);
  const insert = db.prepare('INSERT INTO scan_values VALUES (?, ?, ?, ?, ?)');
  for (const { name, values, distinct } of profile.columns) {
    const isWhole = values.length >= distinct && profile.fraction === 1;
    if (values.length > 0)
      insert.run(connection, table, name, JSON.stringify(values), Number(isWhole));
  }
}

/** The values that the last scan of a connection stored in `.ktx/state.db`. */
export function readValueDictionary(db: DatabaseSync, connection: string): DictionaryColumn[] {
  db.exec(createValuesTable);
  const rows = db
    .prepare(
      'SELECT place, name, vals, whole FROM scan_values WHERE connection = ? ORDER BY place, rowid',
    )
    .all(connection);
  return rows.map(({ place, name, vals, whole }) => {
    const [catalog, schema, table] = JSON.parse(String(place)) as [string | null, string, string];
    const values = JSON.parse(String(vals)) as string[];
    return {
      table: { ...(catalog === null ? {} : { catalog }), schema, table },
      column: String(name),
      values,
      isWhole: whole === 1,
    };
  });
}
