import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { timeGrains, type TruncateOptions } from '../../src/sql/dialect.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { parseFragment } from '../../src/sql/fragment.ts';
import { dialectNames } from '../support/dialect-names.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';

const noisy = ["it's", 'back\\slash', "\\' or 1=1 --", '"quoted"', 'é𝒳\n\ttab', '%_', ''];

test('a dialect is found by its name, an unknown one names the known', () => {
  expect(dialectNames.map((name) => findDialect(name).name)).toEqual(dialectNames);
  expect(
    () => findDialect('oracle'),
    'src/sql/dialects.ts and test/support/dialect-names.ts list the same dialects in one order',
  ).toThrow(expect.objectContaining({ hint: `Known: ${dialectNames.join(', ')}` }));
  expect(() => findDialect('oracle')).toThrow('no SQL dialect named oracle');
});

test('a text that the engine would end elsewhere than ktx is refused in a fragment', () => {
  const hidden = String.raw`status = '\' or secret = ' or (1 = 1) -- '`.replace(' -- ', ' ');
  const dialects = dialectNames.map((name) => findDialect(name));
  const readers = dialects.filter(({ misread }) => misread !== undefined).map(({ name }) => name);
  expect(readers).toEqual([
    'mysql',
    'clickhouse',
    'sqlserver',
    'snowflake',
    'bigquery',
    'redshift',
    'databricks',
  ]);
  for (const dialect of dialects) {
    const parse = () => parseFragment(hidden, { dialect, origin: 'query' });
    if (readers.includes(dialect.name) && dialect.name !== 'sqlserver')
      expect(parse).toThrow('reads in its own way');
    else
      expect(parse().references.map(({ parts }) => parts.join('.'))).toEqual(['status', 'secret']);
  }
  for (const name of ['bigquery', 'databricks']) {
    for (const text of ["'it''s'", "'''x'''"]) {
      expect(() =>
        parseFragment(`a = ${text}`, { dialect: findDialect(name), origin: 'query' }),
      ).toThrow('reads in its own way');
    }
    expect(
      parseFragment("a = '' or a = 'b'", { dialect: findDialect(name), origin: 'query' })
        .references,
    ).toHaveLength(2);
  }
  const broken = { dialect: findDialect('sqlserver'), origin: 'query' } as const;
  expect(() => parseFragment("a = 'x\\\ny'", broken)).toThrow('reads in its own way');
});

test('|| is refused where the engine takes it for OR, which a condition is not split at', async () => {
  await loadAnalyzer();
  const parse = (name: string, text: string) =>
    parseFragment(text, { dialect: findDialect(name), origin: 'query' });
  expect(() => parse('mysql', 'a = 1 || b = 2 and c = 3')).toThrow(
    'OR for mysql (write OR, or concat(…) to join texts)',
  );
  expect(parse('mysql', "a = 'x || y' and c = 3").conjuncts).toHaveLength(2);
  expect(parse('postgres', "a || b = 'xy' and c = 3").conjuncts).toHaveLength(2);
});

