import { randomBytes } from 'node:crypto';
import {
  type ClickhouseServer,
  hasClickhouse,
  startClickhouse,
} from '../engines/clickhouse/server.ts';

export { hasClickhouse };

/** On a server it would have SELECT and nothing else; here ktx's own `readonly` holds it back. */
const reader = { user: 'reader', password: 'r' };
/** A login whose settings profile keeps it from writing, and lets it set limits. */
export const readonlyTwo = { user: 'two', password: 't', settings: { readonly: '2' } };
/** A login whose settings profile lets it set nothing. */
export const readonlyOne = { user: 'one', password: 'o', settings: { readonly: '1' } };
let started: Promise<ClickhouseServer> | undefined;

/** The server of this process; it ends with the process. */
export function clickhouseServer(): Promise<ClickhouseServer> {
  if (!hasClickhouse) throw new Error('ClickHouse runs only in npm run test:clickhouse.');
  started ??= startClickhouse({
    logins: [{ user: 'default', password: '' }, reader, readonlyOne, readonlyTwo],
  });
  return started;
}

/** What a script needs so that ClickHouse takes it as other engines do. */
const likeOthers = [
  'SET data_type_default_nullable = 1',
  "SET default_table_engine = 'MergeTree'",
  'SET create_table_empty_primary_key_by_default = 1',
  "SET session_timezone = 'UTC'",
];

/** Makes a database of its own, runs the script in it, and returns its URL. */
export async function createClickhouse(script: string): Promise<string> {
  const server = await clickhouseServer();
  const database = `test_${randomBytes(4).toString('hex')}`;
  await server.run(`CREATE DATABASE ${database}`);
  const url = `http://default@127.0.0.1:${server.port}/${database}`;
  await runClickhouse(url, script);
  return url;
}

/**
 * Runs a script in the database of the URL; the lines of its last statement. Types that other
 * engines have get their nearest ones.
 */
export async function runClickhouse(url: string, script: string): Promise<readonly string[]> {
  const own = script
    .replaceAll(/\bTIMESTAMP\b(?! *[('])/g, 'DateTime64(6)')
    .replaceAll(/(?<=[\w"] )DATE(?=[,)\s])/g, 'Date32');
  const setUp = [...likeOthers, `USE ${new URL(url).pathname.slice(1)}`].join(';');
  return (await clickhouseServer()).run(`${setUp};${own}`);
}

/** The same database for a login that may only read. */
export function readerOfClickhouse(url: string): string {
  const login = new URL(url);
  [login.username, login.password] = [reader.user, reader.password];
  return login.href;
}

/** Changes with any row and any object of the server. */
export async function clickhouseContent(url: string): Promise<unknown> {
  const tables = await runClickhouse(
    url,
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  const rows: unknown[] = [];
  for (const name of tables)
    rows.push(await runClickhouse(url, `SELECT * FROM \`${name}\` ORDER BY ALL`));
  const objects = await runClickhouse(
    url,
    "SELECT (SELECT count() FROM system.functions WHERE origin != 'System'), (SELECT groupArray(name) FROM (SELECT name FROM system.databases WHERE name NOT LIKE 'test_%' ORDER BY name))",
  );
  return [tables, rows, objects];
}
