import { tableKey } from '../sql/dialect.ts';
import type { ColumnSchema, TableSchema } from '../warehouse/warehouse.ts';
import { nameParts, sharedPrefix, tableParts, type NameParts } from './names.ts';
import type { ColumnProfile, TableProfile } from './profile.ts';
import type { ValueKind } from './kinds.ts';

/** A table with everything that keys and links are judged by. */
export interface TableFacts {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  /** Changes when the structure or the rows change. */
  readonly version: string;
  readonly parts: NameParts;
  readonly columns: readonly ColumnFacts[];
  /** Rows of the whole table, extrapolated where it was sampled. */
  readonly rows: number;
}

export interface ColumnFacts {
  readonly table: TableSchema;
  readonly schema: ColumnSchema;
  readonly profile: ColumnProfile;
  readonly position: number;
  readonly parts: NameParts;
  /** Number of values that are not NULL, among what was read. */
  readonly present: number;
  /** What the column can be compared with; undefined where it cannot be a key. */
  readonly family: 'integer' | 'text' | 'date' | undefined;
}

export interface ProfiledTable {
  readonly schema: TableSchema;
  readonly profile: TableProfile;
  readonly version: string;
}

export function factsOf(tables: readonly ProfiledTable[]): TableFacts[] {
  const tablePrefix = sharedPrefix(tables.map(({ schema }) => schema.table));
  const vocabulary = new Set(tables.flatMap(({ schema }) => tableParts(schema.table, tablePrefix).words));
  return tables.map(({ schema, profile, version }) => {
    const prefix = sharedPrefix(schema.columns.map(({ name }) => name));
    const parts = tableParts(schema.table, tablePrefix);
    const profiles = new Map(profile.columns.map((column) => [column.name, column]));
    const columns = schema.columns.flatMap((column, position) => {
      const own = profiles.get(column.name);
      if (!own) return [];
      const bare = prefix.endsWith('_') && column.name.length > prefix.length && column.name.toLowerCase().startsWith(prefix) ? column.name.slice(prefix.length) : column.name;
      const present = profile.rows - own.nulls;
      return [{ table: schema, schema: column, profile: own, position, parts: nameParts(bare, vocabulary), present, family: familyOf(column, own.kind) }];
    });
    return { schema, profile, version, parts, columns, rows: Math.round(profile.rows / profile.fraction) };
  });
}

const textKinds: ReadonlySet<ValueKind> = new Set(['integer', 'uuid', 'code', 'name', 'phone', 'email', 'empty', 'text']);

function familyOf(column: ColumnSchema, kind: ValueKind): ColumnFacts['family'] {
  if (column.type === 'integer') return 'integer';
  if (column.type === 'decimal') return kind === 'integer' ? 'integer' : undefined;
  if (column.type === 'date') return 'date';
  return column.type === 'string' && textKinds.has(kind) ? 'text' : undefined;
}

/** May two columns hold the same values? Integers may be stored as text on one side. */
export function comparable(a: ColumnFacts, b: ColumnFacts): boolean {
  if (a.family === undefined || b.family === undefined) return false;
  if (a.family === b.family) return true;
  const mixed = [a, b].find(({ family }) => family === 'text');
  return mixed?.profile.kind === 'integer' && a.family !== 'date' && b.family !== 'date';
}

export function columnId(column: ColumnFacts): string {
  return `${tableKey(column.table)}${column.schema.name}`;
}
