import { databricks } from '../../../sql/dialects/databricks.ts';
import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type CatalogTableRow,
  type RunCatalogQuery,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { databricksFieldType } from './values.ts';

/** An id that no two tables share. */
const tableId = (prefix = ''): string =>
  `concat(CAST(length(${prefix}table_schema) AS STRING), ':', ${prefix}table_schema, ${prefix}table_name)`;

const tablesSql = (catalog: string, inScope: string): string =>
  `SELECT ${tableId()} AS id, table_schema AS \`schema\`, table_name AS \`table\`, table_type AS kind, comment
  FROM ${catalog}.information_schema.tables WHERE table_schema ${inScope} ORDER BY table_schema, table_name`;
const columnsSql = (catalog: string, inScope: string): string =>
  `SELECT ${tableId()} AS id, column_name AS name, full_data_type AS native_type, is_nullable, comment
  FROM ${catalog}.information_schema.columns WHERE table_schema ${inScope} ORDER BY table_schema, table_name, ordinal_position`;
/** Unity Catalog enforces no key: they are what the owner of a table says. */
const keysSql = (catalog: string, inScope: string): string => {
  const source = (name: string): string => `${catalog}.information_schema.${name}`;
  return `SELECT ${tableId('k.')} AS id, t.constraint_type AS kind, k.constraint_name AS name, k.ordinal_position AS place, k.column_name,
    p.table_schema AS to_schema, p.table_name AS to_table, p.column_name AS to_column
  FROM ${source('key_column_usage')} AS k
  JOIN ${source('table_constraints')} AS t ON t.constraint_schema = k.constraint_schema AND t.constraint_name = k.constraint_name AND t.table_name = k.table_name
  LEFT JOIN ${source('referential_constraints')} AS r ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
  LEFT JOIN ${source('key_column_usage')} AS p ON p.constraint_schema = r.unique_constraint_schema AND p.constraint_name = r.unique_constraint_name
    AND p.ordinal_position = k.position_in_unique_constraint
  WHERE k.table_schema ${inScope} ORDER BY id, name, place`;
};

interface UnityTableRow {
  readonly id: string;
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
  readonly comment: string | null;
}
interface UnityColumnRow {
  readonly id: string;
  readonly name: string;
  readonly native_type: string;
  readonly is_nullable: string;
  readonly comment: string | null;
}
interface UnityKeyRow {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly column_name: string;
  readonly to_schema: string | null;
  readonly to_table: string | null;
  readonly to_column: string | null;
}

/** Sends three statements over the catalog's information schema, however many tables there are. */
export async function introspectDatabricks(
  query: RunCatalogQuery,
  catalog: string,
  schemas: readonly string[] | undefined,
): Promise<WarehouseSchema> {
  const names = schemas?.map((schema) => databricks.literal(schema.toLowerCase())).join(', ');
  const inScope = names === undefined ? `<> 'information_schema'` : `IN (${names})`;
  const source = databricks.quote(catalog);
  const tables = (await query(tablesSql(source, inScope))) as UnityTableRow[];
  const columns = (await query(columnsSql(source, inScope))) as UnityColumnRow[];
  const keys = (await query(keysSql(source, inScope))) as UnityKeyRow[];
  return buildTableSchemas(
    {
      tables: tables.map((row): CatalogTableRow => ({
        ...row,
        kind: tableKind(row.kind),
        comment: row.comment || null,
        rowEstimate: null,
        bytes: null,
        marker: null,
      })),
      columns: columns.map((row): CatalogColumnRow => ({
        id: row.id,
        name: row.name,
        nativeType: row.native_type,
        nullable: row.is_nullable !== 'NO',
        comment: row.comment || null,
        values: null,
      })),
      keys: keyRows(keys),
      queries: 3,
      fieldType: ({ nativeType }) => databricksFieldType(nativeType),
    },
    { schemas: schemas?.map((schema) => schema.toLowerCase()) },
  );
}

function tableKind(kind: string): CatalogTableRow['kind'] {
  if (kind === 'VIEW' || kind === 'METRIC_VIEW') return 'view';
  if (kind === 'MATERIALIZED_VIEW') return 'materialized_view';
  return kind === 'FOREIGN' ? 'foreign_table' : 'table';
}

/** The rows are ordered by table, key and place. */
function keyRows(parts: readonly UnityKeyRow[]): CatalogKeyRow[] {
  const groups = Map.groupBy(parts, ({ id, name }) => JSON.stringify([id, name])).values();
  return [...groups].flatMap((group): readonly CatalogKeyRow[] => {
    const [first] = group;
    const columns = group.map(({ column_name: column }) => column);
    if (first === undefined) return [];
    const { id, kind, to_schema: schema, to_table: table } = first;
    if (kind === 'PRIMARY KEY') return [{ id, kind: 'primary', columns }];
    const toColumns = group.flatMap(({ to_column: column }) => column ?? []);
    const isWhole = schema !== null && table !== null && toColumns.length === columns.length;
    if (kind !== 'FOREIGN KEY' || !isWhole) return [];
    return [{ id, kind: 'foreign', columns, to: { table: { schema, table }, columns: toColumns } }];
  });
}
