/** What a login may be granted without being able to change anything; EXECUTE runs what the server's owners wrote. */
const harmless = new Set([
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

/** From the lines of SHOW GRANTS: what the login could write, as sentences. */
export function findingsOf(grants: readonly string[]): string[] {
  return grants.flatMap((line) => {
    const [, privileges = '', place = ''] =
      /^GRANT (.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(.+?) TO /.exec(line) ?? [];
    const writing = privileges
      .replaceAll(/ ?\([^)]*\)/g, '')
      .split(', ')
      .filter((name) => name !== '' && !harmless.has(name));
    const shown =
      writing.length > 4 ? [...writing.slice(0, 4), `${writing.length - 4} more`] : writing;
    return writing.length === 0
      ? []
      : [`the login has ${shown.join(', ')} on ${place.replaceAll('`', '')}`];
  });
}
