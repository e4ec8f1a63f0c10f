import type { Catalog, CatalogTable } from '../context/catalog/catalog.ts';

/**
 * The weight of each kind among equally good matches: what people wrote counts more than what a
 * database has.
 */
export const kindWeights = {
  metric: 1.6,
  query: 1.55,
  question: 1.55,
  dataset: 1.5,
  term: 1.4,
  segment: 1.2,
  rule: 1.1,
  passage: 1.05,
  field: 1,
  table: 0.9,
  relationship: 0.8,
  column: 0.6,
} as const;
export type DocumentKind = keyof typeof kindWeights;
export const documentKinds = Object.keys(kindWeights) as DocumentKind[];

/** One entry of the index. `subject` is unique within a connection. */
export interface SearchDocument {
  readonly kind: DocumentKind;
  readonly connection: string;
  readonly subject: string;
  readonly name: string;
  /** The dataset, or the `schema.table` that no dataset covers, that it belongs to or is. */
  readonly parent: string;
  readonly synonyms?: readonly string[] | undefined;
  readonly description?: string | undefined;
  /** Further words to be found by: values, roles, physical names. */
  readonly context?: readonly string[] | undefined;
  /** Of a dataset: names and descriptions of its parts. Of a passage: its text. */
  readonly members?: readonly string[] | undefined;
  /** The subjects that it is about. What is found by it counts for them too. */
  readonly refs?: readonly string[] | undefined;
  /** From 0 to 2: how likely people mean it rather than another of the same words. Default: 1. */
  readonly prior?: number | undefined;
  /** Path, in the project, of the file that defines it. */
  readonly file?: string | undefined;
  /** True if sources contradict each other about it, and nobody has decided. */
  readonly contested?: boolean | undefined;
  /** True if its evidence has changed since a model read it. */
  readonly stale?: boolean | undefined;
  /** A short detail for lists, such as the type. */
  readonly detail?: string | undefined;
}

/** The documents of the tables that no dataset covers, and of their columns. */
export function catalogDocuments(
  catalog: Catalog,
  isCovered: (table: CatalogTable) => unknown,
): SearchDocument[] {
  return catalog.tables
    .filter((table) => !isCovered(table))
    .flatMap((table) => tableDocuments(catalog.connection, table));
}

function tableDocuments(connection: string, table: CatalogTable): SearchDocument[] {
  const parent = [table.catalog, table.schema, table.table]
    .filter((part) => part !== undefined)
    .join('.');
  const tableDocument = {
    kind: 'table',
    name: table.table,
    description: table.comment,
    context: [table.schema],
    detail: table.kind,
  } as const;
  return [
    { ...tableDocument, connection, parent, subject: `table:${connection}.${parent}` },
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
