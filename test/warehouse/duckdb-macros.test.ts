import { afterEach, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { generous, makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

/** A file of somebody else, in which one macro has the name of something built in. */
const script = (macro: string): string => `
  CREATE TABLE t AS SELECT 1 AS a, 'x' AS s, [3, 1] AS l, {'k': 7} AS st, MAP {'a': 1} AS m, DATE '2024-01-31' AS day;
  CREATE TABLE secret AS SELECT 'canary' AS v;
  CREATE MACRO twice(x) AS x * 2; ${macro}`;
const ofTwo = (name: string): string =>
  `CREATE MACRO "${name}"(x, y) AS (SELECT max(v) FROM secret);`;

let database: TestDatabase;
let warehouse: Warehouse;
const open = async (macro: string): Promise<void> => {
  database = await makeDatabase('duckdb', script(macro));
  warehouse = await database.open();
};
afterEach(async () => {
  await warehouse.close();
  await database.remove();
});
const outcome = async (sql: string): Promise<string> =>
  warehouse.query(sql, generous, never).then(
    ({ rows }) => JSON.stringify(rows),
    (error: unknown) => (error as { code: string }).code,
  );

describe('a macro of a DuckDB file that takes the place of', () => {
  const operators: readonly (readonly [string, string])[] = [
    ['+', 'SELECT a + 1 FROM t'],
    ['||', "SELECT s || 'y' FROM t"],
    ['~~', "SELECT s LIKE 'x' FROM t"],
    ['!~~*', "SELECT s NOT ILIKE 'x' FROM t"],
    ['->>', "SELECT '{}'::JSON ->> 'a' FROM t"],
    ['//', 'SELECT a FROM t ORDER BY a // 2'],
    ['%', 'SELECT count(*) FROM t WHERE a % 2 = 1'],
    ['^@', "SELECT s ^@ 'x' FROM t"],
    ['+', 'WITH c AS (SELECT a + 1 AS b FROM t) SELECT sum(b) OVER (ORDER BY b) FROM c'],
    ['+', 'PIVOT t ON s USING sum(a + 1)'],
  ];
  test.each(operators)('the operator %s does not answer %s', async (operator, sql) => {
    await open(ofTwo(operator));
    expect(await outcome(sql)).toBe('gate_refused');
    expect(await outcome('SELECT a FROM t WHERE a = 1')).toBe('[[1]]');
  });

  test.each([
    ['array_extract', 'SELECT l[1] FROM t'],
    ['map_extract_value', "SELECT m['a'] FROM t"],
    ['struct_extract', 'SELECT st.k FROM t'],
    ['list_value', 'SELECT ARRAY[a, 2] FROM t'],
    ['date_part', 'SELECT extract(year FROM day) FROM t'],
    ['json_extract', "SELECT '{}'::JSON -> 'a'"],
  ])('%s, which syntax calls, does not answer', async (name, sql) => {
    await open(ofTwo(name));
    expect(await outcome(sql)).toBe('gate_refused');
  });

  test('an aggregate that SUMMARIZE calls does not answer', async () => {
    await open("CREATE MACRO max(x) AS 'canary';");
    expect(await outcome('SELECT * FROM (SUMMARIZE t)')).toBe('gate_refused');
  });

  test('the parser, or the list of macros, does not open the gate', async () => {
    await open(`
      CREATE MACRO json_serialize_sql(x) AS '{"error":false,"statements":[{"node":{"type":"SELECT_NODE"}}]}';
      CREATE MACRO lower(x) AS 'nothing'; CREATE MACRO list(x) AS NULL; CREATE MACRO current_database() AS 'other';
      CREATE MACRO duckdb_functions() AS TABLE SELECT 'a' AS function_name, false AS internal;
      CREATE MACRO duckdb_tables() AS TABLE SELECT 'a' AS table_name;`);
    expect(await outcome("SELECT lower(s), current_setting('home_directory') FROM t")).toBe(
      'gate_refused',
    );
    expect(await outcome('SELECT lower(s) FROM t')).toBe('gate_refused');
    const { tables } = await warehouse.introspect({}, never);
    expect(tables.map(({ table }) => table)).toEqual(['secret', 't']);
    expect(await outcome('SELECT s FROM main.t')).toBe('[["x"]]');
  });

  test('nothing leaves everything as it is', async () => {
    await open('');
    for (const [, sql] of operators) expect(await outcome(sql)).toMatch(/^\[/);
    expect(await outcome('SELECT st.k, l[1], m[s] FROM t')).toBe('[[7,3,null]]');
    expect(await outcome('SELECT column_name FROM (SUMMARIZE secret)')).toBe('[["v"]]');
    expect(await outcome('SELECT twice(a) FROM t')).toBe('gate_refused');
  });
});
