import { readFileSync } from 'node:fs';
import { load as readYaml } from 'js-yaml';
import { stringify } from 'yaml';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Dataset, datasetSchema } from '../../src/semantic/model/dataset.ts';
import { readOssie } from '../../src/semantic/formats/ossie/read.ts';
import { writeOssie } from '../../src/semantic/formats/ossie/write.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { violations } from '../support/json-schema.ts';
import { load, shop } from './shop.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/ossie/${name}`, import.meta.url), 'utf8');
const schema = z.record(z.string(), z.unknown()).parse(JSON.parse(fixture('ossie-schema.json')));
const duckdb = findDialect('duckdb');
const write = (datasets: readonly Dataset[], dialect = duckdb) =>
  writeOssie(datasets, { dialect, name: 'warehouse' });
const documentSchema = z.looseObject({
  semantic_model: z.array(z.record(z.string(), z.unknown())),
});
const modelOf = (text: string) => documentSchema.parse(readYaml(text)).semantic_model[0] ?? {};

beforeAll(loadAnalyzer);

describe('the example of Ossie', () => {
  const text = fixture('tpcds_semantic_model.yaml');

  test('comes back as it went in', () => {
    const { datasets, misfits } = readOssie(text, duckdb);
    expect(misfits).toEqual([]);
    const { text: again } = write(datasets);
    expect(readYaml(again)).toEqual(readYaml(text));
    expect(violations(schema, readYaml(again))).toEqual([]);
  });

  test('is a model that ktx can ask', async () => {
    const { datasets } = readOssie(text, duckdb);
    const { model, diagnostics } = await load(
      Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)])),
    );
    expect(diagnostics).toEqual([]);
    expect([...model.datasets.keys()]).toEqual([
      'store_sales',
      'date_dim',
      'customer',
      'item',
      'store',
    ]);
    expect([...(model.datasets.get('store_sales')?.metrics.keys() ?? [])]).toContain('total_sales');
    expect(model.datasets.get('store_sales')?.relationships.map(({ to }) => to)).toEqual([
      'date_dim',
      'customer',
      'item',
      'store',
    ]);
  });
});

describe('a model of ktx', () => {
  const datasets = Object.values(shop).map((text) => datasetSchema.parse(readYaml(text)));

  test('comes back as it went out, by way of what the schema accepts', () => {
    const { text, misfits } = write(datasets);
    expect(violations(schema, readYaml(text))).toEqual([]);
    expect(readOssie(text, duckdb)).toEqual({ datasets, misfits: [] });
    expect(misfits.map(({ at }) => at)).toEqual(
      expect.arrayContaining([
        'metrics.orders.running',
        'metrics.orders.last_year',
        'metrics.orders.closing',
        'metrics.orders.enterprise_revenue',
        'metrics.customers.urgent_count',
        'relationships.orders.tags',
      ]),
    );
  });

  test('says to others what it computes, or nothing', () => {
    const { metrics } = z
      .looseObject({ metrics: z.array(z.looseObject({ name: z.string(), expression: z.json() })) })
      .parse(modelOf(write(datasets).text));
    const said = Object.fromEntries(
      metrics.map(({ name, expression }) => [
        name,
        JSON.stringify(expression).match(/"expression":"([^]*?)"[,}]/)?.[1],
      ]),
    );
    expect(said).toEqual({
      revenue: 'SUM(orders.amount)',
      paid_revenue: "SUM(CASE WHEN (orders.status = 'paid') THEN orders.amount END)",
      order_count: 'COUNT(orders.id)',
      customers_seen: 'COUNT(DISTINCT orders.customer_id)',
      average: 'AVG(orders.amount)',
      largest: 'MAX(orders.amount)',
      cost_total: 'SUM(orders.cost)',
      profit: '(SUM(orders.amount)) - (SUM(orders.cost))',
      aov: '(SUM(orders.amount)) / NULLIF((COUNT(orders.id)), 0)',
      paid_aov:
        "(SUM(CASE WHEN (orders.status = 'paid') THEN orders.amount END)) / (COUNT(CASE WHEN (orders.status = 'paid') THEN orders.id END))",
      internal: 'SUM(orders.secret)',
      customer_count: 'COUNT(customers.id)',
      region_count: 'COUNT(regions.id)',
      ticket_count: 'COUNT(tickets.id)',
      headcount: 'COUNT(employees.id)',
      payroll: 'SUM(employees.salary)',
    });
  });

  test('does not say to others what a join would count more than once', () => {
    const rest = { metrics: [{ name: 'bought', agg: 'count', where: "orders.status = 'paid'" }] };
    const customers = datasetSchema.parse({
      dataset: 'customers',
      source: 'c',
      primary_key: ['id'],
      fields: [{ name: 'id' }],
      ...rest,
    });
    const orders = datasetSchema.parse({
      dataset: 'orders',
      source: 'o',
      relationships: [{ to: 'customers', on: { customer_id: 'id' } }],
    });
    const { text, misfits } = write([customers, orders]);
    expect(modelOf(text)).not.toHaveProperty('metrics');
    expect(misfits).toContainEqual({
      at: 'metrics.customers.bought',
      message: expect.stringContaining('cannot say'),
    });
    expect(readOssie(text, duckdb).datasets).toEqual([customers, orders]);
  });

  test('takes what another tool edits, and keeps what it left alone', () => {
    const text = write(datasets).text.replace(
      "SUM(CASE WHEN (orders.status = 'paid') THEN orders.amount END)\n",
      'SUM(orders.cost)\n',
    );
    expect(text).not.toBe(write(datasets).text);
    const { datasets: edited, misfits } = readOssie(text, duckdb);
    const metricOf = (name: string) => edited[0]?.metrics?.find((metric) => metric.name === name);
    expect(metricOf('paid_revenue')).toEqual({ name: 'paid_revenue', agg: 'sum', of: 'cost' });
    expect(metricOf('revenue')).toEqual({ name: 'revenue', agg: 'sum', of: 'amount' });
    expect(misfits.map(({ at }) => at)).toEqual(['metrics.paid_revenue']);
    expect(edited[0]?.fields?.find(({ name }) => name === 'secret')?.hidden).toBe(true);
  });
});

