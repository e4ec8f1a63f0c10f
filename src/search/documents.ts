import type { Catalog, CatalogTable } from '../context/catalog.ts';

export const documentKinds = ['metric', 'dataset', 'segment', 'field', 'relationship', 'table', 'column'] as const;
export type DocumentKind = (typeof documentKinds)[number];

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
  /** What a reader wants to know at once, e.g. the type. */
  readonly detail?: string | undefined;
}

/** Documents of the tables that no dataset covers, and of their columns. */
export function catalogDocuments(catalog: Catalog, covered: (table: CatalogTable) => boolean): SearchDocument[] {
  return catalog.tables.filter((table) => !covered(table)).flatMap((table) => tableDocuments(catalog.connection, table));
}

function tableDocuments(connection: string, table: CatalogTable): SearchDocument[] {
  const parent = [table.catalog, table.schema, table.table].filter((part) => part !== undefined).join('.');
  const common = { connection, parent };
  return [
    {
      ...common,
      kind: 'table',
      subject: `table:${connection}.${parent}`,
      name: table.table,
      description: table.comment,
      context: [table.schema],
      detail: table.kind,
    },
    ...table.columns.map((column): SearchDocument => ({
      ...common,
      kind: 'column',
      subject: `column:${connection}.${parent}.${column.name}`,
      name: column.name,
      description: column.comment,
      context: [table.table, ...(column.values ?? []).slice(0, 50)],
      detail: column.type,
    })),
  ];
}
