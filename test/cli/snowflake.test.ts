import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keys, makeSnowflake, type SnowflakeDatabase } from '../support/snowflake.ts';
import { folder, ktx } from './run-cli.ts';

const script = `
  CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, country VARCHAR);
  CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, amount DECIMAL(10, 2), ordered_at TIMESTAMP);
  INSERT INTO customers SELECT range, 'c' || range, CASE WHEN range % 2 = 0 THEN 'DE' ELSE 'FR' END FROM range(40);
  INSERT INTO orders SELECT range, range % 40, 10 + range % 7, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL (range) HOUR FROM range(400);
`;
let database: SnowflakeDatabase;
beforeAll(async () => {
  database = await makeSnowflake(script);
});
afterAll(() => database?.remove());

test('ktx works on Snowflake from the first connection to answers', async () => {
  const cwd = folder();
  const run = async (...argv: string[]) => {
    const { code, stdout, stderr } = await ktx(argv, { cwd, env: { SF_KEY: keys.private } });
    expect([argv.join(' '), code, stderr]).toEqual([argv.join(' '), 0, expect.any(String)]);
    return stdout;
  };
  const added = await run(
    ...'setup --driver snowflake --account testorg-testaccount --user ktx_reader --private-key env:SF_KEY'.split(
      ' ',
    ),
    ...`--warehouse wh --database sales --endpoint ${database.server.endpoint}`.split(' '),
  );
  expect(added).toContain('2 tables in PUBLIC');
  expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).not.toContain('PRIVATE');
  expect(await run('connection', 'test')).toContain('login: read-only');
  expect(await run('connection', 'list')).toMatch(/snowflake +testorg-testaccount\/sales/);
  const scanned = await run('scan', '--json');
  // No key says so: the values do, which the statistics of the dialect have read.
  expect(JSON.parse(scanned).data.links).toMatchObject([
    { from: { table: 'ORDERS' }, to: { table: 'CUSTOMERS' }, status: 'accepted' },
  ]);
  await run('ingest');
  const files = await run('sl', 'list');
  expect(files).toMatch(/orders/i);
  const total = JSON.parse(await run('sql', 'SELECT sum(amount) AS total FROM orders', '--json'));
  expect(total.data.rows).toEqual([[5197]]);
  const byCountry = JSON.parse(
    await run(
      'sl',
      'query',
      '-m',
      'orders.count',
      'sum(orders.amount)',
      '-d',
      'customers.country',
      '--json',
    ),
  );
  expect(byCountry.data.rows).toEqual([
    ['DE', 200, 2600],
    ['FR', 200, 2597],
  ]);

  // An expression without quotes means the column in upper case.
  const file = join(cwd, 'semantic-layer/warehouse/orders.yaml');
  const text = readFileSync(file, 'utf8');
  const field = '  - {name: twice, expr: amount * 2, type: decimal}';
  writeFileSync(file, text.replace('metrics:', `${field}\nmetrics:`));
  await run('check');
  const twice = JSON.parse(await run('sl', 'query', '-m', 'sum(orders.twice)', '--json'));
  expect(twice.data.rows).toEqual([[10_394]]);
});