test('what ktx cannot use is set aside, told, and written again', () => {
  const expression = (text: string, dialect = 'ANSI_SQL') => ({
    dialects: [{ dialect, expression: text }],
  });
  const document = {
    version: '0.2.0.dev0',
    semantic_model: [
      {
        name: 'Odd',
        datasets: [
          {
            name: 'Web Orders',
            source: 'SELECT * FROM web',
            primary_key: ['order_no'],
            fields: [
              {
                name: 'Total',
                expression: expression('total'),
                datatype: 'Float',
                label: 'money',
                dimension: { is_time: false },
              },
              { name: 'ranked', expression: expression('row_number() over (order by total)') },
              {
                name: 'at',
                expression: {
                  dialects: [
                    ...expression('at::date').dialects,
                    ...expression('TO_DATE(at)', 'SNOWFLAKE').dialects,
                  ],
                },
                datatype: 'Time',
              },
            ],
            custom_extensions: [
              { vendor_name: 'KTX', data: 'not JSON' },
              { vendor_name: 'DBT', data: '{}' },
            ],
          },
          { name: 'other', source: 'a.b.c.d' },
        ],
        relationships: [
          { name: 'r', from: 'Web Orders', to: 'nowhere', from_columns: ['a'], to_columns: ['b'] },
        ],
        metrics: [
          { name: 'cube', expression: expression('[Measures].[Sales]', 'MDX') },
          {
            name: 'total',
            expression: expression('sum(other.x)'),
            ai_context: 'plain words',
            datatype: 'Decimal',
          },
        ],
        ai_context: { instructions: 'be careful' },
      },
    ],
  };
  const { datasets, misfits } = readOssie(JSON.stringify(document), duckdb);
  expect(misfits.map(({ at }) => at)).toEqual([
    'fields.Web Orders.ranked',
    'relationships.r',
    'metrics.cube',
  ]);
  expect(datasets[0]).toMatchObject({
    dataset: 'web_orders',
    sql: 'SELECT * FROM web',
    primary_key: ['order_no'],
  });
  expect(datasets[0]?.fields).toMatchObject([
    { name: 'Total', type: 'decimal' },
    { name: 'at', type: 'unknown', expr: { default: 'at::date', snowflake: 'TO_DATE(at)' } },
    { name: 'order_no', hidden: true },
  ]);
  expect(datasets[1]?.metrics).toMatchObject([{ name: 'total', agg: 'sum', of: 'x' }]);
  expect(readYaml(write(datasets).text)).toEqual(document);
  expect(violations(schema, document)).toEqual([]);
});

test.each([
  ['not YAML', 'a: [', 'neither YAML nor JSON'],
  ['another document', 'name: x', 'version'],
  ['an ontology', 'version: 0.2.0.dev0\nontology: []', 'ontology'],
])('%s is an error that says so', (_, text, message) => {
  expect(() => readOssie(text, duckdb)).toThrow(
    expect.objectContaining({ code: 'import_invalid', message: expect.stringContaining(message) }),
  );
});

