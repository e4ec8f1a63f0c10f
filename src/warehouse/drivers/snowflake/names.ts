/**
 * A name as Snowflake keeps it: in upper case, unless it stands in double quotes. Its API takes
 * names only as they are kept.
 */
export function foldName(written: string): string {
  const quoted = /^"((?:[^"]|"")+)"$/.exec(written)?.[1];
  return quoted === undefined ? written.toUpperCase() : quoted.replaceAll('""', '"');
}
