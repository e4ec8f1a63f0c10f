import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { postgresDriver } from '../../src/warehouse/drivers/postgres/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type Pooler, type PoolerOptions, startPooler } from '../engines/pooler/server.ts';
import { throwAwayCertificate } from '../support/certificate.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { generous, never } from '../support/warehouses.ts';

let url: string;
beforeAll(async () => {
  url = await createDatabase('pooled');
  await runPostgres(url, 'CREATE TABLE numbers AS SELECT n FROM generate_series(1, 1000) AS n');
});

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function pooler(options: Partial<PoolerOptions> = {}): Promise<Pooler> {
  const started = await startPooler({ backendUrl: url, size: 2, ...options });
  closing.push(() => started.close());
  return started;
}

async function openThrough(
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Warehouse> {
  const config = postgresDriver.config.parse({ driver: 'postgres', url: 'env:URL', ...more });
  const context = { connection: 'pg', projectDir: '/', cacheDir: '/', secrets: () => text };
  const warehouse = await openWarehouse({ ...context, config }, never);
  closing.push(() => warehouse.close());
  return warehouse;
}

const urlOf = ({ port }: Pooler, user = 'reader', host = '127.0.0.1') =>
  `postgresql://${user}:p@${host}:${port}${new URL(url).pathname}`;

describe('a pooler in transaction mode', () => {
  test('answers, from one connection to the server and then another', async () => {
    const pool = await pooler();
    const warehouse = await openThrough(urlOf(pool), { allow_functions: ['pg_backend_pid'] });
    const pids = new Set<unknown>();
    for (let round = 0; round < 4; round += 1) {
      const sql = 'SELECT pg_backend_pid(), count(*), max(n) FROM numbers';
      const [[pid, ...rest] = []] = (await warehouse.query(sql, generous, never)).rows;
      pids.add(pid);
      expect(rest).toEqual([1000, 1000]);
    }
    expect(pids.size).toBe(2);
    const limited = { maxRows: 3, timeoutMs: 20_000 };
    expect(await warehouse.query('SELECT n FROM numbers', limited, never)).toMatchObject({
      truncated: true,
    });
    expect((await warehouse.introspect({}, never)).tables).toHaveLength(1);
  });

  test('keeps nothing of ktx: what others get from it may write', async () => {
    const pool = await pooler();
    const warehouse = await openThrough(urlOf(pool));
    for (let round = 0; round < 3; round += 1) await warehouse.query('SELECT 1', generous, never);
    expect(await pool.askEach('SHOW default_transaction_read_only')).toEqual(['off', 'off']);
    expect(await pool.askEach('SHOW statement_timeout')).toEqual(['0', '0']);
  });

  test('hands a cancel on to the process that runs the statement', async () => {
    const pool = await pooler();
    const warehouse = await openThrough(urlOf(pool));
    const slow =
      'SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b';
    await expect(
      warehouse.query(slow, { maxRows: 1, timeoutMs: 400 }, never),
    ).rejects.toMatchObject({ code: 'query_timeout' });
    expect(pool.cancels()).toBe(1);
    const busy = () =>
      runPostgres(
        url,
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT count(*) FROM generate_series%' AND datname = current_database()",
      );
    await expect.poll(busy).toEqual([{ n: 0 }]);
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
  });
});

describe('a provider that finds the database by the login', () => {
  test('gets the user name of a Supabase project, and says when it knows none', async () => {
    const pool = await pooler({
      refuse: ({ parameters }) =>
        parameters.get('user') === 'postgres.abcdefgh'
          ? undefined
          : { code: 'XX000', message: 'Tenant or user not found' },
    });
    await openThrough(urlOf(pool, 'postgres.abcdefgh'));
    await expect(openThrough(urlOf(pool, 'postgres'))).rejects.toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('Tenant or user not found') as unknown,
    });
  });

  test('gets the endpoint of Neon from the host name of TLS, or from options', async () => {
    const certificate = throwAwayCertificate('localhost');
    const pool = await pooler({
      certificate,
      refuse: ({ parameters, serverName }) =>
        (serverName ?? '').startsWith('localhost') ||
        parameters.get('options')?.includes('endpoint=ep-cool-name') === true
          ? undefined
          : { code: '08P01', message: 'Endpoint ID is not specified.' },
    });
    await openThrough(urlOf(pool, 'reader', 'localhost'), { ssl: 'no-verify' });
    expect(pool.logins.at(-1)?.serverName).toBe('localhost');
    await expect(openThrough(urlOf(pool), { ssl: 'no-verify' })).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      message: expect.stringContaining('Endpoint ID is not specified') as unknown,
    });
    await openThrough(`${urlOf(pool)}?options=endpoint%3Dep-cool-name`, { ssl: 'no-verify' });
    expect(pool.logins.at(-1)?.serverName).toBeUndefined();
    // A certificate that nobody knows.
    await expect(
      openThrough(urlOf(pool, 'reader', 'localhost'), { ssl: 'verify' }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/certificate/) as unknown });
  });

  test('hands a cancel on under TLS too', async () => {
    const pool = await pooler({ certificate: throwAwayCertificate('localhost') });
    const warehouse = await openThrough(urlOf(pool), { ssl: 'no-verify' });
    const slow =
      'SELECT count(*) FROM generate_series(1, 10000000) a, generate_series(1, 10000000) b';
    await expect(
      warehouse.query(slow, { maxRows: 1, timeoutMs: 400 }, never),
    ).rejects.toMatchObject({ code: 'query_timeout' });
    expect(pool.cancels()).toBe(1);
  });
});

describe('a server that only speaks the protocol of Postgres', () => {
  test.each([
    [
      'CockroachDB',
      { crdb_version: 'CockroachDB CCL v25.2.1', server_version: '13.0.0' },
      /export/,
    ],
    ['Postgres 8.0', { server_version: '8.0.2' }, /driver: redshift/],
  ])('is refused by what it says of itself: %s', async (name, settings, hint) => {
    const pool = await pooler({ settings });
    await expect(openThrough(urlOf(pool))).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining(name) as unknown,
      hint: expect.stringMatching(hint) as unknown,
    });
  });
});
