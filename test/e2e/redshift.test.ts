import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson } from '../cli/run-cli.ts';
import { runPostgres } from '../support/postgres.ts';
import { createRedshift } from '../support/redshift.ts';

const script = `
  CREATE TABLE customers (id int PRIMARY KEY, name varchar(50) NOT NULL, active boolean, born date);
  CREATE TABLE orders (id int PRIMARY KEY, customer_id int, amount numeric(10,2), note varchar(200), ordered_at timestamp);
  INSERT INTO customers SELECT n, 'Customer "' || n || '"', n % 2 = 0, '2000-01-01'::date + n FROM generate_series(1, 40) n;
  INSERT INTO orders SELECT n, n % 40 + 1, n * 1.25, CASE WHEN n % 3 = 0 THEN E'tab\\there' END, '2024-01-01'::timestamp + n * interval '1 day' FROM generate_series(1, 200) n;
  ANALYZE;
`;

test('Redshift: from a new connection to answers', async () => {
  const admin = await createRedshift(script);
  const login = `reader_${new URL(admin).pathname.slice(-8)}`;
  await runPostgres(
    admin,
    `CREATE ROLE ${login} LOGIN PASSWORD 'secret-of-reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${login}`,
  );
  const url = new URL(admin);
  [url.username, url.password] = [login, 'secret-of-reader'];
  const [cwd, env] = [folder(), { REDSHIFT_URL: `${url.href}?sslmode=disable` }];
  const run = async (...argv: string[]) => {
    const result = await ktxJson(argv, { cwd, env });
    expect(result, JSON.stringify(result.envelope)).toMatchObject({ code: 0 });
    return result.envelope.data;
  };

  const flags = ['--driver', 'redshift', '--url', 'env:REDSHIFT_URL'];
  const refused = await ktx(['setup', ...flags], {
    cwd,
    env: { REDSHIFT_URL: `${admin}?sslmode=disable` },
  });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('is a superuser');
  expect(refused.stderr).not.toContain('test-password');
  const added = await ktx(['setup', ...flags], { cwd, env });
  expect(added).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('not verified on a live account') as unknown,
  });
  const second = await ktx(['connection', 'add', 'again', ...flags], { cwd, env });
  expect(second.code).toBe(0);
  await run('connection', 'remove', 'again');

  expect(await run('connection', 'test')).toMatchObject({
    probe: { tables: 2, privileges: { read_only: true } },
  });
  const scanned = JSON.stringify(await run('scan'));
  expect(scanned).toContain('customer_id');
  await run('ingest');
  const file = readFileSync(join(cwd, 'semantic-layer/warehouse/orders.yaml'), 'utf8');
  expect(file).toContain('customer_id');
  const answer = await run(
    'sl',
    'query',
    '-m',
    'sum(orders.amount)',
    '-d',
    'orders.ordered_at.year',
  );
  expect(JSON.stringify(answer)).toContain('25125');
  const joined = await run(
    'sl',
    'query',
    '-m',
    'count(orders.id)',
    '-d',
    'orders.customers.active',
  );
  expect(JSON.stringify(joined)).toContain('100');
  const rows = JSON.stringify(await run('sql', 'SELECT count(*) AS n FROM orders'));
  expect(rows).toContain('200');
  const writing = await ktxJson(['sql', 'DELETE FROM orders'], { cwd, env });
  expect(writing.envelope.error).toMatchObject({ code: 'gate_refused' });
});
