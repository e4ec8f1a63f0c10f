import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { choicesOf } from '../../src/semantic/query/errors.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

const engines = [...engineNames, ...(hasMariadb ? (['mysql'] as const) : [])];
const rows = [
  { id: 1, isPaid: true, amount: 600, buyer: 1 },
  { id: 2, isPaid: false, amount: 600, buyer: 1 },
  { id: 3, isPaid: null, amount: 100, buyer: 2 },
  { id: 4, isPaid: false, amount: 100, buyer: 2 },
  { id: 5, isPaid: true, amount: null, buyer: null },
];
const script = `
CREATE TABLE orders (id INTEGER, is_paid BOOLEAN, amount INTEGER, buyer INTEGER);
INSERT INTO orders VALUES ${rows.map(({ id, isPaid, amount, buyer }) => `(${id}, ${isPaid}, ${amount}, ${buyer})`).join(', ')};
CREATE TABLE people (id INTEGER, is_new BOOLEAN);
INSERT INTO people VALUES (1, true), (2, false);`;
const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: at
fields:
  - {name: id, type: integer}
  - {name: is_paid, type: boolean}
  - {name: amount, type: integer}
  - {name: buyer, type: integer}
  - {name: at, type: datetime, expr: "cast('2024-01-01' as timestamp)"}
  - {name: is_large, expr: amount > 500, type: boolean}
segments: [{name: paid, where: is_paid}]
metrics:
  - {name: count, agg: count}
  - {name: paid, agg: count, where: is_paid}
  - {name: large_unpaid, agg: count, where: is_large and not is_paid}
  - {name: paid_amount, expr: sum(case when is_paid then amount else 0 end)}
relationships:
  - {to: people, on: {buyer: id}, role: payer}
  - {to: people, on: {id: id}, role: receiver}
`,
  people: `
