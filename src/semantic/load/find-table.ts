import type { Dialect, TableRef } from '../../sql/dialect.ts';
import type { Relation } from '../relational/query-tree.ts';

/**
 * The catalog's table of a relation. Without a schema, the default schema wins: ktx does not know
 * which others are searched. A relation of two parts means a table of the connection's own
 * database.
 */
export function findTable<Table extends TableRef>(
  dialect: Dialect,
  relation: Relation,
  tables: readonly Table[],
): Table | undefined {
  if (relation.kind === 'query') return undefined;
  const isSame = (a: string, b: string) =>
    a === b || (dialect.ignoresCase && a.toLowerCase() === b.toLowerCase());
  const [name = '', schema, catalog] = relation.parts.toReversed();
  const matches = (tablesByName(tables).get(name.toLowerCase()) ?? []).filter(
    (table) =>
      isSame(table.table, name) &&
      isSame(table.schema, schema ?? table.schema) &&
      isSame(table.catalog ?? catalog ?? '', catalog ?? table.catalog ?? ''),
  );
  const inCatalog = matches.filter((table) => isSame(table.catalog ?? '', catalog ?? ''));
  const found = inCatalog.length > 0 ? inCatalog : matches;
  return found.find((table) => isSame(table.schema, dialect.defaultSchema)) ?? found[0];
}

const tableIndexes = new WeakMap<readonly object[], unknown>();

/** By name in lower case. */
function tablesByName<Table extends TableRef>(
  tables: readonly Table[],
): ReadonlyMap<string, readonly Table[]> {
  const known = tableIndexes.get(tables) as ReadonlyMap<string, readonly Table[]> | undefined;
  const index = known ?? Map.groupBy(tables, ({ table }) => table.toLowerCase());
  tableIndexes.set(tables, index);
  return index;
}
