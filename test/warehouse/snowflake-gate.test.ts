import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as loadYaml, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { snowflake } from '../../src/sql/dialects/snowflake.ts';
import { snowflakePolicy } from '../../src/warehouse/drivers/snowflake/policy.ts';
import type { StatementFacts } from '../../src/warehouse/gate/policy.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { makeSnowflake, type SnowflakeDatabase } from '../support/snowflake.ts';
import { compile, load } from '../semantic/shop.ts';
import { generous, never } from '../support/warehouses.ts';

/** What somebody could send who wants more than to read the tables of the connection. */
const hostile: readonly string[] = [
  'INSERT INTO canary VALUES (2)',
  'DELETE FROM canary',
  'UPDATE canary SET n = 2',
  'TRUNCATE TABLE canary',
  'DROP TABLE canary',
  'CREATE TABLE other AS SELECT * FROM canary',
  'CREATE OR REPLACE VIEW canary AS SELECT 1 AS n',
  'ALTER TABLE canary ADD COLUMN m INTEGER',
  'MERGE INTO canary USING many ON canary.n = many.n WHEN MATCHED THEN DELETE',
  'WITH gone AS (SELECT 1) DELETE FROM canary',
  'SELECT 1; DROP TABLE canary',
  'SELECT 1 /* ; */; DELETE FROM canary --',
  "SELECT '\\'; DELETE FROM canary; --'; DELETE FROM canary",
  'SELECT $$ $$; DELETE FROM canary',
  'EXPLAIN DELETE FROM canary',
  'EXPLAIN USING TEXT SELECT 1; DELETE FROM canary',
  'CALL drop_everything()',
  'CALL SYSTEM$WAIT(60)',
  'EXECUTE IMMEDIATE $$ DELETE FROM canary $$',
  'BEGIN DELETE FROM canary; END',
  'COPY INTO @~/out FROM canary',
  "COPY INTO 's3://bucket/out' FROM (SELECT * FROM canary)",
  'PUT file:///etc/passwd @~',
  'GET @~ file:///tmp',
  'LIST @~',
  'REMOVE @~/x',
  'USE ROLE ACCOUNTADMIN',
  'USE SECONDARY ROLES ALL',
  'SET n = 1',
  'ALTER SESSION SET QUERY_TAG = NULL',
  'GRANT ALL ON TABLE canary TO ROLE PUBLIC',
  'SELECT * FROM @~/secrets.csv',
  "SELECT * FROM '@~/secrets.csv'",
  'SELECT $1, $2 FROM @stage (FILE_FORMAT => csv)',
  'SELECT * FROM DIRECTORY(@stage)',
  "SELECT GET_PRESIGNED_URL(@stage, 'x')",
  'SELECT $n',
  'SELECT * FROM TABLE($n)',
  'SELECT * FROM IDENTIFIER($n)',
  "SELECT * FROM IDENTIFIER('secret.canary')",
  "SELECT * FROM TABLE('canary')",
  'SELECT * FROM TABLE(canary)',
  'SELECT * FROM TABLE(RESULT_SCAN(LAST_QUERY_ID()))',
  'SELECT * FROM TABLE(my_functions.send_away(n)), canary',
  'SELECT * FROM TABLE(send_away(1))',
  'SELECT send_away(n) FROM canary',
  'SELECT sales.public.send_away(n) FROM canary',
  'SELECT "SEND_AWAY"(n) FROM canary',
  // Snowflake has no function of this name; the analyzer calls one so that it has.
  'SELECT starts_with(n, 1) FROM canary',
  'SELECT "STARTS_WITH" (n, 1) FROM canary',
  'SELECT STARTSWITH(n, 1), json_extract(n, 1) FROM canary',
  'SELECT subscript(n, 1), named_argument(n), like_all(n) FROM canary',
  // Names in quotes keep their case: Snowflake's own is ABS.
  'SELECT "abs"(n) FROM canary',
  'SELECT "Upper" (n) FROM canary',
  "SELECT SYSTEM$CANCEL_ALL_QUERIES('1')",
  'SELECT SYSTEM$TYPEOF(n), system$abort_session(1) FROM canary',
  "SELECT AI_COMPLETE('model', 'text')",
  "SELECT SNOWFLAKE.CORTEX.COMPLETE('model', 'text')",
  "SELECT GET_DDL('table', 'canary')",
  'SELECT tickets.nextval',
  'SELECT tickets . NEXTVAL FROM canary',
  'SELECT "TICKETS".nextval FROM canary',
  'SELECT tickets.currval FROM canary',
  'SELECT tickets."NEXTVAL" FROM canary',
  'SELECT tickets."CURRVAL"',
  // A name may have dollars in it.
  'SELECT e$$, SYSTEM$WAIT(60) AS f$$ FROM canary',
  'SELECT n AS é$$, send_away(n) AS f$$ FROM canary',
  'SELECT 1 -- x\r, send_away(1)',
  'SELECT 1 // x\r, send_away(1)\n',
  'WITH w AS (TABLE hidden) SELECT * FROM w',
  'SELECT model!PREDICT(n) FROM canary',
  'SHOW TABLES ->> SELECT * FROM $1',
  'SELECT * FROM canary ->> DELETE FROM canary',
  'SELECT * FROM SEMANTIC_VIEW(v METRICS m)',
  'SELECT n INTO :x FROM canary',
  'SELECT ? FROM canary',
  'SELECT :1 FROM canary',
  'SELECT * FROM INFORMATION_SCHEMA.TABLES',
  'SELECT * FROM SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY',
  'SELECT * FROM other_database.public.canary',
  'SELECT * FROM hidden.canary',
  'SELECT * FROM "canary"',
  'SELECT * FROM "Canary"',
  'WITH "canary" AS (SELECT 1 AS n) SELECT * FROM hidden_table',
  'WITH "hidden_table" AS (SELECT 1 AS n) SELECT * FROM hidden_table',
  'SELECT 1 FROM canary /* never closed',
  "SELECT 'never closed FROM canary",
  'SELECT "never closed FROM canary',
  'SELECT 1\u00a0FROM canary',
  'SELECT \u2018x\u2019 FROM canary',
  '',
  '-- nothing',
];

