import { describe, expect, test } from 'vitest';
import { splitTableName } from '../../src/semantic/model/dataset.ts';
import { loadModel } from '../../src/semantic/load/load.ts';
import type { Dialect } from '../../src/sql/dialect.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';
import { postgres } from '../../src/sql/dialects/postgres.ts';
import { compile, load, shop } from './shop.ts';

async function findings(text: string): Promise<string[]> {
  const { diagnostics } = await load({
    customers: shop['customers'] ?? '',
    regions: shop['regions'] ?? '',
    orders: text,
  });
  return diagnostics.map(
    (it) =>
      `${it.line}:${it.column} ${it.severity} ${it.rule}: ${it.message}${it.hint === undefined ? '' : ` | ${it.hint}`}`,
  );
}

const head =
  'dataset: orders\nsource: orders\nfields:\n  - {name: id, type: integer}\n  - {name: amount, type: decimal}\n';

test.each([
  ['not YAML', 'dataset: orders\nfields: [1\nmetrics: 2\n', '3:1 error yaml'],
  [
    'metrics that belong to no dataset',
    'metrics:\n  - {name: n, expr: orders.revenue}\n',
    '1:1 error not_supported',
  ],
  ['a key twice', 'dataset: orders\nsource: a\nsource: b\n', '3:1 error yaml'],
  [
    'an unknown key',
    `${head}primarykey: [id]\n`,
    '6:1 error unknown_key: primarykey: unknown key; did you mean primary_key?',
  ],
  [
    'an unknown key further in',
    `${head}metrics:\n  - name: n\n    agg: count\n    descripton: x\n`,
    '9:5 error unknown_key: metrics.0.descripton: unknown key; did you mean description?',
  ],
  [
    'a wrong value',
    `${head}metrics:\n  - {name: n, agg: summ, of: amount}\n`,
    '7:20 error schema: metrics.0.agg: cannot be "summ"; did you mean sum?',
  ],
  [
    'an unknown key field',
    `${head}primary_key: [idd]\n`,
    '6:15 error unknown_name: orders has no field named idd | Did you mean id?',
  ],
  ['an unknown default time', `${head}default_time: created\n`, '6:15 error unknown_name'],
  [
    'an unknown target',
    `${head}relationships:\n  - {to: customer, on: {customer_id: id}}\n`,
    '7:10 error unknown_name: There is no dataset named customer | Did you mean customers?',
  ],
  [
    'a near miss of a column',
    `${head}relationships:\n  - {to: customers, on: {customer_id: idd}}\n`,
    '7:39 warning unknown_name',
  ],
  [
    'a foreign name in on',
    `${head}relationships:\n  - {to: customers, on: customer_id = client.id}\n`,
    '7:25 error foreign_field',
  ],
  [
    'an unknown metric',
    `${head}metrics:\n  - {name: n, agg: count}\n  - {name: r, ratio: {numerator: m, denominator: n}}\n`,
    '8:5 error unknown_name: orders.r: There is no metric named m',
  ],
  [
    'circular metrics',
    `${head}metrics:\n  - {name: a, expr: b + 1}\n  - {name: b, expr: a + 1}\n`,
    '7:5 error circular',
  ],
  [
    'circular fields',
    `${head}  - {name: a, expr: b + 1}\n  - {name: b, expr: a + 1}\n`,
    '6:21 error circular',
  ],
  ['a name twice', `${head}  - {name: ID}\n`, '6:12 error duplicate'],
  ['broken SQL', `${head}  - {name: x, expr: amount + }\n`, '6:21 error sql_syntax'],
  ['a subquery', `${head}  - {name: x, expr: (select 1)}\n`, '6:21 error subquery'],
  [
    'a window',
    `${head}metrics:\n  - {name: x, expr: sum(amount) over (order by id)}\n`,
    '7:21 error window',
  ],
  ['an aggregate in a field', `${head}  - {name: x, expr: sum(amount)}\n`, '6:21 error aggregate'],
  [
    'a function with effects',
    `${head}segments:\n  - {name: x, where: pg_sleep(9) = 1}\n`,
    '7:22 error function',
  ],
  [
    'two ways to compute',
    `${head}metrics:\n  - {name: x, agg: sum, of: amount, expr: sum(amount)}\n`,
    '7:5 error metric',
  ],
  ['a sum of nothing', `${head}metrics:\n  - {name: x, agg: sum}\n`, '7:5 error metric'],
  [
    'a fraction of a sum',
    `${head}metrics:\n  - {name: x, agg: sum, of: amount, fraction: 0.5}\n`,
    '7:5 error metric',
  ],
  ['no source', 'dataset: orders\n', '1:10 error source'],
  ['two statements', 'dataset: orders\nsql: select 1; select 2\n', '2:6 error sql'],
  [
    'no expression for this dialect',
    `${head}  - {name: x, expr: {bigquery: a}}\n`,
    '6:21 error dialect',
  ],
])('%s is found, with its place', async (_title, text, finding) => {
  const all = await findings(text);
  expect(all.join('\n')).toContain(finding);
});

