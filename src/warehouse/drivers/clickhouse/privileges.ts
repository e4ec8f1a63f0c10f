import type { RunCatalogQuery } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import { clickhouse } from '../../../sql/dialects/clickhouse.ts';

/** Grants that let a login do more than read the tables of a server. */
const writing =
  /\b(?:ALL(?: PRIVILEGES)?|INSERT|ALTER|CREATE|DROP|TRUNCATE|OPTIMIZE|UNDROP|SYSTEM|ACCESS MANAGEMENT|BACKUP|SOURCES|READ|WRITE|FILE|URL|REMOTE|S3|HDFS|MYSQL|POSTGRES|SQLITE|MONGO|REDIS|ODBC|JDBC|AZURE|KAFKA|NATS|RABBITMQ|HIVE|INTROSPECTION|SET DEFINER|TABLE ENGINE|MOVE PARTITION[\w ]*|KILL[\w ]*)\b/g;

/** What the lines of SHOW GRANTS let a login do besides reading. */
export function findPrivileges(grants: readonly string[]): string[] {
  return grants.flatMap((grant) => {
    const [, privileges = '', target = ''] = /^GRANT (.*?) ON (\S+) TO /.exec(grant) ?? [];
    const found = [...new Set(privileges.match(writing))];
    if (found.length === 0) return [];
    const few = found.slice(0, 4).join(', ');
    const more = found.length > 4 ? ` and ${found.length - 4} more` : '';
    return [`the login may ${few}${more} on ${target}`];
  });
}

/** SQL that makes a login that can read these databases and nothing else. */
export function createReaderSql(schemas: readonly string[]): readonly string[] {
  return [
    "CREATE USER ktx_reader IDENTIFIED BY '<password>';",
    ...schemas.map((schema) => `GRANT SELECT ON ${clickhouse.quote(schema)}.* TO ktx_reader;`),
  ];
}

/**
 * Throws if the login may read anything without a role: a role only adds to that, so every caller
 * could.
 */
export async function requireNoOwnGrants(
  query: RunCatalogQuery,
  connection: string,
): Promise<void> {
  const lines = (await query('SHOW GRANTS')).flatMap((row) =>
    Object.values(row as Record<string, string>),
  );
  const own = lines.find((grant) => /^GRANT .* ON /.test(grant));
  if (own === undefined) return;
  throw warehouseError(
    'warehouse_privilege',
    `The login of connection "${connection}" has rights of its own (${own}), which every role of a caller would have too.`,
    {
      hint: 'REVOKE them, GRANT them to a role for the scan, and make it the default role of the login.',
    },
  );
}
