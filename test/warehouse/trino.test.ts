import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Trino } from 'trino-client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { trinoConfigSchema } from '../../src/warehouse/drivers/trino/config.ts';
import { open as openDriver } from '../../src/warehouse/drivers/trino/driver.ts';
import { trinoCell, trinoFieldType } from '../../src/warehouse/drivers/trino/values.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { startTrino, type TrinoServer } from '../engines/trino/server.ts';
import { throwAwayCertificate } from '../support/certificate.ts';
import { openTrino } from '../support/trino.ts';
import { refusalOf } from '../support/refusal.ts';
import { generous, never } from '../support/warehouses.ts';

const recorded = new URL(
  '../../../shared/data/sources/warehouse/trino/trino-csharp-client-recorded/',
  import.meta.url,
);
const script = `
  CREATE TABLE v (i INTEGER, b BIGINT, d DECIMAL(38, 10), r FLOAT, g DOUBLE, ok BOOLEAN, s VARCHAR, day DATE, wall TIMESTAMP, zoned TIMESTAMPTZ, id UUID);
  INSERT INTO v VALUES (1, 9223372036854775807, 1234567890123456789012345678.0123456789, 0.1, 'NaN', true, 'it''s ☃', '2024-02-29', '2024-02-29 10:00:00.120', '2024-07-01 10:00:00.000001+02', '61f0c404-5cb3-11e7-907b-a6006ad3dba0');
  CREATE TABLE many (n INTEGER); INSERT INTO many SELECT range FROM range(10);
  CREATE VIEW seen AS SELECT n FROM many;
  COMMENT ON TABLE many IS 'ten numbers'; COMMENT ON COLUMN many.n IS 'one of them';
  INSERT INTO trino_server.materialized_views VALUES ('memory', 'main', 'seen');
  CREATE SCHEMA other; CREATE TABLE other.t (a INTEGER);
`;

let server: TrinoServer;
let warehouse: Warehouse;
beforeAll(async () => {
  server = await startTrino({ script });
  warehouse = await openTrino(server);
});
afterEach(() => {
  Object.assign(server.rules, {
    mayWrite: false,
    hasStatistics: true,
    rowsPerPage: 1000,
    fault: undefined,
  });
});
afterAll(async () => {
  await warehouse?.close();
  await server?.close();
});
const ask = (sql: string) => warehouse.query(sql, generous, never);

describe('the server of the tests', () => {
  test('is one to the official client', async () => {
    server.rules.rowsPerPage = 4;
    const client = Trino.create({ server: server.origin, catalog: 'memory', schema: 'main' });
    const query = (sql: string) => client.query({ query: sql, user: 'ana' });
    const pages = [];
    for await (const page of await query('SELECT n FROM many ORDER BY n')) pages.push(page);
    expect(pages.flatMap(({ data = [] }) => data)).toEqual(
      Array.from({ length: 10 }, (_, n) => [n]),
    );
    expect(pages.at(-1)?.columns).toMatchObject([{ name: 'n', type: 'integer' }]);
    const failed = [];
    for await (const page of await query('SELECT nothing FROM many')) failed.push(page);
    expect(failed.at(-1)).toMatchObject({
      stats: { state: 'FAILED' },
      error: { errorName: 'COLUMN_NOT_FOUND', errorType: 'USER_ERROR' },
    });
  });
});