test('a file with errors is left out, the rest works', async () => {
  const { model, diagnostics } = await load({ ...shop, regions: 'dataset: regions\nsource: 3\n' });
  expect(model.datasets.has('regions')).toBe(false);
  expect(model.excluded.has('regions')).toBe(true);
  expect(diagnostics.map((it) => `${it.severity} ${it.file}`)).toEqual([
    'warning semantic-layer/warehouse/customers.yaml',
    'error semantic-layer/warehouse/regions.yaml',
  ]);
  expect(
    compile(model, { metrics: ['orders.revenue'], dimensions: ['buyer.segment'] }).sql,
  ).toContain('LEFT JOIN');
  expect(() =>
    compile(model, { metrics: ['orders.revenue'], dimensions: ['regions.name'] }),
  ).toThrow('its file has errors');
  expect(() => compile(model, { metrics: ['regions.count'] })).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('has errors'),
      hint: expect.stringContaining('sl validate'),
    }),
  );
});

test('two files cannot declare one dataset', async () => {
  const { model, diagnostics } = await load({ ...shop, again: shop['regions'] ?? '' });
  expect(diagnostics.map((it) => it.rule)).toEqual(['duplicate']);
  expect(model.datasets.get('regions')?.file).toBe('semantic-layer/warehouse/regions.yaml');
});

test('an expression may differ by dialect', async () => {
  const { model } = await load({
    orders: `${head}  - {name: x, expr: {default: amount, duckdb: amount + 1}}\n`,
  });
  expect(compile(model, { dimensions: ['orders.x'] }).sql).toContain('("orders"."amount" + 1)');
});

test('a source may have quoted parts', () => {
  expect(splitTableName('a.b.c')).toEqual(['a', 'b', 'c']);
  expect(splitTableName('main."odd.name ""x"""')).toEqual(['main', 'odd.name "x"']);
  expect([
    splitTableName(''),
    splitTableName('a.'),
    splitTableName('a..b'),
    splitTableName('a.b.c.d'),
    splitTableName('"a'),
  ]).toEqual(Array.from({ length: 5 }));
});

describe('with a catalog', () => {
  const catalog = [
    {
      schema: 'main',
      table: 'orders',
      columns: ['id', 'amount', 'plan_code', 'Ship Date', 'customer_id'].map((name) => ({ name })),
    },
    {
      schema: 'main',
      table: 'customers',
      columns: ['id', 'segment', 'region_id'].map((name) => ({ name })),
    },
  ];
  const customers =
    'dataset: customers\nsource: customers\nprimary_key: [id]\nfields: [{name: id}]\n';
  const checked = (text: string, dialect: Dialect = duckdb) =>
    loadModel({
      dialect,
      tables: catalog,
      files: [
        { path: 'orders.yaml', text },
        { path: 'customers.yaml', text: customers },
      ],
    });
  const found = async (text: string, dialect: Dialect = duckdb) =>
    (await checked(text, dialect)).diagnostics.map(
      (it) =>
        `${it.file}:${it.line}:${it.column} ${it.severity} ${it.rule}: ${it.message} | ${it.hint}`,
    );

  test.each([
    [
      'a table',
      'dataset: orders\nsource: main.ordrs\n',
      ['2:9', 'no table main.ordrs | Did you mean main.orders?'],
    ],
    [
      'a field',
      `${head}  - {name: plan_cod}\n`,
      ['6:12', 'named plan_cod | Did you mean plan_code?'],
    ],
    [
      'an expression',
      `${head}  - {name: x, expr: zzz + 1}\n`,
      ['6:21', 'named zzz | If it is new'],
    ],
    [
      'an expression of its own name',
      `${head}  - {name: amt, expr: amt + 1}\n`,
      ['6:23', 'named amt |'],
    ],
    [
      'what is aggregated',
      `${head}metrics:\n  - {name: n, agg: count_distinct, of: customr_id}\n`,
      ['7:40', 'Did you mean customer_id?'],
    ],
    [
      'an aggregate written out',
      `${head}metrics:\n  - {name: n, expr: sum(amont) / 2}\n`,
      ['7:21', 'Did you mean amount?'],
    ],
    [
      'a metric filter',
      `${head}metrics:\n  - {name: n, agg: count, where: plan_cod <> 'free'}\n`,
      ['7:34', 'Did you mean plan_code?'],
    ],
    [
      'a segment',
      `${head}segments:\n  - {name: s, where: plan_cod = 'x'}\n`,
      ['7:22', 'Did you mean plan_code?'],
    ],
    [
      'a row rule',
      `${head}access:\n  - {role: r, where: plan_cod = 'x'}\n`,
      ['7:22', 'Did you mean plan_code?'],
    ],
    [
      'a row rule behind a path',
      `${head}access:\n  - {role: r, where: orders.buyer.idd = 1}\nrelationships:\n  - {to: customers, on: {customer_id: id}, role: buyer}\n`,
      ['7:22', 'customers has neither a field nor a column named idd'],
    ],
    [
      'the own side of on',
      `${head}relationships:\n  - {to: customers, on: {customr_id: id}}\n`,
      ['7:25', 'orders has neither'],
    ],
    [
      'the other side of on',
      `${head}relationships:\n  - {to: customers, on: {customer_id: idd}}\n`,
      ['7:39', 'customers has neither'],
    ],
    [
      'a condition in on',
      `${head}relationships:\n  - {to: customers, on: customer_id = customers.idd}\n`,
      ['7:25', 'customers has neither'],
    ],
  ])(
    '%s that is not there is found, and the dataset stays',
    async (_title, text, [place = '', said = '']) => {
      expect(await found(text)).toEqual([expect.stringContaining(said)]);
      expect((await found(text)).join()).toContain(`orders.yaml:${place} warning unknown_name`);
      expect((await checked(text)).model.datasets.has('orders')).toBe(true);
    },
  );

  test('fields, columns, roles, metrics and the names of lambdas are known', async () => {
    const text = `${head}  - {name: shipped, expr: '"Ship Date"'}
  - {name: twice, expr: shipped || PLAN_CODE}
  - {name: odd, expr: 'len(list_filter([amount], x -> x > 1))'}
segments: [{name: s, where: "same.segment = 'x' and twice is not null"}]
metrics: [{name: n, expr: sum(orders.amount)}, {name: half, expr: n / 2}]
relationships: [{to: customers, on: {customer_id: id}}, {to: customers, role: same, on: 'customer_id = same.id'}]
`;
    expect(await found(text)).toEqual([]);
    expect(await found(text.replace('same.segment', 'same.segmnt'))).toEqual([
      expect.stringContaining('Did you mean segment?'),
    ]);
    expect(
      await found('dataset: orders\nsql: select 1 as anything\nfields: [{name: anything}]\n'),
    ).toEqual([]);
  });

  test('case counts where the engine says so', async () => {
    const text =
      'dataset: orders\nsource: orders\nfields:\n  - {name: ID}\n  - {name: x, expr: AMOUNT}\n';
    expect(await found(text)).toEqual([]);
    expect(await found(text, postgres)).toEqual([
      expect.stringContaining('4:12 warning unknown_name'),
    ]);
  });
});

