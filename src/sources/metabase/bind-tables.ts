import type { Dialect } from '../../sql/dialect.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { ExtractContext } from '../source.ts';
import { type FindTable, type KnownTable, tableFinder } from '../table-finder.ts';
import type { QueryFields } from './query-conditions.ts';
import type { MetabaseConfig } from './config.ts';
import type { StoredField, StoredMetabase, StoredTable } from './read-items.ts';

/** A table of Metabase with the table of the warehouse. */
export interface BoundTable {
  readonly stored: StoredTable;
  readonly table: KnownTable;
  readonly dialect: Dialect;
}

/** A database of Metabase that `ktx.yaml` maps to a warehouse. */
interface BoundDatabase {
  readonly findTable: FindTable;
  readonly dialect: Dialect;
}

export interface BoundMetabase {
  readonly databases: ReadonlyMap<number, BoundDatabase>;
  readonly tables: ReadonlyMap<number, BoundTable>;
  /** A field of a bound table, by its number in Metabase, with the name that ktx has for it. */
  readonly fields: ReadonlyMap<number, BoundField>;
  /** Of a warehouse that a database is mapped to. */
  readonly dialectOf: (connection: string) => Dialect | undefined;
}

export interface BoundField {
  readonly owner: BoundTable;
  readonly stored: StoredField;
  readonly name: string;
}

/** Finds the tables and fields of the mapped databases by their names. */
export function bindTables(
  { databases, tables }: Pick<StoredMetabase, 'databases' | 'tables'>,
  { catalogs, config }: Pick<ExtractContext<MetabaseConfig>, 'catalogs' | 'config'>,
): BoundMetabase {
  const bound = new Map<number, BoundDatabase>();
  for (const { id } of databases) {
    const warehouse = config.databases?.[id];
    const catalog = warehouse === undefined ? undefined : catalogs.get(warehouse);
    const dialect = catalog === undefined ? undefined : findDialect(catalog.dialect);
    if (dialect !== undefined)
      bound.set(id, { findTable: tableFinder(catalogs, warehouse), dialect });
  }
  const known = new Map<number, BoundTable>();
  const fields = new Map<number, BoundField>();
  for (const stored of tables) {
    const database = bound.get(stored.database_id);
    const schema = stored.schema ?? undefined;
    const match = database?.findTable({
      table: stored.name,
      schemas: schema === undefined ? [] : [schema],
      isExact: schema !== undefined,
    });
    if (database === undefined || match?.kind !== 'found') continue;
    const owner = { stored, table: match.table, dialect: database.dialect };
    known.set(stored.id, owner);
    for (const field of stored.fields) {
      const name = match.table.field(field.name);
      if (name !== undefined) fields.set(field.id, { owner, stored: field, name });
    }
  }
  const dialectOf = (connection: string) => {
    const catalog = catalogs.get(connection);
    return catalog && findDialect(catalog.dialect);
  };
  return { databases: bound, tables: known, fields, dialectOf };
}

/** The fields of one table in the conditions of a query. */
export function fieldsOfTable(
  owner: BoundTable,
  { fields }: Pick<BoundMetabase, 'fields'>,
): QueryFields['fieldOf'] {
  return (id, alias) => {
    const field = typeof id === 'number' && alias === undefined ? fields.get(id) : undefined;
    if (field === undefined || field.owner !== owner) return undefined;
    const { columns } = owner.table.table;
    const column = columns.find(({ name }) => owner.table.field(name) === field.name);
    const isCoerced = (field.stored.coercion_strategy ?? '') !== '';
    return { name: field.name, column: column?.name, type: column?.type ?? 'unknown', isCoerced };
  };
}