describe('a trino server', () => {
  test('gives every digit of every type', async () => {
    const { columns, rows } = await ask('SELECT * FROM v');
    const [row = []] = rows;
    expect(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))).toEqual({
      i: 1,
      b: '9223372036854775807',
      d: '1234567890123456789012345678.0123456789',
      r: 0.1,
      g: 'NaN',
      ok: true,
      s: "it's ☃",
      day: '2024-02-29',
      wall: '2024-02-29 10:00:00.12',
      zoned: '2024-07-01T08:00:00.000001Z',
      id: '61f0c404-5cb3-11e7-907b-a6006ad3dba0',
    });
  });

  test('sends every statement in a read-only transaction with its limits, and ends it', async () => {
    const from = server.requests.length;
    await warehouse.query('SELECT 1; ', { maxRows: 5, timeoutMs: 1500, maxBytes: 1000 }, never);
    const posts = server.requests.slice(from).filter(({ method }) => method === 'POST');
    expect(posts.map(({ sql }) => sql.trim())).toEqual([
      'START TRANSACTION READ ONLY',
      'EXPLAIN (TYPE IO, FORMAT JSON) SELECT 1',
      'ROLLBACK',
      'START TRANSACTION READ ONLY',
      'EXPLAIN (TYPE IO, FORMAT JSON) SELECT 1',
      'SELECT 1\n/* ktx */',
      'ROLLBACK',
    ]);
    const { headers } = posts[5] ?? {};
    expect(headers).toMatchObject({
      'x-trino-user': 'ana',
      'x-trino-source': 'ktx',
      'x-trino-client-tags': 'ktx',
      'x-trino-catalog': 'memory',
      'x-trino-schema': 'main',
      'x-trino-time-zone': 'UTC',
      'x-trino-session': 'query_max_run_time=3s,query_max_scan_physical_bytes=1000B',
      'x-trino-transaction-id': posts[4]?.headers['x-trino-transaction-id'],
    });
    expect(server.openTransactions()).toBe(0);
  });

  test('tells comments, kinds and other schemas in few statements', async () => {
    const everything = await openTrino(server, {
      url: `${server.origin.replace('://', '://ana@')}/memory`,
    });
    const { tables, queries } = await everything.introspect({}, never);
    await everything.close();
    expect(queries).toBe(5);
    expect(tables.map(({ schema, table, kind }) => [schema, table, kind])).toEqual([
      ['main', 'many', 'table'],
      ['main', 'seen', 'materialized_view'],
      ['main', 'v', 'table'],
      ['other', 't', 'table'],
    ]);
    const many = tables.find(({ table }) => table === 'many');
    expect([many?.comment, many?.columns[0]?.comment]).toEqual(['ten numbers', 'one of them']);
    expect(many?.columns[0]).toMatchObject({ nativeType: 'integer', nullable: true });
  });

  test('leaves out what the login may not read beside the tables', async () => {
    server.rules.fault = failing('system.', 'PERMISSION_DENIED', 'Access Denied');
    const { tables } = await warehouse.introspect({}, never);
    expect(tables.map(({ table, kind, comment }) => [table, kind, comment])).toEqual([
      ['many', 'table', undefined],
      ['seen', 'view', undefined],
      ['v', 'table', undefined],
    ]);
  });

  test('reads all pages, and no more than it needs', async () => {
    server.rules.rowsPerPage = 3;
    expect((await ask('SELECT n FROM many ORDER BY n')).rows).toHaveLength(10);
    const from = server.requests.length;
    const few = await warehouse.query('SELECT n FROM many', { ...generous, maxRows: 4 }, never);
    expect([few.rows.length, few.truncated]).toEqual([4, true]);
    const asked = server.requests.slice(from).filter(({ sql }) => sql.includes('ktx */'));
    expect(asked.filter(({ path }) => path.includes('/executing/'))).toHaveLength(2);
    expect(asked.at(-1)?.method).toBe('DELETE');
  });

  test('tells what a statement would read, and what it read', async () => {
    const session = await openSession();
    expect(await session.estimate?.('SELECT n FROM many;', never)).toEqual({
      bytes: 80,
      rows: 10,
      kind: 'guess',
    });
    server.rules.hasStatistics = false;
    expect(await session.estimate?.('SELECT n FROM many', never)).toEqual({
      bytes: undefined,
      rows: undefined,
      kind: 'guess',
    });
    await session.close();
    expect((await ask('SELECT n FROM many')).cost).toEqual({ rowsRead: 10, bytesRead: 80 });
  });

  test('ends a statement that reads more than it may', async () => {
    server.rules.hasStatistics = false;
    const limited = { ...generous, maxBytes: 10 };
    await expect(warehouse.query('SELECT n FROM many', limited, never)).rejects.toMatchObject({
      code: 'too_expensive',
    });
    server.rules.hasStatistics = true;
    const from = server.requests.length;
    await expect(warehouse.query('SELECT n FROM many', limited, never)).rejects.toMatchObject({
      code: 'too_expensive',
    });
    expect(server.requests.slice(from).some(({ sql }) => sql.includes('ktx */'))).toBe(false);
  });

  test('is told to end a statement that is given up', async () => {
    const letters = 'abcdefghijklmnopqr';
    const endless = `SELECT count(*) FROM ${letters.replaceAll(/./g, ', many $&').slice(2)} WHERE ${letters.split('').join('.n + ')}.n < 0`;
    const abort = new AbortController();
    const lost = warehouse.query(endless, generous, abort.signal);
    await expect.poll(() => server.running().some((sql) => sql.includes('ktx */'))).toBe(true);
    abort.abort();
    await expect(lost).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(() => server.running(), { timeout: 2000 }).toEqual([]);
    await expect.poll(() => server.openTransactions()).toBe(0);
  });

  test('waits while the server is busy, and asks again for a page that is lost', async () => {
    const tries = { post: 0, page: 0 };
    server.rules.fault = ({ method, sql }, response) => {
      if (!sql.includes('ktx */')) return false;
      if (method === 'POST' && (tries.post += 1) === 1) {
        response.writeHead(503, { 'Retry-After': '0' }).end();
        return true;
      }
      if (method === 'GET' && (tries.page += 1) === 2) {
        response.destroy();
        return true;
      }
      return false;
    };
    expect((await ask('SELECT count(*) FROM many')).rows).toEqual([[10]]);
    expect(tries.post).toBe(2);
    expect(tries.page).toBe(3);
  });

  test('says what the login may write, which it finds out without writing', async () => {
    expect(await warehouse.privileges()).toEqual({
      readOnly: true,
      findings: ['the login may not write to memory.main.many'],
    });
    server.rules.mayWrite = true;
    const report = await warehouse.privileges();
    expect(report).toMatchObject({
      readOnly: false,
      findings: ['the login may INSERT, DELETE on memory.main.many'],
    });
    expect(report.remedy?.[0]).toBe('GRANT SELECT ON SCHEMA "memory"."main" TO USER ktx_reader;');
    expect((await ask('SELECT count(*) FROM many')).rows).toEqual([[10]]);
  });

  test('tells what others ran', async () => {
    await server.execute(`INSERT INTO trino_server.queries VALUES
      ('1', 'FINISHED', 'ana', 'cli', 'SELECT n FROM many', TIMESTAMP '2024-02-29 10:00:00'), ('2', 'FINISHED', 'ana', 'cli', 'SELECT n FROM many', TIMESTAMP '2024-03-01 10:00:00'),
      ('3', 'FAILED', 'ana', 'cli', 'SELECT x FROM many', now()), ('4', 'FINISHED', 'bob', 'ktx', 'SELECT 1', now()), ('5', 'FINISHED', 'bob', NULL, 'DROP TABLE many', now())`);
    expect(await warehouse.history?.access(never)).toEqual({ isReadable: true });
    expect(await warehouse.history?.read(never)).toEqual({
      statements: [{ sql: 'SELECT n FROM many', runs: 2, runsByUser: new Map([['ana', 2]]) }],
      hidden: 0,
      since: '2024-02-29',
    });
    server.rules.fault = failing('system.runtime', 'PERMISSION_DENIED', 'Access Denied');
    expect(await warehouse.history?.access(never)).toMatchObject({ isReadable: false });
  });

  test.each([
    ['SYNTAX_ERROR', 'sql_syntax'],
    ['PERMISSION_DENIED', 'warehouse_privilege'],
    ['EXCEEDED_TIME_LIMIT', 'query_timeout'],
    ['EXCEEDED_LOCAL_MEMORY_LIMIT', 'out_of_memory'],
    ['QUERY_QUEUE_FULL', 'warehouse_unreachable'],
    ['ADMINISTRATIVELY_KILLED', 'query_cancelled'],
    ['DIVISION_BY_ZERO', 'query_failed'],
    ['READ_ONLY_VIOLATION', 'gate_refused'],
  ])('means by the error %s: %s', async (name, code) => {
    server.rules.fault = failing('ktx */', name, 'because of that');
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code,
      message: expect.stringContaining('because of that'),
    });
    expect(server.openTransactions()).toBe(0);
  });
});

