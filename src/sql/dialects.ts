import { UserError } from '../lib/error.ts';
import type { Dialect } from './dialect.ts';
import { bigquery } from './dialects/bigquery.ts';
import { clickhouse } from './dialects/clickhouse.ts';
import { databricks } from './dialects/databricks.ts';
import { duckdb } from './dialects/duckdb.ts';
import { mysql } from './dialects/mysql.ts';
import { postgres } from './dialects/postgres.ts';
import { redshift } from './dialects/redshift.ts';
import { snowflake } from './dialects/snowflake.ts';
import { sqlite } from './dialects/sqlite.ts';
import { sqlserver } from './dialects/sqlserver.ts';
import { trino } from './dialects/trino.ts';

/** Every dialect. A new one is one file and one entry here. */
const dialects: readonly Dialect[] = [
  duckdb,
  sqlite,
  postgres,
  mysql,
  clickhouse,
  sqlserver,
  snowflake,
  bigquery,
  redshift,
  databricks,
  trino,
];

/** The dialect of that name; throws `unknown_dialect`. */
export function findDialect(name: string): Dialect {
  const dialect = dialects.find((candidate) => candidate.name === name);
  if (dialect !== undefined) return dialect;
  const known = dialects.map((candidate) => candidate.name).join(', ');
  throw new UserError('unknown_dialect', `There is no SQL dialect named ${name}`, {
    hint: `Known: ${known}`,
    exitCode: 2,
  });
}
