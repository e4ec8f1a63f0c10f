import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { load } from 'js-yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { Interception, SeenRequest } from '../engines/snowflake/server.ts';
import {
  makeSnowflake,
  readerGrants,
  secrets,
  type SnowflakeDatabase,
} from '../support/snowflake.ts';
import { generous, never } from '../support/warehouses.ts';

const payloads = join(
  import.meta.dirname,
  '../../../shared/data/sources/warehouse/snowflake-sql-api',
);
const script = `
  CREATE TABLE v (i INTEGER, big DECIMAL(38, 0), d DECIMAL(38, 10), f DOUBLE, nan DOUBLE, b BOOLEAN, s VARCHAR,
    day DATE, early DATE, clock TIME, happened TIMESTAMP, old TIMESTAMP, moment TIMESTAMPTZ, bytes BLOB, doc INTEGER[]);
  INSERT INTO v VALUES (1, 99999999999999999999999999999999999999, 1234567890123456789012345678.0123456789, 0.1, 'nan', true, 'it''s ☃',
    '2024-02-29', '0001-01-01', '10:00:00.25', '2024-02-29 10:00:00.12', '1969-12-31 23:59:59.5', '2024-07-01 10:00:00.000001+02', 'ab'::BLOB, [1, 2]);
  INSERT INTO v (i) VALUES (2);
  CREATE TABLE many (n INTEGER); INSERT INTO many SELECT range FROM range(10);
  CREATE VIEW seen AS SELECT n FROM many;
  COMMENT ON TABLE many IS 'numbers'; COMMENT ON COLUMN many.n IS 'one of them';
  CREATE SCHEMA other; CREATE TABLE other.t (k INTEGER PRIMARY KEY, u INTEGER UNIQUE);
  CREATE TABLE other.c (a INTEGER, b INTEGER, PRIMARY KEY (b, a));
  CREATE TABLE other.r (x INTEGER, y INTEGER, FOREIGN KEY (y, x) REFERENCES other.c (b, a));
`;
/** Enough for a statement to reach the server on a busy machine, in milliseconds. */
const timeToArrive = 1500;
const endless = `SELECT sum(${'abcdefghijklmnop'.split('').join('.n * ')}.n) FROM ${'abcdefghijklmnop'.replaceAll(/./g, ', many $&').slice(2)}`;

