/** Every dialect that ktx writes. */
export const dialectNames = [
  'duckdb',
  'sqlite',
  'postgres',
  'mysql',
  'clickhouse',
  'sqlserver',
  'snowflake',
  'bigquery',
  'redshift',
  'databricks',
  'trino',
] as const;