/** Models as people and tools write them, names and texts of any kind. */
const word = fc.constantFrom('a', 'b', 'Total', 'x_1', 'amount', 'order', 'id');
const words = fc.string({ maxLength: 12, unit: 'grapheme' });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const rowText = fc.oneof(
  word,
  fc.constantFrom(
    'a + b',
    'a.amount',
    "case when a = 'x' then b end",
    '"Odd ""Name" || b',
    'amount / 2',
  ),
);
const expressionText = fc.oneof(
  rowText,
  fc
    .record({ default: rowText, bigquery: optional(rowText), duckdb: optional(rowText) })
    .map((map) => JSON.parse(JSON.stringify(map)) as Record<string, string>),
);
const about = {
  description: optional(words),
  synonyms: optional(fc.array(words, { maxLength: 2 })),
};
const field = fc.record({
  name: word,
  type: optional(
    fc.constantFrom(
      'string',
      'integer',
      'decimal',
      'boolean',
      'date',
      'datetime',
      'datetime_tz',
      'unknown',
    ),
  ),
  expr: optional(expressionText),
  hidden: optional(fc.boolean()),
  values: optional(fc.array(fc.oneof(words, fc.integer(), fc.boolean()), { maxLength: 2 })),
  extensions: optional(fc.constant({ lookml: { view: 'x' } })),
  ...about,
});
const metric = fc
  .tuple(
    fc.oneof(
      fc.record({
        agg: fc.constantFrom('sum', 'avg', 'min', 'max', 'count_distinct', 'median'),
        of: expressionText,
        where: optional(expressionText),
      }),
      fc.record({ agg: fc.constant('count') }),
      fc.record({
        agg: fc.constantFrom('percentile', 'percentile_disc'),
        of: rowText,
        fraction: fc.constantFrom(0.5, 0.9),
      }),
      fc.record({
        expr: fc.constantFrom(
          'sum(a) / count(*)',
          'total - amount',
          'sum(a.b)',
          'count(distinct id)',
          'broken(',
        ),
        where: optional(rowText),
      }),
      fc.record({ ratio: fc.record({ numerator: word, denominator: word }) }),
      fc.record({ cumulative: fc.record({ of: word }) }),
    ),
    fc.record({ name: word, unit: optional(words), hidden: optional(fc.boolean()), ...about }),
  )
  .map(([rule, rest]) => ({ ...rest, ...rule }));
const relationship = fc.record({
  to: fc.constantFrom('a', 'b', 'c', 'elsewhere'),
  on: fc.oneof(fc.dictionary(word, word, { maxKeys: 2 }), fc.constant('a.id = b.id and b.x > 1')),
  role: optional(word),
  cardinality: optional(fc.constantFrom('many_to_one', 'one_to_one', 'many_to_many')),
  via: optional(fc.constant('b')),
  description: optional(words),
});
const dataset = fc.record({
  source: optional(fc.constantFrom('t', 'main.t', '"odd.name".t')),
  sql: optional(fc.constantFrom('SELECT 1 AS a', 'select a from t')),
  ...about,
  tags: optional(fc.array(words, { maxLength: 2 })),
  primary_key: optional(fc.constantFrom([], ['id'], ['a', 'b'])),
  unique_keys: optional(fc.constantFrom([], [['x_1']])),
  default_time: optional(word),
  fields: optional(
    fc.uniqueArray(field, { selector: ({ name }) => name.toLowerCase(), maxLength: 4 }),
  ),
  segments: optional(fc.array(fc.record({ name: word, where: expressionText }), { maxLength: 1 })),
  metrics: optional(
    fc.uniqueArray(metric, {
      selector: ({ name }) => name.toLowerCase(),
      minLength: 1,
      maxLength: 5,
    }),
  ),
  relationships: optional(fc.array(relationship, { minLength: 1, maxLength: 3 })),
});
const model = fc
  .tuple(dataset, dataset, dataset)
  .map((all) => all.map((one, index) => datasetSchema.parse({ dataset: 'abc'[index], ...one })));

/** A key of a dataset has to be a field; a model that lacks one gets it by an import. */
const withKeys = (one: Dataset): Dataset => {
  const names = [...(one.primary_key ?? []), ...(one.unique_keys ?? []).flat()];
  const fields = names
    .filter((name) => one.fields?.some((present) => present.name.toLowerCase() === name) !== true)
    .map((name) => ({ name }));
  return fields.length === 0 ? one : { ...one, fields: [...(one.fields ?? []), ...fields] };
};

test.each(['duckdb', 'postgres', 'snowflake'] as const)(
  'any model of %s survives the way there and back',
  (name) => {
    fc.assert(
      fc.property(model, (all) => {
        const dialect = findDialect(name);
        const datasets = all
          .map(withKeys)
          .map((one) => datasetSchema.parse(JSON.parse(JSON.stringify(one))));
        const { text } = write(datasets, dialect);
        expect(violations(schema, readYaml(text))).toEqual([]);
        const { datasets: again } = readOssie(text, dialect);
        expect(JSON.parse(JSON.stringify(again))).toEqual(datasets);
        expect(write(again, dialect).text).toBe(text);
      }),
      { numRuns: 50 },
    );
  },
);
