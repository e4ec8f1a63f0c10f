import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

type Query = z.input<typeof querySchema>;

const script = `
CREATE TABLE sales (id INTEGER, amount INTEGER, amount_cents INTEGER, price DECIMAL(10,1), kind VARCHAR(9), buyer_id INTEGER, code INTEGER);
INSERT INTO sales VALUES (1, 999, 300, 0.1, 'a', 1, 57), (2, 999, 100, 0.2, 'b', 1, 7), (3, 999, 200, 0.2, 'c', 2, 75), (4, 999, 50, 0.5, 'c', 2, 8);
CREATE TABLE people (id INTEGER, name VARCHAR(9), active INTEGER);
INSERT INTO people VALUES (1, 'ann', 1), (2, 'bob', 0), (3, 'cleo', 1), (4, 'dan', 0);
CREATE TABLE codes (code VARCHAR(9));
INSERT INTO codes VALUES ('7'), ('07');`;

const files = {
  sales: `
dataset: sales
source: sales
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: amount, type: decimal, expr: amount_cents / 100}
  - {name: twice, type: decimal, expr: Amount * 2}
  - {name: price, type: decimal}
  - {name: kind, type: string}
  - {name: code, type: integer}
segments:
  - {name: of_active, where: sales.buyer.active = 1}
metrics:
  - {name: revenue, agg: sum, of: AMOUNT}
  - {name: count, agg: count}
relationships:
  - {to: people, on: {buyer_id: id}, role: buyer}
  - {to: codes, on: {code: code}}
`,
  returns: `
dataset: returns
source: sales
primary_key: [id]
fields: [{name: id, type: integer}]
relationships: [{to: people, on: {buyer_id: id}, role: buyer}]
`,
  people: `
dataset: people
source: people
primary_key: [id]
fields: [{name: id, type: integer}, {name: name, type: string}, {name: active, type: integer}]
`,
  codes: `
dataset: codes
source: codes
primary_key: [code]
fields: [{name: code, type: string}]
`,
};

function failure(model: SemanticModel, query: Query): UserError {
  try {
    compile(model, query);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('the query was planned');
}

describe.each(engineNames)('no wrong number on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load(files, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    model = loaded.model;
  });
  afterAll(async () => engine.close());

  const answer = async (query: Query): Promise<readonly (readonly unknown[])[]> => {
    const plain = (cell: unknown): unknown =>
      typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
    return (await rowsOf(engine, compile(model, query).sql)).map((row) => row.map(plain));
  };

  test('orders and filters by the right column whatever the outputs are named', async () => {
    const metrics = [
      { name: 'm2', expr: 'sum(sales.id)' },
      { name: 'm1', expr: '0 - sum(sales.id)' },
      { name: 'd1', expr: 'sum(sales.price)' },
    ];
    const query: Query = {
      metrics,
      dimensions: ['sales.kind'],
      order_by: [{ field: 'm2', dir: 'desc' }],
      limit: 2,
    };
    expect((await answer(query)).map((row) => row.slice(0, 3))).toEqual([
      ['c', 7, -7],
      ['b', 2, -2],
    ]);
    expect(
      (await answer({ ...query, order_by: [], having: ['m1 < -1'] })).map(([kind]) => kind),
    ).toEqual(['b', 'c']);
  });

  test('finds a field in any case, so that its expression holds', async () => {
    expect(
      await answer({ metrics: ['sales.revenue', 'sum(sales.AMOUNT)', 'sum(sales.Twice)'] }),
    ).toEqual([[6.5, 6.5, 13]]);
    expect(await answer({ dimensions: ['sales.AMOUNT'], where: ['sales.Amount > 2'] })).toEqual([
      [3],
    ]);
  });

  test('adds only members that a segment allows', async () => {
    const query: Query = {
      metrics: ['sales.count'],
      dimensions: ['buyer.name'],
      segments: ['sales.of_active'],
      include_empty: true,
    };
    expect(await answer(query)).toEqual([
      ['ann', 2],
      ['cleo', 0],
    ]);
  });

  test('finds text in the digits of a number', async () => {
    const ids = async (
      op: 'contains' | 'starts_with' | 'ends_with',
      field: string,
      value: string,
    ): Promise<unknown> =>
      (await answer({ dimensions: ['sales.id'], where: [{ field, op, value }] })).flat();
    expect(await ids('contains', 'sales.code', '5')).toEqual([1, 3]);
    expect(await ids('starts_with', 'sales.code', '5')).toEqual([1]);
    expect(await ids('ends_with', 'sales.code', '5')).toEqual([3]);
  });

  test('refuses to join a number to a text key, of which several can be that number', () => {
    const { code, message } = failure(model, {
      metrics: ['sales.count'],
      dimensions: ['codes.code'],
    });
    expect(code).toBe('fan_risk');
    expect(message).toContain('sales.code is integer, codes.code is string');
  });

  test('does not round a median to the scale of its column', async () => {
    const [[median] = []] = await answer({
      metrics: ['median(sales.price)'],
      where: ['sales.id < 3'],
    });
    expect(median).toBeCloseTo(0.15, 10);
  });

  test('follows roles in an aggregate from the rows that its other names are of', async () => {
    const metrics = [
      'sum(case when sales.buyer.active = 1 then sales.amount end)',
      'sum(case when buyer.active = 0 then sales.id end)',
    ];
    expect(await answer({ metrics })).toEqual([[4, 7]]);
    expect(await answer({ metrics: ['sum(sales.amount * sales.buyer.active)'] })).toEqual([[4]]);
    expect(
      failure(model, { metrics: ['sum(case when sales.buyer.nothing = 1 then sales.id end)'] })
        .code,
    ).toBe('unknown_name');
    expect(
      failure(model, { metrics: ['sum(case when sales.buyer.active = 1 then sales.buyer.id end)'] })
        .code,
    ).toBe('not_supported');
  });

  test('means a field in where, even where a metric of the query has its name', async () => {
    const metrics = [{ name: 'sales.id', expr: 'max(sales.id) + 100' }];
    expect(await answer({ metrics, dimensions: ['sales.kind'], where: ['sales.id > 3'] })).toEqual([
      ['c', 104],
    ]);
    expect(
      await answer({ metrics, dimensions: ['sales.kind'], having: ['sales.id > 103'] }),
    ).toEqual([['c', 104]]);
  });

  test('asks whose rows are meant by a role of several datasets', async () => {
    const { code, message } = failure(model, { dimensions: ['buyer.name'] });
    expect(code).toBe('ambiguous_path');
    expect(message).toContain('sales.buyer.name, returns.buyer.name');
    expect(await answer({ dimensions: ['buyer.name', 'sales.kind'] })).toHaveLength(3);
    expect(failure(model, { dimensions: ['people.name'], include_empty: true }).code).toBe(
      'unused_option',
    );
  });
});

