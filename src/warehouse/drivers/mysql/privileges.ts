import { mysql } from '../../../sql/dialects/mysql.ts';

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
