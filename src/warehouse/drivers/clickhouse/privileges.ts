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
