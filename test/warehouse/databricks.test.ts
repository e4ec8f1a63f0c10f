import { existsSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { databricksConfigSchema } from '../../src/warehouse/drivers/databricks/config.ts';
import {
  databricksCell,
  databricksFieldType,
} from '../../src/warehouse/drivers/databricks/values.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type DatabricksServer, startDatabricks } from '../engines/databricks/server.ts';
import { databricksConfig, openDatabricks } from '../support/databricks.ts';
import { refusalOf } from '../support/refusal.ts';
import { generous, never } from '../support/warehouses.ts';

const recorded = new URL(
  '../../../shared/data/sources/warehouse/databricks/databricks-jdbc-recorded/',
  import.meta.url,
);
const script = `
  CREATE TABLE v (i INTEGER, b BIGINT, d DECIMAL(38, 10), g DOUBLE, ok BOOLEAN, s VARCHAR, day DATE, wall TIMESTAMP, zoned TIMESTAMPTZ);
  INSERT INTO v VALUES (1, 9223372036854775807, 1234567890123456789012345678.0123456789, 'NaN', true, 'it''s ☃', '2024-02-29', '2024-02-29 10:00:00.120', '2024-07-01 10:00:00.000001+02');
  CREATE TABLE many (n INTEGER); INSERT INTO many SELECT range FROM range(10);
  CREATE VIEW seen AS SELECT n FROM many;
  COMMENT ON TABLE many IS 'ten numbers'; COMMENT ON COLUMN many.n IS 'one of them';
`;
const base = '/api/2.0/sql/statements';

let server: DatabricksServer;
let warehouse: Warehouse;
beforeAll(async () => {
  server = await startDatabricks({ script });
  warehouse = await openDatabricks(server);
});
afterEach(() => {
  Object.assign(server.rules, { rowsPerChunk: 1000, inlineLimit: 2 ** 20, fault: undefined });
});
afterAll(async () => {
  await warehouse?.close();
  await server?.close();
});
const ask = (sql: string) => warehouse.query(sql, generous, never);

describe('a databricks workspace', () => {
  test('gives every digit of every type', async () => {
    const { columns, rows } = await ask('SELECT * FROM v');
    const [row = []] = rows;
    expect(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))).toEqual({
      i: 1,
      b: '9223372036854775807',
      d: '1234567890123456789012345678.0123456789',
      g: 'NaN',
      ok: true,
      s: "it's ☃",
      day: '2024-02-29',
      wall: '2024-02-29 10:00:00.12',
      zoned: '2024-07-01T08:00:00.000001Z',
    });
  });

  test('sends a statement with its limits to one warehouse', async () => {
    await warehouse.query('SELECT 1', { maxRows: 5, timeoutMs: 1500 }, never);
    const sent = server.requests.findLast(({ method }) => method === 'POST');
    expect([sent?.path, sent?.headers.authorization]).toEqual([base, 'Bearer dapi-token']);
    expect(JSON.parse(sent?.body ?? '')).toEqual({
      statement: 'SELECT 1\n/* ktx */',
      warehouse_id: '1234567890abcdef',
      catalog: 'memory',
      schema: 'main',
      row_limit: 6,
      wait_timeout: '0s',
      on_wait_timeout: 'CONTINUE',
      disposition: 'INLINE',
      format: 'JSON_ARRAY',
    });
  });

  test('tells comments and kinds in three statements', async () => {
    const { tables, queries } = await warehouse.introspect({}, never);
    expect(queries).toBe(3);
    expect(tables.map(({ table, kind }) => [table, kind])).toEqual([
      ['many', 'table'],
      ['seen', 'view'],
      ['v', 'table'],
    ]);
    const [many] = tables;
    expect([many?.comment, many?.columns[0]?.comment]).toEqual(['ten numbers', 'one of them']);
    expect(many?.columns[0]).toMatchObject({ nativeType: 'int', type: 'integer' });
  });

  test('reads all chunks, and no more than it needs', async () => {
    server.rules.rowsPerChunk = 3;
    expect((await ask('SELECT n FROM many ORDER BY n')).rows.flat()).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    const from = server.requests.length;
    const few = await warehouse.query('SELECT n FROM many', { ...generous, maxRows: 2 }, never);
    expect([few.rows.length, few.truncated]).toEqual([2, true]);
    expect(server.requests.slice(from).some(({ path }) => path.includes('chunks'))).toBe(false);
  });

  test('does not take part of a result for all of it', async () => {
    const columns = [{ name: 'n', type_text: 'INT' }];
    server.rules.fault = ({ path, sql }, response) => {
      if (path.includes('cancel') || (sql !== undefined && !/FROM many/.test(sql))) return false;
      const body = {
        statement_id: '1',
        status: { state: 'SUCCEEDED' },
        manifest: { schema: { columns }, total_row_count: 3 },
        result: { data_array: [['1']] },
      };
      response.writeHead(200).end(JSON.stringify(body));
      return true;
    };
    await expect(ask('SELECT n FROM many')).rejects.toMatchObject({
      message: expect.stringContaining('announced 3 rows and sent 1'),
    });
  });

  test('reads a large result from the storage, which gets no login', async () => {
    Object.assign(server.rules, { rowsPerChunk: 4, inlineLimit: 10 });
    expect((await ask('SELECT n FROM many ORDER BY n')).rows).toHaveLength(10);
    expect(server.storageRequests).toHaveLength(3);
    expect(server.storageRequests.every(({ headers }) => !('authorization' in headers))).toBe(true);
  });

  test('is told to end a statement that is given up', async () => {
    const letters = 'abcdefghijklmnopqr';
    const endless = `SELECT count(*) FROM ${letters.replaceAll(/./g, ', many $&').slice(2)} WHERE ${letters.split('').join('.n + ')}.n < 0`;
    const abort = new AbortController();
    const lost = warehouse.query(endless, generous, abort.signal);
    await expect.poll(() => server.running().length).toBe(1);
    abort.abort();
    await expect(lost).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(() => server.running(), { timeout: 2000 }).toEqual([]);
    const late = new AbortController();
    server.rules.fault = ({ method, path }) => {
      if (method === 'POST' && path === base) late.abort();
      return false;
    };
    await expect(warehouse.query(endless, generous, late.signal)).rejects.toMatchObject({
      code: 'query_cancelled',
    });
    await expect.poll(() => server.running(), { timeout: 2000 }).toEqual([]);
  });

  test('waits while the server is busy', async () => {
    let tries = 0;
    server.rules.fault = ({ method, path }, response) => {
      if (method !== 'POST' || path !== base || (tries += 1) > 1) return false;
      response.writeHead(429, { 'Retry-After': '0' }).end();
      return true;
    };
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
    expect(tries).toBe(2);
  });
});

