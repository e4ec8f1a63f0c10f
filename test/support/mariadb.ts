import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import { inject } from 'vitest';

/** False where MariaDB is not installed: its tests are reported as skipped. */
export const hasMariadb = inject('mariadb') !== undefined;

/**
 * Makes a database of its own on the test server, runs the script in it, and returns its URL for a
 * login that may do everything.
 */
export async function createMariadb(script: string): Promise<string> {
  const database = `test_${randomBytes(4).toString('hex')}`;
  const server = inject('mariadb');
  if (server === undefined)
    throw new Error("MariaDB is not installed. Skip the test where isThere('mysql') is false.");
  const url = `mysql://root@127.0.0.1:${server.port}/${database}`;
  await runMariadb(
    url.replace(database, 'mysql'),
    `CREATE DATABASE ${database} CHARACTER SET utf8mb4`,
  );
  await runMariadb(url, script);
  return url;
}

/** A login that has SELECT on the database of the URL and nothing else. */
export async function readerOfMariadb(url: string): Promise<string> {
  const reader = new URL(url);
  [reader.username, reader.password] = [`reader_${reader.pathname.slice(-8)}`, 'r'];
  const { username, pathname } = reader;
  await runMariadb(
    url,
    `CREATE OR REPLACE USER ${username} IDENTIFIED BY 'r'; GRANT SELECT ON ${pathname.slice(1)}.* TO ${username}`,
  );
  return reader.href;
}

/**
 * Runs a script of several statements; the rows of the last. Scripts that other engines take too
 * are taken as they are: double quotes hold names, TIMESTAMP has no time zone, a text needs no
 * length.
 */
export async function runMariadb(url: string, script: string): Promise<Record<string, unknown>[]> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  try {
    await connection.query("SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES'");
    const own = script
      .replaceAll(/\btimestamp\b(?! *[('])/gi, 'DATETIME')
      .replaceAll(/\bVARCHAR\b(?! *\()/g, 'VARCHAR(200)');
    const [rows] = own.trim() === '' ? [[]] : await connection.query(own);
    const last: unknown = Array.isArray(rows) && Array.isArray(rows.at(-1)) ? rows.at(-1) : rows;
    return last as Record<string, unknown>[];
  } finally {
    await connection.end();
  }
}
