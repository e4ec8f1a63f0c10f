import type { Catalog, CatalogTable } from '../context/catalog/catalog.ts';
import { datasetNames } from '../context/catalog/dataset-names.ts';

/** A table of a warehouse with the names that artifacts use. */
export interface KnownTable {
  /** The warehouse. */
  readonly connection: string;
  readonly table: CatalogTable;
  readonly dataset: string;
  /** The field of a column, in whatever case that is written. */
  readonly field: (column: string) => string | undefined;
}

/** What a source calls a table. */
interface Wanted {
  readonly database?: string | undefined;
  /** The best first. */
  readonly schemas: readonly string[];
  readonly table: string;
  /** The schema is the table's own: one of the same name elsewhere is another table. */
  readonly isExact: boolean;
}

type Match =
  | { readonly table: KnownTable }
  /** `isOutside`: its schema is none that was read. */
  | { readonly none: true; readonly isOutside: boolean }
  | { readonly among: readonly string[] };

/** `taken`: tables that are something else's. */
export type FindTable = (wanted: Wanted, taken?: ReadonlySet<KnownTable>) => Match;

/** Finds tables by their names, whatever case those are in. One that several warehouses or schemas could mean is not guessed. */
export function openTables(
  catalogs: ReadonlyMap<string, Catalog>,
  warehouse: string | undefined,
): FindTable {
  const all = [...catalogs.values()].filter(
    ({ connection }) => warehouse === undefined || connection === warehouse,
  );
  const known = all.flatMap((catalog) => {
    const names = datasetNames(catalog);
    return catalog.tables.map((table): KnownTable => {
      const dataset = names.dataset(table);
      const fields = lazily(
        () => new Map(table.columns.map(({ name }) => [folded(name), names.field(table, name)])),
      );
      return {
        connection: catalog.connection,
        table,
        dataset,
        field: (column) => fields().get(folded(column)),
      };
    });
  });
  const byName = Map.groupBy(known, ({ table }) => folded(table.table));
  const schemas = new Set(known.map(({ table }) => folded(table.schema)));
  return (wanted, taken) => {
    const named = byName.get(folded(wanted.table))?.filter((table) => !taken?.has(table)) ?? [];
    const within = narrowed(named, wanted);
    const [only, ...others] = within;
    const isOutside =
      wanted.isExact && !wanted.schemas.some((schema) => schemas.has(folded(schema)));
    if (only === undefined) return { none: true, isOutside };
    if (others.length === 0) return { table: only };
    return {
      among: within.map(
        ({ connection, table: { schema, table } }) => `${connection}: ${schema}.${table}`,
      ),
    };
  };
}

/** Those in the very schema; else, where the schema is only a wish, those in one that ends with it, else all. */
function narrowed(
  named: readonly KnownTable[],
  { database, schemas, isExact }: Wanted,
): readonly KnownTable[] {
  const passing = (test: (schema: string, wish: string) => boolean) => {
    const groups = schemas.map((wish) =>
      named.filter(({ table }) => test(folded(table.schema), folded(wish))),
    );
    return groups.find((group) => group.length > 0) ?? [];
  };
  const inSchema = passing((schema, wish) => schema === wish);
  const inDatabase = inSchema.filter(
    ({ table }) => database !== undefined && folded(table.catalog ?? '') === folded(database),
  );
  if (inDatabase.length > 0) return inDatabase;
  if (inSchema.length > 0 || isExact) return inSchema;
  const ending = passing((schema, wish) => schema.endsWith(`_${wish}`));
  return ending.length > 0 ? ending : named;
}

function folded(name: string): string {
  return name.toLowerCase();
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