describe.each(engineNames)('the dialect of %s', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    const stamped =
      name === 'postgres' ? 'timestamptz' : name === 'duckdb' ? 'TIMESTAMPTZ' : 'TEXT';
    engine = await engineWith(
      name,
      `CREATE TABLE moments (day DATE, clock TIMESTAMP, stamp ${stamped});
       INSERT INTO moments VALUES ('2024-03-10', '2024-03-10 23:45:59', '2024-03-10 23:45:59+00:00');
       CREATE TABLE "odd ""name" ("a b" INTEGER, zero INTEGER);
       INSERT INTO "odd ""name" VALUES (1, 0), (2, NULL), (3, 2);`,
    );
  });
  afterAll(async () => engine.close());

  const one = async (sql: string): Promise<unknown> => (await rowsOf(engine, sql))[0]?.[0];
  const start = async (
    grain: (typeof timeGrains)[number],
    column: string,
    options: TruncateOptions,
  ): Promise<string> => {
    const value = await one(
      `SELECT ${engine.warehouse.dialect.truncate(grain, column, options)} FROM moments`,
    );
    return String(value).replace('T', ' ').replace(/\.0+$/, '');
  };

  test('keeps any text as it is', async () => {
    const { dialect } = engine.warehouse;
    const [row] = await rowsOf(
      engine,
      `SELECT ${noisy.map((text) => dialect.literal(text)).join(', ')}`,
    );
    expect(row).toEqual(noisy);
    expect(await one(`SELECT 5 - ${dialect.literal(-3)}`)).toBe(8);
    expect(
      await one(`SELECT CASE WHEN ${dialect.literal(true)} THEN ${dialect.literal(1.5)} END`),
    ).toSatisfy((value) => Number(value) === 1.5);
  });

  test('quotes any name and divides for real, with the precedence of a division', async () => {
    const { dialect } = engine.warehouse;
    const [a, real] = [dialect.quote('a b'), dialect.division];
    const sql = `SELECT ${a} ${real} NULLIF(zero, 0), 1 ${real} 2, 7 - 3 ${real} 2 * 3
      FROM ${dialect.quote('odd "name')} ORDER BY ${a} ${dialect.limit(3, true)}`;
    expect(
      (await rowsOf(engine, sql)).map((row) =>
        row.map((cell) => (cell === null ? null : Number(cell))),
      ),
    ).toEqual([
      [null, 0.5, 2.5],
      [null, 0.5, 2.5],
      [1.5, 0.5, 2.5],
    ]);
    expect(
      await one(`SELECT ${dialect.percentile?.(a, 0.25)} FROM ${dialect.quote('odd "name')}`),
    ).toSatisfy((value) => Number(value) === 1.5);
  });

  const days = {
    day: '2024-03-10',
    week: '2024-03-04',
    month: '2024-03-01',
    quarter: '2024-01-01',
    year: '2024-01-01',
  };
  const clocks = {
    second: '2024-03-10 23:45:59',
    minute: '2024-03-10 23:45:00',
    hour: '2024-03-10 23:00:00',
    ...days,
  };

  test('cuts a clock time into every period', async () => {
    for (const grain of timeGrains)
      expect(await start(grain, 'clock', { type: 'datetime', weekStart: 'monday' })).toBe(
        clocks[grain],
      );
  });

  test('cuts a date into days and more', async () => {
    for (const [grain, wanted] of Object.entries(days)) {
      expect(
        await start(grain as keyof typeof days, 'day', { type: 'date', weekStart: 'monday' }),
      ).toBe(wanted);
    }
  });

  test('starts the week on the day that was asked for', async () => {
    for (const [day, monday, sunday] of [
      ['2024-03-10', '2024-03-04', '2024-03-10'],
      ['2024-03-11', '2024-03-11', '2024-03-10'],
      ['2024-03-16', '2024-03-11', '2024-03-10'],
      ['2024-01-01', '2024-01-01', '2023-12-31'],
    ]) {
      const literal = `CAST('${day}' AS ${name === 'sqlite' ? 'TEXT' : 'DATE'})`;
      expect(await start('week', literal, { type: 'date', weekStart: 'monday' })).toBe(monday);
      expect(await start('week', literal, { type: 'date', weekStart: 'sunday' })).toBe(sunday);
    }
  });

  test('cuts an instant in UTC, or in the zone that was asked for', async () => {
    const instant = { type: 'datetime_tz', weekStart: 'monday' } as const;
    expect(await start('day', 'stamp', instant)).toBe('2024-03-10');
    expect(await start('hour', 'stamp', { ...instant, timezone: 'UTC' })).toBe(
      '2024-03-10 23:00:00',
    );
    const inParis = start('hour', 'stamp', { ...instant, timezone: 'Europe/Paris' });
    expect(await inParis).toBe('2024-03-11 00:00:00');
  });
});
