import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { startSqlserver, type SqlServer } from '../engines/sqlserver/server.ts';
import { run } from '../store/git-project.ts';

let server: SqlServer;
let cwd: string;

beforeAll(async () => {
  server = await startSqlserver({
    script: `
      CREATE TABLE customers (id BIGINT PRIMARY KEY, name VARCHAR, region VARCHAR);
      CREATE TABLE orders (id BIGINT NOT NULL, customer_id BIGINT REFERENCES customers (id), amount DECIMAL(10, 2), ordered_at TIMESTAMP);
      INSERT INTO customers VALUES (11, 'Ada', 'North'), (12, 'Grace', 'South'), (13, 'Edsger', 'North');
      INSERT INTO orders SELECT 1000 + range, 11 + range % 3, range * 10, TIMESTAMP '2024-01-01' + INTERVAL (range) DAY FROM range(60);
      COMMENT ON TABLE orders IS 'What customers ordered.';`,
  });
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-sqlserver-')));
  writeFileSync(join(cwd, 'ktx.yaml'), 'connections: {}\n');
  run(cwd, 'init', '-q', '-b', 'main');
  run(cwd, 'add', '.');
  run(cwd, 'commit', '-qm', 'start');
});
afterAll(async () => {
  await server?.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function succeed(...argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ktx(argv, {
    cwd,
    env: { SQLSERVER_PASSWORD: 'p' },
  });
  expect(code, stdout + stderr).toBe(0);
  return stdout + stderr;
}

async function rowsOf(...argv: readonly string[]): Promise<unknown> {
  const { envelope } = await ktxJson(argv, { cwd, env: { SQLSERVER_PASSWORD: 'p' } });
  return (envelope['data'] as { readonly rows: unknown } | undefined)?.rows ?? envelope['error'];
}

test('a SQL Server answers from its connection to metrics', async () => {
  const added = await succeed(
    'connection',
    'add',
    'lake',
    '--driver',
    'sqlserver',
    '--host',
    '127.0.0.1',
    '--port',
    String(server.port),
    '--database',
    'memory',
    '--user',
    'ktx_reader',
    '--password',
    'env:SQLSERVER_PASSWORD',
    '--ssl',
    'off',
  );
  expect(added).toContain('2 tables');
  expect(added).toContain('not verified on a live account');
  const tested = await succeed('connection', 'test', 'lake');
  expect(tested).toContain('login: read-only');
  expect(await succeed('scan')).toContain('orders');
  await succeed('ingest');
  expect(await rowsOf('sql', 'SELECT sum(amount) FROM orders')).toEqual([[17_700]]);
  const { envelope } = await ktxJson(['sql', 'DELETE FROM orders'], {
    cwd,
    env: { SQLSERVER_PASSWORD: 'p' },
  });
  expect(envelope.error).toMatchObject({ code: 'gate_refused' });
  const byRegion = await rowsOf(
    'sl',
    'query',
    '--metric',
    'orders.count',
    '--dimension',
    'orders.customers.region',
  );
  expect(byRegion).toEqual([
    ['North', 40],
    ['South', 20],
  ]);
  // Every statement that ktx itself wrote ran.
  expect(server.failures).toEqual([]);
});
