import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import { open as openDriver } from '../../src/warehouse/drivers/databricks/driver.ts';
import { requireReadingPlan } from '../../src/warehouse/drivers/databricks/plan.ts';
import { normalizeForAnalyzer } from '../../src/warehouse/drivers/databricks/statement-text.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type DatabricksServer, startDatabricks } from '../engines/databricks/server.ts';
import { databricksConfig, openDatabricks } from '../support/databricks.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `CREATE TABLE canary (a INTEGER, b VARCHAR); INSERT INTO canary VALUES (1, 'x'), (2, 'y');
  CREATE SCHEMA hidden; CREATE TABLE hidden.secrets (s VARCHAR);`;

/** Statements that write. */
const writing = [
  'INSERT INTO canary VALUES (3, 2)',
  'INSERT INTO canary SELECT * FROM canary',
  'INSERT OVERWRITE canary SELECT * FROM canary',
  'UPDATE canary SET a = 0',
  'DELETE FROM canary',
  'MERGE INTO canary c USING canary s ON c.a = s.a WHEN MATCHED THEN DELETE',
  'TRUNCATE TABLE canary',
  'DROP TABLE canary',
  'CREATE TABLE t AS SELECT * FROM canary',
  'CREATE OR REPLACE VIEW v AS SELECT * FROM canary',
  'ALTER TABLE canary ADD COLUMN c INT',
  'OPTIMIZE canary',
  'GRANT SELECT ON TABLE canary TO `account users`',
  'CALL main.f()',
  'SET spark.sql.x = 1',
  'USE SCHEMA hidden',
];
const others = [
  "COPY INTO canary FROM 's3://bucket' FILEFORMAT = CSV",
  'VACUUM canary RETAIN 0 HOURS',
  'RESTORE TABLE canary TO VERSION AS OF 1',
  'REFRESH TABLE canary',
  'CACHE TABLE canary',
  'ANALYZE TABLE canary COMPUTE STATISTICS',
  "PUT '/tmp/x' INTO '/Volumes/a/b/c' OVERWRITE",
  "GET '/Volumes/a/b/c/x' TO '/tmp/x'",
  "REMOVE '/Volumes/a/b/c/x'",
  "LIST '/Volumes/a/b/c'",
  "EXECUTE IMMEDIATE 'DROP TABLE canary'",
  'DECLARE VARIABLE x INT',
  'BEGIN DROP TABLE canary; END',
  'FROM canary INSERT INTO canary SELECT a, b',
  'EXPLAIN DELETE FROM canary',
  'SELECT 1; DROP TABLE canary',
  'WITH w AS (TABLE secrets) SELECT * FROM w',
  'WITH `TABLE` AS (SELECT 1) SELECT * FROM (TABLE secrets)',
  // Functions of somebody; the analyzer calls others so.
  'SELECT at_time_zone(a, b) FROM canary',
  'SELECT `subscript` (a, 1), week_of_year(b) FROM canary',
  'WITH v AS (SELECT 1 AS x), w AS (TABLE secrets) SELECT v.x FROM v, w',
  "SELECT * FROM read_files('/Volumes/a')",
  "SELECT * FROM cloud_files('/Volumes/a', 'csv')",
  "SELECT * FROM remote_query('c', query => 'DELETE FROM x')",
  "SELECT http_request(conn => 'c', method => 'POST', path => '/')",
  "SELECT ai_query('m', b) FROM canary",
  "SELECT ai_gen('x')",
  "SELECT secret('scope', 'key')",
  "SELECT java_method('java.lang.System', 'getenv', 'PATH')",
  "SELECT reflect('java.lang.System', 'getenv', 'PATH')",
  "SELECT TRANSFORM(a) USING 'cat' FROM canary",
  'SELECT main.other.f(a) FROM canary',
  'SELECT evil(a) FROM canary',
  'SELECT `evil`(a) FROM canary',
  "SELECT * FROM IDENTIFIER('hidden.secrets')",
  'SELECT * FROM STREAM(canary)',
  'SELECT * FROM delta.`/path`',
  'SELECT * FROM parquet.`s3://bucket/x`',
  'SELECT * FROM hidden.secrets',
  'SELECT * FROM other.main.canary',
  'SELECT * FROM memory.information_schema.tables',
  'SELECT * FROM system.access.audit',
  "SELECT r'\\', evil(1) -- '",
  "SELECT R'\\' || evil(a) || '' FROM canary",
  'SELECT "text" FROM canary',
  'SELECT /* /* */ evil(2) /* */ */ 1',
  'SELECT /*+ BROADCAST(canary) */ a FROM canary',
  "SELECT 1, -- \\\n ' \n evil(2) -- '",
  'SELECT 1 -- x\r, evil(2)',
  "SELECT '${spark.x}'",
  'SELECT :a',
  'SELECT ?',
  'SELECT @a',
  'FROM canary |> SELECT a',
  "SELECT 'unfinished",
  'SELECT 1 /* unfinished',
  '',
  'a + 1',
];
const legal = [
  'SELECT a, b FROM canary ORDER BY a',
  'SELECT a FROM canary;',
  '-- all of them\nSELECT a FROM canary',
  "SELECT ';', '--', '/*', 'it\\'s', 'a''b' FROM canary",
  'SELECT `a` FROM MEMORY.Main.`canary`',
  'TABLE canary',
  'WITH c AS (SELECT a FROM canary) SELECT * FROM c',
  'SELECT count(*) FILTER (WHERE a > 1) FROM canary',
  'SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) FROM canary',
  'SELECT explode(array(1, 2))',
  'SELECT a FROM canary UNION ALL SELECT a FROM canary',
  'SELECT max(a) FROM canary GROUP BY GROUPING SETS ((b), ())',
  "SELECT date_trunc('MONTH', DATE '2024-02-29'), INTERVAL '1' DAY",
  "SELECT try_cast(b AS BIGINT), coalesce(b, CAST(a AS STRING)), nvl(b, 'x') FROM canary",
  'SELECT approx_count_distinct(a), any_value(b), count_if(a > 1) FROM canary',
  'SELECT c.a FROM canary c JOIN canary d ON c.a = d.a WHERE EXISTS (SELECT 1 FROM canary)',
  'SELECT CASE WHEN a = 1 THEN b END, if(a = 1, 2, 3) FROM canary',
  'SELECT a FROM canary TABLESAMPLE (100 PERCENT)',
  "SELECT lower(b), substr(b, 1, 1), b RLIKE 'x', b LIKE '%x' FROM canary",
  'SELECT a FROM canary QUALIFY row_number() OVER (ORDER BY a) = 1',
  'EXPLAIN SELECT a FROM canary',
  'SELECT * FROM range(3)',
];

