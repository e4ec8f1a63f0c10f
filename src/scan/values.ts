import type { DatabaseSync } from 'node:sqlite';
import type { TableRef } from '../sql/dialect.ts';
import type { ColumnSchema } from '../warehouse/warehouse.ts';
import { isPersonal, isPersonalName, looksPersonal, type ValueKind } from './kinds.ts';
import type { TableProfile } from './profile.ts';

/** Columns with more different values are no dictionary. */
const mostValues = 100;
/** Longer ones were cut. */
const longest = 99;

/** What a column of few values may keep of those that were read: nothing of a personal kind or name, and nothing that looks like a person. */
export function keptValues(
  column: ColumnSchema,
  { kind, distinct, values }: { kind: ValueKind; distinct: number; values: readonly string[] },
) {
  if (column.type !== 'string' || distinct > mostValues || isPersonal(kind) || isPersonalName(column.name)) return [];
  return [...new Set(values)].filter((value) => value !== '' && value.length <= longest && !looksPersonal(value)).sort();
}

/** The columns of a table of which `scan.no_values` says that nothing is kept. */
export function unkept({ schema, table }: TableRef, columns: readonly ColumnSchema[], rules: readonly string[]): string[] {
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

/** The value dictionary that the last scan of a connection left in `.ktx/state.db`. */
export function dictionaryOf(db: DatabaseSync, connection: string): DictionaryColumn[] {
  const known = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'scan_memo'`).get();
  if (known === undefined) return [];
  const rows = db.prepare(`SELECT key, value FROM scan_memo WHERE connection = ? AND key LIKE '[%' ORDER BY key`).all(connection);
  return rows.flatMap(({ key, value }) => {
    const [catalog, schema, table] = JSON.parse(String(key)) as [string | null, string, string];
    const { profile } = JSON.parse(String(value)) as { profile: TableProfile };
    return profile.columns.flatMap(({ name, values, distinct }) => {
      const place = { ...(catalog === null ? {} : { catalog }), schema, table };
      return values.length === 0
        ? []
        : [{ table: place, column: name, values, isWhole: values.length >= distinct && profile.fraction === 1 }];
    });
  });
}