test('SQLite cuts, moves and orders ISO texts as times, and stops at what is none', async () => {
  const none = [
    '1710460800',
    '2024',
    '2460385.5',
    "'15.03.2024'",
    "'2024-02-30'",
    "'31/12/2024'",
    "'1704067200'",
  ];
  const engine = await engineWith(
    'sqlite',
    `CREATE TABLE events (id INTEGER, shop INTEGER, at, amount INTEGER);
     INSERT INTO events VALUES (1, 1, '2024-03-15', 1), (2, 1, '2024-03-15 10:00:00', 2), (3, 1, NULL, 4), (4, 1, '', 8), (5, 1, '2024-03-31T23:30:00-02:00', 16),
       ${none.map((value, index) => `(${index + 10}, ${index + 10}, ${value}, 1)`).join(', ')};`,
  );
  try {
    const events = `dataset: events\nsource: events\nprimary_key: [id]\ndefault_time: at\nfiscal_year_start: 4
fields: [{name: id, type: integer}, {name: shop, type: integer}, {name: at, type: datetime}]
metrics:
  - {name: total, agg: sum, of: amount}
  - {name: running, cumulative: {of: total}}
  - {name: year_before, offset: {of: total, by: 1 year}}
  - {name: last, agg: sum, of: amount, semi_additive: {over: at, take: last, per: [shop]}}
`;
    const { model } = await load({ events }, engine.warehouse.dialect);
    const answer = (query: Query) => rowsOf(engine, compile(model, query).sql);
    const where = ['events.shop = 1'];
    expect(
      await answer({ metrics: ['events.total'], dimensions: ['events.at.month'], where }),
    ).toEqual([
      ['2024-03-01', 3],
      ['2024-04-01', 16],
      [null, 12],
    ]);
    expect(await answer({ metrics: ['events.last'], where })).toEqual([[16]]);
    const cut = ['month', 'week', 'fiscal_year', 'fiscal_quarter'].map((grain): Query => ({
      metrics: ['events.total'],
      dimensions: [`metric_time.${grain}`],
    }));
    const moved = ['running', 'year_before'].map((name): Query => ({
      metrics: [`events.${name}`],
      dimensions: ['metric_time.month'],
    }));
    const filled: Query = {
      metrics: ['events.total'],
      dimensions: ['metric_time.month'],
      fill_time: true,
    };
    const tested: Query = {
      metrics: ['events.total'],
      where: ["metric_time.month = '2024-01-01'"],
    };
    for (const query of [...cut, ...moved, filled, tested, { metrics: ['events.last'] }]) {
      for (const [index] of none.entries()) {
        const asked = answer({
          ...query,
          where: [...(query.where ?? []), { field: 'events.shop', op: '=', value: index + 10 }],
        });
        await expect(asked, `${JSON.stringify(query)} of ${none[index]}`).rejects.toMatchObject({
          code: 'not_a_time_value',
        });
      }
    }
  } finally {
    await engine.close();
  }
});