describe('a server that is not what it says', () => {
  const succeeded = (rest: object) =>
    JSON.stringify({ statement_id: 'a', status: { state: 'SUCCEEDED' }, ...rest });
  const failed = (error_code: string, message: string, state = 'FAILED') =>
    JSON.stringify({ statement_id: 'a', status: { state, error: { error_code, message } } });
  const columns = [{ name: 'a', type_text: 'INT' }];

  test.each([
    ['a page of HTML', '<html>Please log in</html>', 'query_failed'],
    ['half an answer', '{"statement_id":"a","status"', 'query_failed'],
    [
      'an id that leads elsewhere',
      '{"statement_id":"../x","status":{"state":"PENDING"}}',
      'query_failed',
    ],
    [
      'a row of other columns',
      succeeded({ manifest: { schema: { columns } }, result: { data_array: [['1', '2']] } }),
      'query_failed',
    ],
    ['a state that nobody knows', '{"statement_id":"a","status":{"state":"LOST"}}', 'query_failed'],
    [
      'a link that is not encrypted',
      succeeded({
        result: { external_links: [{ external_link: 'http://192.0.2.1/x?sig=s3cret' }] },
      }),
      'query_failed',
    ],
    ['a closed statement', '{"statement_id":"a","status":{"state":"CLOSED"}}', 'query_failed'],
    ['a syntax error', failed('BAD_REQUEST', '\n[PARSE_SYNTAX_ERROR] Syntax error'), 'sql_syntax'],
    ['a missing table', failed('BAD_REQUEST', '[TABLE_OR_VIEW_NOT_FOUND] no t'), 'missing_object'],
    ['a denial', failed('BAD_REQUEST', '[INSUFFICIENT_PERMISSIONS] no'), 'warehouse_privilege'],
    ['a busy server', failed('TEMPORARILY_UNAVAILABLE', 'later'), 'warehouse_unreachable'],
    ['a cancelled statement', failed('', 'x', 'CANCELED'), 'query_cancelled'],
  ])('sends %s', async (_name, text, code) => {
    server.rules.fault = ({ method, path }, response) => {
      if (method !== 'POST' || path !== base) return false;
      response.writeHead(200).end(text);
      return true;
    };
    const error = (await warehouse
      .query('SELECT 1', { maxRows: 5, timeoutMs: 3000 }, never)
      .catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code });
    expect(error.message).not.toContain('s3cret');
  });

  test.each([
    [401, '{"message":"dapi-token"}', 'warehouse_auth'],
    [403, '{"error_code":403,"message":"Invalid access token."}', 'warehouse_auth'],
    [
      403,
      '{"error_code":"PERMISSION_DENIED","message":"no warehouse for you"}',
      'warehouse_privilege',
    ],
    [
      404,
      '{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no warehouse"}',
      'warehouse_not_found',
    ],
    [400, '{"error_code":"INVALID_PARAMETER_VALUE","message":"wrong"}', 'query_failed'],
    [400, 'plain text', 'query_failed'],
    [500, 'plain text', 'warehouse_unreachable'],
  ])('answers %d %s', async (status, text, code) => {
    server.rules.fault = ({ method, path }, response) => {
      if (method !== 'POST' || path !== base) return false;
      response.writeHead(status).end(text);
      return true;
    };
    const error = (await ask('SELECT 1').catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code });
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('dapi-token');
  });

  test.each([
    ['is never done', '{"statement_id":"a","status":{"state":"RUNNING"}}'],
    ['never answers', undefined],
  ])('%s, until the time limit', async (_name, text) => {
    server.rules.fault = ({ method, path }, response) => {
      if (path.endsWith('/cancel')) return false;
      if (text !== undefined) response.writeHead(200).end(text);
      return method === 'GET' || path === base;
    };
    const from = server.requests.length;
    const limits = { maxRows: 1, timeoutMs: 300 };
    await expect(warehouse.query('SELECT 1', limits, never)).rejects.toMatchObject({
      code: 'query_timeout',
    });
    expect(server.requests.length - from).toBeLessThan(20);
  });
});

