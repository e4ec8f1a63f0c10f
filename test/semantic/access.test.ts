import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { indexNames } from '../../src/context/claims/name-index.ts';
import { aggregateRequestSchema } from '../../src/ingest/aggregate/request-schema.ts';
import type { ProposalsSession } from '../../src/ingest/extract/proposals/proposals-session.ts';
import { openProject } from '../../src/project/open/open.ts';
import type { ModelDataset } from '../../src/semantic/model/model.ts';
import { modelForRole, seesAllRows } from '../../src/semantic/resolve/row-rules.ts';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { aggregateTool } from '../../src/tools/loops/aggregate-rows.ts';
import { openSecrets } from '../../src/store/secrets.ts';
import { openToolbox } from '../../src/tools/toolbox.ts';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { isSameDatabase } from '../../src/warehouse/same-database.ts';
import { folder, ktx, ktxJson } from '../cli/run-cli.ts';
import { engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const script = `
CREATE TABLE orders (id INTEGER, buyer_id INTEGER, amount INTEGER, day DATE);
INSERT INTO orders VALUES (1, 1, 10, '2024-01-05'), (2, 2, 20, '2024-02-05'), (3, 3, 40, '2024-02-06'), (4, NULL, 80, '2024-03-01');
CREATE TABLE customers (id INTEGER, region VARCHAR(9));
INSERT INTO customers VALUES (1, 'EMEA'), (2, 'APAC'), (3, 'EMEA');
CREATE TABLE tags (id INTEGER, label VARCHAR(9), is_secret INTEGER);
INSERT INTO tags VALUES (1, 'gift', 0), (2, 'fraud', 1);
CREATE TABLE order_tags (order_id INTEGER, tag_id INTEGER);
INSERT INTO order_tags VALUES (1, 1), (2, 2), (3, 2);`;

const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: day
fields: [{name: id, type: integer}, {name: buyer_id, type: integer}, {name: amount, type: integer, hidden: true}, {name: day, type: date}, {name: shop, expr: "'web'", type: string}]
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: order_count, agg: count}
  - {name: again, conversion: {base: order_count, to: order_count, on: {shop: shop}, calculation: conversions}}
  - {name: running, cumulative: {of: revenue}}
  - {name: per_buyer, agg: avg, of: revenue, per: buyer_id}
  - {name: all_revenue, total: {of: revenue}}
relationships:
  - {to: customers, on: {buyer_id: id}, role: buyer}
  - {to: tags, on: {}, cardinality: many_to_many, via: order_tags}
access:
  - {role: emea, where: "orders.buyer.region = 'EMEA'"}
  - {role: clerk, where: amount > 15}
  - {role: clerk, where: id = 1}
  - {role: admin, where: 'true'}
`,
  customers: `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string}]
metrics: [{name: customer_count, agg: count}]
row_metrics: [{name: spent, metric: orders.revenue, via: orders.buyer}]
access: [{role: emea, where: region = 'EMEA'}, {role: clerk, where: id > 1}, {role: admin, where: 'TRUE'}]
`,
  tags: `
dataset: tags
source: tags
primary_key: [id]
fields: [{name: id, type: integer}, {name: label, type: string}]
access: [{role: emea, where: is_secret = 0}, {role: clerk, where: 'true'}, {role: admin, where: 'true'}]
`,
  order_tags: `
