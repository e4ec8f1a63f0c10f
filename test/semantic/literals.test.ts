import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Condition } from '../../src/semantic/query/query.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

/** In Paris the clocks went back on 2024-10-27, forward on 2024-03-31. */
const instants = [
  '2024-10-26 21:30:00',
  '2024-10-26 22:00:00',
  '2024-10-27 22:59:59',
  '2024-10-27 23:00:00',
];
const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: placed_at
fields:
  - {name: id, type: integer}
  - {name: code, type: string}
  - {name: price, type: decimal}
  - {name: paid, type: boolean}
  - {name: placed_on, type: date}
  - {name: seen_at, type: datetime}
  - {name: placed_at, type: datetime_tz}
metrics: [{name: n, agg: count}]
`,
};

const scripts = {
  duckdb: script({ instant: 'TIMESTAMPTZ', write: (utc) => `'${utc}+00'` }),
  postgres: script({ instant: 'TIMESTAMPTZ', write: (utc) => `'${utc}+00'` }),
  sqlite: script({ instant: 'TEXT', write: (utc) => `'${utc.replace(' ', 'T')}Z'`, paid: '1' }),
  mysql: `SET time_zone = '+00:00';${script({ instant: 'TIMESTAMP', write: (utc) => `'${utc}'` })}`,
};

interface EngineForm {
  readonly instant: string;
  readonly write: (utc: string) => string;
  readonly paid?: string;
}
function script({ instant, write, paid = 'TRUE' }: EngineForm): string {
  const rows = instants.map(
    (utc, index) =>
      `(${index + 1}, '${index + 1}', ${index + 0.5}, ${index === 0 ? 'FALSE' : paid}, '2024-0${index + 1}-15', '2024-0${index + 1}-15 10:00:00', ${write(utc)})`,
  );
  const columns = `id INTEGER, code VARCHAR(9), price DECIMAL(9, 2), paid BOOLEAN, placed_on DATE, seen_at ${instant === 'TIMESTAMP' ? 'DATETIME' : instant === 'TEXT' ? 'TEXT' : 'TIMESTAMP'}, placed_at ${instant}`;
  return `CREATE TABLE orders (${columns}); INSERT INTO orders VALUES ${rows.join(', ')};`;
}

describe.each([...engineNames, 'mysql'] as const)('a literal on %s', (name) => {
  let engine: Engine | undefined;
  let model: Awaited<ReturnType<typeof load>>['model'];
  const isMissing = name === 'mysql' && !hasMariadb;
  beforeAll(async () => {
    if (isMissing) return;
    engine = await engineWith(name, scripts[name]);
    const loaded = await load(files, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });
  afterAll(() => engine?.close());

  /** The ids of the rows for which the condition is true. */
  async function rowsWhere(condition: Condition, timezone?: string): Promise<string> {
    if (engine === undefined) throw new Error('The engine is not open.');
    const query = { dimensions: ['orders.id'], where: [condition], timezone };
    const rows = await rowsOf(engine, compile(model, query).sql);
    return rows.map(([id]) => Number(id)).join(' ');
  }

  test.skipIf(isMissing).for([
    ["orders.id = '2'", '2'],
    ["orders.id in ('2', 3)", '2 3'],
    ["orders.price > '1.5'", '3 4'],
    ["orders.price between '1.5' and 2.5", '2 3'],
    ['orders.code = 2', '2'],
    ["'3' = orders.code", '3'],
    ["orders.paid = 'true'", '2 3 4'],
    ["orders.paid = 'FALSE'", '1'],
    ['orders.paid = 0', '1'],
    ['not orders.paid = 1', '1'],
    ['orders.paid = false or orders.id = 4', '1 4'],
    ["orders.placed_on.month = '2024-02'", '2'],
    ["orders.placed_on.year = 2024 and orders.id < '2'", '1'],
    ["orders.placed_on.quarter = '2024-01'", '1 2 3'],
    ["orders.placed_on >= date '2024-03-01'", '3 4'],
    ["orders.seen_at >= '2024-03-15T10:00'", '3 4'],
    ["orders.seen_at = '2024-03-15 10:00:00.000'", '3'],
    ["orders.seen_at.month in ('2024-02', '2024-03-01')", '2 3'],
    ["orders.placed_at < '2024-10-26T22:00:00Z'", '1'],
    ["orders.placed_at < '2024-10-27 00:00:00+0200'", '1'],
    ["orders.placed_at >= '2024-10-27'", '3 4'],
    ["'2024-10-27' > metric_time", '1 2'],
  ] as const)('is read in the type of the field: %s', async ([condition, ids]) => {
    expect(await rowsWhere(condition)).toBe(ids);
  });

  test.skipIf(isMissing).for<readonly [Condition, string]>([
    [{ field: 'orders.id', op: '=', value: '2' }, '2'],
    [{ field: 'orders.paid', op: '!=', value: 'true' }, '1'],
    [{ field: 'orders.code', op: 'in', value: [2, '3'] }, '2 3'],
    [{ field: 'orders.placed_on.month', op: '=', value: '2024-02' }, '2'],
    [{ field: 'orders.placed_at', op: '>=', value: '2024-10-27 23:00' }, '4'],
    [{ field: 'orders.placed_on', op: 'contains', value: '-02-' }, '2'],
    [{ field: 'orders.id', op: 'not_in', value: ['1', null] }, '2 3 4'],
  ])('in a condition of parts likewise: %j', async ([condition, ids]) => {
    expect(await rowsWhere(condition)).toBe(ids);
  });

  test.skipIf(isMissing)(
    "is a time of the query's zone, wherever an instant meets it",
    async () => {
      const paris = (condition: Condition) => rowsWhere(condition, 'Europe/Paris');
      expect(await paris("metric_time >= '2024-10-27' and metric_time < '2024-10-28'")).toBe('2 3');
      expect(await paris("metric_time between '2024-10-27' and '2024-10-27 23:59:59'")).toBe('2 3');
      expect(await paris({ field: 'metric_time', op: '<', value: '2024-10-27' })).toBe('1');
      expect(await paris("orders.placed_at = '2024-10-27T22:59:59Z'")).toBe('3');
      // A time without zone is what it is.
      expect(await paris("orders.seen_at >= '2024-03-15 10:00'")).toBe('3 4');
    },
  );
});

test.for([
  ["orders.id = 'abc'", /is a whole number, and 'abc' is not/, 'orders.id = 5'],
  ["orders.paid = 'yes'", /is true or false/, 'orders.paid = true'],
  ['orders.paid = 2', /is true or false, and 2 is not/, 'orders.paid = true'],
  ['orders.code = true', /is text/, "orders.code = 'true'"],
  ["orders.placed_on = 'soon'", /is a day, and '/, "orders.placed_on >= '2024-02-01'"],
  ["orders.placed_on = '2024-02-30'", /is a day, and '/, "orders.placed_on >= '2024-02-01'"],
  ["orders.placed_on = '2024-02'", /is a day, and '/, "orders.placed_on.month = '2024-02'"],
  ["orders.placed_on = '2024'", /is a day, and '/, "orders.placed_on.year = '2024'"],
  ["orders.placed_on >= '2024-02-01 10:00'", /is a day, and '/, "orders.placed_on >= '2024-02-01'"],
  [
    "orders.placed_on.month = '2024-02-15'",
    /No month starts on 2024-02-15/,
    "orders.placed_on.month = '2024-02-01'",
  ],
  ["orders.seen_at = '2024-02-01T10:00Z'", /has no time zone, and /, 'Write the time without it'],
  ["metric_time.day = '2024-02-01T10:00Z'", /has no time zone, and '/, 'Set timezone in the query'],
  ['orders.placed_at > 2024', /is a day or time, and /, "orders.placed_at.year = '2024'"],
] as const)(
  'a literal that the field cannot have is refused: %s',
  async ([where, message, hint]) => {
    const { model } = await load(files);
    const run = () => compile(model, { metrics: ['orders.n'], where: [where] });
    expect(run).toThrow(
      expect.objectContaining({
        code: 'literal_type',
        message: expect.stringMatching(message),
        hint: expect.stringContaining(hint),
      }),
    );
  },
);

test('a hint that holds a condition is one that works', async () => {
  const { model } = await load(files);
  const refused = ["orders.id = 'abc'", 'orders.paid = 2', "orders.placed_on = '2024-02'"];
  for (const where of refused) {
    const hint = hintOf(() => compile(model, { metrics: ['orders.n'], where: [where] }));
    const condition = /orders\.[^,.]+(?:\.\w+)? (?:=|>=) (?:'[^']+'|\w+)/.exec(hint)?.[0] ?? '';
    expect(condition, hint).not.toBe('');
    expect(() => compile(model, { metrics: ['orders.n'], where: [condition] })).not.toThrow();
  }
});

function hintOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof Error && 'hint' in error ? String(error.hint) : '';
  }
  return '';
}