let server: DatabricksServer;
let warehouse: Warehouse;
let session: DriverSession;
beforeAll(async () => {
  server = await startDatabricks({ script });
  await server.execute("INSERT INTO databricks_server.groups VALUES ('etl')");
  warehouse = await openDatabricks(server, { allow_writable_role: true });
  session = await openDriver(
    { ...databricksConfig(server), allow_writable_role: true },
    { connection: 'wh', projectDir: '/', cacheDir: '/', secrets: () => 'dapi-token' },
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

describe('the gate of databricks', () => {
  test.each([...writing, ...others])('sends nothing of %j', async (sql) => {
    const from = server.requests.length;
    const error = await warehouse.query(sql, generous, never).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UserError);
    expect(codes).toContain((error as UserError).code);
    const sent = server.requests.slice(from).map((request) => request.sql);
    // A name that it does not know is looked for once more.
    expect(sent.filter((text) => !text.includes('information_schema.'))).toEqual([]);
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
    ["SELECT 'a\\', evil(1), \\''", "SELECT 'a__, evil_1_, __'"],
    ["SELECT 'a''b;' -- it's", "SELECT 'a''b_'        "],
    ['SELECT 1;', 'SELECT 1 '],
  ])('shows the analyzer what the engine reads: %j', (sql, shown) => {
    expect(normalizeForAnalyzer(sql)).toBe(shown);
  });
});

describe('behind the gate, the plan of databricks', () => {
  test.each(writing)('keeps %j from running', async (sql) => {
    const from = server.requests.length;
    await expect(session.run(sql, generous, never)).rejects.toBeInstanceOf(UserError);
    const sent = server.requests.slice(from).filter(({ body }) => body.includes('ktx */'));
    expect(sent).toEqual([]);
    expect(await canary()).toEqual(whole);
  });

  test.each([
    ['(1) Execute InsertIntoHadoopFsRelationCommand\n+- Project [a#1]', true],
    ['AppendData org.apache.spark.sql', true],
    ['OverwriteByExpression RelationV2', true],
    ['CommandResult <empty>\n   +- Execute DropTableCommand', true],
    ['Execute SetCommand', true],
    ['AdaptiveSparkPlan isFinalPlan=false\n+- HashAggregate(keys=[], functions=[count(1)])', false],
    [
      '*(1) Project [insert_time#1, deleted#2]\n+- PhotonScan parquet main.s.updates[deleted#2]',
      false,
    ],
  ])('is read: %j', (plan, writes) => {
    const check = () =>
      requireReadingPlan({
        columns: [{ name: 'plan', type: 'string' }],
        rows: [[`== Physical Plan ==\n${plan}`]],
        truncated: false,
      });
    if (writes) expect(check).toThrow(UserError);
    else expect(check).not.toThrow();
  });

  test('is needed: without one nothing runs', () => {
    const columns = [{ name: 'plan', type: 'string' as const }];
    const check = () => requireReadingPlan({ columns, rows: [['nothing']], truncated: false });
    expect(check).toThrow(expect.objectContaining({ details: { rule: 'engine' } }));
  });
});