/** What people ask. Those that DuckDB cannot run are only checked. */
const legal: readonly (readonly [sql: string, rows?: unknown])[] = [
  ['SELECT n FROM canary', [[1]]],
  ['select N from CANARY c', [[1]]],
  ['SELECT "N" FROM "PUBLIC"."CANARY"', [[1]]],
  ['SELECT n FROM sales.public.canary', [[1]]],
  ['SELECT n FROM "SALES".PUBLIC.canary;', [[1]]],
  ['SELECT count(*) FROM many // all of them', [[5]]],
  ['/* first */ SELECT max(n) -- the largest\nFROM many', [[5]]],
  ['WITH m AS (SELECT n FROM many) SELECT sum(n) FROM m', [[15]]],
  ['WITH many AS (SELECT n FROM many WHERE n > 3) SELECT count(*) FROM many'],
  [
    'WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT max(n) FROM c',
    [[5]],
  ],
  ['SELECT n FROM many QUALIFY row_number() OVER (ORDER BY n DESC) = 1', [[5]]],
  ['SELECT COUNT_IF(n > 2), IFF(max(n) > 4, 1, 0), MEDIAN(n) FROM many', [[3, 1, 3]]],
  ["SELECT LISTAGG(n, ',') WITHIN GROUP (ORDER BY n) FROM many", [['1,2,3,4,5']]],
  [
    "SELECT 'it''s', 'a\\'b', $$c'd$$, '@~', '$1', 'CALL me; --'",
    [["it's", "a'b", "c'd", '@~', '$1', 'CALL me; --']],
  ],
  ["SELECT DATEADD(day, 1, '2024-02-28'::DATE)"],
  ["SELECT DATE_TRUNC('month', CAST('2024-02-29' AS DATE))"],
  ['SELECT COUNT(*) FROM TABLE(GENERATOR(ROWCOUNT => 5))', [[5]]],
  ['SELECT f.value FROM docs, LATERAL FLATTEN(INPUT => docs.doc:items) f'],
  ['SELECT f.value::STRING FROM docs, TABLE(FLATTEN(docs.doc)) f'],
  ["SELECT doc:customer.name::STRING, doc['a'][0] FROM docs"],
  ['SELECT * EXCLUDE (n) FROM pairs'],
  ['SELECT a.n FROM canary a ASOF JOIN many b MATCH_CONDITION (a.n >= b.n)'],
  ["SELECT * FROM pairs PIVOT (sum(m) FOR n IN ('x', 'y'))"],
  ['SELECT n FROM many SAMPLE (10)'],
  ['SELECT * FROM canary AT(OFFSET => -60)'],
  ['SELECT n FROM canary UNION ALL SELECT n FROM many ORDER BY 1 LIMIT 2', [[1], [1]]],
  [
    'SELECT APPROX_COUNT_DISTINCT(n), HASH(n), ZEROIFNULL(n), NVL(n, 0), DIV0(n, 2) FROM many GROUP BY ALL',
  ],
  [
    "SELECT TRY_TO_NUMBER('1'), TO_VARCHAR(n), n::VARCHAR, CONVERT_TIMEZONE('UTC', CURRENT_TIMESTAMP()) FROM canary",
  ],
  ["SELECT n FROM many WHERE n::VARCHAR ILIKE '1%' OR n::VARCHAR RLIKE '2' OR n <> 3 OR n != 4"],
  ['EXPLAIN SELECT n FROM canary'],
  ['EXPLAIN USING TABULAR SELECT n FROM canary'],
];