describe('a server that is not what it says', () => {
  const answering = (text: string, status = 200) =>
    replacing('ktx */', (response) => response.writeHead(status).end(text));

  test.each([
    ['a page of HTML', '<html>Please log in</html>', 200, 'query_failed'],
    ['half a page', '{"id":"1","columns":[{"name":"a"', 200, 'query_failed'],
    ['something else', '{"message":"hello"}', 200, 'query_failed'],
    ['spooled rows', '{"id":"1","data":{"encoding":"json","segments":[]}}', 200, 'query_failed'],
    [
      'rows of other columns',
      '{"id":"1","columns":[{"name":"a","type":"integer"}],"data":[[1,2]]}',
      200,
      'query_failed',
    ],
    ['rows without columns', '{"id":"1","data":[[1]]}', 200, 'query_failed'],
    ['an error without a name', '{"id":"1","error":{}}', 200, 'query_failed'],
    ['a defect', 'Internal Server Error', 500, 'warehouse_unreachable'],
    ['nothing by that name', 'Not Found', 404, 'query_failed'],
    ['no more of the login', 'secret', 403, 'warehouse_auth'],
  ])('sends %s', async (...[, text, status, code]) => {
    server.rules.fault = answering(text, status);
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code });
  });

  test('leads to another server, which hears nothing', async () => {
    const elsewhere = await startTrino();
    const next = `${elsewhere.origin}/v1/statement/executing/1/y/0`;
    server.rules.fault = answering(JSON.stringify({ id: '1', nextUri: next }));
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      message: expect.stringContaining('another server'),
    });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  test('never ends, until the time limit', async () => {
    server.rules.fault = ({ sql, path }, response) => {
      if (!sql.includes('ktx */') && !path.includes('/endless/')) return false;
      const nextUri = `${server.origin}/v1/statement/endless/1/y/0`;
      response.writeHead(200).end(JSON.stringify({ id: '1', nextUri }));
      return true;
    };
    const from = server.requests.length;
    await expect(
      warehouse.query('SELECT 1', { maxRows: 1, timeoutMs: 700 }, never),
    ).rejects.toMatchObject({ code: 'query_timeout' });
    expect(server.requests.length - from).toBeLessThan(60);
  });

  test('never answers, until the time limit', async () => {
    server.rules.fault = ({ sql }) => sql.includes('ktx */');
    await expect(
      warehouse.query('SELECT 1', { maxRows: 1, timeoutMs: 300 }, never),
    ).rejects.toMatchObject({ code: 'query_timeout' });
  });

  test('starts no transaction, and gets no statement', async () => {
    server.rules.fault = replacing('START TRANSACTION', (response) =>
      response.writeHead(200).end('{"id":"1"}'),
    );
    const from = server.requests.length;
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringContaining('no transaction'),
    });
    expect(server.requests.slice(from).some(({ sql }) => sql.includes('SELECT'))).toBe(false);
  });

  test.each([
    ['no plan', 'CREATE TABLE t'],
    ['a plan that writes', '{"inputTableColumnInfos":[],"outputTable":{"catalog":"memory"}}'],
    ['a plan of another form', '{"plan":[]}'],
  ])('explains a statement as %s, which is then not sent', async (_name, plan) => {
    const columns = [{ name: 'Query Plan', type: 'varchar' }];
    const page = JSON.stringify({ id: '1', columns, data: [[plan]] });
    server.rules.fault = replacing('EXPLAIN', (response) => response.writeHead(200).end(page));
    const from = server.requests.length;
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'engine' },
    });
    expect(server.requests.slice(from).some(({ sql }) => sql.includes('ktx */'))).toBe(false);
  });
});

