import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sqlite } from '../../src/sql/dialects/sqlite.ts';
import { profileStatement, tableSource } from '../../src/scan/profile/profile-statement.ts';
import { inspectSqlite } from '../../src/warehouse/drivers/sqlite/policy.ts';
import { shareInspections } from '../../src/warehouse/gate/share-inspections.ts';
import { diceOf, statement } from './fuzz/statements.ts';

interface Corpus {
  readonly dialects: { readonly sqlite: readonly string[] };
}
const read = (name: string): Corpus =>
  JSON.parse(readFileSync(new URL(`../conformance/${name}.json`, import.meta.url), 'utf8'));
const corpora = {
  hostile: read('hostile-sql').dialects.sqlite,
  legal: read('analyst-sql').dialects.sqlite,
};

/** The facts, or the reason of the refusal. */
async function outcome(inspect: typeof inspectSqlite, sql: string): Promise<unknown> {
  try {
    const { functions, tables } = await inspect(sql);
    return { functions: functions.toSorted(), tables };
  } catch (error) {
    return String(error);
  }
}

/** What is found in a statement once others of its shape were inspected, twice. */
async function sharedOutcome(sql: string, count?: () => void): Promise<unknown> {
  const shared = shareInspections((text) => {
    count?.();
    return inspectSqlite(text);
  });
  const renamed = sql.replaceAll(/"([a-z_]\w*)"/gi, '"other_$1"');
  for (const like of [renamed, renamed]) await outcome(shared, like);
  return outcome(shared, sql);
}

const quoteTables = (sql: string) =>
  sql.replaceAll(/\b(t|u|canary|orders|a|b)\b(?!\s*\()/g, '"$1"');

test('a statement says the same of itself, whatever statements of its shape came before', async () => {
  const generated = Array.from({ length: 300 }, (_, seed) =>
    statement('sqlite', corpora, diceOf(seed)),
  );
  const written = [...corpora.hostile, ...corpora.legal, ...generated];
  const statements = [...written, ...written.map(quoteTables)];
  for (const sql of statements)
    expect([sql, await sharedOutcome(sql)]).toEqual([sql, await outcome(inspectSqlite, sql)]);
});

test.for([
  // What the shape does not tell apart must be inspected as it stands.
  `SELECT 1 FROM (WITH "a" AS (SELECT 1) SELECT * FROM "A")`,
  `WITH a AS (SELECT 1) SELECT * FROM "a"`,
  `SELECT "load_extension"('x') FROM "t"`,
  `SELECT "load_extension" ('x') FROM "t"`,
  `SELECT "load_extension"/**/('x') FROM "t"`,
  `SELECT * FROM "pragma_table_info"('t')`,
  `SELECT * FROM "t""u"`,
  `SELECT * FROM "ktx_name_0", "t"`,
  `SELECT CAST("a" AS "text") FROM "t"`,
  `WITH 'a' AS (SELECT 1) SELECT * FROM "a"`,
  `SELECT "x"."load_extension" FROM "t" AS "x"`,
])('%s says the same of itself', async (sql) => {
  expect(await sharedOutcome(sql)).toEqual(await outcome(inspectSqlite, sql));
});

test('the statements of a scan are parsed once for all tables of the same columns', async () => {
  const columns = [
    { name: 'id', nativeType: 'INTEGER', type: 'integer' as const, nullable: false },
    { name: 'status', nativeType: 'TEXT', type: 'string' as const, nullable: true },
  ];
  let inspected = 0;
  const shared = shareInspections((sql) => {
    inspected += 1;
    return inspectSqlite(sql);
  });
  for (let at = 0; at < 50; at += 1) {
    const table = { schema: 'main', table: `orders_${at}`, kind: 'table' as const, columns };
    const source = tableSource({ ...table, uniqueKeys: [], foreignKeys: [] }, 1, sqlite);
    const { tables } = await shared(profileStatement(columns, source, sqlite));
    expect(new Set(tables.map(({ table: name }) => name))).toEqual(new Set([`orders_${at}`]));
  }
  // The first as it was written, the second with made-up names.
  expect(inspected).toBe(2);
});
