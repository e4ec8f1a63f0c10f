import type { Catalog, CatalogTable } from '../context/catalog/catalog.ts';
import { datasetNames } from '../context/catalog/dataset-names.ts';

/** A table of a warehouse with the names that artifacts use. */
export interface KnownTable {
  /** The connection of the warehouse. */
  readonly connection: string;
  readonly table: CatalogTable;
  readonly dataset: string;
  /** The field of a column, in whatever case the column is written. */
  readonly field: (column: string) => string | undefined;
}

/** A dataset of a warehouse: a table, or a query that a source has. */
export type KnownDataset = Omit<KnownTable, 'table'>;

/** The names by which a source refers to a table. */
interface TableReference {
  readonly database?: string | undefined;
  /** In order of preference. */
  readonly schemas: readonly string[];
  readonly table: string;
  /** Only a table in one of `schemas` will do; otherwise they are preferences. */
  readonly isExact: boolean;
}

type TableMatch =
  | { readonly kind: 'found'; readonly table: KnownTable }
  /** `isOutside`: ktx has read none of the schemas that an exact reference names. */
  | { readonly kind: 'missing'; readonly isOutside: boolean }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] };

/** Finds the table of a reference; `taken` are tables that cannot be meant. */
export type FindTable = (reference: TableReference, taken?: ReadonlySet<KnownTable>) => TableMatch;

/**
 * Looks tables up by name, ignoring case. A name that several warehouses or schemas have is
 * ambiguous, never guessed.
 */
export function tableFinder(
  catalogs: ReadonlyMap<string, Catalog>,
  warehouse: string | undefined,
): FindTable {
  const tables = [...catalogs.values()]
    .filter(({ connection }) => warehouse === undefined || connection === warehouse)
    .flatMap(tablesOf);
  const byName = Map.groupBy(tables, ({ table }) => table.table.toLowerCase());
  const schemasRead = new Set(tables.map(({ table }) => table.schema.toLowerCase()));
  return (reference, taken) => {
    const sameName = byName.get(reference.table.toLowerCase()) ?? [];
    const candidates = narrowToSchema(
      sameName.filter((table) => !taken?.has(table)),
      reference,
    );
    const [only, ...others] = candidates;
    if (only === undefined) {
      const isRead = reference.schemas.some((schema) => schemasRead.has(schema.toLowerCase()));
      return { kind: 'missing', isOutside: reference.isExact && !isRead };
    }
    if (others.length === 0) return { kind: 'found', table: only };
    const spelled = candidates.map(
      ({ connection, table: { schema, table } }) => `${connection}: ${schema}.${table}`,
    );
    return { kind: 'ambiguous', candidates: spelled };
  };
}

function tablesOf(catalog: Catalog): KnownTable[] {
  const names = datasetNames(catalog);
  return catalog.tables.map((table) => {
    let fields: ReadonlyMap<string, string> | undefined;
    const fieldsByColumn = () =>
      (fields ??= new Map(
        table.columns.map(({ name }) => [name.toLowerCase(), names.field(table, name)]),
      ));
    return {
      connection: catalog.connection,
      table,
      dataset: names.dataset(table),
      field: (column) => fieldsByColumn().get(column.toLowerCase()),
    };
  });
}

/**
 * The tables of the first schema that has any; those in the right database before the others.
 * Without one, and unless the schema has to match exactly: the tables of a schema whose name ends
 * with `_<schema>`, then all.
 */
function narrowToSchema(
  tables: readonly KnownTable[],
  { database, schemas, isExact }: TableReference,
): readonly KnownTable[] {
  const firstMatch = (matches: (own: string, wanted: string) => boolean) =>
    schemas
      .map((wanted) =>
        tables.filter(({ table }) => matches(table.schema.toLowerCase(), wanted.toLowerCase())),
      )
      .find((group) => group.length > 0) ?? [];
  const inSchema = firstMatch((own, wanted) => own === wanted);
  const inDatabase = inSchema.filter(
    ({ table }) =>
      database !== undefined && table.catalog?.toLowerCase() === database.toLowerCase(),
  );
  if (inDatabase.length > 0) return inDatabase;
  if (inSchema.length > 0 || isExact) return inSchema;
  const withSuffix = firstMatch((own, wanted) => own.endsWith(`_${wanted}`));
  return withSuffix.length > 0 ? withSuffix : tables;
}
