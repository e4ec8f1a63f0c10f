import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogTableRow,
  type RunCatalogQuery,
} from '../../../table-schemas.ts';
import type { Scope, WarehouseSchema } from '../../../warehouse.ts';
import { snowflake } from '../../../../sql/dialects/snowflake.ts';
import { readKeys, tableId } from './keys.ts';
import { snowflakeType } from '../values.ts';

const quote = (name: string): string => snowflake.quote(name);

const inScope = ({ schemas }: Scope): string => {
  const names = schemas?.map((schema) => snowflake.literal(schema)).join(', ');
  const chosen = names === undefined ? '' : ` AND table_schema IN (${names})`;
  return `table_schema != 'INFORMATION_SCHEMA'${chosen}`;
};

const kinds = `CASE table_type WHEN 'VIEW' THEN 'view' WHEN 'MATERIALIZED VIEW' THEN 'materialized_view' WHEN 'EXTERNAL TABLE' THEN 'foreign_table' ELSE 'table' END`;

const tablesSql = (database: string, scope: Scope): string => `SELECT table_schema AS "schema",
    table_name AS "table", ${kinds} AS "kind", comment AS "comment", row_count AS "rowEstimate",
    bytes AS "bytes", TO_VARCHAR(last_altered) AS "altered"
  FROM ${quote(database)}.INFORMATION_SCHEMA.TABLES WHERE ${inScope(scope)} AND table_type != 'EVENT TABLE'
  ORDER BY table_schema, table_name`;
const columnsSql = (database: string, scope: Scope): string => `SELECT table_schema AS "schema",
    table_name AS "table", column_name AS "name", data_type AS "dataType",
    numeric_precision AS "precision", numeric_scale AS "scale",
    character_maximum_length AS "length", is_nullable AS "nullable", comment AS "comment"
  FROM ${quote(database)}.INFORMATION_SCHEMA.COLUMNS WHERE ${inScope(scope)}
  ORDER BY table_schema, table_name, ordinal_position`;

interface AlteredTable extends Pick<CatalogTableRow, 'schema' | 'table' | 'kind' | 'comment'> {
  readonly rowEstimate: number | null;
  readonly bytes: number | null;
  readonly altered: string | null;
}

interface ListedColumn {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  readonly dataType: string;
  readonly precision: number | null;
  readonly scale: number | null;
  readonly length: number | null;
  readonly nullable: string;
  readonly comment: string | null;
}

/** Sends five statements, however many tables there are; more only for thousands of keys. */
export async function introspectSnowflake(
  query: RunCatalogQuery,
  database: string,
  scope: Scope,
): Promise<WarehouseSchema> {
  const tables = (await query(tablesSql(database, scope))) as AlteredTable[];
  const columns = (await query(columnsSql(database, scope))) as ListedColumn[];
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  const keys = await readKeys(query, database, schemas);
  const built = buildTableSchemas(
    {
      tables: tables.map(tableRow),
      columns: columns.map(columnRow),
      keys: keys.rows,
      queries: 2 + keys.queries,
      fieldType: ({ dataType, scale }) => snowflakeType(dataType, scale),
    },
    scope,
  );
  return keys.unread.length === 0
    ? built
    : {
        ...built,
        assumptions: keys.unread.map(
          (schema) =>
            `Snowflake lists at most 10,000 columns of keys at once: some keys of schema ${schema} are not known.`,
        ),
      };
}

function tableRow({ altered, ...row }: AlteredTable): CatalogTableRow {
  const isStored = row.kind === 'table';
  return {
    ...row,
    id: tableId(row.schema, row.table),
    comment: row.comment === '' ? null : row.comment,
    rowEstimate: isStored ? row.rowEstimate : null,
    bytes: isStored ? row.bytes : null,
    marker: isStored && altered !== null ? [altered, row.rowEstimate, row.bytes].join(':') : null,
  };
}

function columnRow(row: ListedColumn): CatalogColumnRow & Pick<ListedColumn, 'dataType' | 'scale'> {
  const { schema, table, name, dataType, scale, comment } = row;
  return {
    id: tableId(schema, table),
    name,
    nativeType: nativeType(row),
    dataType,
    scale,
    nullable: row.nullable === 'YES',
    comment: comment === '' ? null : comment,
    values: null,
  };
}

function nativeType({ dataType, precision, scale, length }: ListedColumn): string {
  if (dataType === 'NUMBER') return `NUMBER(${precision ?? 38},${scale ?? 0})`;
  return dataType === 'TEXT' ? `VARCHAR(${length ?? 16_777_216})` : dataType;
}
