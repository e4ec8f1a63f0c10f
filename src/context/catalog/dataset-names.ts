import { hasOtherLetters, transliterate } from '../../lib/patterns/transliterate.ts';
import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { Catalog, CatalogTable, DatasetNames } from './catalog.ts';
import { assignUniqueNames, slug } from './slug.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The names that artifacts use for the tables and columns of a catalog. A dataset has the name of
 * its table in lower case, and `schema__table` outside the first schema; in another database or
 * catalog than the connection's own, that name stands before it: `crm__table`. A field has the name
 * of its column. A name that is not an identifier becomes a slug; colliding names get a suffix from
 * the hash of the physical name. A name that the catalog records comes first.
 */
export function datasetNames({
  firstSchema,
  letters,
  tables,
}: Pick<Catalog, 'firstSchema' | 'letters' | 'tables'>): DatasetNames {
  const readable = letters === 'latin' ? (name: string) => slug(transliterate(name)) : slug;
  const wishFor = ({ catalog, schema, table }: TableRef) => {
    const places = [catalog, schema === firstSchema ? undefined : schema];
    const parts = [...places.filter((place) => place !== undefined), table];
    return toIdentifier(parts.map(readable).join('__'));
  };
  const datasets = assignUniqueNames(
    tables.map((table) => {
      const wish = wishFor(table);
      const isPlain = table.catalog === undefined && table.schema === firstSchema;
      const exact = isPlain && table.table === wish;
      return { key: tableKey(table), wish, exact, recorded: table.dataset };
    }),
  );
  const fields = new Map(
    tables.map(({ columns, ...table }) => [tableKey(table), nameColumns(columns, readable)]),
  );
  return {
    dataset: (table) => datasets.get(tableKey(table)) ?? wishFor(table),
    field: (table, column) => fields.get(tableKey(table))?.get(column) ?? column,
  };
}

/**
 * The catalog with the names that its tables and columns have in the recorded one: what people
 * wrote about a name must not pass to a newer table or column. Names in other scripts stay as they
 * are written there, and are in Latin letters where it has none of them.
 */
export function keepNames(catalog: Catalog, recorded: Catalog | undefined): Catalog {
  const named = { ...catalog, letters: lettersOf(catalog, recorded) };
  if (recorded === undefined) return named;
  const unchanged = withSameRecords(named, recorded);
  if (unchanged !== undefined) return unchanged;
  const earlier = datasetNames(recorded);
  const columnsOf = new Map(
    recorded.tables.map((table) => [
      tableKey(table),
      new Set(table.columns.map(({ name }) => name)),
    ]),
  );
  const kept = withNames(named, {
    dataset: (table) => (columnsOf.has(tableKey(table)) ? earlier.dataset(table) : undefined),
    field: (table, column) =>
      columnsOf.get(tableKey(table))?.has(column) === true
        ? earlier.field(table, column)
        : undefined,
  });
  // A new table or column whose name was taken is recorded as well: it keeps what it got.
  return withNames(named, datasetNames(kept));
}

/** The catalog with the recorded names where no name has come or gone; undefined elsewhere. */
function withSameRecords(catalog: Catalog, recorded: Catalog): Catalog | undefined {
  const isSame =
    catalog.firstSchema === recorded.firstSchema &&
    catalog.tables.length === recorded.tables.length;
  if (!isSame) return undefined;
  const earlier = new Map(recorded.tables.map((table) => [tableKey(table), table]));
  const tables = catalog.tables.map((table) => {
    const { dataset, columns: before = [] } = earlier.get(tableKey(table)) ?? {};
    const fields = new Map(before.map(({ name, field }) => [name, field]));
    const hasSame = table.columns.length === before.length;
    if (!hasSame || !table.columns.every(({ name }) => fields.has(name))) return undefined;
    const columns = table.columns.map((column) => {
      const field = fields.get(column.name);
      return field === undefined ? column : { ...column, field };
    });
    return dataset === undefined ? { ...table, columns } : { ...table, columns, dataset };
  });
  const known = tables.filter((table) => table !== undefined);
  return known.length === tables.length ? { ...catalog, tables: known } : undefined;
}

/** Records the names that tables and columns would not have without a record. */
function withNames(
  catalog: Catalog,
  names: {
    readonly dataset: (table: TableRef) => string | undefined;
    readonly field: (table: TableRef, column: string) => string | undefined;
  },
): Catalog {
  const usual = datasetNames(catalog);
  const tables = catalog.tables.map((table) => {
    const columns = table.columns.map((column) => {
      const field = names.field(table, column.name);
      const isUsual = field === undefined || field === usual.field(table, column.name);
      return isUsual ? column : { ...column, field };
    });
    const dataset = names.dataset(table);
    const isUsual = dataset === undefined || dataset === usual.dataset(table);
    return isUsual ? { ...table, columns } : { ...table, columns, dataset };
  });
  return { ...catalog, tables };
}

function lettersOf(catalog: Catalog, recorded: Catalog | undefined): Catalog['letters'] {
  if (recorded !== undefined && hasOtherScripts(recorded)) return recorded.letters;
  return hasOtherScripts(catalog) ? 'latin' : undefined;
}

function hasOtherScripts({ tables }: Catalog): boolean {
  return tables.some(
    ({ catalog = '', schema, table, columns }) =>
      [catalog, schema, table].some(hasOtherLetters) ||
      columns.some(({ name }) => hasOtherLetters(name)),
  );
}

const ownNames: ReadonlyMap<string, string> = new Map();

/**
 * Field names of the columns that do not have their own. One that is an identifier has the first
 * right to its name.
 */
function nameColumns(
  columns: CatalogTable['columns'],
  readable: (name: string) => string,
): ReadonlyMap<string, string> {
  const recorded = new Set(columns.flatMap(({ field }) => field?.toLowerCase() ?? []));
  const hasOwnName = ({ name, field }: CatalogTable['columns'][number]): boolean =>
    field === undefined && identifier.test(name) && !recorded.has(name.toLowerCase());
  const others = columns.filter((column) => !hasOwnName(column));
  if (others.length === 0) return ownNames;
  const requests = others.map(({ name, field }) => ({
    key: name,
    wish: identifier.test(name) ? name : toIdentifier(readable(name)),
    exact: false,
    recorded: field,
  }));
  return assignUniqueNames(
    requests,
    columns.filter(hasOwnName).map(({ name }) => name),
  );
}

function toIdentifier(slugged: string): string {
  return identifier.test(slugged) ? slugged : `_${slugged}`;
}