describe.skipIf(!existsSync(recorded))('recorded answers of a workspace', () => {
  const bodyOf = (name: string): string => {
    const file = JSON.parse(readFileSync(new URL(name, recorded), 'utf8')) as {
      readonly response: { readonly body: string };
    };
    return file.response.body;
  };
  const play = (...names: readonly string[]): void => {
    const bodies = names.map(bodyOf);
    server.rules.fault = ({ path }, response) => {
      if (path.endsWith('/cancel')) return false;
      response.writeHead(200).end(bodies.shift() ?? '{}');
      return true;
    };
  };

  test('are rows of text', async () => {
    play('12-post-succeeded-json_array-int-string-chunk_index.json');
    expect((await ask('SELECT 1')).rows).toEqual([
      [1, '   leading and trailing spaces   '],
      [2, 'こんにちは'],
      [3, 'special chars: !@#$%^&*()'],
      [4, 'string with "double quotes" inside'],
      [5, null],
    ]);
    play('07-post-succeeded-json_array-double-chunk_index.json');
    expect(await ask('SELECT 1')).toMatchObject({ rows: [[null]], columns: [{ type: 'decimal' }] });
  });

  test('are waited for, and can have no rows', async () => {
    play(
      '26-post-pending.json',
      '27-get-running.json',
      '29-get-running.json',
      '30-get-succeeded-arrow_stream.json',
    );
    expect(await ask('SELECT 1')).toMatchObject({ columns: [], rows: [], truncated: false });
    play('16-post-succeeded-arrow_stream-int-string.json');
    expect((await ask('SELECT 1')).columns.map(({ name }) => name)).toEqual(['id', 'col1', 'col2']);
  });

  test('fail with status 200', async () => {
    play('17-post-failed-bad_request.json');
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'sql_syntax',
      message: expect.stringContaining("Syntax error at or near 'INSER'"),
    });
  });
});