dataset: people
source: people
primary_key: [id]
fields: [{name: id, type: integer}, {name: is_new, type: boolean}]
metrics: [{name: any_new, expr: max(is_new)}]
`,
};

type Row = (typeof rows)[number];
const isLarge = ({ amount }: Row) => (amount === null ? null : amount > 500);
const isNew = ({ buyer }: Row) => (buyer === null ? null : buyer === 1);
const countOf = (fits: (row: Row) => boolean) => [[rows.filter(fits).length]];
/** The query, and its rows; a boolean stands as 1 or 0. */
const cases: readonly (readonly [string, Parameters<typeof compile>[1], readonly unknown[][]])[] = [
  [
    'a stored one as a condition',
    { metrics: ['orders.count'], where: ['orders.is_paid'] },
    countOf(({ isPaid }) => isPaid === true),
  ],
  [
    'compared with true',
    { metrics: ['orders.count'], where: ['orders.is_paid = true'] },
    countOf(({ isPaid }) => isPaid === true),
  ],
  [
    'a computed one compared with false',
    { metrics: ['orders.count'], where: ['orders.is_large = false'] },
    countOf((row) => isLarge(row) === false),
  ],
  [
    'under NOT and OR',
    { metrics: ['orders.count'], where: ['not orders.is_paid or orders.is_large'] },
    countOf((row) => row.isPaid === false || isLarge(row) === true),
  ],
  [
    'in a list',
    { metrics: ['orders.count'], where: [{ field: 'orders.is_paid', op: '=', value: false }] },
    countOf(({ isPaid }) => isPaid === false),
  ],
  ['in filters of metrics', { metrics: ['orders.paid', 'orders.large_unpaid'] }, [[2, 1]]],
  ['in a segment', { metrics: ['orders.count'], segments: ['orders.paid'] }, [[2]]],
  ['in a CASE', { metrics: ['orders.paid_amount'] }, [[600]]],
  [
    'as a dimension',
    { metrics: ['orders.count'], dimensions: ['orders.is_large'] },
    [
      [1, 2],
      [0, 2],
      [null, 1],
    ],
  ],
  [
    'the greatest and the smallest',
    { metrics: ['max(orders.is_paid)', 'min(orders.is_large)'] },
    [[1, 0]],
  ],
  [
    'the greatest of a group',
    { metrics: ['max(orders.is_large)'], dimensions: ['orders.is_paid'] },
    [
      [1, 1],
      [0, 1],
      [null, 0],
    ],
  ],
  ['the greatest of a condition', { metrics: ['max(orders.amount > 500)'] }, [[1]]],
  [
    'the greatest beside another fact',
    { metrics: ['max(orders.is_paid)', 'people.any_new'] },
    [[1, 1]],
  ],
  ['added up', { metrics: ['sum(orders.is_paid)', 'avg(orders.is_paid)'] }, [[2, 0.5]]],
  [
    'of a joined row',
    { metrics: ['orders.count'], where: ['orders.payer.is_new'] },
    countOf((row) => isNew(row) === true),
  ],
];

const comparable = (given: readonly (readonly unknown[])[]) =>
  given
    .map((row) => row.map((cell) => (cell === null ? null : Number(cell))))
    .map((row) => JSON.stringify(row))
    .toSorted();

describe.each(engines)('booleans on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    ({ model } = await load(files, engine.warehouse.dialect));
  });
  afterAll(async () => engine.close());

  test.each(cases)('%s', async (_, query, expected) => {
    expect(comparable(await rowsOf(engine, compile(model, query).sql))).toEqual(
      comparable(expected),
    );
  });

  test('a sum of distinct values is refused with a query that gives it', async () => {
    const metric = 'sum(distinct orders.amount)';
    const hint = hintOf(model, { metrics: [metric] });
    const [, written = ''] = /^Write (.+), which/.exec(hint) ?? [];
    const sql = compile(model, { metrics: [written] }).sql;
    expect(comparable(await rowsOf(engine, sql))).toEqual(comparable([[700]]));
  });
});

function hintOf(model: SemanticModel, query: Parameters<typeof compile>[1]): string {
  try {
    compile(model, query);
  } catch (error) {
    if (error instanceof UserError) return error.hint ?? '';
  }
  return '';
}

describe('SQL Server', () => {
  /** A boolean where T-SQL has none: as a condition, as a value, or as a literal. */
  const faults = [
    /(?:where|and|or|not|when) \(*\[\w+\]\.\[is_(?:paid|new)\]\)*(?! *=| IN| IS)/i,
    /(?:SELECT|max\(|min\(|sum\(|,) \(*\[\w+\]\.\[amount\] > 500/i,
    /= (?:true|false)\b/i,
    /(?:max|min)\(\[\w+\]\.\[is_/,
  ];
  test.each(cases)('gets no boolean: %s', async (_, query) => {
    const { model } = await load(files, findDialect('sqlserver'));
    const sql = compile(model, query).sql.replaceAll(/\s+/g, ' ');
    for (const fault of faults) expect(sql).not.toMatch(fault);
  });

  test('the checks see what ktx wrote before', () => {
    const before = [
      'SELECT count(*) FROM [o] AS [o] WHERE [o].[is_paid]',
      'SELECT ([o].[amount] > 500) AS [d1]',
      'WHERE ([o].[is_paid] = true)',
      'SELECT max([o].[is_paid])',
      'sum(CASE WHEN [o].[is_paid] THEN 1 END)',
    ];
    for (const sql of before) expect(faults.some((fault) => fault.test(sql))).toBe(true);
  });
});

describe('hints that name dimensions', () => {
  test.each([
    ['customers.is_new', ['orders.payer.is_new', 'orders.receiver.is_new']],
    ['people.is_new', ['orders.payer.is_new', 'orders.receiver.is_new']],
    ['orders.at__month', ['orders.at.month']],
    ['orders.at:month', ['orders.at.month']],
    ['at.month', ['orders.at.month']],
    ['month(orders.at)', ['orders.at.month']],
    ["date_trunc('month', orders.at)", ['orders.at.month']],
    ['DATE_TRUNC(orders.at, MONTH)', ['orders.at.month']],
    ["DATE_TRUNC('quarter', metric_time)", ['metric_time.quarter']],
    ['is_new', ['orders.payer.is_new', 'orders.receiver.is_new']],
  ])('%s: each choice is a query that runs', async (dimension, expected) => {
    const { model } = await load(files, findDialect('duckdb'));
    const query = { metrics: ['orders.count'], dimensions: [dimension] };
    let choices: readonly string[] = [];
    try {
      compile(model, query);
    } catch (error) {
      if (error instanceof UserError) choices = choicesOf(error);
    }
    expect(choices).toEqual(expected);
    for (const choice of choices)
      expect(compile(model, { ...query, dimensions: [choice] }).sql).toContain('SELECT');
    expect(hintOf(model, query)).toContain(expected.join(', '));
  });

  test('a choice that would fail too is left out', async () => {
    const { model } = await load(files, findDialect('duckdb'));
    const query = { metrics: ['orders.count', 'people.any_new'], dimensions: ['buyers.is_new'] };
    expect(hintOf(model, query)).toBe(
      'ktx search finds names by words; ktx sl read shows the fields and joins of a dataset.',
    );
  });
});
