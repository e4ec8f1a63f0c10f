import { randomBytes } from 'node:crypto';
import { Client, type QueryResult } from 'pg';
import { inject } from 'vitest';

/** Makes a database of its own on the test server and returns its URL for the superuser. */
export async function createDatabase(name = 'test'): Promise<string> {
  const database = `${name}_${randomBytes(4).toString('hex')}`;
  await runPostgres(inject('postgresUrl'), `CREATE DATABASE ${database}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs a script of several statements as the role of the URL. */
export async function runPostgres(url: string, script: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const result = (await client.query(script)) as QueryResult | QueryResult[];
    return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