test('SQLite orders times in whatever ISO form each is written', async () => {
  const engine = await engineWith(
    'sqlite',
    `CREATE TABLE visits (id INTEGER, who INTEGER, at TEXT, amount INTEGER);
     INSERT INTO visits VALUES (1, 1, '2024-01-05T08:00:00Z', 1), (2, 1, '2024-01-05 09:30:00', 2), (3, 2, '2024-01-05T12:00:00.5+02:00', 4),
       (4, 2, '2024-01-05 10:00:00.250001', 8), (5, 3, '2024-01-05', 16), (6, 3, '2024-01-05T00:00', 32), (7, 3, '2024-01-05 00:00:00.000', 64);
     CREATE TABLE sales (id INTEGER, who INTEGER, at TEXT);
     INSERT INTO sales VALUES (1, 1, '2024-01-05 09:00:00'), (2, 2, '2024-01-05T10:00:00.4Z'), (3, 3, '2024-01-05 00:00:00');`,
  );
  try {
    const dataset = (
      name: string,
      more: string,
    ) => `dataset: ${name}\nsource: ${name}\nprimary_key: [id]\ndefault_time: at
fields: [{name: id, type: integer}, {name: who, type: integer}, {name: at, type: datetime}]
metrics: [{name: count, agg: count}${more}]`;
    const visits = dataset(
      'visits',
      `, {name: last, agg: sum, of: amount, semi_additive: {over: at, take: last, per: [who]}},
       {name: bought, conversion: {base: count, to: sales.count, on: {who: who}, calculation: conversions}}`,
    );
    const { model } = await load({ visits, sales: dataset('sales', '') }, engine.warehouse.dialect);
    const answer = (query: Query) => rowsOf(engine, compile(model, query).sql);
    // Where two are at the same time, both are the last.
    expect(await answer({ metrics: ['visits.last'], dimensions: ['visits.who'] })).toEqual([
      [1, 2],
      [2, 4],
      [3, 112],
    ]);
    expect(await answer({ metrics: ['visits.bought'], dimensions: ['visits.id'] })).toEqual([
      [1, 1],
      [2, 0],
      [3, 0],
      [4, 1],
      [5, 0],
      [6, 0],
      [7, 1],
    ]);
  } finally {
    await engine.close();
  }
});

test('a time zone has a name: offsets mean different things to engines', () => {
  const accepts = (timezone: string): boolean =>
    querySchema.safeParse({ metrics: ['x'], timezone }).success;
  expect(['Europe/Paris', 'UTC', 'Etc/GMT+5', '+05:00', '-0500', '05:00'].map(accepts)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('a whole number that JSON has rounded is refused', () => {
  const issue = (value: number | number[]): string =>
    JSON.stringify(
      querySchema.safeParse({ metrics: ['x'], where: [{ field: 'a.b', op: 'in', value }] }).error
        ?.issues ?? '',
    );
  expect(issue(2 ** 53)).toContain('write it as text');
  expect(issue([1, -(2 ** 60)])).toContain('write it as text');
  expect([issue(2 ** 53 - 1), issue(1.5)]).toEqual(['""', '""']);
});

test('roles and datasets that differ only by case are duplicates', async () => {
  const own = (relationships: string): string =>
    `dataset: sales\nsource: sales\nprimary_key: [id]\nfields: [{name: id}]\n${relationships}`;
  const rules = async (relationships: string): Promise<readonly string[]> =>
    (await load({ ...files, sales: own(relationships) })).diagnostics.map(
      ({ rule, message }) => `${rule}: ${message}`,
    );
  expect(
    await rules(
      'relationships: [{to: people, on: {id: id}, role: buyer}, {to: people, on: {id: id}, role: Buyer}]',
    ),
  ).toEqual(['duplicate: The roles buyer and Buyer differ only by case']);
  expect(await rules('relationships: [{to: people, on: {id: id}, role: Codes}]')).toEqual([
    'duplicate: The role Codes differs from the dataset codes only by case',
  ]);
});

test('an error about an emoji shows it whole', async () => {
  const { model } = await load(files);
  expect(failure(model, { metrics: ['💥'] }).message.isWellFormed()).toBe(true);
  expect(failure(model, { metrics: ['💥'] }).message).toContain('operator 💥');
});
