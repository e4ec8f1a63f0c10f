import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan } from '../../src/scan/scan.ts';
import { isThere, makeDatabase, never, type EngineName } from '../support/warehouses.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

interface Odd {
  /**
   * Columns of `"we""ird 🐝 table"` beside its names and its reference: type, and a value of it in
   * SQL over a number `i`.
   */
  readonly columns: Readonly<Record<string, readonly [type: string, value: string]>>;
  readonly series: (rows: number) => string;
  readonly quote: (name: string) => string;
  /** A view whose rows cannot be computed. */
  readonly fails: string;
}

const double = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const oneOf = (first: string, type: string): string =>
  `CAST(CASE i % 3 WHEN 0 THEN '${first}' ELSE '2024-01-01' END AS ${type})`;

const odd: Readonly<Record<EngineName, Odd>> = {
  postgres: {
    columns: {
      j: ['json', `'{"a":1}'`],
      jb: ['jsonb', `'{"a":1}'`],
      b: ['bytea', `'\\x00ff'`],
      arr: ['int[]', 'ARRAY[i]'],
      p: ['point', 'point(i, i)'],
      n: ['numeric', `(CASE i % 3 WHEN 0 THEN 'NaN' ELSE i::text END)::numeric`],
      f: ['float8', `(CASE i % 3 WHEN 0 THEN 'Infinity' ELSE i::text END)::float8`],
      d: ['date', oneOf('infinity', 'date')],
      ts: ['timestamptz', oneOf('-infinity', 'timestamptz')],
      iv: ['interval', `'1 day'`],
      u: ['uuid', 'gen_random_uuid()'],
      x: ['xml', `'<a/>'`],
      bits: ['bit(3)', `'101'`],
      mon: ['money', '12.5'],
      inet: ['inet', `'10.0.0.1'`],
      r: ['int4range', `'[1,5)'`],
      tsv: ['tsvector', `'a b'`],
      e: ['bool', 'i % 2 = 0'],
      c: ['"char"', `'x'`],
      huge: ['numeric(60,10)', '10::numeric ^ 40 + i'],
    },
    series: (rows) => `generate_series(1, ${rows}) t(i)`,
    quote: double,
    fails: 'SELECT cus_id, 1 / (cus_id - cus_id) AS ratio FROM cus',
  },
  duckdb: {
    columns: {
      j: ['JSON', `'{"a":1}'`],
      b: ['BLOB', `'\\x00\\xFF'::BLOB`],
      arr: ['INTEGER[]', '[i]'],
      s: ['STRUCT(a INTEGER)', '{a: i}'],
      m: ['MAP(VARCHAR, INTEGER)', `MAP {'a': i}`],
      h: ['HUGEINT', '170141183460469231731687303715884105000 + i'],
      uh: ['UHUGEINT', 'i'],
      f: [
        'DOUBLE',
        `CASE i % 3 WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN 'Infinity'::DOUBLE ELSE i END`,
      ],
      d: ['DATE', oneOf('infinity', 'DATE')],
      ts: ['TIMESTAMP', oneOf('-infinity', 'TIMESTAMP')],
      iv: ['INTERVAL', `INTERVAL 1 DAY`],
      u: ['UUID', 'uuid()'],
      bits: ['BIT', `'101'::BIT`],
      t: ['TIME', `TIME '10:11:12'`],
      e: ['BOOLEAN', 'i % 2 = 0'],
      en: [`ENUM('a', 'b')`, `'a'`],
      un: ['UNION(n INTEGER, s VARCHAR)', 'union_value(n := i)'],
      dec: ['DECIMAL(38,10)', 'i * 1.5'],
    },
    series: (rows) => `range(1, ${rows} + 1) r(i)`,
    quote: double,
    fails: `SELECT cus_id, CAST('x' || cus_id AS INTEGER) AS ratio FROM cus`,
  },
  sqlite: {
    columns: {
      b: ['BLOB', `x'00ff'`],
      any: ['', `CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'text' ELSE x'ff' END`],
      r: ['REAL', `CASE i % 3 WHEN 0 THEN 9e999 ELSE i END`],
      j: ['JSON', `'{"a":1}'`],
      n: ['DECIMAL(10,2)', `CASE i % 3 WHEN 0 THEN 'n/a' ELSE i END`],
    },
    series: (rows) =>
      `(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${rows}) SELECT i FROM s)`,
    quote: double,
    fails: 'SELECT cus_id, json(name) AS ratio FROM cus',
  },
  mysql: {
    columns: {
      j: ['json', `'{"a":1}'`],
      b: ['blob', `x'00ff'`],
      p: ['point', 'POINT(i, i)'],
      bits: ['bit(3)', `b'101'`],
      d: ['datetime', `'1000-01-01'`],
      t: ['time', `'-800:00:00'`],
      y: ['year', '2024'],
      s: [`set('a','b')`, `'a,b'`],
      e: [`enum('a','b')`, `'a'`],
      h: ['decimal(65,10)', '1e50 + i'],
    },
    series: (rows) => `(SELECT seq AS i FROM seq_1_to_${rows}) r`,
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    fails: 'SELECT cus_id, (SELECT cus_id FROM cus) AS ratio FROM cus',
  },
};

