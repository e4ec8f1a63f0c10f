import type { Catalog } from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { FindTable } from '../table-finder.ts';
import { tablesOfSql } from './tables-of-sql.ts';

export interface QueryPlaceContext {
  readonly dialect: Dialect;
  readonly findTable: FindTable;
  readonly catalogs: ReadonlyMap<string, Catalog>;
}

/**
 * The warehouse in which a query of a source can be a dataset of that name: the one with its
 * tables. Or why none can. Runs inside `withAnalyzer`.
 */
export function findQueryPlace(
  { dataset, sql }: { readonly dataset: string; readonly sql: string },
  { dialect, findTable, catalogs }: QueryPlaceContext,
): { readonly connection: string } | { readonly reason: string } {
  const tables = tablesOfSql(sql, dialect);
  if (tables === undefined) return { reason: `ktx cannot parse its SQL as ${dialect.name}` };
  const connections = new Set<string>();
  // Where the engine looks for a name without a schema.
  const first = [...catalogs.values()].map(({ firstSchema }) => firstSchema);
  for (const { table, schema } of tables) {
    const schemas = schema === undefined ? first : [schema];
    const match = findTable({ table, schemas, isExact: schema !== undefined });
    const name = schema === undefined ? table : `${schema}.${table}`;
    if (match.kind === 'missing') return { reason: `the warehouse has no table ${name}` };
    if (match.kind === 'ambiguous')
      return { reason: `${name} could be ${match.candidates.join(' or ')}` };
    connections.add(match.table.connection);
  }
  const [connection, ...others] = connections;
  if (connection === undefined) return { reason: 'it reads no table' };
  if (others.length > 0) return { reason: 'its tables are in several warehouses' };
  return isTable(dataset, catalogs.get(connection))
    ? { reason: `a table of the warehouse is the dataset ${dataset}` }
    : { connection };
}

const tableDatasets = new WeakMap<Catalog, ReadonlySet<string>>();

function isTable(dataset: string, catalog: Catalog | undefined): boolean {
  if (catalog === undefined) return false;
  let known = tableDatasets.get(catalog);
  if (known === undefined) {
    const names = datasetNames(catalog);
    known = new Set(catalog.tables.map((table) => names.dataset(table)));
    tableDatasets.set(catalog, known);
  }
  return known.has(dataset);
}
