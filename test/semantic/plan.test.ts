import { beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { compile, load, shop } from './shop.ts';

type Query = z.input<typeof querySchema>;

let model: SemanticModel;
beforeAll(async () => {
  const loaded = await load(shop);
  expect(loaded.diagnostics).toEqual([]);
  model = loaded.model;
});

function failure(query: Query, from: SemanticModel = model): UserError {
  try {
    compile(from, query);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('the query was planned');
}

describe('a query that has no single right answer', () => {
  const refusals: readonly (readonly [string, Query, string, RegExp])[] = [
    [
      'members that a condition allows only in combination',
      {
        metrics: ['orders.revenue'],
        dimensions: ['buyer.segment', 'recipient.segment'],
        where: ['buyer.segment = recipient.segment'],
        include_empty: true,
      },
      'not_supported',
      /include_empty/,
    ],
    [
      'a metric without aggregates',
      { metrics: [{ name: 'x', expr: '1 + 1' }] },
      'no_owner',
      /aggregates nothing/,
    ],
    [
      'an aggregate of an aggregate',
      { metrics: ['avg(sum(orders.amount))'] },
      'not_supported',
      /nested/,
    ],
    [
      'an aggregate over a path of roles',
      { metrics: ['sum(orders.buyer.region_id)'] },
      'not_supported',
      /path of roles/,
    ],
    ['a star for columns', { metrics: ['count(orders.*)'] }, 'sql_fragment', /dot/],

    [
      'two roles of one dataset',
      { metrics: ['orders.revenue'], dimensions: ['customers.segment'] },
      'ambiguous_path',
      /orders\.buyer\.segment, orders\.recipient\.segment/,
    ],
    [
      'two roles on the way',
      { metrics: ['orders.revenue'], dimensions: ['regions.name'] },
      'ambiguous_path',
      /orders\.buyer\.regions\.name, orders\.recipient\.regions\.name/,
    ],
    [
      'a sibling under a shared parent',
      { metrics: ['tickets.ticket_count'], dimensions: ['orders.status'] },
      'no_path',
      /one_to_many/,
    ],
    [
      'an unknown grain',
      { metrics: ['orders.revenue'], dimensions: ['orders.created_at.mnth'] },
      'unknown_name',
      /no grain of orders.created_at named mnth/,
    ],
    [
      'an unknown grain of the default time',
      { metrics: ['orders.revenue'], dimensions: ['metric_time.mnth'] },
      'unknown_name',
      /no grain/,
    ],
    [
      'no relationship at all',
      { metrics: ['employees.headcount'], dimensions: ['regions.name'] },
      'no_path',
      /no relationship/,
    ],
    [
      'an aggregate over two datasets',
      { metrics: ['sum(orders.amount * customers.region_id)'] },
      'mixed_owners',
      /file of .* orders or customers/,
    ],
    [
      'a dimension that only one of the facts has',
      { metrics: ['orders.revenue', 'tickets.ticket_count'], dimensions: ['orders.status'] },
      'no_path',
      /dimension orders\.status cannot be applied to tickets\.ticket_count/,
    ],
    [
      'a condition that only one of the facts can have',
      { metrics: ['orders.revenue', 'tickets.ticket_count'], where: ["tickets.priority = 'high'"] },
      'no_path',
      /cannot be applied to orders\.revenue.*\{"on":"tickets"/,
    ],
    [
      'a condition on what no metric of the query is about',
      { metrics: ['orders.revenue'], where: ["tickets.priority = 'high'"] },
      'no_path',
      /^((?!"on":).)*$/,
    ],
    [
      'a condition scoped to what is not asked',
      {
        metrics: ['orders.revenue'],
        where: [{ on: 'tickets', where: "tickets.priority = 'high'" }],
      },
      'unused_scope',
      /Write orders/,
    ],
    [
      'an aggregate condition with a scope',
      { metrics: ['orders.revenue'], where: [{ on: 'orders', where: 'orders.revenue > 1' }] },
      'invalid_condition',
      /scoped/,
    ],
    [
      'two ways down',
      { metrics: ['customers.customer_count'], where: ["orders.status = 'paid'"] },
      'ambiguous_path',
      /customers\.orders_as_buyer\.status, customers\.orders_as_recipient\.status/,
    ],
    [
      'no condition on a child or on the row itself',
      {
        metrics: ['customers.customer_count'],
        where: ["not (tickets.priority = 'high' or customers.segment = 'ent')"],
      },
      'mixed_condition',
      /a separate condition for each/,
    ],
    [
      'what is not true of a child and the row itself',
      {
        metrics: ['customers.customer_count'],
        where: ["not (tickets.priority = 'high' and customers.segment = 'ent')"],
      },
      'mixed_condition',
      /a separate condition for each/,
    ],
    [
      'a condition over two kinds of children',
      {
        metrics: ['customers.customer_count'],
        where: ['tickets.id = customers.orders_as_buyer.id'],
      },
      'mixed_condition',
      /customers\.tickets and customers\.orders_as_buyer/,
    ],
    [
      'down and up again without a bridge',
      {
        metrics: ['regions.region_count'],
        dimensions: ['regions.customers.orders_as_buyer.recipient.segment'],
      },
      'no_path',
      /goes down and up again/,
    ],
    [
      'up and down again to a sibling',
      {
        metrics: ['tickets.ticket_count'],
        dimensions: ['tickets.customers.orders_as_buyer.status'],
      },
      'no_path',
      /goes up and down again/,
    ],
    [
      'a dimension on the many side of rows without a key',
      { metrics: ['visits.visit_count'], dimensions: ['hits.page'] },
      'no_key',
      /primary_key in semantic-layer\/warehouse\/visits/,
    ],
    [
      'a conversion by a dimension to many',
      { metrics: ['orders.bought_again'], dimensions: ['tags.label'] },
      'not_supported',
      /several/,
    ],
    [
      'a running total without a period',
      { metrics: ['orders.running'] },
      'no_period',
      /metric_time\.month/,
    ],
    [
      'a month to date by week',
      { metrics: ['orders.month_to_date'], dimensions: ['metric_time.week'] },
      'no_period',
      /can begin in one month and end in the next/,
    ],
    [
      'a running total by week and month',
      { metrics: ['orders.running'], dimensions: ['metric_time.week', 'metric_time.month'] },
      'not_supported',
      /week and month/,
    ],
    [
      'a running total with a condition on its time or something else',
      {
        metrics: ['orders.running'],
        dimensions: ['metric_time.day'],
        where: ["metric_time > '2024-01-01' or orders.id = 1"],
      },
      'mixed_condition',
      /a separate condition/,
    ],
    [
      'periods to fill where there are none',
      { metrics: ['orders.revenue'], fill_time: true },
      'no_period',
      /metric_time\.month/,
    ],
    [
      'an offset metric by a time without a period',
      { metrics: ['orders.last_year'], dimensions: ['metric_time'] },
      'no_period',
      /metric_time\.day/,
    ],
    [
      'a semi-additive metric by many',
      { metrics: ['orders.closing'], dimensions: ['tags.label'] },
      'not_supported',
      /semi-additive/,
    ],
    [
      'an aggregate per something of nothing',
      { metrics: ['avg(1 + 1) per orders.id'] },
      'nested',
      /aggregates nothing/,
    ],
    [
      'an aggregate per something of two facts',
      { metrics: ['avg(orders.revenue / tickets.ticket_count) per customers.id'] },
      'nested',
      /several datasets/,
    ],
    [
      'rows and aggregates under OR',
      { metrics: ['orders.revenue'], where: ["orders.status = 'paid' or orders.revenue > 1"] },
      'mixed_condition',
      /OR/,
    ],
    ['count(*) of nothing in particular', { metrics: ['count(*)'] }, 'no_owner', /count\(\*\)/],
    [
      'a segment of a dataset without metrics here',
      { metrics: ['employees.headcount'], segments: ['orders.paid'] },
      'unused_segment',
      /orders\.paid/,
    ],
    [
      'metric_time without default_time',
      { metrics: ['employees.headcount'], dimensions: ['metric_time.month'] },
      'no_default_time',
      /employees/,
    ],
    [
      'a period of something else',
      { metrics: ['orders.revenue'], dimensions: ['orders.status.month'] },
      'not_a_time',
      /status/,
    ],
    ['nothing', {}, 'empty_query', /no columns/],
    [
      'one column twice',
      { metrics: ['orders.revenue', 'orders.revenue'] },
      'duplicate_name',
      /twice/,
    ],
    [
      'a circle',
      {
        metrics: [
          { name: 'a', expr: 'b + 1' },
          { name: 'b', expr: 'a + 1' },
        ],
      },
      'circular',
      /a → b|b → a/,
    ],
    [
      'a list for a single comparison',
      { metrics: ['orders.revenue'], where: [{ field: 'orders.amount', op: '>', value: [1, 2] }] },
      'invalid_condition',
      /orders\.amount/,
    ],
  ];
  test.each(refusals.map(([title, query, code, pattern]) => ({ title, query, code, pattern })))(
    'is refused: $title',
    ({ query, code, pattern }) => {
      const error = failure(query);
      expect(error.code).toBe(code);
      expect(`${error.message} ${error.hint}`).toMatch(pattern);
      expect(error.hint).toBeTruthy();
    },
  );
});

describe('an unknown name', () => {
  test.each([
    [{ metrics: ['orders.revenu'] }, 'orders.revenue'],
    [{ metrics: ['orders.revenue'], dimensions: ['order.status'] }, 'orders'],
    [{ metrics: ['orders.revenue'], dimensions: ['orders.stauts'] }, 'status'],
    [{ metrics: ['orders.revenue'], dimensions: ['orders.buyr.segment'] }, 'buyer'],
    [{ metrics: ['orders.revenue'], segments: ['orders.payd'] }, 'paid'],
    [{ metrics: ['orders.amount'] }, 'sum(orders.amount)'],
    [{ metrics: ['orders.revenue'], where: ["status = 'paid'"] }, 'orders.status'],
    [{ metrics: ['orders.revenue'], order_by: [{ field: 'orders.reven' }] }, 'orders.revenue'],
  ] satisfies [Query, string][])('%j suggests %s', (query, suggestion) => {
    const error = failure(query);
    expect(error.code).toBe('unknown_name');
    expect(error.hint).toContain(suggestion);
  });

  test.each(['orders.secret', 'orders.SECRET', 'orders."secret"', 'orders."Secret"'])(
    'a hidden field stays out of reach as %s',
    (spelling) => {
      for (const query of [
        { metrics: ['orders.revenue'], dimensions: [spelling] },
        { metrics: ['orders.revenue'], where: [`${spelling} = 1`] },
        { metrics: [`sum(${spelling})`] },
        { metrics: ['orders.revenue'], where: [{ field: spelling, op: '=' as const, value: 1 }] },
      ]) {
        expect(failure(query).code).toBe('unknown_name');
      }
    },
  );

  test('a hidden metric does too', () => {
    expect(failure({ metrics: ['orders.internal'] }).code).toBe('unknown_name');
    expect(failure({ metrics: ['internal'] }).code).toBe('unknown_name');
    expect(failure({ metrics: ['orders.revenue'], having: ['orders.internal > 1'] }).code).toBe(
      'unknown_name',
    );
  });
});

describe('a relationship whose target columns are no declared key', () => {
  const customers = (keys: string): string => `
dataset: customers
source: customers
${keys}
fields: [{name: id, type: integer}, {name: lang, type: string}, {name: segment, type: string}]
`;
  const orders = (on: string, more = ''): string => `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}]
metrics: [{name: n, agg: count}]
relationships: [{to: customers, on: ${on}${more}}]
`;
  const query: Query = { metrics: ['orders.n'], dimensions: ['customers.segment'] };
  test.each([
    { what: 'no key', keys: '', on: '{customer_id: id}', hint: 'unique_keys: [[id]]' },
    {
      what: 'part of a key',
      keys: 'primary_key: [id, lang]',
      on: '{customer_id: id}',
      hint: 'unique_keys: [[id]]',
    },
    {
      what: 'a range',
      keys: 'primary_key: [id]',
      on: '"customer_id >= customers.id"',
      hint: 'equal columns',
    },
    {
      what: 'an expression of the key',
      keys: 'primary_key: [id]',
      on: '"customer_id = customers.id + 1"',
      hint: 'equal columns',
    },
    {
      what: 'an equality under OR',
      keys: 'primary_key: [id]',
      on: '"customer_id = customers.id or customers.id = 1"',
      hint: 'equal columns',
    },
  ])('is refused: $what', async ({ keys, on, hint }) => {
    const loaded = await load({ customers: customers(keys), orders: orders(on) });
    const error = failure(query, loaded.model);
    expect(error.code).toBe('fan_risk');
    expect(error.hint).toContain(hint);
  });
  test.each([
    ['a unique key', 'unique_keys: [[id]]', '{customer_id: id}'],
    [
      'a composite key pinned by a constant',
      'primary_key: [id, lang]',
      '"customers.lang = \'en\' and customer_id = customers.id"',
    ],
    ['reversed operands', 'primary_key: [id]', '"customers.id = customer_id"'],
    ['a key and a range', 'primary_key: [id]', '"customer_id = customers.id and customers.id > 3"'],
  ])('is joined: %s', async (_title, keys, on) => {
    const loaded = await load({ customers: customers(keys), orders: orders(on) });
    expect(compile(loaded.model, query).sql).toContain(
      'LEFT JOIN "customers" AS "orders.customers"',
    );
  });
  test('a one_to_one needs a key on the side that is joined, either way', async () => {
    const files = {
      customers: `${customers('primary_key: [id]')}metrics: [{name: c, agg: count}]\n`,
      orders: orders('{customer_id: id}', ', cardinality: one_to_one'),
    };
    const { model: oneToOne } = await load(files);
    expect(compile(oneToOne, query).sql).toContain('LEFT JOIN');
    expect(failure({ metrics: ['customers.c'], dimensions: ['orders.id'] }, oneToOne).code).toBe(
      'fan_risk',
    );
    expect(
      compile(model, { metrics: ['customers.customer_count'], dimensions: ['profiles.score'] }).sql,
    ).toContain(
      'LEFT JOIN "profiles" AS "customers.profiles" ON ("customers.profiles"."customer_id" = "customers"."id")',
    );
  });
});

test('dimensions of two datasets that extend each other do not say whose rows are meant, in any order', () => {
  for (const dimensions of [
    ['customers.segment', 'profiles.score'],
    ['profiles.score', 'customers.segment'],
  ]) {
    const { code, details } = failure({ dimensions });
    expect(code).toBe('ambiguous_path');
    const { choices } = details as { choices: readonly string[] };
    expect(choices.toSorted()).toEqual(['customers.profiles.score', 'profiles.customers.segment']);
  }
  expect(
    compile(model, { dimensions: ['customers.segment', 'customers.profiles.score'] }).sql,
  ).toContain('FROM "customers"');
  expect(
    compile(model, { dimensions: ['profiles.customers.segment', 'profiles.score'] }).sql,
  ).toContain('FROM "profiles"');
  expect(
    compile(model, {
      metrics: ['customers.customer_count'],
      dimensions: ['profiles.score', 'customers.segment'],
    }).sql,
  ).toContain('FROM "customers"');
});

test('the SQL reads like what was asked', () => {
  const { sql, columns } = compile(model, {
    metrics: ['orders.aov', { name: 'share', expr: 'orders.paid_revenue / (orders.revenue + 1)' }],
    dimensions: ['orders.buyer.regions.name', 'orders.created_at.month'],
    where: [
      "orders.status = 'paid' or orders.amount > 1",
      { field: 'buyer.segment', op: 'in', value: ["o'x", null] },
    ],
    having: ['orders.revenue > 100'],
    segments: ['orders.paid'],
    order_by: [{ field: 'orders.aov', dir: 'desc' }],
    limit: 10,
  });
  expect(columns.map((column) => column.name)).toEqual([
    'orders.buyer.regions.name',
    'orders.created_at.month',
    'orders.aov',
    'share',
  ]);
  expect(sql).toMatchInlineSnapshot(`
    "SELECT
      "orders.buyer.regions"."name" AS "orders.buyer.regions.name",
      CAST(date_trunc('month', CAST("orders"."created_at" AS TIMESTAMP)) AS DATE) AS "orders.created_at.month",
      (sum("orders"."amount") / NULLIF(count(*), 0)) AS "orders.aov",
      (sum(CASE WHEN ("orders"."status" = 'paid') THEN "orders"."amount" END) / NULLIF((sum("orders"."amount") + 1), 0)) AS "share"
    FROM "orders"
    LEFT JOIN "customers" AS "orders.buyer" ON ("orders"."customer_id" = "orders.buyer"."id")
    LEFT JOIN "regions" AS "orders.buyer.regions" ON ("orders.buyer"."region_id" = "orders.buyer.regions"."id")
    WHERE ("orders"."status" = 'paid' or "orders"."amount" > 1) AND ("orders.buyer"."segment" IN ('o''x') OR "orders.buyer"."segment" IS NULL) AND ("orders"."status" = 'paid' or "orders"."status" = 'settled')
    GROUP BY 1, 2
    HAVING (sum("orders"."amount") > 100)
    ORDER BY "orders.aov" DESC NULLS LAST, "orders.buyer.regions.name" NULLS LAST, "orders.created_at.month" NULLS LAST
    LIMIT 10"
  `);
});

test('the receipt says where each number comes from', () => {
  const { receipt } = compile(model, {
    metrics: [
      'orders.enterprise_revenue',
      { name: 'x', expr: 'orders.revenue / 2' },
      'sum(orders.amount) - count(orders.id)',
    ],
    dimensions: ['orders.status'],
    where: ["orders.status = 'paid' and orders.order_count > 1"],
    segments: ['orders.paid'],
  });
  expect(receipt).toMatchInlineSnapshot(`
    {
      "metrics": [
        {
          "access": [],
          "additive": true,
          "curated": true,
          "files": [
            "semantic-layer/warehouse/customers.yaml",
            "semantic-layer/warehouse/orders.yaml",
          ],
          "filters": [
            "orders.status = 'paid'",
            "segment orders.paid",
            "orders: orders.buyer.segment = 'ent'",
          ],
          "grain": [
            "orders.status",
          ],
          "having": [
            "orders.order_count > 1",
          ],
          "metric": "orders.enterprise_revenue",
          "name": "orders.enterprise_revenue",
          "owners": [
            "orders",
          ],
          "paths": [
            "orders.buyer → customers",
          ],
          "sums": undefined,
        },
        {
          "access": [],
          "additive": true,
          "curated": false,
          "files": [
            "semantic-layer/warehouse/customers.yaml",
            "semantic-layer/warehouse/orders.yaml",
          ],
          "filters": [
            "orders.status = 'paid'",
            "segment orders.paid",
          ],
          "grain": [
            "orders.status",
          ],
          "having": [
            "orders.order_count > 1",
          ],
          "metric": undefined,
          "name": "x",
          "owners": [
            "orders",
          ],
          "paths": [
            "orders.buyer → customers",
          ],
          "sums": undefined,
        },
        {
          "access": [],
          "additive": false,
          "curated": false,
          "files": [
            "semantic-layer/warehouse/customers.yaml",
            "semantic-layer/warehouse/orders.yaml",
          ],
          "filters": [
            "orders.status = 'paid'",
            "segment orders.paid",
          ],
          "grain": [
            "orders.status",
          ],
          "having": [
            "orders.order_count > 1",
          ],
          "metric": undefined,
          "name": "sum(orders.amount) - count(orders.id)",
          "owners": [
            "orders",
          ],
          "paths": [
            "orders.buyer → customers",
          ],
          "sums": {
            "because": "it is NULL for a group where one of its sums has no values",
            "only_over": [],
          },
        },
      ],
      "notes": [],
      "parameters": {},
    }
  `);
});

test('the words of a query never become SQL without being known', () => {
  const name = 'a"; DROP TABLE orders; --';
  const { sql } = compile(model, {
    metrics: [{ name, expr: 'orders.revenue' }],
    where: [{ field: 'orders.status', op: '=', value: "'; DROP TABLE orders; --" }],
  });
  expect(sql).toContain('AS "a""; DROP TABLE orders; --"');
  expect(sql).toContain(`IN ('''; DROP TABLE orders; --')`);
});

test('metric_time filters by the default time of the owner', () => {
  const { sql } = compile(model, {
    metrics: ['orders.revenue'],
    where: ["metric_time >= '2024-01-01' and metric_time.month < '2024-03-01'"],
  });
  expect(sql).toContain(
    `WHERE ("orders"."created_at" >= '2024-01-01') AND (CAST(date_trunc('month'`,
  );
});

test('another name for a metric says which metric it is', () => {
  const query: Query = {
    metrics: [
      { name: 'revenue', expr: 'orders.cost_total' },
      { name: 'half', expr: 'revenue / 2' },
      'order_count',
    ],
  };
  const { receipt } = compile(model, query);
  expect(receipt.metrics.map(({ name, metric, curated }) => ({ name, metric, curated }))).toEqual([
    { name: 'revenue', metric: 'orders.cost_total', curated: true },
    { name: 'half', metric: undefined, curated: false },
    { name: 'order_count', metric: 'orders.order_count', curated: true },
  ]);
});

test('the receipt says that an earlier period without a time is no earlier one', () => {
  const notesOf = (query: Query) => compile(model, query).receipt.notes.join();
  const metrics = ['orders.revenue', 'orders.last_year'];
  const isNoted = /orders\.last_year shows another period, but the query names no time/;
  expect(notesOf({ metrics, dimensions: ['orders.status'] })).toMatch(isNoted);
  expect(notesOf({ metrics, dimensions: ['metric_time.month'] })).not.toMatch(isNoted);
  expect(notesOf({ metrics, where: ["metric_time >= '2024-01-01'"] })).not.toMatch(isNoted);
});

test('the receipt says where a day ends a condition on a time at its first instant', () => {
  const notesOf = (where: string | object): string => {
    const query = { metrics: ['orders.revenue'], where: [where] } as Query;
    return compile(model, query).receipt.notes.join();
  };
  const isNoted = /has a time of day, so '2024-01-31' means 00:00 of that day.*write \S+\.day$/;
  for (const where of [
    "orders.created_at <= '2024-01-31'",
    "'2024-01-31' >= orders.created_at",
    "orders.created_at > '2024-01-31'",
    "metric_time between '2024-01-01' and '2024-01-31'",
    "orders.created_at = date '2024-01-31'",
    "orders.created_at in ('2024-01-31')",
    { field: 'orders.created_at', op: '<=', value: '2024-01-31' },
  ])
    expect(notesOf(where), JSON.stringify(where)).toMatch(isNoted);
  for (const where of [
    "orders.created_at < '2024-01-31'",
    "'2024-01-31' <= orders.created_at",
    "orders.created_at <= '2024-01-31 12:00'",
    "orders.created_at.day <= '2024-01-31'",
    "orders.status = '2024-01-31'",
    { field: 'orders.created_at', op: '>=', value: '2024-01-31' },
  ])
    expect(notesOf(where), JSON.stringify(where)).toBe('');
});

test('the receipt says in which zone periods are cut, and what the zone of the query does not do', async () => {
  const { model: zoned } = await load({
    ...shop,
    orders:
      shop['orders']?.replace('created_at, type: datetime', 'created_at, type: datetime_tz') ?? '',
  });
  const query: Query = {
    metrics: ['orders.revenue'],
    dimensions: ['metric_time.day'],
    timezone: 'Europe/Paris',
  };
  const inParis = ['Periods of orders.created_at are cut in Europe/Paris'];
  expect(compile(zoned, query).receipt.notes).toEqual(inParis);
  expect(
    compile(zoned, { ...query, where: ["metric_time >= '2024-01-01'"] }).receipt.notes,
  ).toEqual(inParis);
  expect(compile(zoned, { ...query, timezone: undefined }).receipt.notes).toEqual([
    'Periods of orders.created_at are cut in UTC',
  ]);
  for (const unzoned of [
    { dimensions: ['orders.created_at'] },
    { where: ["coalesce(orders.created_at, '2024-01-01') > '2024-01-01'"] },
  ])
    expect(compile(zoned, { ...query, ...unzoned }).receipt.notes.join()).toContain('in UTC');
  expect(compile(model, query).receipt.notes.join()).toContain('has no time zone');
  expect(compile(model, { ...query, timezone: undefined }).receipt.notes).toEqual([]);
});

test('a conversion needs times, keys, fields that are there, and metrics that count rows', async () => {
  const conversion = (to: string, field: string) =>
    `conversion: {base: order_count, to: ${to}, on: {customer_id: ${field}}, calculation: conversions}`;
  const extra = [
    'customers.customer_count, id',
    'tickets.ticket_count, customer',
    'aov, customer_id',
  ].map((one, index) => {
    const [to = '', field = ''] = one.split(', ');
    return `  - {name: odd${index + 1}, ${conversion(to, field)}}\n`;
  });
  const orders = (shop['orders'] ?? '').replace(
    'relationships:',
    `${extra[0]}${extra[1]}relationships:`,
  );
  const { model: asked } = await load({ ...shop, orders });
  expect(() => compile(asked, { metrics: ['orders.odd1'] })).toThrow('default_time');
  expect(() => compile(asked, { metrics: ['orders.odd2'] })).toThrow(
    'tickets has no field customer',
  );
  const { diagnostics } = await load({
    ...shop,
    orders: orders.replace('relationships:', `${extra[2]}relationships:`),
  });
  expect(diagnostics).toContainEqual(
    expect.objectContaining({
      rule: 'conversion',
      message: expect.stringContaining('aov is not a plain aggregate'),
    }),
  );
});