describe('the login of databricks', () => {
  test('is refused if it may write, unless the configuration lets it in', async () => {
    const writable = await startDatabricks({ script });
    const grant = (row: string) =>
      writable.execute(`INSERT INTO databricks_server.schema_privileges VALUES ${row}`);
    try {
      const harmless = await openDatabricks(writable);
      expect(await harmless.privileges()).toEqual({
        readOnly: true,
        findings: ['the login may read and nothing else'],
      });
      await harmless.close();
      await writable.execute("INSERT INTO databricks_server.groups VALUES ('etl')");
      expect(await refusalOf(openDatabricks(writable))).toMatchObject({
        code: 'warehouse_privilege',
        exitCode: 4,
        message: expect.stringContaining('the login has MODIFY on main'),
        hint: expect.stringContaining('GRANT USE SCHEMA, SELECT ON SCHEMA `memory`.`main`'),
      });
      await grant("('ktx', 'main', 'CREATE_TABLE'), ('account users', 'other', 'MANAGE')");
      // Who owns the catalog may do everything in it.
      await writable.execute("UPDATE databricks_server.catalogs SET catalog_owner = 'ktx'");
      const open = await openDatabricks(writable, { allow_writable_role: true });
      const { readOnly, findings } = await open.privileges();
      expect(readOnly).toBe(false);
      expect(findings.toSorted()).toEqual([
        'the login has CREATE TABLE on main',
        'the login has MANAGE on other',
        'the login has MODIFY on main',
        'the login has OWNERSHIP on memory',
      ]);
      await open.close();
    } finally {
      await writable.close();
    }
  });

  test('can be a service principal, whose token is renewed', async () => {
    const principal = { id: 'app', secret: 'p-secret' };
    const oauth = await startDatabricks({ script, principal });
    const given = { token: undefined, client_id: 'env:ID', client_secret: 'env:SECRET' };
    const secrets = { 'env:ID': 'app', 'env:SECRET': 'p-secret' };
    try {
      const open = await openDatabricks(oauth, given, secrets);
      await open.query('SELECT 1', generous, never);
      const asked = () => oauth.requests.filter(({ path }) => path === '/oidc/v1/token').length;
      expect(asked()).toBe(1);
      oauth.rules.expired.add('oauth-1');
      expect((await open.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
      expect(asked()).toBe(2);
      await open.close();
      const wrong = { ...secrets, 'env:SECRET': 'w-r-o-n-g' };
      const error = (await openDatabricks(oauth, given, wrong).catch(
        (reason: unknown) => reason,
      )) as Error;
      expect(error).toMatchObject({ code: 'warehouse_auth' });
      expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/w-r-o-n-g|p-secret/);
    } finally {
      await oauth.close();
    }
  });

  test.each([
    ['an address without encryption', { url: 'http://db.example.com' }, {}, 'warehouse_insecure'],
    ['a url with a path', { url: 'https://db.example.com/sql' }, {}, 'config_url'],
    ['a token of two lines', {}, { 'env:TOKEN': 'a\nb' }, 'warehouse_auth'],
    ['a token that is none', {}, { 'env:TOKEN': 'other' }, 'warehouse_auth'],
  ])('refuses %s', async (...[, overrides, secrets, code]) => {
    const all = { 'env:TOKEN': 'dapi-token', ...secrets };
    expect(await refusalOf(openDatabricks(server, overrides, all))).toMatchObject({ code });
  });

  test.each([
    { token: undefined },
    { client_id: 'env:A' },
    { token: undefined, client_id: 'env:A' },
    { token: 'dapi123' },
    { url: undefined },
    { url: 'https://a:b@h' },
    { warehouse_id: '/sql/1.0' },
  ])('is not taken from ktx.yaml: %j', (overrides) => {
    const config = { ...databricksConfig({ origin: 'https://h' }), ...overrides };
    expect(databricksConfigSchema.safeParse(config).success).toBe(false);
  });
});

describe('a value of databricks', () => {
  test.each([
    ['TIMESTAMP', '2021-01-01T10:00:00.000-08:00', '2021-01-01T18:00:00Z', 'datetime_tz'],
    ['TIMESTAMP_NTZ', '2021-01-01T10:00:00.123', '2021-01-01 10:00:00.123', 'datetime'],
    ['timestamp', 'no time', 'no time', 'datetime_tz'],
    ['DECIMAL(10,2)', '12.50', 12.5, 'decimal'],
    ['BIGINT', '9007199254740993', '9007199254740993', 'integer'],
    ['BOOLEAN', 'false', false, 'boolean'],
    ['ARRAY<INT>', '[1,null]', '[1,null]', 'unknown'],
    ['BINARY', 'AQI=', 'AQI=', 'unknown'],
    ['varchar(3)', 'a', 'a', 'string'],
    ['DOUBLE', null, null, 'decimal'],
  ] as const)('of type %s', (...[native, text, cell, type]) => {
    expect(databricksFieldType(native)).toBe(type);
    expect(databricksCell(text, type)).toBe(cell);
  });
});
