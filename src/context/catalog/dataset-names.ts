import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { Catalog, CatalogTable, DatasetNames } from './catalog.ts';
import { assignUniqueNames, slug } from './slug.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The names that artifacts use for the tables and columns of a catalog.
 * A dataset is its table in lower case, outside the first schema `schema__table`; a field is its column, verbatim where that
 * is an identifier. What is not of that form is slugged; a collision gets a suffix from the hash of the physical name.
 */
export function datasetNames({
  firstSchema,
  tables,
}: Pick<Catalog, 'firstSchema' | 'tables'>): DatasetNames {
  const wished = ({ schema, table }: TableRef) =>
    identified(schema === firstSchema ? slug(table) : `${slug(schema)}__${slug(table)}`);
  const datasets = assignUniqueNames(
    tables.map((table) => {
      const wish = wished(table);
      return {
        key: tableKey(table),
        wish,
        exact: table.schema === firstSchema && table.table === wish,
      };
    }),
  );
  const fields = new Map(tables.map((table) => [tableKey(table), namesOfOthers(table.columns)]));
  return {
    dataset: (table) => datasets.get(tableKey(table)) ?? wished(table),
    field: (table, column) => fields.get(tableKey(table))?.get(column) ?? column,
  };
}

/** Names for the columns that are no identifiers. */
function namesOfOthers(columns: CatalogTable['columns']): Map<string, string> {
  const names = columns.map(({ name }) => name);
  const others = names.filter((name) => !identifier.test(name));
  const wishes = others.map((key) => ({ key, wish: identified(slug(key)), exact: false }));
  return assignUniqueNames(wishes, new Set(names).difference(new Set(others)));
}

function identified(wish: string): string {
  return identifier.test(wish) ? wish : `_${wish}`;
}