describe('the gate of snowflake', () => {
  let database: SnowflakeDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    database = await makeSnowflake(
      `CREATE TABLE canary (n INTEGER); INSERT INTO canary VALUES (1);
       CREATE TABLE many (n INTEGER); INSERT INTO many VALUES (1), (2), (3), (4), (5);
       CREATE TABLE docs (doc JSON); CREATE TABLE pairs (n VARCHAR, m INTEGER);
       CREATE SCHEMA hidden; CREATE TABLE hidden.canary (n INTEGER); CREATE TABLE hidden.hidden_table (n INTEGER);`,
      // A login that may do everything: the grants stop nothing here.
      {
        grants: {
          READER: [{ privilege: 'OWNERSHIP', granted_on: 'DATABASE', name: 'SALES' }],
          PUBLIC: [],
        },
      },
    );
    warehouse = await database.open({ allow_writable_role: true, schemas: ['public'] });
  });
  afterAll(async () => {
    await warehouse?.close();
    await database?.remove();
  });

  test('refuses every statement that could do more than read, and sends none of them', async () => {
    const { seen } = database.server;
    const got: string[] = [];
    for (const sql of hostile) {
      const before = seen.length;
      const outcome = await warehouse.query(sql, generous, never).catch((error: unknown) => error);
      const { code } = outcome as { readonly code?: string };
      const isRefused = ['gate_refused', 'sql_syntax', 'missing_object'].includes(code ?? '');
      if (!isRefused) got.push(`${code ?? 'answered'}: ${sql}`);
      const sent = seen.slice(before).map(({ body }) => body?.statement ?? '');
      const foreign = sent.filter((text) => !/INFORMATION_SCHEMA|^SHOW \w+ KEYS/.test(text));
      got.push(...foreign.map((text) => `sent: ${text}`));
    }
    expect(got).toEqual([]);
    expect(hostile.length).toBeGreaterThanOrEqual(40);
    expect((await warehouse.query('SELECT n FROM canary', generous, never)).rows).toEqual([[1]]);
  });

  test.each([
    ["SELECT * FROM '@~/secrets.csv'", 'function'],
    ['SELECT n FROM canary, @stage/file', 'files of a stage'],
    ['SELECT $n FROM canary', 'a variable'],
    ['SELECT * FROM TABLE("CANARY")', 'no call of a function'],
    ['SELECT tickets.nextval FROM canary', 'the word NEXTVAL'],
    ['SELECT 1 ->> SELECT 2', 'chains statements'],
    ['SELECT send_away(n) FROM canary', 'the function send_away is not on the list'],
    ['SELECT * FROM hidden.canary', 'HIDDEN.CANARY is not in the catalog'],
  ])('says why it refuses %s', async (sql, reason) => {
    await expect(warehouse.query(sql, generous, never)).rejects.toMatchObject({
      message: expect.stringContaining(reason),
    });
  });

  test('lets people ask what Snowflake can answer', async () => {
    const refused: string[] = [];
    for (const [sql, rows] of legal) {
      const tables = await warehouse.reads(sql).catch((error: unknown) => error);
      if (tables instanceof Error) refused.push(`${sql}: ${tables.message}`);
      if (rows === undefined) continue;
      expect([sql, (await warehouse.query(sql, generous, never)).rows]).toEqual([sql, rows]);
    }
    expect(refused).toEqual([]);
    expect(legal.length).toBeGreaterThanOrEqual(20);
  });

  test('lets everything through that ktx itself writes', async () => {
    const { defaultSchema } = warehouse.dialect;
    const policy = snowflakePolicy({ ...snowflake, defaultSchema }, 'SALES');
    const folder = join(import.meta.dirname, '../semantic/golden');
    const files = loadAll(readFileSync(join(folder, 'model.yaml'), 'utf8')) as {
      dataset: string;
    }[];
    const { model } = await load(
      Object.fromEntries(files.map((file) => [file.dataset, JSON.stringify(file)])),
      snowflake,
    );
    const topics = loadYaml(readFileSync(join(folder, 'queries.yaml'), 'utf8'));
    const queries = Object.values(topics as Record<string, Record<string, unknown>>).flatMap(
      (topic) => Object.values(topic),
    );
    let passed = 0;
    const refused: string[] = [];
    for (const asked of queries) {
      const sql = compiledSql(model, asked);
      if (sql === undefined) continue;
      passed += 1;
      const facts = await policy.inspect(sql).catch((error: unknown) => error);
      if (facts instanceof Error) refused.push(`${facts.message}: ${sql}`);
      else
        refused.push(
          ...(facts as StatementFacts).functions.filter((name) => !policy.safeFunctions.has(name)),
        );
    }
    expect([...new Set(refused)]).toEqual([]);
    expect(passed).toBeGreaterThan(50);
  });

  test('knows its functions by the names that the analyzer gives them too', async () => {
    const policy = snowflakePolicy(snowflake, 'SALES');
    const { safeFunctions } = policy;
    const unknown: string[] = [];
    for (const name of safeFunctions)
      for (const call of ['', 'a', 'a, b', 'a, b, c', "'day', a, b"].map(
        (of) => `${name}(${of})`,
      )) {
        const facts = await policy.inspect(`SELECT ${call} FROM t`).catch(() => undefined);
        unknown.push(...(facts?.functions ?? []).filter((found) => !safeFunctions.has(found)));
      }
    // Snowflake has no functions of these names.
    expect([...new Set(unknown)].toSorted()).toEqual([
      '"like_all"',
      '"named_argument"',
      '"subscript"',
    ]);
  });

  test('finds the tables that a name means: upper case without quotes, exactly with them', async () => {
    const read = async (sql: string) => (await warehouse.reads(sql)).map(({ table }) => table);
    expect(await read('SELECT * FROM canary JOIN "MANY" USING (n)')).toEqual(['CANARY', 'MANY']);
    expect(await read('WITH canary AS (SELECT 1 AS n) SELECT * FROM Canary')).toEqual([]);
    expect(await read('WITH "canary" AS (SELECT 1 AS n) SELECT * FROM canary')).toEqual(['CANARY']);
    await expect(read('SELECT * FROM "many"')).rejects.toMatchObject({ code: 'missing_object' });
  });

  test.each(['Insert', 'Delete', 'Unload', 'ExternalFunction', 'SomethingNew'])(
    'runs no statement whose plan has %s',
    async (operation) => {
      const { server } = database;
      server.seen.length = 0;
      server.intercept = ({ body }) =>
        body?.statement.startsWith('EXPLAIN') === true
          ? planAnswer([[{ operation: 'Result' }, { operation }]])
          : undefined;
      try {
        await expect(warehouse.query('SELECT n FROM many', generous, never)).rejects.toMatchObject({
          code: 'gate_refused',
          message: expect.stringContaining(operation),
          details: { rule: 'engine' },
        });
      } finally {
        server.intercept = undefined;
      }
      expect(server.seen.map(({ body }) => body?.statement)).toEqual([
        'EXPLAIN USING JSON SELECT n FROM many',
      ]);
    },
  );

  test('takes the plan that the documentation shows', async () => {
    const { server } = database;
    const names = ['Result', 'InnerJoin', 'TableScan', 'JoinFilter', 'TableScan'];
    server.intercept = ({ body }) =>
      body?.statement.startsWith('EXPLAIN') === true
        ? planAnswer([names.map((operation, id) => ({ id, operation, parentOperators: [0] }))])
        : undefined;
    try {
      expect((await warehouse.query('SELECT n FROM canary', generous, never)).rows).toEqual([[1]]);
    } finally {
      server.intercept = undefined;
    }
  });

  test('runs nothing that would read more than it may', async () => {
    database.server.seen.length = 0;
    const limits = { ...generous, maxBytes: 100 };
    await expect(warehouse.query('SELECT n FROM many', limits, never)).rejects.toMatchObject({
      code: 'too_expensive',
      message: expect.stringContaining('could read up to'),
    });
    expect(database.server.seen).toHaveLength(1);
    const enough = { ...generous, maxBytes: 1_000_000 };
    expect((await warehouse.query('SELECT max(n) FROM many', enough, never)).rows).toEqual([[5]]);
    const plans = database.server.seen.filter(({ body }) => body?.statement.startsWith('EXPLAIN'));
    // The estimate and the check share one plan.
    expect(plans).toHaveLength(2);
  });

  test('says that a limit has no effect where the plan has a size below zero', async () => {
    const { server } = database;
    server.intercept = ({ body }) =>
      body?.statement.startsWith('EXPLAIN') === true
        ? planAnswer([[{ operation: 'Result' }]], -1)
        : undefined;
    try {
      const limits = { ...generous, maxBytes: 1 };
      expect(await warehouse.query('SELECT n FROM canary', limits, never)).toMatchObject({
        rows: [[1]],
        warnings: [expect.stringContaining('The limit of bytes has no effect')],
      });
    } finally {
      server.intercept = undefined;
    }
  });
});

/** Undefined for a question that Snowflake cannot answer. */
function compiledSql(model: SemanticModel, asked: unknown): string | undefined {
  try {
    return compile(model, querySchema.parse(asked)).sql;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function planAnswer(operations: readonly unknown[], bytesAssigned = 512) {
  const plan = { GlobalStats: { bytesAssigned }, Operations: operations };
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      code: '090001',
      statementHandle: '01b4f9d4-3202-9f46-0000-0001cf56d011',
      resultSetMetaData: {
        numRows: 1,
        format: 'jsonv2',
        rowType: [{ name: 'content', type: 'text' }],
        partitionInfo: [{ rowCount: 1, uncompressedSize: 100 }],
      },
      data: [[JSON.stringify(plan)]],
    }),
  };
}
