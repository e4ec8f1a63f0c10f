import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogTableRow,
  type RunCatalogQuery,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { clickhouse } from '../../../sql/dialects/clickhouse.ts';
import { readType } from './values.ts';

/** Reading from them takes the messages away from others. */
const consuming = `('Kafka', 'RabbitMQ', 'NATS', 'S3Queue', 'AzureQueue', 'FileLog')`;
const foreign = `match(engine, '^(?:MySQL|PostgreSQL|MaterializedPostgreSQL|MongoDB|Redis|SQLite|ODBC|JDBC|S3|GCS|OSS|COSN|AzureBlobStorage|HDFS|URL|File|Dictionary|Iceberg|DeltaLake|Hudi|Paimon|ExternalDistributed|ArrowFlight|YTsaurus)')`;
const inScope = (schemas: string, table: string): string =>
  `database IN (${schemas}) AND NOT startsWith(${table}, '.inner') AND database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA')`;

/** The primary key of the engine sorts the rows and is not unique: it is no key here. */
const tablesSql = (schemas: string): string => `SELECT concat(database, '\\0', name) AS id,
    database AS \`schema\`, name AS \`table\`, nullIf(comment, '') AS comment,
    multiIf(engine = 'MaterializedView', 'materialized_view', endsWith(engine, 'View'), 'view', ${foreign}, 'foreign_table', 'table') AS kind,
    if(kind = 'table', total_rows, NULL) AS rowEstimate, if(kind = 'table', total_bytes, NULL) AS bytes,
    if(kind = 'table' AND total_rows IS NOT NULL, concat(toString(uuid), ':', toString(toUnixTimestamp(metadata_modification_time)), ':', toString(total_rows), ':', toString(total_bytes)), NULL) AS marker
  FROM system.tables WHERE ${inScope(schemas, 'name')} AND NOT is_temporary AND engine NOT IN ${consuming}
  ORDER BY database, name`;
const columnsSql = (schemas: string): string => `SELECT concat(database, '\\0', table) AS id, name,
    type AS nativeType, nullIf(comment, '') AS comment
  FROM system.columns WHERE ${inScope(schemas, 'table')} AND default_kind != 'EPHEMERAL'
  ORDER BY database, table, position`;

type ColumnRow = Pick<CatalogColumnRow, 'id' | 'name' | 'nativeType' | 'comment'>;

/** Sends two statements over the system's catalogs, however many tables there are. */
export async function introspectClickhouse(
  query: RunCatalogQuery,
  schemas: readonly string[],
): Promise<WarehouseSchema> {
  const names = schemas.map((schema) => clickhouse.literal(schema)).join(', ');
  const tables = (await query(tablesSql(names))) as CatalogTableRow[];
  const rows = (await query(columnsSql(names))) as ColumnRow[];
  const columns = rows.map((row) => {
    const { isNullable, values } = readType(row.nativeType);
    return { ...row, nullable: isNullable, values: values ?? null };
  });
  return buildTableSchemas(
    {
      tables,
      columns,
      keys: [],
      queries: 2,
      fieldType: ({ nativeType }) => readType(nativeType).type,
    },
    { schemas },
  );
}
