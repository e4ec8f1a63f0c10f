import { fullTableName } from '../../sql/dialect.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { datasetNames } from '../catalog/dataset-names.ts';
import { slug } from '../catalog/slug.ts';
import { subjects } from './claim.ts';

export interface NamedDataset {
  readonly connection: string;
  readonly dataset: string;
  /** Field names, by the lower-case name of the column or the field. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Looks up what people mean by a name. A dataset's name wins over table names; an ambiguous name
 * resolves to undefined.
 */
export interface NameIndex {
  dataset(name: string): NamedDataset | undefined;
  /** The subject of `orders`, `orders.amount`, `main.orders`. */
  subject(name: string): string | undefined;
}

/** By spelling; undefined for an ambiguous one. */
type DatasetsBySpelling = Map<string, NamedDataset | undefined>;

export function indexNames(catalogs: Iterable<Catalog>): NameIndex {
  const byDatasetName: DatasetsBySpelling = new Map();
  const byTableName: DatasetsBySpelling = new Map();
  for (const catalog of catalogs) {
    const { connection } = catalog;
    const names = datasetNames(catalog);
    for (const table of catalog.tables) {
      const dataset = names.dataset(table);
      const fields = table.columns.flatMap(({ name: column }) => {
        const field = names.field(table, column);
        return [column, field].map((name) => [name.toLowerCase(), field] as const);
      });
      const named = { connection, dataset, fields: new Map(fields) };
      addSpellings(byDatasetName, [dataset, `${connection}.${dataset}`], named);
      addSpellings(byTableName, [table.table, fullTableName(table)], named);
    }
  }
  const lookUp = (spelling: string) =>
    (byDatasetName.has(spelling) ? byDatasetName : byTableName).get(spelling);
  const dataset = (name: string) => lookUp(normalizeName(name)) ?? lookUp(slug(name));
  return {
    dataset,
    subject(name) {
      const whole = dataset(name);
      if (whole) return subjects.dataset(whole.connection, whole.dataset);
      const dot = name.lastIndexOf('.');
      const parent = dot > 0 ? dataset(name.slice(0, dot)) : undefined;
      const field = parent?.fields.get(normalizeName(name.slice(dot + 1)));
      return parent && field !== undefined
        ? subjects.field(parent.connection, parent.dataset, field)
        : undefined;
    },
  };
}

function addSpellings(
  index: DatasetsBySpelling,
  spellings: readonly string[],
  named: NamedDataset,
): void {
  for (const spelling of spellings.map(normalizeName))
    index.set(spelling, index.has(spelling) ? undefined : named);
}

function normalizeName(name: string): string {
  return name.trim().replaceAll(/[`"]/g, '').toLowerCase();
}