dataset: order_tags
source: order_tags
primary_key: [order_id, tag_id]
fields: [{name: order_id, type: integer}, {name: tag_id, type: integer}]
relationships: [{to: orders, on: {order_id: id}}, {to: tags, on: {tag_id: id}}]
`,
};

type Query = z.input<typeof querySchema>;

describe.each(engineNames)('row rules on %s', (name) => {
  test('hold in blocks, joins, semi-joins, bridges, members, running totals and aggregates inside others', async () => {
    const engine = await engineWith(name, script);
    try {
      const { model, diagnostics } = await load(files, engine.warehouse.dialect);
      expect(diagnostics).toEqual([]);
      const answer = async (role: string, query: Query) =>
        (await rowsOf(engine, compile(modelForRole(model, role), query).sql)).map((row) =>
          row.map((cell) =>
            typeof cell === 'string' && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell,
          ),
        );
      const revenue = { metrics: ['orders.revenue'] };
      expect(await answer('admin', revenue)).toEqual([[150]]);
      expect(await answer('emea', revenue)).toEqual([[50]]);
      // Any rule of the role lets a row through.
      expect(await answer('clerk', revenue)).toEqual([[150]]);
      expect(await answer('clerk', { ...revenue, dimensions: ['buyer.region'] })).toEqual([
        ['APAC', 20],
        ['EMEA', 40],
        [null, 90],
      ]);
      const empty = { ...revenue, dimensions: ['buyer.region'], include_empty: true };
      expect(await answer('emea', empty)).toEqual([['EMEA', 50]]);
      expect(await answer('emea', { ...revenue, where: ["tags.label = 'fraud'"] })).toEqual([
        [null],
      ]);
      expect(await answer('clerk', { ...revenue, where: ["tags.label = 'fraud'"] })).toEqual([
        [60],
      ]);
      // The pair stays, what it leads to is not seen.
      expect(await answer('emea', { ...revenue, dimensions: ['tags.label'] })).toEqual([
        ['gift', 10],
        [null, 40],
      ]);
      expect(
        await answer('emea', { metrics: ['customers.customer_count'], where: ['orders.id > 0'] }),
      ).toEqual([[2]]);
      expect(
        await answer('emea', { metrics: ['orders.running'], dimensions: ['metric_time.year'] }),
      ).toEqual([['2024-01-01', 50]]);
      expect(await answer('emea', { metrics: ['orders.per_buyer'] })).toEqual([[25]]);
      expect(await answer('admin', { metrics: ['orders.again'] })).toEqual([[3]]);
      expect(await answer('emea', { metrics: ['orders.again'] })).toEqual([[1]]);
      expect(await answer('emea', { dimensions: ['orders.id'] })).toEqual([[1], [3]]);
      expect(
        await answer('emea', { metrics: ['orders.all_revenue'], dimensions: ['orders.id'] }),
      ).toEqual([
        [1, 50],
        [3, 50],
      ]);
      expect(await answer('clerk', { dimensions: ['customers.id', 'customers.spent'] })).toEqual([
        [2, 20],
        [3, 40],
      ]);
      expect(
        await answer('emea', {
          metrics: ['count(order_tags.order_id)'],
          dimensions: ['tags.label'],
        }),
      ).toEqual([
        ['gift', 1],
        [null, 2],
      ]);
    } finally {
      await engine.close();
    }
  });
});

const guardedByJoin = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}, {name: note, type: string}]
metrics: [{name: order_count, agg: count}]
relationships: [{to: shops, on: {shop_id: id}}]
access: [{role: emea, where: orders.shops.is_secret = 0}]
`,
  shops:
    'dataset: shops\nsource: shops\nprimary_key: [id]\nfields: [{name: id, type: integer}, {name: is_secret, type: integer}]\n',
};

test.each(engineNames)(
  'no expression is computed over a row that a rule hides, where an error would quote it: %s',
  async (name) => {
    const engine = await engineWith(
      name,
      `CREATE TABLE orders (id INTEGER, note VARCHAR(9), shop_id INTEGER);
     INSERT INTO orders VALUES (1, '12', 1), (2, 'fraud', 2);
     CREATE TABLE shops (id INTEGER, is_secret INTEGER);
     INSERT INTO shops VALUES (1, 0), (2, 1);`,
    );
    try {
      const { model } = await load(guardedByJoin, engine.warehouse.dialect);
      const query = {
        metrics: ['orders.order_count'],
        where: ['cast(orders.note as integer) = 12'],
      };
      expect(
        (await rowsOf(engine, compile(modelForRole(model, 'emea'), query).sql)).map((row) =>
          row.map(Number),
        ),
      ).toEqual([[1]]);
    } finally {
      await engine.close();
    }
  },
);