describe.skipIf(!existsSync(recorded))('recorded answers of a server', () => {
  /** Plays the bodies of a recording, one for each request of the statement. */
  const play = (name: string) => {
    const bodies = readFileSync(new URL(name, recorded), 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.startsWith('{'))
      .map((line) => line.replaceAll('http://localhost', server.origin));
    server.rules.fault = ({ method, sql, path }, response) => {
      const isPlayed = sql.includes('ktx */') || /_(?:5znb5|k4p6q|giqya|swbje)\b/.test(path);
      if (!isPlayed) return false;
      if (method === 'DELETE') response.writeHead(204).end();
      else response.writeHead(200).end(bodies.shift() ?? '{"id":"end"}');
      return true;
    };
  };

  test('have times of every precision', async () => {
    play('trino_test_timestamp_conversion.txt');
    expect(await ask('SELECT 1')).toMatchObject({
      columns: [
        { name: 'ts', type: 'datetime' },
        { name: 'tz', type: 'datetime_tz' },
        { name: 'tz6', type: 'datetime_tz' },
      ],
      rows: [
        ['2024-01-02 01:02:03.456', '2024-01-01T20:02:03.456Z', '2024-01-01T20:02:03.456789Z'],
      ],
    });
  });

  test('have rows on several pages, and columns without rows', async () => {
    play('parameters.txt');
    expect((await ask('SELECT 1')).rows).toEqual(
      Array.from({ length: 4 }, () => ['2024-01-01T00:00:00Z']),
    );
    play('zero_rows.txt');
    const { columns, rows } = await ask('SELECT 1');
    expect([columns.length, columns[5], rows]).toEqual([
      8,
      { name: 'acctbal', type: 'decimal' },
      [],
    ]);
    play('trino_schema_columns.txt');
    expect((await ask('SELECT 1')).rows[0]).toEqual([
      'delta',
      'nyc',
      'request_by_region',
      'region',
      1,
      null,
      'YES',
      'varchar',
    ]);
  });

  test('fail with status 200', async () => {
    play('trino_exception_test.txt');
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'query_failed',
      message:
        'Trino could not run the query: line 1:12: Cannot apply operator: varchar(1) = integer',
    });
  });
});