describe('a warehouse on snowflake', () => {
  let database: SnowflakeDatabase;
  let warehouse: Warehouse;
  beforeAll(async () => {
    const grants = { READER: readerGrants, 'my Role': readerGrants, PUBLIC: [] };
    database = await makeSnowflake(script, { partitionRows: 3, grants });
    warehouse = await database.open();
  });
  afterAll(async () => {
    await warehouse?.close();
    await database?.remove();
  });
  beforeEach(() => {
    database.server.seen.length = 0;
  });
  afterEach(() => {
    database.server.intercept = undefined;
  });
  const query = (sql: string, limits = generous) => warehouse.query(sql, limits, never);
  /** Answers the first such request in this way, and every other one as usual. */
  const answerOnce = (matches: (request: SeenRequest) => boolean, answer: Interception): void => {
    let isDone = false;
    database.server.intercept = (request) => {
      if (isDone || !matches(request)) return undefined;
      isDone = true;
      return answer;
    };
  };
  const isRun = ({ query: asked }: SeenRequest): boolean => asked.get('async') === 'true';
  const isPoll = ({ method }: SeenRequest): boolean => method === 'GET';
  const json = (status: number, body: unknown, headers = {}): Interception => ({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

  test('gives every digit of every type', async () => {
    const { columns, rows } = await query('SELECT * FROM v ORDER BY i');
    const [row = [], nulls = []] = rows;
    expect(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))).toEqual({
      I: 1,
      BIG: '99999999999999999999999999999999999999',
      D: '1234567890123456789012345678.0123456789',
      F: 0.1,
      NAN: 'NaN',
      B: true,
      S: "it's ☃",
      DAY: '2024-02-29',
      EARLY: '0001-01-01',
      CLOCK: '10:00:00.25',
      HAPPENED: '2024-02-29 10:00:00.12',
      OLD: '1969-12-31 23:59:59.5',
      MOMENT: '2024-07-01T08:00:00.000001Z',
      BYTES: '6162',
      DOC: '[1, 2]',
    });
    expect(nulls.slice(1).every((cell) => cell === null)).toBe(true);
    expect(columns.map(({ type }) => type)).toEqual(
      'integer integer decimal decimal decimal boolean string date date string datetime datetime datetime_tz unknown unknown'.split(
        ' ',
      ),
    );
  });

  test.skipIf(!existsSync(payloads))('reads an answer that a server really gave', async () => {
    const file = join(payloads, 'supabase-wrappers/post-statements-200.json');
    answerOnce(isRun, { status: 200, body: readFileSync(file) });
    expect((await query('SELECT 1')).rows).toEqual([
      [42, 'foo', null, '2024-01-01', '2024-01-02 21:43:56'],
      [43, 'hello', 123.456, '2024-05-19', '2024-05-19 12:34:56'],
    ]);
  });

  test('says who it is, what for, and where each statement runs', async () => {
    await query('SELECT 1');
    const [explain, run] = database.server.seen;
    expect(run?.headers['user-agent']).toMatch(/^ktx\/\d/);
    expect(run?.body).toEqual({
      statement: 'SELECT 1\n/* ktx */',
      timeout: 21,
      database: 'SALES',
      schema: 'PUBLIC',
      warehouse: 'WH',
      parameters: {
        QUERY_TAG: 'ktx',
        TIMEZONE: 'UTC',
        MULTI_STATEMENT_COUNT: '1',
        BINARY_OUTPUT_FORMAT: 'HEX',
        ROWS_PER_RESULTSET: '1001',
      },
    });
    const ids = [explain, run].map((request) => request?.query.get('requestId'));
    expect(new Set(ids).size).toBe(2);
  });

  test('keeps names in quotes, and folds others', async () => {
    const named = { database: '"SALES"', role: '"my Role"', warehouse: '"my ""wh"""' };
    const open = await database.open({ ...named, schemas: ['other'] });
    await open.close();
    expect(database.server.seen[0]?.body).toMatchObject({
      database: 'SALES',
      role: 'my Role',
      warehouse: 'my "wh"',
      schema: 'OTHER',
    });
  });

  test('reads a result part by part, and only as far as it is asked', async () => {
    const { rows, truncated } = await query('SELECT n FROM many ORDER BY n');
    expect([rows, truncated]).toEqual([Array.from({ length: 10 }, (_, n) => [n]), false]);
    const parts = () =>
      database.server.seen.flatMap(({ query: asked }) => asked.get('partition') ?? []);
    expect(parts()).toEqual(['1', '2', '3']);
    database.server.seen.length = 0;
    const limited = await query('SELECT n FROM many ORDER BY n', { ...generous, maxRows: 4 });
    expect(limited).toMatchObject({ rows: [[0], [1], [2], [3]], truncated: true });
    expect(parts()).toEqual(['1']);
  });

  test('runs a statement once whose connection broke after it was sent', async () => {
    let sent = 0;
    database.server.intercept = (request) => {
      if (!isRun(request)) return undefined;
      sent += 1;
      return sent === 1 ? 'break' : undefined;
    };
    expect((await query('SELECT max(n) FROM many')).rows).toEqual([[9]]);
    const [first, second] = database.server.seen.filter(isRun);
    expect(second?.query.get('requestId')).toBe(first?.query.get('requestId'));
    expect([first?.query.get('retry'), second?.query.get('retry')]).toEqual([null, 'true']);
  });

  test.each([429, 502, 503, 504])('waits while the server answers %d', async (status) => {
    answerOnce(isRun, json(status, { message: 'later' }, { 'retry-after': '0' }));
    expect((await query('SELECT max(n) FROM many')).rows).toEqual([[9]]);
    answerOnce(isPoll, json(status, { message: 'later' }, { 'retry-after': '0' }));
    expect((await query('SELECT max(n) FROM many')).rows).toEqual([[9]]);
  });

  test('ends a statement on the server at its time limit, and when its caller goes', async () => {
    await expect(query(endless, { maxRows: 1, timeoutMs: timeToArrive })).rejects.toMatchObject({
      code: 'query_timeout',
    });
    await expect.poll(() => database.server.running()).toBe(0);
    const abort = new AbortController();
    const running = warehouse.query(endless, generous, abort.signal);
    await expect.poll(() => database.server.running()).toBe(1);
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(() => database.server.running()).toBe(0);
    // On a busy machine the first may be over before it is sent.
    const sent = database.server.seen.filter(isRun).length;
    const cancels = () => database.server.seen.filter(({ path }) => path.endsWith('/cancel'));
    await expect.poll(() => cancels().length).toBe(sent);
  });

  test('cancels a statement of which it learns only after it was given up', async () => {
    const abort = new AbortController();
    database.server.intercept = (request) => {
      // The statement is on its way, its handle is not back yet.
      if (isRun(request)) abort.abort();
      return undefined;
    };
    await expect(warehouse.query(endless, generous, abort.signal)).rejects.toMatchObject({
      code: 'query_cancelled',
    });
    await expect
      .poll(() => database.server.seen.filter(({ path }) => path.endsWith('/cancel')).length)
      .toBe(1);
    await expect.poll(() => database.server.running()).toBe(0);
  });

  test('waits for the cancel before it closes', async () => {
    const open = await database.open();
    const limits = { maxRows: 1, timeoutMs: timeToArrive };
    await expect(open.query(endless, limits, never)).rejects.toMatchObject({
      code: 'query_timeout',
    });
    await open.close();
    expect(database.server.seen.some(({ path }) => path.endsWith('/cancel'))).toBe(true);
  });

  test.each([
    ['000630', 'query_timeout', 408],
    ['000604', 'query_cancelled', 422],
    ['000606', 'warehouse_not_found', 422],
    ['003001', 'warehouse_privilege', 422],
    ['390189', 'warehouse_privilege', 401],
    ['390201', 'warehouse_not_found', 422],
    ['390422', 'warehouse_auth', 403],
    ['001003', 'sql_syntax', 422],
    ['002003', 'missing_object', 422],
    ['000008', 'gate_refused', 422],
    ['100051', 'query_failed', 422],
    ['090073', 'too_expensive', 422],
  ])('says what error %s means', async (code, expected, status) => {
    answerOnce(
      isPoll,
      json(status, { code, message: 'what\nSnowflake says', statementHandle: 'h' }),
    );
    if (status === 401)
      database.server.intercept = (request) =>
        isPoll(request) ? json(status, { code, message: 'what Snowflake says' }) : undefined;
    await expect(query('SELECT max(n) FROM many')).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining('what Snowflake says'),
    });
  });

  const metadata = { numRows: 1, rowType: [{ name: 'N', type: 'fixed', scale: 0 }] };
  test.each<[string, Interception, string]>([
    ['a page of HTML', { status: 200, body: '<html>login</html>' }, 'does not answer like'],
    ['nothing', { status: 200, body: '' }, 'does not answer like'],
    ['JSON of something else', { status: 200, body: '{"ok":true}' }, 'does not answer like'],
    [
      'a row with too many cells',
      json200({ resultSetMetaData: metadata, data: [['1', '2']] }),
      'does not answer like',
    ],
    [
      'fewer rows than announced',
      json200({ resultSetMetaData: { ...metadata, numRows: 7 }, data: [['1']] }),
      'announced 7 rows and sent 1',
    ],
    [
      'cells that are no text',
      json200({ resultSetMetaData: metadata, data: [[{ a: 1 }]] }),
      'does not answer like',
    ],
    ['a status without a handle', json202(), 'does not answer like'],
    [
      'another address',
      { status: 302, headers: { location: 'https://example.com/' }, body: '' },
      'answers 302',
    ],
    ['an error page', { status: 500, body: '<h1>broken</h1>' }, 'answers 500'],
    [
      'half an archive',
      {
        status: 200,
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync('{"a":1}'.repeat(50)).subarray(0, 20),
      },
      'sent a broken answer',
    ],
  ])('fails with a reason for %s', async (_name, answer, reason) => {
    answerOnce(isRun, answer);
    const failure: unknown = await query('SELECT max(n) FROM many').catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: expect.stringMatching(/^(?:query_failed|warehouse_unreachable)$/),
      message: expect.stringContaining(reason),
    });
    expect(JSON.stringify(failure)).not.toContain(secrets['env:TOKEN']);
    database.server.intercept = undefined;
    expect((await query('SELECT max(n) FROM many')).rows).toEqual([[9]]);
  });

  test('fails for a later part that is no part', async () => {
    answerOnce(({ query: asked }) => asked.has('partition'), { status: 200, body: '{}' });
    await expect(query('SELECT n FROM many')).rejects.toMatchObject({ code: 'query_failed' });
  });

  test('does not wait longer than its limit for a server that never answers', async () => {
    database.server.intercept = (request) => (isRun(request) ? 'hang' : undefined);
    await expect(
      query('SELECT max(n) FROM many', { maxRows: 1, timeoutMs: 300 }),
    ).rejects.toMatchObject({ code: 'query_timeout' });
  });

  test('asks for no handle that could be another path', async () => {
    answerOnce(isRun, json(202, { code: '333334', statementHandle: '../../session/x' }));
    await expect(query('SELECT max(n) FROM many')).rejects.toMatchObject({ code: 'query_failed' });
    expect(database.server.seen.every(({ path }) => path.startsWith('/api/v2/statements'))).toBe(
      true,
    );
  });

  test('reads comments, keys of several columns, sizes and marks', async () => {
    const { tables, queries } = await warehouse.introspect({}, never);
    const named = (name: string) => tables.find(({ table }) => table === name);
    expect(queries).toBe(5);
    expect(named('MANY')).toMatchObject({
      schema: 'PUBLIC',
      comment: 'numbers',
      rowEstimate: 10,
      bytes: 640,
      columns: [{ name: 'N', nativeType: 'NUMBER(38,0)', type: 'integer', comment: 'one of them' }],
    });
    expect(named('SEEN')).toMatchObject({
      kind: 'view',
      marker: undefined,
      rowEstimate: undefined,
    });
    expect(named('C')).toMatchObject({ primaryKey: ['B', 'A'] });
    expect(named('T')).toMatchObject({ primaryKey: ['K'], uniqueKeys: [['U']] });
    expect(named('R')?.foreignKeys).toEqual([
      { columns: ['Y', 'X'], to: { table: { schema: 'OTHER', table: 'C' }, columns: ['B', 'A'] } },
    ]);
    const before = named('MANY')?.marker;
    await database.server.execute(
      'CREATE TABLE SALES.PUBLIC.growing (n INTEGER); INSERT INTO SALES.PUBLIC.many VALUES (10)',
    );
    const after = (await warehouse.introspect({}, never)).tables.find(
      ({ table }) => table === 'MANY',
    );
    expect(after?.marker).not.toBe(before);
    await database.server.execute(
      'DELETE FROM SALES.PUBLIC.many WHERE n = 10; DROP TABLE SALES.PUBLIC.growing',
    );
  });

  test('reads keys schema by schema where SHOW does not show them all', async () => {
    const small = await makeSnowflake(script, { mostShown: 10_000 });
    const many = Array.from({ length: 10_000 }, (_, n) => [
      '0',
      'SALES',
      'PUBLIC',
      `T${n}`,
      'K',
      '1',
      `C${n}`,
      'false',
      '',
    ]);
    const keyNames =
      'created_on database_name schema_name table_name column_name key_sequence constraint_name rely comment'.split(
        ' ',
      );
    small.server.intercept = ({ body }) =>
      body?.statement === 'SHOW PRIMARY KEYS IN DATABASE "SALES"'
        ? json200({
            resultSetMetaData: {
              numRows: many.length,
              rowType: keyNames.map((name) => ({ name, type: 'text' })),
            },
            data: many,
          })
        : undefined;
    const open = await small.open();
    try {
      const { tables, queries, assumptions } = await open.introspect({}, never);
      expect(tables.find(({ table }) => table === 'C')?.primaryKey).toEqual(['B', 'A']);
      expect([queries, assumptions]).toEqual([7, undefined]);
    } finally {
      await open.close();
      await small.remove();
    }
  });

  test('reads what people ran, and says what it lacks for that', async () => {
    const { history } = warehouse;
    expect(await history?.access(never)).toMatchObject({
      isReadable: false,
      remedy: ['GRANT DATABASE ROLE SNOWFLAKE.GOVERNANCE_VIEWER TO ROLE KTX_READER;'],
    });
    const columns =
      'query_text VARCHAR, user_name VARCHAR, query_type VARCHAR, execution_status VARCHAR, query_tag VARCHAR, database_name VARCHAR, start_time TIMESTAMPTZ, query_parameterized_hash VARCHAR';
    const run = (sql: string, user: string, others = "'SELECT', 'SUCCESS', ''") =>
      `('${sql}', '${user}', ${others}, 'SALES', now(), '${sql.length}')`;
    await database.server
      .execute(`ATTACH ':memory:' AS SNOWFLAKE; CREATE SCHEMA SNOWFLAKE.ACCOUNT_USAGE;
      CREATE TABLE SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY (${columns});
      INSERT INTO SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY VALUES ${[
        run('SELECT n FROM many', 'ANA'),
        run('SELECT n FROM many', 'ANA'),
        run('SELECT n FROM many', 'BEN'),
        run('SELECT 1', 'KTX_READER', "'SELECT', 'SUCCESS', 'ktx'"),
        run('DELETE FROM many', 'ANA', "'DELETE', 'SUCCESS', ''"),
        run('SELECT x FROM many', 'ANA', "'SELECT', 'FAIL', ''"),
      ].join(', ')}`);
    expect(await history?.access(never)).toEqual({ isReadable: true });
    const log = await history?.read(never);
    expect(log?.hidden).toBe(0);
    expect(log?.since).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(log?.statements).toEqual([
      { sql: 'SELECT n FROM many', runs: 2, runsByUser: new Map([['ANA', 2]]) },
      { sql: 'SELECT n FROM many', runs: 1, runsByUser: new Map([['BEN', 1]]) },
    ]);
  });

  test('says that there is no such database', async () => {
    await expect(database.open({ database: 'nowhere' })).rejects.toMatchObject({
      code: 'warehouse_not_found',
      message: expect.stringContaining('NOWHERE'),
    });
  });

  test('answers DESCRIBE and SHOW from the catalog, by the names of Snowflake', async () => {
    expect((await query('DESCRIBE TABLE many')).rows[0]?.slice(0, 2)).toEqual([
      'N',
      'NUMBER(38,0)',
    ]);
    expect(database.server.seen.some(({ body }) => /DESCRIBE/.test(body?.statement ?? ''))).toBe(
      false,
    );
  });

  test.skipIf(!existsSync(payloads))(
    'the server here answers as the published description says',
    () => {
      const file = readFileSync(join(payloads, 'specs/sqlapi.yaml'), 'utf8');
      const { components } = load(file) as { components: { schemas: Record<string, ApiSchema> } };
      const byStatus: Readonly<Record<number, string>> = {
        200: 'ResultSet',
        202: 'QueryStatus',
        408: 'QueryStatus',
        422: 'QueryFailureStatus',
      };
      const checked = new Set<string>();
      const problems = database.server.answers.flatMap(({ path, status, body }) => {
        const name = path.endsWith('/cancel') ? 'CancelStatus' : byStatus[status];
        const schema = name === undefined ? undefined : components.schemas[name];
        if (name === undefined || schema === undefined) return [];
        checked.add(name);
        return violations(body, schema, name);
      });
      expect(problems).toEqual([]);
      expect([...checked].sort()).toEqual([
        'CancelStatus',
        'QueryFailureStatus',
        'QueryStatus',
        'ResultSet',
      ]);
    },
  );
});