test('a dataset with rules answers nobody whom they do not name, and the receipt tells the rules', async () => {
  const { model } = await load(files);
  const planned = (role: string | undefined, query: Query) =>
    compile(modelForRole(model, role), query);
  for (const role of [undefined, 'nobody']) {
    const refused = {
      code: 'no_access',
      hint: expect.stringContaining('--role emea, --role clerk, --role admin'),
    };
    expect(() => planned(role, { metrics: ['orders.revenue'] })).toThrow(
      expect.objectContaining(refused),
    );
    expect(() => planned(role, { dimensions: ['orders.id'] })).toThrow(
      expect.objectContaining({ code: 'no_access' }),
    );
    expect(() =>
      planned(role, { metrics: ['count(order_tags.order_id)'], where: ["tags.label = 'x'"] }),
    ).toThrow('row rules');
  }
  const [metric] = planned('emea', { metrics: ['orders.revenue'], where: ["tags.label = 'x'"] })
    .receipt.metrics;
  expect(metric?.access).toEqual([
    "orders for emea: orders.buyer.region = 'EMEA'",
    'tags for emea: is_secret = 0',
  ]);
  const [count] = planned('clerk', {
    metrics: ['customers.customer_count'],
    where: ['customers.spent > 1'],
  }).receipt.metrics;
  expect(count?.access).toEqual([
    'orders for clerk: amount > 15 or id = 1',
    'customers for clerk: id > 1',
  ]);
});

test('validation: a rule that leads nowhere leaves the dataset out; a second dataset on the table is warned of', async () => {
  const wrong = {
    ...files,
    orders: files.orders.replace('orders.buyer.region', 'orders.seller.region'),
  };
  expect((await load(wrong)).diagnostics).toMatchObject([
    { rule: 'unknown_name', line: 18, column: 25 },
  ]);
  const twin = 'dataset: twin\nsource: orders\nfields: [{name: id}]\n';
  const query = 'dataset: query\nsql: select * from main.orders\nfields: [{name: id}]\n';
  expect((await load({ ...files, twin, query })).diagnostics).toMatchObject([
    { rule: 'access', severity: 'warning' },
    { rule: 'access' },
  ]);
});

