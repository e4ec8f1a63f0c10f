import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BigqueryServer, project, startBigquery } from '../engines/bigquery/server.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { run } from '../store/git-project.ts';

let server: BigqueryServer;
let cwd: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startBigquery({
    script: `
      CREATE TABLE customers (id BIGINT NOT NULL PRIMARY KEY, country VARCHAR, tags VARCHAR[]);
      INSERT INTO customers SELECT i, CASE WHEN i % 3 = 0 THEN 'DE' ELSE 'FR' END, ['a'] FROM range(1, 41) AS r(i);
      CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, customer_id BIGINT, day DATE, price DECIMAL(10, 2));
      INSERT INTO orders SELECT i, 1 + i % 40, DATE '2026-01-01' + (i % 30)::INTEGER, i * 1.25 FROM range(1, 201) AS r(i);
      CREATE TABLE visits_20260101 AS SELECT 1 AS n; CREATE TABLE visits_20260102 AS SELECT 2 AS n;`,
  });
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-bigquery-')));
  env = { BIGQUERY_KEY: server.logins.keyFile(server.tokenUri) };
  run(cwd, 'init', '-q', '-b', 'main');
  run(cwd, 'commit', '-q', '--allow-empty', '-m', 'start');
});
afterAll(async () => {
  await server?.close();
  if (cwd !== undefined) rmSync(cwd, { recursive: true, force: true });
});

test('a project on BigQuery, from the first command to an answer', async () => {
  const outputs: string[] = [];
  const command = async (...argv: readonly string[]) => {
    const result = await ktx(argv, { cwd, env });
    outputs.push(result.stdout, result.stderr);
    expect(result.code, `${argv.join(' ')}\n${result.stderr}`).toBe(0);
    return result;
  };
  const flags = ['--project', project, '--dataset', 'main', '--credentials', 'env:BIGQUERY_KEY'];
  const added = await command(
    'setup',
    '--driver',
    'bigquery',
    ...flags,
    '--endpoint',
    server.origin,
    '--no-input',
  );
  expect(added.stdout + added.stderr).toContain('not verified on a live account');
  const tested = await command('connection', 'test');
  expect(tested.stdout).toContain('read-only');
  const scanned = await command('scan');
  expect(scanned.stderr).toMatch(
    /^warehouse: reads about \S+ k?B of \d+ tables, less than \$0\.01$/m,
  );
  await command('ingest');
  const { envelope } = await ktxJson(
    ['sql', 'SELECT COUNT(*) AS n, _TABLE_SUFFIX AS day FROM `visits_*` GROUP BY day ORDER BY day'],
    { cwd, env },
  );
  expect(envelope['data']).toMatchObject({
    rows: [
      [1, '20260101'],
      [1, '20260102'],
    ],
  });
  const orders = readFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), 'utf8');
  expect(orders).toContain('customer_id');
  expect(orders).toContain('to: customers');
  const counted = await ktxJson(
    ['sl', 'query', '--metric', 'orders.count', '--dimension', 'customers.country'],
    { cwd, env },
  );
  expect(counted.envelope).toMatchObject({
    ok: true,
    data: {
      rows: [
        ['DE', 65],
        ['FR', 135],
      ],
    },
  });
  for (const secret of server.logins.secrets) expect(outputs.join('')).not.toContain(secret);
});

test('an ingest says first what it will read, and the price is that of the contract', async () => {
  const other = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-bigquery-')));
  try {
    run(other, 'init', '-q', '-b', 'main');
    run(other, 'commit', '-q', '--allow-empty', '-m', 'start');
    const flags = ['--project', project, '--dataset', 'main', '--credentials', 'env:BIGQUERY_KEY'];
    const price = ['--usd-per-tib', '1000000000'];
    const setup = ['setup', '--driver', 'bigquery', ...flags, '--endpoint', server.origin];
    expect((await ktx([...setup, ...price, '--no-input'], { cwd: other, env })).code).toBe(0);
    expect(readFileSync(join(other, 'ktx.yaml'), 'utf8')).toContain('usd_per_tib: 1000000000');
    const first = await ktx(['ingest'], { cwd: other, env });
    expect(first.stderr).toMatch(/^warehouse: reads about \S+ k?B of \d+ tables, about \$\d/m);
    // Nothing is due, so nothing is said.
    expect((await ktx(['ingest'], { cwd: other, env })).stderr).not.toContain('reads about');
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});