describe('a value of trino', () => {
  test.each([
    ['2024-03-10 01:30:00.000 America/New_York', '2024-03-10T06:30:00Z'],
    ['2024-03-10 03:30:00.000 America/New_York', '2024-03-10T07:30:00Z'],
    ['2024-11-03 01:30:00 America/New_York', '2024-11-03T05:30:00Z'],
    ['1901-01-01 00:00:00.123456789012 UTC', '1901-01-01T00:00:00.123456789012Z'],
    ['2024-01-01 00:00:00 -03:30', '2024-01-01T03:30:00Z'],
    ['2024-01-01 00:00:00 Mars/Olympus', '2024-01-01 00:00:00 Mars/Olympus'],
    ['no time', 'no time'],
  ])('in a zone: %s', (text, cell) => {
    expect(trinoCell(text, 'datetime_tz')).toBe(cell);
  });

  test.each([
    ['array(integer)', [1, null], '[1,null]', 'unknown'],
    ['map(varchar,bigint)', { a: '9223372036854775807' }, '{"a":"9223372036854775807"}', 'unknown'],
    ['decimal(10,2)', '12.50', 12.5, 'decimal'],
    ['double', 'Infinity', 'Infinity', 'decimal'],
    ['time(3) with time zone', '10:00:00.000+02:00', '10:00:00.000+02:00', 'string'],
    ['timestamp(0)', '2024-01-01 00:00:00', '2024-01-01 00:00:00', 'datetime'],
    ['varbinary', 'AQI=', 'AQI=', 'unknown'],
    ['char(3)', 'a  ', 'a  ', 'string'],
    ['integer', undefined, null, 'integer'],
  ] as const)('of type %s', (...[native, value, cell, type]) => {
    expect(trinoFieldType(native)).toBe(type);
    expect(trinoCell(value, type)).toBe(cell);
  });
});

