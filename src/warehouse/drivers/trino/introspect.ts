import { trino } from '../../../sql/dialects/trino.ts';
import { UserError } from '../../../lib/error.ts';
import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogTableRow,
  type RunCatalogQuery,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { trinoFieldType } from './values.ts';

export interface TrinoScope {
  readonly catalog: string;
  /** Undefined selects every schema but the catalog's own `information_schema`. */
  readonly schemas: readonly string[] | undefined;
}

/** An id that no two tables share. */
const tableId = (schema: string, table: string): string =>
  `concat(CAST(length(${schema}) AS VARCHAR), ':', ${schema}, ${table})`;

const tablesSql = (source: string, inScope: string): string =>
  `SELECT ${tableId('table_schema', 'table_name')} AS id, table_schema AS "schema", table_name AS "table", table_type AS kind
  FROM ${source}.information_schema.tables WHERE table_schema ${inScope} ORDER BY table_schema, table_name`;
const columnsSql = (source: string, inScope: string): string =>
  `SELECT ${tableId('table_schema', 'table_name')} AS id, column_name AS name, data_type AS native_type, is_nullable
  FROM ${source}.information_schema.columns WHERE table_schema ${inScope} ORDER BY table_schema, table_name, ordinal_position`;
/** Names and comments of the tables that have one. */
const commentsSql = (catalog: string, inScope: string): string =>
  `SELECT ${tableId('schema_name', 'table_name')} AS id, comment FROM system.metadata.table_comments
  WHERE catalog_name = ${catalog} AND schema_name ${inScope} AND comment IS NOT NULL`;
const columnCommentsSql = (catalog: string, inScope: string): string =>
  `SELECT ${tableId('table_schem', 'table_name')} AS id, column_name AS name, remarks AS comment FROM system.jdbc.columns
  WHERE table_cat = ${catalog} AND table_schem ${inScope} AND remarks IS NOT NULL`;
const viewsSql = (catalog: string, inScope: string): string =>
  `SELECT ${tableId('schema_name', 'name')} AS id FROM system.metadata.materialized_views
  WHERE catalog_name = ${catalog} AND schema_name ${inScope}`;

interface TrinoTableRow {
  readonly id: string;
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
}
interface TrinoColumnRow {
  readonly id: string;
  readonly name: string;
  readonly native_type: string;
  readonly is_nullable: string;
}
interface CommentRow {
  readonly id: string;
  readonly name?: string;
  readonly comment: string;
}

/**
 * Sends five statements over the server's catalogs, however many tables there are. What a login
 * may not read beside the tables themselves (comments, which views are materialized) is left out.
 */
export async function introspectTrino(
  query: RunCatalogQuery,
  { catalog, schemas }: TrinoScope,
): Promise<WarehouseSchema> {
  const names = schemas?.map((schema) => trino.literal(schema.toLowerCase())).join(', ');
  const inScope = names === undefined ? `<> 'information_schema'` : `IN (${names})`;
  const [source, literal] = [trino.quote(catalog), trino.literal(catalog)];
  const readable = async <Row>(sql: string): Promise<readonly Row[]> => {
    try {
      return (await query(sql)) as Row[];
    } catch (error) {
      const isUnreadable =
        error instanceof UserError &&
        ['warehouse_privilege', 'missing_object'].includes(error.code);
      if (isUnreadable) return [];
      throw error;
    }
  };
  const tables = (await query(tablesSql(source, inScope))) as TrinoTableRow[];
  const columns = (await query(columnsSql(source, inScope))) as TrinoColumnRow[];
  const comments = await readable<CommentRow>(commentsSql(literal, inScope));
  const columnComments = await readable<CommentRow>(columnCommentsSql(literal, inScope));
  const materialized = new Set(
    (await readable<{ readonly id: string }>(viewsSql(literal, inScope))).map(({ id }) => id),
  );
  const commentOf = commentsById([...comments, ...columnComments]);
  return buildTableSchemas(
    {
      tables: tables.map((row): CatalogTableRow => ({
        ...row,
        kind: tableKind(row, materialized),
        comment: commentOf.get(commentKey(row.id)) ?? null,
        rowEstimate: null,
        bytes: null,
        marker: null,
      })),
      columns: columns.map((row): CatalogColumnRow => ({
        id: row.id,
        name: row.name,
        nativeType: row.native_type,
        nullable: row.is_nullable !== 'NO',
        comment: commentOf.get(commentKey(row.id, row.name)) ?? null,
        values: null,
      })),
      // The engine knows no keys.
      keys: [],
      queries: 5,
      fieldType: ({ nativeType }) => trinoFieldType(nativeType),
    },
    { schemas: schemas?.map((schema) => schema.toLowerCase()) },
  );
}

function tableKind(
  { id, kind }: TrinoTableRow,
  materialized: ReadonlySet<string>,
): CatalogTableRow['kind'] {
  if (materialized.has(id)) return 'materialized_view';
  return kind === 'VIEW' ? 'view' : 'table';
}

function commentsById(rows: readonly CommentRow[]): ReadonlyMap<string, string> {
  const filled = rows.filter(({ comment }) => comment.trim() !== '');
  return new Map(filled.map(({ id, name, comment }) => [commentKey(id, name), comment]));
}

function commentKey(id: string, column?: string): string {
  return JSON.stringify([id, column ?? null]);
}
