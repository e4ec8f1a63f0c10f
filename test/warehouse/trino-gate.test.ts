import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { open as openDriver } from '../../src/warehouse/drivers/trino/driver.ts';
import {
  normalizeForAnalyzer,
  withoutLastSemicolon,
} from '../../src/warehouse/drivers/trino/statement-text.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { startTrino, type TrinoServer } from '../engines/trino/server.ts';
import { openTrino } from '../support/trino.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `CREATE TABLE canary (a INTEGER, b VARCHAR); INSERT INTO canary VALUES (1, 'x'), (2, 'y');
  CREATE SCHEMA hidden; CREATE TABLE hidden.secrets (s VARCHAR);`;

/** Statements that write, stop others, or reach other systems. */
const writing = [
  'INSERT INTO canary VALUES (3, 2)',
  'INSERT INTO canary SELECT * FROM canary',
  'WITH c AS (SELECT 1 AS a, 2 AS b) INSERT INTO canary SELECT * FROM c',
  'UPDATE canary SET a = 0',
  'DELETE FROM canary',
  'DELETE FROM memory.main.canary WHERE a = 1',
  'MERGE INTO canary c USING canary s ON c.a = s.a WHEN MATCHED THEN DELETE',
  'TRUNCATE TABLE canary',
  'DROP TABLE canary',
  'DROP TABLE IF EXISTS canary',
  'CREATE TABLE t AS SELECT * FROM canary',
  'CREATE OR REPLACE VIEW v AS SELECT * FROM canary',
  'CREATE SCHEMA s',
  'CREATE FUNCTION f(x bigint) RETURNS bigint RETURN x',
  'ALTER TABLE canary ADD COLUMN c bigint',
  'ALTER TABLE canary EXECUTE optimize',
  "COMMENT ON TABLE canary IS 'x'",
  'ANALYZE canary',
  'REFRESH MATERIALIZED VIEW m',
  'GRANT SELECT ON canary TO PUBLIC',
  'REVOKE SELECT ON canary FROM ana',
  'DENY SELECT ON canary TO ana',
  "CALL system.runtime.kill_query('20240101_000000_00000_aaaaa', 'x')",
  "EXECUTE IMMEDIATE 'DROP TABLE canary'",
  'PREPARE p FROM DROP TABLE canary',
  'EXECUTE p',
];
const others = [
  'START TRANSACTION',
  'START TRANSACTION READ WRITE',
  'COMMIT',
  'ROLLBACK',
  'SET SESSION query_max_run_time = 1',
  'SET ROLE admin',
  "SET TIME ZONE 'UTC'",
  'RESET SESSION query_max_run_time',
  'USE hidden',
  'EXPLAIN ANALYZE SELECT * FROM canary',
  'EXPLAIN ANALYZE VERBOSE SELECT 1',
  'EXPLAIN (TYPE IO) DELETE FROM canary',
  'EXPLAIN EXPLAIN ANALYZE DELETE FROM canary',
  'SELECT 1; DROP TABLE canary',
  'WITH w AS (TABLE secrets) SELECT * FROM w',
  'WITH "TABLE" AS (SELECT 1 AS "a b") SELECT * FROM (TABLE secrets)',
  'WITH v AS (SELECT 1 AS x), w AS (TABLE secrets) SELECT v.x FROM v, w',
  'SELECT 1 -- x\r; DROP TABLE canary',
  "SELECT * FROM TABLE(pg.system.query(query => 'DELETE FROM canary'))",
  "SELECT * FROM TABLE(system.query(query => 'DELETE FROM canary'))",
  'SELECT * FROM TABLE(sequence(1, 10))',
  'SELECT * FROM TABLE(exclude_columns(TABLE(canary), DESCRIPTOR(a)))',
  "SELECT ai.ai.ai_gen('x')",
  "SELECT faker.default.random_string('x')",
  'SELECT evil(a) FROM canary',
  'SELECT "evil"(a) FROM canary',
  "SELECT '\\' || evil(a) || '\\' FROM canary",
  "SELECT E'\\' || evil(a) || '' FROM canary",
  "SELECT r'\\' || evil(a) || '' FROM canary",
  'SELECT 1 -- x\r, evil(2)',
  'SELECT /* /* */ evil(2) /* */',
  'SELECT $$ x $$, evil(2)',
  'SELECT `a` FROM canary',
  "SELECT U&'\\0041' FROM canary",
  'SELECT ?',
  'SELECT :a',
  'SELECT @a',
  'WITH FUNCTION f(x bigint) RETURNS bigint RETURN x SELECT f(1)',
  'SELECT * FROM hidden.secrets',
  'SELECT * FROM memory.hidden.secrets',
  'SELECT * FROM other.main.canary',
  'SELECT * FROM memory.information_schema.tables',
  'SELECT * FROM system.runtime.queries',
  'SELECT * FROM "canary$partitions"',
  'SELECT * FROM system.metadata.catalogs',
  'SELECT * INTO t FROM canary',
  'SELECT a FROM canary FOR UPDATE',
  "SELECT 'unfinished",
  'SELECT 1 /* unfinished',
  '',
  '-- nothing',
  'a + 1',
];
const legal = [
  'SELECT a, b FROM canary ORDER BY a',
  'SELECT a FROM canary;',
  'SELECT a FROM canary ; -- that is all',
  '-- all of them\nSELECT a FROM canary',
  "SELECT ';', '--', '/*', 'it''s' FROM canary",
  'SELECT "a" FROM MEMORY.Main."canary"',
  'TABLE canary',
  'VALUES (1, 2)',
  'WITH c AS (SELECT a FROM canary) SELECT * FROM c',
  'SELECT count(*) FILTER (WHERE a > 1) FROM canary',
  'SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) FROM canary',
  'SELECT x FROM UNNEST(ARRAY[1, 2]) AS t(x)',
  'SELECT a FROM canary UNION ALL SELECT a FROM canary',
  'SELECT max(a) FROM canary GROUP BY GROUPING SETS ((b), ())',
  "SELECT date_trunc('month', DATE '2024-02-29'), INTERVAL '1' DAY",
  "SELECT TIMESTAMP'2024-02-29 10:00:00', DATE'2024-02-29'",
  'SELECT try_cast(b AS BIGINT), coalesce(b, CAST(a AS VARCHAR)) FROM canary',
  'SELECT approx_distinct(a), arbitrary(b), count_if(a > 1) FROM canary',
  'SELECT c.a FROM canary c JOIN canary d ON c.a = d.a WHERE EXISTS (SELECT 1 FROM canary)',
  'SELECT CASE WHEN a = 1 THEN b END, if(a = 1, 2, 3) FROM canary',
  'SELECT a FROM canary TABLESAMPLE BERNOULLI (100)',
  "SELECT lower(b), substr(b, 1, 1), regexp_like(b, 'x'), b LIKE '%x' FROM canary",
  'EXPLAIN SELECT a FROM canary',
  'EXPLAIN (TYPE IO, FORMAT JSON) SELECT a FROM canary',
  'SELECT a FROM canary OFFSET 1 ROWS FETCH FIRST 1 ROWS ONLY',
];

let server: TrinoServer;
let warehouse: Warehouse;
let session: DriverSession;
beforeAll(async () => {
  server = await startTrino({ script });
  server.rules.mayWrite = true;
  warehouse = await openTrino(server);
  const url = `${server.origin.replace('://', '://ana@')}/memory/main`;
  session = await openDriver(
    { driver: 'trino', url },
    { connection: 'wh', projectDir: '/', cacheDir: '/', secrets: () => '' },
    never,
  );
});
afterAll(async () => {
  await warehouse?.close();
  await session?.close();
  await server?.close();
});
const canary = async () =>
  (await warehouse.query('SELECT a, b FROM canary ORDER BY a', generous, never)).rows;
const whole = [
  [1, 'x'],
  [2, 'y'],
];
const codes = ['gate_refused', 'sql_syntax', 'missing_object'];

describe('the gate of trino', () => {
  test.each([...writing, ...others])('sends nothing of %j', async (sql) => {
    const from = server.requests.length;
    const error = await warehouse.query(sql, generous, never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect(codes).toContain((error as UserError).code);
    const sent = server.requests.slice(from).filter(({ method }) => method === 'POST');
    // A name that it does not know is looked for once more.
    const isOwn = (text: string) =>
      /^(?:START|ROLLBACK)|(?:information_schema|system\.)/.test(text);
    expect(sent.filter(({ sql: text }) => !isOwn(text))).toEqual([]);
    expect(sent.filter(({ sql: text }) => sql !== '' && text.includes(sql))).toEqual([]);
  });

  test('left everything as it was', async () => {
    expect(await canary()).toEqual(whole);
  });

  test.each(legal)('passes: %j', async (sql) => {
    await expect(warehouse.query(sql, generous, never)).resolves.toMatchObject({
      truncated: false,
    });
  });

  test.each([
    ["SELECT '\\', evil(1), '\\'", "SELECT '_', evil(1), '_'"],
    ['SELECT 1 -- x\r, 2', 'SELECT 1     \r, 2'],
    ["SELECT 'a''; --', \"b''\"", "SELECT 'a___ --', \"b''\""],
    ['SELECT /* /* */ 1', 'SELECT          1'],
  ])('shows the analyzer what the server reads: %j', (sql, shown) => {
    expect(normalizeForAnalyzer(sql)).toHaveLength(sql.length);
    expect(normalizeForAnalyzer(sql)).toBe(shown);
  });

  test.each([
    ['SELECT 1;', 'SELECT 1 '],
    ['SELECT 1 ; -- ;', 'SELECT 1   -- ;'],
    ["SELECT ';'", "SELECT ';'"],
    ['SELECT 1 -- ;', 'SELECT 1 -- ;'],
    ['SELECT 1; SELECT 2', 'SELECT 1; SELECT 2'],
  ])('ends a statement without a semicolon: %j', (sql, text) => {
    expect(withoutLastSemicolon(sql)).toBe(text);
  });
});

describe('behind the gate, trino itself', () => {
  test.each(writing)('does not run %j', async (sql) => {
    const from = server.requests.length;
    await expect(session.run(sql, generous, never)).rejects.toBeInstanceOf(UserError);
    const sent = server.requests.slice(from).filter(({ method }) => method === 'POST');
    expect(sent.filter(({ sql: text }) => text.includes('ktx */'))).toEqual([]);
    expect(server.openTransactions()).toBe(0);
    expect(await canary()).toEqual(whole);
  });

  test('refuses to write in the transaction, whatever the plan says', async () => {
    const columns = [{ name: 'Query Plan', type: 'varchar' }];
    const page = { id: '1', columns, data: [['{"inputTableColumnInfos":[]}']] };
    server.rules.fault = ({ method, sql }, response) => {
      if (method !== 'POST' || !sql.startsWith('EXPLAIN')) return false;
      response.writeHead(200).end(JSON.stringify(page));
      return true;
    };
    await expect(session.run('DELETE FROM canary', generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'engine' },
      message: expect.stringContaining('read-only transaction'),
    });
    server.rules.fault = undefined;
    expect(await canary()).toEqual(whole);
  });
});