describe('the login', () => {
  let folder: string;
  const { key, certificate } = throwAwayCertificate('localhost');
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ktx-trino-'));
    await writeFile(join(folder, 'ca.pem'), certificate);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const tls = { key, cert: certificate };
  const fields = { url: undefined, host: 'localhost', catalog: 'memory', schemas: ['main'] };
  const secrets = {
    'env:PASSWORD': 'open sesame',
    'env:TOKEN': 'tok.en',
    'env:WRONG': 'w-r-o-n-g',
  };

  test('shows its certificate, or is told nothing', async () => {
    const login = { user: 'ana', password: 'open sesame' };
    const secure = await startTrino({ tls, login });
    const port = Number(new URL(secure.origin).port);
    const given = { ...fields, port, user: 'ana', password: 'env:PASSWORD' };
    const ca = join(folder, 'ca.pem');
    try {
      expect(await refusalOf(openTrino(secure, given, secrets))).toMatchObject({
        code: 'warehouse_insecure',
      });
      expect(secure.requests).toEqual([]);
      for (const trusted of [{ ca }, { ssl: 'no-verify' }]) {
        const open = await openTrino(secure, { ...given, ...trusted }, secrets);
        expect((await open.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
        await open.close();
      }
      const wrong = openTrino(secure, { ...given, ca, password: 'env:WRONG' }, secrets);
      const error = (await wrong.catch((reason: unknown) => reason)) as Error;
      expect(error).toMatchObject({ code: 'warehouse_auth', exitCode: 4 });
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('w-r-o-n-g');
    } finally {
      await secure.close();
    }
  });

  test('can be a token, without a user', async () => {
    const secure = await startTrino({ tls, login: { token: 'tok.en' } });
    const port = Number(new URL(secure.origin).port);
    const ca = join(folder, 'ca.pem');
    try {
      const open = await openTrino(secure, { ...fields, port, ca, token: 'env:TOKEN' }, secrets);
      expect((await open.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
      await open.close();
      expect(secure.requests.every(({ headers }) => !('x-trino-user' in headers))).toBe(true);
    } finally {
      await secure.close();
    }
  });

  test.each([
    ['a password without encryption', { password: 'env:PASSWORD' }, 'warehouse_insecure'],
    ['a token without encryption', { token: 'env:TOKEN' }, 'warehouse_insecure'],
    ['a url with http that shall be checked', { ssl: 'verify' }, 'config_url'],
    ['a user that no header takes', { user: 'anä' }, 'config_url'],
    ['a url without a catalog', { url: 'http://ana@127.0.0.1:1' }, 'config_url'],
    ['a url with too many names', { url: 'http://ana@127.0.0.1:1/a/b/c' }, 'config_url'],
    ['nobody', { url: 'http://127.0.0.1:1/memory' }, 'config_url'],
    ['a token of two lines', { url: 'https://h/memory', token: 'env:LINES' }, 'warehouse_auth'],
    ['a certificate that is not there', { ca: '/nowhere.pem' }, 'warehouse_not_found'],
  ])('refuses %s before it sends anything', async (_name, overrides, code) => {
    const from = server.requests.length;
    const lines = { ...secrets, 'env:LINES': 'a\nb' };
    expect(await refusalOf(openTrino(server, overrides, lines))).toMatchObject({ code });
    expect(server.requests).toHaveLength(from);
  });

  test.each([
    { driver: 'trino', url: 'https://a:b@h/c' },
    { driver: 'trino', host: 'h' },
    { driver: 'trino', host: 'h', catalog: 'c', password: 'env:A', token: 'env:B' },
    { driver: 'trino', host: 'h', catalog: 'c', password: 'plain' },
    { driver: 'trino', url: 'https://h/c', catalog: 'c' },
  ])('is not taken from ktx.yaml: %j', (config) => {
    expect(trinoConfigSchema.safeParse(config).success).toBe(false);
  });

  test('names a catalog that is there', async () => {
    const url = `${server.origin.replace('://', '://ana@')}/nowhere/main`;
    server.rules.fault = failing('"nowhere"', 'CATALOG_NOT_FOUND', "Catalog 'nowhere' not found");
    expect(await refusalOf(openTrino(server, { url }))).toMatchObject({
      code: 'warehouse_not_found',
      message: expect.stringContaining('nowhere'),
    });
  });
});

function openSession() {
  return openDriver(
    { driver: 'trino', url: `${server.origin.replace('://', '://ana@')}/memory/main` },
    { connection: 'wh', projectDir: '/', cacheDir: '/', secrets: () => '' },
    never,
  );
}

type Fault = NonNullable<TrinoServer['rules']['fault']>;

/** Answers the POST of statements that have these words. */
function replacing(words: string, answer: (response: Parameters<Fault>[1]) => void): Fault {
  return ({ method, sql }, response) => {
    if (method !== 'POST' || !sql.includes(words)) return false;
    answer(response);
    return true;
  };
}

function failing(words: string, errorName: string, message: string): Fault {
  const error = { message, errorName, errorCode: 1, errorType: 'USER_ERROR' };
  const page = JSON.stringify({ id: '1', stats: { state: 'FAILED' }, error });
  return replacing(words, (response) => response.writeHead(200).end(page));
}
