import type { Catalog } from '../catalog/catalog.ts';
import { subjects } from './claim.ts';
import { datasetNames } from '../catalog/dataset-names.ts';
import { slug } from '../catalog/slug.ts';

export interface NamedDataset {
  readonly connection: string;
  readonly dataset: string;
  /** By the lower-case name of the column or the field. */
  readonly fields: ReadonlyMap<string, string>;
}

/** What people can mean by a name. A dataset's own name is its own, whatever tables of other schemas are called; else a name that means several things means none. */
export interface NameIndex {
  dataset(name: string): NamedDataset | undefined;
  /** The subject of `orders`, `orders.amount`, `main.orders`. */
  subject(name: string): string | undefined;
}

export function indexNames(catalogs: Iterable<Catalog>): NameIndex {
  const [own, others] = [
    new Map<string, NamedDataset | undefined>(),
    new Map<string, NamedDataset | undefined>(),
  ];
  const add = (found: typeof own, spelling: string, known: NamedDataset) =>
    found.set(spelling, found.has(spelling) ? undefined : known);
  for (const catalog of catalogs) {
    const names = datasetNames(catalog);
    for (const table of catalog.tables) {
      const dataset = names.dataset(table);
      const fields = table.columns.flatMap(({ name }) =>
        [name, names.field(table, name)].map(
          (each) => [each.toLowerCase(), names.field(table, name)] as const,
        ),
      );
      const known = { connection: catalog.connection, dataset, fields: new Map(fields) };
      for (const spelling of [dataset, `${catalog.connection}.${dataset}`].map(key))
        add(own, spelling, known);
      for (const spelling of [table.table, `${table.schema}.${table.table}`].map(key))
        add(others, spelling, known);
    }
  }
  const named = (spelling: string) => (own.has(spelling) ? own : others).get(spelling);
  const dataset = (name: string) => named(key(name)) ?? named(slug(name));
  return {
    dataset,
    subject(name) {
      const whole = dataset(name);
      if (whole) return subjects.dataset(whole.connection, whole.dataset);
      const dot = name.lastIndexOf('.');
      const owner = dot > 0 ? dataset(name.slice(0, dot)) : undefined;
      const field = owner?.fields.get(key(name.slice(dot + 1)));
      return owner && field !== undefined
        ? subjects.field(owner.connection, owner.dataset, field)
        : undefined;
    },
  };
}

function key(name: string): string {
  return name.trim().replaceAll(/[`"]/g, '').toLowerCase();
}
