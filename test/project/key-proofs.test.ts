import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, ktx, ktxJson } from '../cli/run-cli.ts';

const orders = `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}, {name: customer_id, type: integer}, {name: amount, type: integer}]
metrics: [{name: revenue, agg: sum, of: amount}]
relationships: [{to: customers, on: {customer_id: id}}]
`;
const customers = `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string}]
access: [{role: north, where: region = 'north'}, {role: all, where: 'true'}]
`;
const notes = `
dataset: notes
source: notes
primary_key: [id]
fields: [{name: id, type: integer}, {name: order_id, type: integer}, {name: word, type: string}]
relationships: [{to: orders, on: {order_id: id}}]
`;

function runSql(cwd: string, sql: string): void {
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(sql);
  db.close();
}

/** Customer 1 has two rows; order 3 has two rows as well. */
function project(): string {
  const cwd = folder();
  runSql(
    cwd,
    `CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER);
    CREATE TABLE customers (id INTEGER, region TEXT);
    CREATE TABLE notes (id INTEGER PRIMARY KEY, order_id INTEGER, word TEXT);
    INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (3, 2, 7);
    INSERT INTO customers VALUES (1, 'north'), (1, 'east'), (2, 'south');
    INSERT INTO notes VALUES (1, 1, 'a'), (2, 1, 'b');`,
  );
  writeFileSync(
    join(cwd, 'ktx.yaml'),
    'connections: {shop: {driver: sqlite, path: shop.db}}\nquery: {role: all}\n',
  );
  const models = join(cwd, 'semantic-layer', 'shop');
  mkdirSync(models, { recursive: true });
  for (const [name, text] of Object.entries({ orders, customers, notes }))
    writeFileSync(join(models, `${name}.yaml`), text);
  return cwd;
}

const byRegion = ['sl', 'query', '-m', 'orders.revenue', '-d', 'customers.region'];

describe('a key that the rows contradict', () => {
  test('is an error; with allow_unproven no row multiplies, and the receipt says so', async () => {
    const cwd = project();
    const refused = await ktxJson(byRegion, { cwd });
    expect(refused.envelope.error).toMatchObject({
      code: 'contradicted_key',
      message: expect.stringContaining(
        'customers (id) is declared to identify a row, but 1 of its values has',
      ),
      hint: expect.stringContaining('semantic-layer/shop/customers.yaml'),
    });
    const { envelope } = await ktxJson([...byRegion, '--allow-unproven'], { cwd });
    expect(envelope.data).toMatchObject({
      rows: [
        ['east', 30],
        ['south', 12],
      ],
      receipt: { keys: [{ key: 'customers (id)', state: 'contradicted', by: 'rows', found: 1 }] },
    });
  });

  test('is proven as soon as the rows are right, and no longer when they are wrong again', async () => {
    const cwd = project();
    runSql(cwd, "DELETE FROM customers WHERE region = 'east'");
    expect((await ktx(byRegion, { cwd })).stderr).toContain(
      'keys: customers (id) is proven by its rows',
    );
    runSql(cwd, "INSERT INTO customers VALUES (2, 'west')");
    expect((await ktxJson(byRegion, { cwd })).envelope.error?.code).toBe('contradicted_key');
  });

  test('cannot be done without where rows are counted by it', async () => {
    const cwd = project();
    const byWord = ['sl', 'query', '-m', 'orders.revenue', '-d', 'notes.word', '--allow-unproven'];
    expect((await ktxJson(byWord, { cwd })).envelope.error).toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining('orders (id)'),
    });
  });

  test('is checked over the rows that the role may read', async () => {
    const cwd = project();
    const { envelope } = await ktxJson([...byRegion, '--role', 'north'], { cwd });
    expect(envelope.data).toMatchObject({
      rows: [
        ['north', 30],
        [null, 12],
      ],
      receipt: { keys: [{ state: 'proven', by: 'rows' }] },
    });
  });

  test('is a finding of ktx check, which needs no query before it', async () => {
    const cwd = project();
    const { envelope, code } = await ktxJson(['check'], { cwd });
    expect(code).toBe(1);
    expect(envelope.data).toMatchObject({
      findings: [
        { what: 'contradicted', where: 'semantic-layer/shop/customers.yaml' },
        { what: 'contradicted', where: 'semantic-layer/shop/orders.yaml' },
      ],
      uncounted: [],
    });
    runSql(cwd, "DELETE FROM customers WHERE region = 'east'; DELETE FROM orders WHERE amount = 7");
    expect((await ktxJson(['check'], { cwd })).envelope.data).toMatchObject({ findings: [] });
  });

  test('stays assumed in a plan, which connects to nothing', async () => {
    const cwd = project();
    const { envelope } = await ktxJson([...byRegion, '--plan'], { cwd });
    expect(envelope.data).toMatchObject({ receipt: { keys: [{ state: 'assumed' }] } });
  });
});

test('a key that the database enforces is proven by that', async () => {
  const cwd = folder();
  runSql(
    cwd,
    `CREATE TABLE customers (id INTEGER PRIMARY KEY, region TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, amount INTEGER);
    INSERT INTO customers VALUES (1, 'north'), (2, 'south');
    INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20);`,
  );
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  await ktx(['ingest'], { cwd });
  const query = ['sl', 'query', '-m', 'sum(orders.amount)', '-d', 'customers.region'];
  expect((await ktxJson(query, { cwd })).envelope.data).toMatchObject({
    rows: [
      ['north', 10],
      ['south', 20],
    ],
    receipt: { keys: [{ key: 'customers (id)', state: 'proven', by: 'constraint' }] },
  });
});
