import { tableKey, type TableRef } from '../sql/dialect.ts';
import type { Catalog, CatalogTable, DatasetNames } from './catalog.ts';
import { grantNames, slug } from './slug.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The names that artifacts use for the tables and columns of a catalog.
 * A dataset is its table in lower case, outside the first schema `schema__table`; a field is its column, verbatim where that
 * is an identifier. What is not of that form is slugged; a collision gets a suffix from the hash of the physical name.
 */
export function datasetNames(catalog: Pick<Catalog, 'firstSchema' | 'tables'>): DatasetNames {
  const datasets = grantNames(
    catalog.tables.map((table) => {
      const wish = wishedDataset(table, catalog.firstSchema);
      const exact = table.schema === catalog.firstSchema && table.table === wish;
      return { key: tableKey(table), wish, exact };
    }),
  );
  const tables = new Map(catalog.tables.map((table) => [tableKey(table), table]));
  const fields = new Map<string, Map<string, string>>();
  return {
    dataset: (table) => datasets.get(tableKey(table)) ?? wishedDataset(table, catalog.firstSchema),
    field: (table, column) => {
      const key = tableKey(table);
      const names = fields.get(key) ?? fieldNames(tables.get(key)?.columns ?? []);
      fields.set(key, names);
      return names.get(column) ?? (identifier.test(column) ? column : identified(slug(column)));
    },
  };
}

function wishedDataset(table: TableRef, firstSchema: string): string {
  return identified(table.schema === firstSchema ? slug(table.table) : `${slug(table.schema)}__${slug(table.table)}`);
}

function identified(wish: string): string {
  return identifier.test(wish) ? wish : `_${wish}`;
}

function fieldNames(columns: CatalogTable['columns']): Map<string, string> {
  const verbatim = columns.map(({ name }) => name).filter((name) => identifier.test(name));
  const others = columns.map(({ name }) => name).filter((name) => !identifier.test(name));
  const slugged = grantNames(
    others.map((key) => ({ key, wish: identified(slug(key)), exact: false })),
    verbatim,
  );
  return new Map([...verbatim.map((name) => [name, name] as const), ...slugged]);
}
