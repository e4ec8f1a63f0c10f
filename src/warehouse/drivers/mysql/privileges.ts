import { mysql } from '../../../sql/dialects/mysql.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';

/**
 * Privileges that cannot change anything. EXECUTE runs functions that the owners of the server
 * wrote.
 */
const readOnlyPrivileges = new Set([
  'USAGE',
  'SELECT',
  'SHOW VIEW',
  'SHOW DATABASES',
  'PROCESS',
  'REPLICATION CLIENT',
  'BINLOG MONITOR',
  'SLAVE MONITOR',
  'EXECUTE',
  'SELECT HISTORY',
  'SHOW CREATE ROUTINE',
  'SHOW_ROUTINE',
]);

/** From the lines of SHOW GRANTS, a sentence for each grant with which the login could write. */
export function findPrivileges(grants: readonly string[]): string[] {
  return grants.flatMap((grant) => {
    const [, privileges = '', object = ''] =
      /^GRANT (.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(.+?) TO /.exec(grant) ?? [];
    const writing = privileges
      .replaceAll(/ ?\([^)]*\)/g, '')
      .split(', ')
      .filter((name) => name !== '' && !readOnlyPrivileges.has(name));
    if (writing.length === 0) return [];
    const names =
      writing.length > 4 ? [...writing.slice(0, 4), `${writing.length - 4} more`] : writing;
    return [`the login has ${names.join(', ')} on ${object.replaceAll('`', '')}`];
  });
}

/** SQL that creates a read-only login; `ktx status` and `ktx setup` print it. */
export function createReaderSql(schemas: readonly string[]): string[] {
  const grants = schemas.map(
    (schema) => `GRANT SELECT, SHOW VIEW ON ${mysql.quote(schema)}.* TO ktx_reader;`,
  );
  return [`CREATE USER ktx_reader IDENTIFIED BY '…';`, ...grants];
}

/**
 * Throws if the login may read anything without a role: a role only adds to that, so every caller
 * could.
 */
export async function requireNoOwnRights(
  query: RunCatalogQuery,
  connection: string,
): Promise<void> {
  // Without FOR, MariaDB adds those of the role that the login begins with.
  const lines = (await query('SHOW GRANTS FOR CURRENT_USER()')).flatMap((row) =>
    Object.values(row as Record<string, string>),
  );
  const own = lines.find((grant) => / ON /.test(grant) && !grant.startsWith('GRANT USAGE ON '));
  if (own === undefined) return;
  const what = (/^GRANT .+? ON .+?(?= TO )/.exec(own)?.[0] ?? own).replaceAll('`', '');
  throw warehouseError(
    'warehouse_privilege',
    `The login of connection "${connection}" has rights of its own (${what}), which every role of a caller would have too.`,
    {
      hint: 'REVOKE them, GRANT them to a role for the scan, and make it the default role of the login.',
    },
  );
}
