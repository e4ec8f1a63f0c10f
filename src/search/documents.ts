import type { Catalog, CatalogTable } from '../context/catalog/catalog.ts';

/** How much a kind counts beside an equally good match of another kind: what a person wrote above what a database has. */
export const kindWeights = {
  metric: 1.6,
  dataset: 1.5,
  term: 1.4,
  segment: 1.2,
  rule: 1.1,
  field: 1,
  table: 0.9,
  relationship: 0.8,
  column: 0.6,
} as const;
export type DocumentKind = keyof typeof kindWeights;
export const documentKinds = Object.keys(kindWeights) as DocumentKind[];

/** One thing that can be found. `subject` is unique within a connection. */
export interface SearchDocument {
  readonly kind: DocumentKind;
  readonly connection: string;
  readonly subject: string;
  readonly name: string;
  /** The dataset or, for what no dataset covers, the `schema.table` that it belongs to or is. */
  readonly parent: string;
  readonly synonyms?: readonly string[] | undefined;
  readonly description?: string | undefined;
  /** Further words that lead here: values, roles, physical names. */
  readonly context?: readonly string[] | undefined;
  /** Path in the project of the file that says so. */
  readonly file?: string | undefined;
  /** Sources say differently what it is, and nobody has decided. */
  readonly contested?: boolean | undefined;
  /** It leans on what has changed since a model read it. */
  readonly stale?: boolean | undefined;
  /** What a reader wants to know at once, e.g. the type. */
  readonly detail?: string | undefined;
}

/** Documents of the tables that no dataset covers, and of their columns. */
export function catalogDocuments(
  catalog: Catalog,
  covered: (table: CatalogTable) => unknown,
): SearchDocument[] {
  return catalog.tables
    .filter((table) => !covered(table))
    .flatMap((table) => tableDocuments(catalog.connection, table));
}

function tableDocuments(connection: string, table: CatalogTable): SearchDocument[] {
  const parent = [table.catalog, table.schema, table.table]
    .filter((part) => part !== undefined)
    .join('.');
  const own = {
    kind: 'table',
    name: table.table,
    description: table.comment,
    context: [table.schema],
    detail: table.kind,
  } as const;
  return [
    { ...own, connection, parent, subject: `table:${connection}.${parent}` },
    ...table.columns.map(({ name, comment, type, values = [] }): SearchDocument => {
      const context = [table.table, ...values.slice(0, 50)];
      const subject = `column:${connection}.${parent}.${name}`;
      return {
        kind: 'column',
        connection,
        parent,
        subject,
        name,
        description: comment,
        context,
        detail: type,
      };
    }),
  ];
}
