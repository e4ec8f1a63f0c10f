import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { sqlitePolicy } from '../../src/warehouse/drivers/sqlite/policy.ts';
import type { StatementFacts } from '../../src/warehouse/gate/policy.ts';
import { shapeOf, withNames } from '../../src/warehouse/gate/statement-shape.ts';
import { diceOf, statement } from './fuzz/statements.ts';

type Corpus = Readonly<Record<string, unknown>>;
const read = (name: string): Corpus => {
  const url = new URL(`../conformance/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { readonly dialects: Corpus }).dialects;
};
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
const corpus = ['hostile-sql', 'legal-sql', 'read-only-sql'].flatMap((name) => textsIn(read(name)));
const sqliteTexts = {
  hostile: textsIn(read('hostile-sql')['sqlite']),
  legal: textsIn(read('legal-sql')['sqlite']),
};
const drawn = Array.from({ length: 1500 }, (_, seed) =>
  statement('sqlite', sqliteTexts, diceOf(seed + 1)),
);
/** With its names in double quotes, so that it has a shape more often. */
const quoted = (sql: string): string =>
  sql.replaceAll(/'[^']*'|\b(?:t|u|a|b|c|canary|orders|id|name)\b/g, (word) =>
    word.startsWith("'") ? word : `"${word}"`,
  );

const dotted = (sql: string): string => sql.replaceAll(/"(\w+)"/g, '"$1.x"');

const factsOf = (sql: string): Promise<StatementFacts | string> =>
  sqlitePolicy.inspect(sql).catch((error: unknown) => {
    if (error instanceof UserError) return error.code;
    throw error;
  });
/** A comment has no shape: the analyzer reads the text itself. */
const factsWithoutShape = (sql: string) => factsOf(`${sql}\n/* no shape */`);
const sorted = (facts: StatementFacts | string) =>
  typeof facts === 'string' ? facts : { ...facts, functions: facts.functions.toSorted() };

describe('the shape of a statement', () => {
  test('leads to what the analyzer finds in the statement itself, whichever came first', async () => {
    let shaped = 0;
    const texts = [...corpus, ...corpus.map(quoted), ...drawn, ...drawn.map(quoted)];
    for (const sql of [...texts, ...drawn.map(quoted).map(dotted)]) {
      if (shapeOf(sql) === undefined) continue;
      shaped += 1;
      // Another statement of the shape is read first, and kept.
      await factsOf(sql.replaceAll(/"([A-Za-z_][\w.]*)"/g, '"$1_of_another"'));
      expect(sorted(await factsOf(sql)), sql).toEqual(sorted(await factsWithoutShape(sql)));
    }
    expect(shaped).toBeGreaterThan(500);
  });

  test('keeps names apart, and puts each back', async () => {
    const sql = `SELECT substr("n", 1) FROM "main"."orders" AS "o" JOIN "lines" ON "o"."n" = "lines"."n"`;
    const shape = shapeOf(sql);
    expect(shape?.names).toEqual(['n', 'main', 'orders', 'o', 'lines']);
    expect(shapeOf(sql.replaceAll('orders', 'bills'))?.sql).toBe(shape?.sql);
    expect(shapeOf(sql.replace('"main"."orders"', '"main"."lines"'))?.sql).not.toBe(shape?.sql);
    expect(await factsOf(sql.replaceAll('orders', 'bills'))).toMatchObject({
      functions: ['substring'],
      tables: [{ schema: 'main', table: 'bills' }, { table: 'lines' }],
    });
  });

  test('takes a name with a dot for one name', async () => {
    const sql = `SELECT sum("o"."n") AS "o.total" FROM "main"."orders" AS "o" ORDER BY "o.total"`;
    expect(shapeOf(sql)?.names).toEqual(['o', 'n', 'o.total', 'main', 'orders']);
    expect(await factsOf('SELECT 1 FROM "main.orders"')).toMatchObject({
      tables: [{ table: 'main.orders' }],
    });
  });

  test.each([
    ['a quoted name that is called', `SELECT "load_extension"('x')`],
    ['one that is called after a space', `SELECT "load_extension" ('x')`],
    ['a name with a quote in it', `SELECT * FROM "a""b"`],
    ['a comment', `SELECT 1 -- "x"`],
    ['another comment', `SELECT 1 /* "x" */`],
    ['a comment of another dialect', `SELECT 1 # "x"`],
    ['a backslash in a text', String.raw`SELECT 'it\'s "x"'`],
    ['other quotes', 'SELECT * FROM `x`'],
    ['brackets', 'SELECT * FROM [x]'],
    ['a parameter', 'SELECT ?'],
    ['a quote that is never closed', `SELECT "x`],
    ['a name in two spellings', `WITH "A" AS (SELECT 1) SELECT * FROM "a"`],
    ['a name like those of a shape', `SELECT "quoted_1" FROM "t"`],
    ['a bare name like those of a shape', `SELECT quoted_1 FROM "t"`],
    ['a letter beyond ASCII', `SELECT é FROM "t"`],
  ])('does not exist for %s', (_name, sql) => {
    expect(shapeOf(sql)).toBeUndefined();
  });

  test('does not turn the names of a text into others', () => {
    const facts = { functions: ['lower'], tables: [{ table: 'quoted_7' }, { table: 'quoted_0' }] };
    expect(withNames(facts, ['orders']).tables.map(({ table }) => table)).toEqual([
      'quoted_7',
      'orders',
    ]);
  });
});
