import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { Catalog, CatalogTable, DatasetNames } from './catalog.ts';
import { assignUniqueNames, slug } from './slug.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The names that artifacts use for the tables and columns of a catalog. A dataset has the name of
 * its table in lower case, and `schema__table` outside the first schema. A field has the name of
 * its column. A name that is not an identifier becomes a slug; colliding names get a suffix from
 * the hash of the physical name.
 */
export function datasetNames({
  firstSchema,
  tables,
}: Pick<Catalog, 'firstSchema' | 'tables'>): DatasetNames {
  const wishFor = ({ schema, table }: TableRef) =>
    toIdentifier(schema === firstSchema ? slug(table) : `${slug(schema)}__${slug(table)}`);
  const datasets = assignUniqueNames(
    tables.map((table) => {
      const wish = wishFor(table);
      const exact = table.schema === firstSchema && table.table === wish;
      return { key: tableKey(table), wish, exact };
    }),
  );
  const fields = new Map(tables.map((table) => [tableKey(table), renameColumns(table.columns)]));
  return {
    dataset: (table) => datasets.get(tableKey(table)) ?? wishFor(table),
    field: (table, column) => fields.get(tableKey(table))?.get(column) ?? column,
  };
}

/** Field names for the columns whose names are not identifiers. */
function renameColumns(columns: CatalogTable['columns']): Map<string, string> {
  const names = columns.map(({ name }) => name);
  const irregular = names.filter((name) => !identifier.test(name));
  const requests = irregular.map((key) => ({ key, wish: toIdentifier(slug(key)), exact: false }));
  return assignUniqueNames(requests, new Set(names).difference(new Set(irregular)));
}

function toIdentifier(slugged: string): string {
  return identifier.test(slugged) ? slugged : `_${slugged}`;
}
