import type { DatabaseSync } from 'node:sqlite';
import type { TableRef } from '../../sql/dialect.ts';
import type { ColumnSchema } from '../../warehouse/warehouse.ts';
import { isPersonal, isPersonalName, looksPersonal, type ValueKind } from './value-kinds.ts';
import type { TableProfile } from './profile-table.ts';

/** Columns with more different values are no dictionary. */
const mostValues = 100;
/** Longer ones were cut. */
const longest = 99;

/** What a column of few values may keep of those that were read: nothing of a personal kind or name, and nothing that looks like a person. */
export function keptValues(
  column: ColumnSchema,
  { kind, distinct, values }: { kind: ValueKind; distinct: number; values: readonly string[] },
) {
  if (
    column.type !== 'string' ||
    distinct > mostValues ||
    isPersonal(kind) ||
    isPersonalName(column.name)
  )
    return [];
  return [...new Set(values)]
    .filter((value) => value !== '' && value.length <= longest && !looksPersonal(value))
    .sort();
}

/** The columns of a table of which `scan.no_values` says that nothing is kept. */
export function unkept(
  { schema, table }: TableRef,
  columns: readonly ColumnSchema[],
  rules: readonly string[],
): string[] {
  const written = rules.map((rule) => rule.toLowerCase().split('.'));
  const isMeant = (column: string): boolean =>
    written.some((parts) => {
      const names = [schema, table, column].slice(-parts.length);
      return parts.every((part, index) => part === '*' || part === names[index]?.toLowerCase());
    });
  return columns.map(({ name }) => name).filter(isMeant);
}

export interface DictionaryColumn {
  readonly table: TableRef;
  readonly column: string;
  readonly values: readonly string[];
  /** False where the column has values that are not among them. */
  readonly isWhole: boolean;
}

/** Apart from the profiles, which are large: a search reads all of it. */
export const valuesTable =
  'CREATE TABLE IF NOT EXISTS scan_values (connection TEXT, place TEXT, name TEXT, vals TEXT, whole INTEGER, PRIMARY KEY (connection, place, name))';

/** The values of one table in place of those that were kept of it before. */
export function keepValues(
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

/** The value dictionary that the last scan of a connection left in `.ktx/state.db`. */
export function readValueDictionary(db: DatabaseSync, connection: string): DictionaryColumn[] {
  db.exec(valuesTable);
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