const names = ['the id', '🐝', 'quo"te\'d', 'back\\slash', 'new\nline', '`tick'] as const;
const weird = 'we"ird 🐝 table';
/** MariaDB has no names beyond the basic plane. */
const named = (engine: EngineName, text: string): string =>
  engine === 'mysql' ? text.replaceAll('🐝', '☃') : text;

function script({ columns, series, quote, fails }: Odd): string {
  const columnsOf = [
    ...names.map((name) => `${quote(name)} integer`),
    ...Object.entries(columns).map(([name, [type]]) => `${name} ${type}`),
    'cus_id integer',
  ];
  const values = [
    ...names.map(() => 'i'),
    ...Object.values(columns).map(([, value]) => value),
    'i % 50 * 3 + 1',
  ];
  return [
    `CREATE TABLE ${quote(weird)} (${columnsOf.join(', ')});`,
    `INSERT INTO ${quote(weird)} SELECT ${values.join(', ')} FROM ${series(300)};`,
    'CREATE TABLE cus (cus_id integer, name varchar(20));',
    `INSERT INTO cus SELECT i * 3 - 2, 'not json' FROM ${series(50)};`,
    `CREATE VIEW fails AS ${fails};`,
  ].join('\n');
}

describe.each(Object.keys(odd).filter((engine) => isThere(engine as EngineName)) as EngineName[])(
  'odd columns, names and views of %s',
  (engine) => {
    test('cost nothing but themselves', async () => {
      const database = await makeDatabase(engine, named(engine, script(odd[engine])));
      const warehouse = await database.open();
      const db = new DatabaseSync(':memory:');
      opened.push(
        () => database.remove(),
        () => db.close(),
        () => warehouse.close(),
      );
      const run = () =>
        scan({
          warehouse,
          scope: {},
          state: { db },
          config: scanConfigSchema.parse({ views: true }),
          signal: never,
        });
      const { tables, links, queries } = await run();
      const profileOf = (name: string) => tables.find(({ table }) => table.table === name)?.profile;
      const own = profileOf(named(engine, weird));
      expect(own).toMatchObject({ rows: 300, fraction: 1 });
      expect(own?.note).toBeUndefined();
      const columns = new Map(own?.columns.map((column) => [column.name, column]));
      for (const name of names)
        expect(columns.get(named(engine, name)), name).toMatchObject({
          kind: 'integer',
          nulls: 0,
          distinct: 300,
          min: 1,
          max: 300,
        });
      expect(columns.size).toBe(names.length + Object.keys(odd[engine].columns).length + 1);
      for (const [name, column] of columns)
        expect(
          JSON.stringify([column.min ?? 0, column.max ?? 0, column.distinct]),
          name,
        ).not.toContain('null');
      // A view of which one column cannot be computed keeps the others; that column is no candidate
      // for anything.
      expect(profileOf('fails')).toMatchObject({ rows: 50 });
      expect(profileOf('fails')?.columns.find(({ name }) => name === 'ratio')).toMatchObject({
        note: expect.any(String),
        distinct: 0,
      });
      const ends = (status: string) =>
        links.flatMap((link) =>
          link.status === status
            ? [`${link.from.table.table}(${link.from.columns.join()}) ${link.to.table.table}`]
            : [],
        );
      expect(ends('accepted')).toEqual([`${named(engine, weird)}(cus_id) cus`]);
      expect(
        links.filter(({ from, to }) => [...from.columns, ...to.columns].includes('ratio')),
      ).toEqual([]);
      expect(queries).toBeLessThan(40);
      expect((await run()).links).toEqual(links);
    });
  },
);