test('a semi-additive metric says whose values it has', async () => {
  const stock = (key: string, more = ''): string =>
    `dataset: stock\nsource: stock\nprimary_key: [${key}]\nfields: [{name: item}, {name: day, type: date}, {name: id}]\n` +
    `metrics: [{name: level, agg: sum, of: units, semi_additive: {over: day, take: last${more}}}]\n`;
  const rules = async (text: string): Promise<readonly string[]> =>
    (await load({ stock: text })).diagnostics.map(({ rule }) => rule);
  expect(await rules(stock('item, day'))).toEqual([]);
  expect(await rules(stock('id', ', per: [item]'))).toEqual([]);
  expect(await rules(stock('id'))).toEqual(['semi_additive']);
  expect(await rules(stock('id', ', per: [itme]'))).toEqual(['semi_additive']);
});

test('a bridge leads to both ends', async () => {
  const files = {
    ...shop,
    order_tags: shop['order_tags']?.replace('  - {to: tags, on: {tag_id: id}}\n', '') ?? '',
  };
  const { diagnostics } = await load(files);
  expect(diagnostics.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
    'bridge: The bridge order_tags has no relationship to tags',
  ]);
});

test('values that a file lists although it says that they are personal are a warning; a label that means nothing is an error', async () => {
  const labeled = (keys: string, top = '') =>
    findings(`dataset: orders\nsource: orders\n${top}fields:\n  - {name: id, ${keys}}\n`);
  for (const keys of ['pii: yes, values: [1, 2]', 'pii: true, values: [1, 2]'])
    expect(await labeled(keys)).toEqual([
      expect.stringMatching(/^4:\d+ warning label_contradiction: The field id is personal data/),
    ]);
  expect(await labeled('values: [1, 2]', 'values: off\n')).toEqual([
    expect.stringContaining('keeps no values'),
  ]);
  expect(await labeled('pii: no, values: [1, 2]', 'pii: yes\n')).toEqual([]);
  for (const keys of ['pii: yes', 'pii: no', 'pii: false', 'values: off', 'values: false'])
    expect(await labeled(keys), keys).toEqual([]);
  expect(await labeled('pii: perhaps')).toEqual([expect.stringContaining('4:')]);
  expect(await labeled('values: on')).toEqual([expect.stringContaining('4:')]);
});