function json200(body: unknown): Interception {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}

function json202(): Interception {
  return {
    status: 202,
    headers: { 'content-type': 'application/json' },
    body: '{"code":"333334"}',
  };
}

/** As much of a schema of OpenAPI 3.0 as that of the SQL API uses. */
interface ApiSchema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
}

function violations(value: unknown, schema: ApiSchema, at: string): readonly string[] {
  // Real answers have null for the length of a number, which the description does not say.
  if (value === null)
    return schema.nullable === true || schema.type === 'integer' ? [] : [`${at} is null`];
  if (schema.enum?.includes(value) === false) return [`${at} is ${JSON.stringify(value)}`];
  if (schema.type === 'array')
    return Array.isArray(value)
      ? value.flatMap((item, index) =>
          schema.items === undefined ? [] : violations(item, schema.items, `${at}[${index}]`),
        )
      : [`${at} is no array`];
  if (schema.type === 'integer') return Number.isInteger(value) ? [] : [`${at} is no integer`];
  if (typeof value !== schema.type) return [`${at} is no ${schema.type}`];
  if (schema.type !== 'object') return [];
  const record = value as Record<string, unknown>;
  return [
    ...(schema.required ?? [])
      .filter((name) => !(name in record))
      .map((name) => `${at}.${name} is missing`),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      record[name] === undefined ? [] : violations(record[name], property, `${at}.${name}`),
    ),
  ];
}
