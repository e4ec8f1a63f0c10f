import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { generous, makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

const script = `CREATE TABLE canary (id int); INSERT INTO canary VALUES (1);
  CREATE TABLE t (a int, b varchar(20), d timestamp); INSERT INTO t VALUES (1, 'x', '2024-03-04 05:06:07'), (2, 'y', NULL);
  CREATE FUNCTION evil(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 7; END $$;
  CREATE FUNCTION abs(varchar) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 7; END $$;
  CREATE TABLE stl_query (a int);
  CREATE PROCEDURE clear() LANGUAGE sql AS 'DELETE FROM canary';`;

const hostile = [
  'INSERT INTO canary VALUES (2)',
  'UPDATE canary SET id = 2',
  'DELETE FROM canary',
  'MERGE INTO canary USING t ON canary.id = t.a WHEN MATCHED THEN DELETE',
  'TRUNCATE canary',
  'DROP TABLE canary',
  'ALTER TABLE canary APPEND FROM t',
  'CREATE TABLE x AS SELECT 1',
  'CREATE TEMP TABLE x (a int)',
  'SELECT * INTO x FROM t',
  'SELECT a INTO TEMP TABLE x FROM t',
  'WITH w AS (DELETE FROM canary RETURNING *) SELECT * FROM w',
  'SELECT 1; DELETE FROM canary',
  'SELECT 1;; DROP TABLE canary',
  'COMMIT',
  'ROLLBACK; DELETE FROM canary',
  'BEGIN READ WRITE',
  "SET query_group TO 'x'",
  'SET SESSION AUTHORIZATION postgres',
  'RESET ALL',
  'CALL clear()',
  "UNLOAD ('SELECT * FROM t') TO 's3://bucket/x' IAM_ROLE default",
  "COPY t FROM 's3://bucket/x' IAM_ROLE default",
  'GRANT ALL ON canary TO PUBLIC',
  'REVOKE ALL ON canary FROM PUBLIC',
  'VACUUM canary',
  'ANALYZE canary',
  'LOCK canary',
  'CANCEL 123',
  'SELECT * FROM t FOR UPDATE',
  'EXPLAIN DELETE FROM canary',
  'EXPLAIN ANALYZE SELECT 1',
  'PREPARE p AS DELETE FROM canary',
  'EXECUTE p',
  'DECLARE c CURSOR FOR SELECT 1',
  'SELECT evil(1)',
  'SELECT public.evil(1)',
  'SELECT "evil" (1)',
  'SELECT evil/* */(1)',
  // A carriage return ends a comment.
  'SELECT 1 -- x\r, evil(1)',
  "SELECT 1 --\r, set_config('x.y', 'z', false)\n",
  'SELECT 1 FROM t -- \r, stl_query',
  "SELECT abs('x')",
  'SELECT public.abs(b) FROM t',
  'SELECT TOP 1 evil(a) FROM t',
  'SELECT a FROM t QUALIFY evil(1) = 7',
  'SELECT (1).evil',
  'SELECT (a).evil FROM t',
  'SELECT t.evil FROM t',
  'SELECT (t) . "evil" FROM t',
  "SELECT ('/etc/passwd'::text).pg_read_file",
  "SELECT TOP 1 ('/etc/passwd'::text).pg_read_file",
  "SELECT 1 FROM upper('/etc/passwd') AS y(v) WHERE y.pg_read_file > ''",
  "SELECT TOP 1 y.pg_read_file FROM upper('/etc/passwd') AS y(v)",
  'SELECT TOP 1 y."pg_read_file" FROM upper(\'/etc/passwd\') AS y',
  'SELECT * FROM generate_series(1, 3)',
  'SELECT pg_terminate_backend(1)',
  'SELECT pg_cancel_backend(1)',
  "SELECT set_config('x.y', 'z', false)",
  "SELECT pg_read_file('/etc/passwd')",
  "SELECT lo_import('/etc/passwd')",
  "SELECT nextval('s')",
  'SELECT * FROM pg_user',
  'SELECT * FROM pg_catalog.pg_shadow',
  'SELECT * FROM stl_query',
  'SELECT * FROM svv_tables',
  'SELECT * FROM sys_query_history',
  'SELECT * FROM information_schema.tables',
  'SELECT * FROM other_database.public.t',
  "SELECT 't'::regclass",
  "SELECT 'a\\'; DELETE FROM canary; --'",
  "SELECT '\\\\\\'; DELETE FROM canary; --'",
  "SELECT '\\' || ', evil(1) --'",
  'SELECT $$x$$',
  'SELECT 1 /* a /* b */ ; DELETE FROM canary --*/',
  "SELECT 'x",
  'SELECT 1 /* x',
  'SELECT \u00A01',
  'SHOW ALL',
  'SHOW GRANTS ON canary',
  'USE other',
];

const legal: readonly (readonly [sql: string, rows: unknown])[] = [
  ['SELECT 1', [[1]]],
  ['SELECT 1 -- ; DELETE FROM canary\n', [[1]]],
  ["SELECT '; DELETE FROM canary' AS s", [['; DELETE FROM canary']]],
  ["SELECT 'it''s' /* no */ ;", [["it's"]]],
  ["SELECT b FROM t WHERE b ~ '^x$'", [['x']]],
  ["SELECT regexp_replace('a1b22', '[0-9]+', '')", [['ab22']]],
  ['SELECT NVL(NULL, 3), COALESCE(NULL, 4), NULLIF(1, 1)', [[3, 4, null]]],
  ['SELECT LEN(b), UPPER(b) || LOWER(b) FROM t WHERE a = 1', [[1, 'Xx']]],
  ['SELECT DATEADD(month, 1, d)::date FROM t WHERE a = 1', [['2024-04-04']]],
  ["SELECT DATEDIFF(day, d, '2024-03-06 00:00:00') FROM t WHERE a = 1", [[2]]],
  [
    "SELECT DATE_TRUNC('month', d)::date, EXTRACT(year FROM d) FROM t WHERE a = 1",
    [['2024-03-01', 2024]],
  ],
  ["SELECT LISTAGG(b, ',') WITHIN GROUP (ORDER BY b) FROM t", [['x,y']]],
  ['SELECT APPROXIMATE COUNT(DISTINCT a) FROM t', [[2]]],
  ['SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM t', [[1.5]]],
  ['WITH w AS (SELECT a FROM t) SELECT sum(a) FROM w', [[3]]],
  [
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT max(i) FROM n',
    [[3]],
  ],
  ['SELECT a, ROW_NUMBER() OVER (ORDER BY a DESC) FROM t ORDER BY a LIMIT 1', [[1, 2]]],
  ['(SELECT a FROM t) INTERSECT (SELECT 1)', [[1]]],
  ['SELECT CASE WHEN a > 1 THEN 1 ELSE 0 END FROM public.t ORDER BY 1', [[0], [1]]],
  ['SELECT count(*) FROM "T" AS "delete"', undefined],
  ['SELECT x.a FROM t x JOIN t y USING (a) WHERE y.b IN (SELECT b FROM t) ORDER BY 1', [[1], [2]]],
  [
    "SELECT TRIM(' x '), SUBSTRING('abc', 2, 1), POSITION('b' IN 'abc'), SPLIT_PART('a,b', ',', 2)",
    [['x', 'b', 2, 'b']],
  ],
  ["SELECT GREATEST(1, 2), ROUND(2.55, 1), MOD(7, 4), MD5('x') = MD5('x')", [[2, 2.6, 3, true]]],
  ['EXPLAIN SELECT a FROM t', undefined],
];

describe('the gate on Redshift', () => {
  let database: TestDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    database = await makeDatabase('redshift', script);
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse?.close();
    await database?.remove();
  });

  test('refuses every hostile statement before it is sent, and the canary stays', async () => {
    const before = await database.fingerprint();
    const outcomes = await Promise.all(
      hostile.map((sql) =>
        warehouse.query(sql, generous, never).then(
          () => `${sql}: passed`,
          (error: { code?: string; details?: { rule?: string } }) => {
            const { code = '', details } = error;
            const isOfGate = ['gate_refused', 'sql_syntax', 'missing_object'].includes(code);
            return isOfGate && details?.rule !== 'engine' ? '' : `${sql}: ${code} ${details?.rule}`;
          },
        ),
      ),
    );
    expect(hostile.length).toBeGreaterThan(40);
    expect(outcomes.filter((outcome) => outcome !== '')).toEqual([]);
    expect(await database.fingerprint()).toBe(before);
  });

  test.each(legal)('lets pass %s', async (sql, rows) => {
    const name = sql.includes('"T"') ? sql.replace('"T"', '"t"') : sql;
    const result = await warehouse.query(name, generous, never);
    if (rows !== undefined) expect(result.rows).toEqual(rows);
    expect(result.rows.length).toBeGreaterThan(0);
  });

  test('lets pass what only Redshift can parse, which Postgres behind it cannot', async () => {
    for (const sql of [
      'SELECT TOP 1 a FROM t',
      'SELECT x.a FROM t x QUALIFY ROW_NUMBER() OVER (ORDER BY x.d) = 1',
      "SELECT * FROM (SELECT a, b FROM t) PIVOT (sum(a) FOR b IN ('x', 'y'))",
      'SELECT * EXCLUDE (a) FROM t',
    ])
      expect(await warehouse.reads(sql)).toMatchObject([{ schema: 'public', table: 't' }]);
  });

  test('calls a function of a user that the connection allows, also one with the name of a safe one', async () => {
    const calls = (names: readonly string[], sql: string) =>
      database
        .open({ allow_functions: [...names] })
        .then((open) => open.reads(sql).finally(() => open.close()));
    await expect(calls(['evil'], 'SELECT evil(1)')).resolves.toEqual([]);
    await expect(calls(['evil', 'public.evil'], 'SELECT public.evil(1)')).resolves.toEqual([]);
    await expect(calls(['evil', 'abs'], 'SELECT abs(1)')).rejects.toMatchObject({
      message: expect.stringContaining('public.abs') as unknown,
    });
    await expect(calls(['public.abs'], 'SELECT abs(1)')).resolves.toEqual([]);
  });

  test('reads a table of a user that has the name of a system table only with its schema', async () => {
    expect(await warehouse.reads('SELECT a FROM public.stl_query')).toHaveLength(1);
    await expect(warehouse.reads('SELECT a FROM stl_query')).rejects.toMatchObject({
      details: { rule: 'table' },
    });
  });

  test('refuses to read a nested value as a table', async () => {
    await expect(warehouse.reads('SELECT 1 FROM t x, x.items i')).rejects.toMatchObject({
      details: { rule: 'table' },
    });
  });

  test('the engine refuses what the gate would let pass', async () => {
    const driver = await database.openDriver();
    try {
      for (const sql of ['DELETE FROM canary', 'CREATE TABLE more (a int)', 'SELECT evil(1)'])
        await expect(driver.run(sql, generous, never)).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:gate_refused|warehouse_privilege)$/) as unknown,
        });
    } finally {
      await driver.close();
    }
  });
});
