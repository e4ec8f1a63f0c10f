import { isRecord } from '../../lib/json.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { findDialect } from '../../sql/dialects.ts';
import type { ExtractContext } from '../source.ts';
import { type FindTable, type KnownTable, tableFinder } from '../table-finder.ts';
import type { QueryFields } from './query-conditions.ts';
import type { MetabaseConfig } from './config.ts';
import type { StoredField, StoredMetabase, StoredSegment, StoredTable } from './read-items.ts';
import { type Clause, readCardQuery } from './read-query.ts';

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
  /** The filters of each segment that is a plain condition on its table, by its number. */
  readonly segments: ReadonlyMap<number, BoundSegment>;
  /** True if weeks begin on Mondays, as those of ktx do. */
  readonly hasMondayWeeks: boolean;
  /** Of a warehouse that a database is mapped to. */
  readonly dialectOf: (connection: string) => Dialect | undefined;
}

interface BoundSegment {
  readonly table: number;
  readonly filters: readonly Clause[];
}

export interface BoundField {
  readonly owner: BoundTable;
  readonly stored: StoredField;
  readonly name: string;
}

/** Finds the tables and fields of the mapped databases by their names. */
export function bindTables(
  { databases, tables, segments, startOfWeek }: StoredMetabase,
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
  return {
    databases: bound,
    tables: known,
    fields,
    segments: new Map(segments.flatMap((segment) => bindSegment(segment) ?? [])),
    hasMondayWeeks: startOfWeek === 'monday',
    dialectOf,
  };
}

/** Its query is a filter alone, the query of a question, or since version 57 stages. */
function bindSegment({ id, table_id: table, query }: StoredSegment) {
  const isWhole = isRecord(query['query']) || Array.isArray(query['stages']);
  const read = readCardQuery(isWhole ? query : { query });
  if (read.kind !== 'mbql') return undefined;
  const { filters, joins, groups, aggregations, others, card, limit } = read;
  const isPlain = joins.length + groups.length + others.length === 0 && limit === undefined;
  // Old segments repeat what people see of them as an aggregation.
  const isCounted = aggregations.every(({ op }) => op === 'count');
  if (!isPlain || !isCounted || card !== undefined || filters.length === 0) return undefined;
  return [[id, { table, filters }] as const];
}

/** The fields of one table in the conditions of a query. */
export function fieldsOfTable(
  owner: BoundTable,
  { fields, segments, hasMondayWeeks }: BoundMetabase,
): Omit<QueryFields, 'dialect'> {
  const segmentOf = (id: number) => {
    const segment = segments.get(id);
    return segment?.table === owner.stored.id ? segment.filters : undefined;
  };
  const fieldOf: QueryFields['fieldOf'] = (id, alias) => {
    const field = typeof id === 'number' && alias === undefined ? fields.get(id) : undefined;
    if (field === undefined || field.owner !== owner) return undefined;
    const { columns } = owner.table.table;
    const column = columns.find(({ name }) => owner.table.field(name) === field.name);
    const isCoerced = (field.stored.coercion_strategy ?? '') !== '';
    return { name: field.name, column: column?.name, type: column?.type ?? 'unknown', isCoerced };
  };
  return { fieldOf, segmentOf, hasMondayWeeks };
}