async function project(): Promise<string> {
  const cwd = folder();
  const database = new DatabaseSync(join(cwd, 'shop.db'));
  database.exec(
    `${script} CREATE VIEW everything AS SELECT * FROM orders; CREATE TABLE free (id INTEGER); INSERT INTO free VALUES (7);`,
  );
  database.close();
  const layer = join(cwd, 'semantic-layer/shop');
  mkdirSync(layer, { recursive: true });
  const free =
    'dataset: free\nsource: main.free\nfields: [{name: id, type: integer}]\nmetrics: [{name: all, agg: count}]\n';
  for (const [name, text] of Object.entries({ ...files, free }))
    writeFileSync(join(layer, `${name}.yaml`), text);
  writeFileSync(join(cwd, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
  return cwd;
}

const hidden = [
  'SELECT * FROM orders',
  'SELECT * FROM "Orders"',
  'SELECT * FROM main.orders',
  'WITH x AS (SELECT * FROM orders) SELECT * FROM x',
  'SELECT (SELECT sum(amount) FROM orders) FROM free',
  'SELECT * FROM free UNION SELECT id FROM customers',
  'SELECT * FROM everything',
];

test('the same rules on the command line, by flag, environment and configuration; SQL of one’s own is no way around', async () => {
  const cwd = await project();
  const revenue = ['sl', 'query', '-m', 'orders.revenue', '--format', 'csv'];
  expect((await ktx([...revenue, '--role', 'emea'], { cwd })).stdout).toBe('orders.revenue\n50\n');
  expect((await ktx(['--role', 'emea', ...revenue], { cwd })).stdout).toBe('orders.revenue\n50\n');
  expect((await ktx(revenue, { cwd, env: { KTX_ROLE: 'emea' } })).stdout).toBe(
    'orders.revenue\n50\n',
  );
  expect(
    (await ktxJson(['sl', 'query', '-m', 'orders.revenue'], { cwd })).envelope.error?.code,
  ).toBe('no_access');
  for (const sql of hidden) {
    const { envelope } = await ktxJson(['sql', sql, '--role', 'emea'], { cwd });
    expect([sql, envelope.error?.code]).toEqual([
      sql,
      expect.stringMatching(/^(row_rules|missing_object|gate_refused)$/),
    ]);
  }
  expect((await ktxJson(['sql', 'SELECT * FROM orders'], { cwd })).envelope.error?.code).toBe(
    'row_rules',
  );
  const failing = ['sl', 'query', '-m', 'sum(orders.id + 9223372036854775800)', '--role'];
  expect((await ktx([...failing, 'admin'], { cwd })).stderr).toContain('overflow');
  const { stderr } = await ktx([...failing, 'emea'], { cwd });
  expect([stderr.includes('overflow'), stderr]).toEqual([
    false,
    expect.stringContaining('message is withheld'),
  ]);
  expect(
    (
      await ktx(
        [
          'sql',
          'WITH f AS (SELECT * FROM free) SELECT * FROM f',
          '--role',
          'emea',
          '--format',
          'csv',
        ],
        { cwd },
      )
    ).stdout,
  ).toBe('id\n7\n');
  expect(
    (
      await ktx(
        ['sql', 'SELECT sum(amount) AS a FROM orders', '--role', 'admin', '--format', 'csv'],
        { cwd },
      )
    ).stdout,
  ).toBe('a\n150\n');
  writeFileSync(
    join(cwd, 'ktx.yaml'),
    'connections:\n  shop: {driver: sqlite, path: shop.db}\nquery: {role: clerk}\n',
  );
  expect((await ktx(revenue, { cwd })).stdout).toBe('orders.revenue\n150\n');
  // Rules that cannot be read restrict nobody less.
  writeFileSync(join(cwd, 'semantic-layer/shop/orders.yaml'), `${files.orders}nonsense: 1\n`);
  expect(
    (await ktxJson(['sql', 'SELECT * FROM orders', '--role', 'admin'], { cwd })).envelope.error
      ?.code,
  ).toBe('row_rules');
});

test('the same rules for tools; agents do not read them', async () => {
  const cwd = await project();
  const opened = await openProject(cwd, { role: 'emea' });
  try {
    const tools = openToolbox(opened).tools(new AbortController().signal);
    const call = async (name: string, input: object) =>
      tools.find((tool) => tool.name === name)?.execute(input);
    expect(
      (await call('query_metrics', { metrics: ['orders.revenue'] }))?.structured?.untrusted,
    ).toMatchObject({ rows: [[50]] });
    for (const sql of hidden)
      expect((await call('run_sql', { sql }))?.error?.code).toMatch(
        /^(row_rules|missing_object|gate_refused)$/,
      );
    expect((await call('read_context', { name: 'orders' }))?.markdown).not.toContain('access');
  } finally {
    await opened.close();
  }
});

test('a loop of an ingest, whose results everyone reads, sees no table that has rules, whoever started it', async () => {
  const cwd = await project();
  const opened = await openProject(cwd, { role: 'admin' });
  const signal = new AbortController().signal;
  try {
    const warehouse = await opened.warehouse('shop', signal);
    const { tables } = await warehouse.introspect({}, signal);
    const catalog = { connection: 'shop', dialect: 'sqlite', firstSchema: 'main', tables };
    const snapshot = {
      catalogs: [catalog],
      names: indexNames([catalog]),
      dataset: () => undefined,
      warehouse: async () => warehouse,
    };
    const session = { snapshot, spendQuery: () => undefined } as unknown as ProposalsSession;
    const ask = async (dataset: string) => {
      const input = aggregateRequestSchema.parse({ dataset });
      return aggregateTool.run(input, { session, project: opened, signal });
    };
    expect((await ask('free')).markdown).toContain('rows');
    for (const dataset of ['orders', 'everything'])
      await expect(ask(dataset), dataset).rejects.toMatchObject({ code: 'row_rules' });
  } finally {
    await opened.close();
  }
});

test('a second connection to the same database, without rules, is warned of by status and check', async () => {
  const cwd = await project();
  const connect = (more: string) =>
    writeFileSync(
      join(cwd, 'ktx.yaml'),
      `connections:\n  shop: {driver: sqlite, path: shop.db}\n${more}`,
    );
  const told = async () => {
    const [status, check] = [
      await ktxJson(['status', '--fast'], { cwd }),
      await ktxJson(['check'], { cwd }),
    ];
    return [status.envelope.data, check.envelope.data];
  };
  connect(
    '  raw: {driver: sqlite, path: ./nowhere/../shop.db}\n  other: {driver: sqlite, path: other.db}\n',
  );
  const [status, check] = await told();
  expect(status).toMatchObject({ unruled: [{ connection: 'raw', ruled: 'shop' }] });
  expect(check).toMatchObject({
    findings: [
      {
        what: 'no rules',
        where: 'raw',
        found: expect.stringContaining('same database as shop') as unknown,
      },
    ],
  });
  expect((await ktx(['status', '--fast'], { cwd })).stdout).toContain(
    'raw reads the same database as shop, but without its row rules',
  );
  cpSync(join(cwd, 'semantic-layer/shop'), join(cwd, 'semantic-layer/raw'), { recursive: true });
  expect(await told()).toMatchObject([{ unruled: [] }, { findings: [] }]);
});

test('databases of servers are the same by host, port and database, however they are written', () => {
  const same = (one: object, other: object) =>
    isSameDatabase(settingsOf(one), settingsOf(other), '/');
  const envFile = { variables: new Map<string, string>() };
  const secrets = openSecrets({
    projectDir: '/',
    configDir: '/nowhere',
    env: process.env,
    envFile,
  });
  const settingsOf = (config: object) => ({ config: config as WarehouseConfig, secrets });
  const [postgres, mysql] = [
    { driver: 'postgres', host: 'DB.example.com', database: 'shop' },
    { driver: 'mysql', host: 'db', database: 'shop' },
  ];
  expect(
    same(postgres, { driver: 'postgres', url: 'postgresql://reader@db.example.com:5432/shop' }),
  ).toBe(true);
  expect(
    same(postgres, { driver: 'postgres', url: 'postgresql://db.example.com/shop?sslmode=require' }),
  ).toBe(true);
  expect(same(postgres, { ...postgres, database: 'other' })).toBe(false);
  expect(same(postgres, { ...postgres, port: 5433 })).toBe(false);
  expect(
    same(
      { driver: 'postgres', database: 'a' },
      { driver: 'postgres', url: 'postgresql://127.0.0.1/a' },
    ),
  ).toBe(true);
  // One login of such a server reads all of its databases.
  expect(same(mysql, { driver: 'mysql', url: 'mysql://db:3306/other' })).toBe(true);
  expect(same(mysql, { ...postgres, host: 'db' })).toBe(false);
  const secret = { driver: 'postgres', url: 'env:KTX_TEST_NO_SUCH_URL' };
  expect([same(secret, { ...secret }), same(secret, postgres)]).toEqual([true, false]);
});

test('only the rule true opens all rows, not one that begins with true', () => {
  const sees = (text: string) => {
    const access = [{ role: 'dach', where: { text } }];
    return seesAllRows({ access } as unknown as ModelDataset, 'dach');
  };
  expect(sees(' TRUE ')).toBe(true);
  expect(sees("true and region = 'x'")).toBe(false);
});
