import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { startClickhouse } from '../engines/clickhouse/server.ts';
import { throwAwayCertificate } from '../support/certificate.ts';
import {
  clickhouseServer,
  createClickhouse,
  hasClickhouse,
  readonlyOne,
  readonlyTwo,
  runClickhouse,
} from '../support/clickhouse.ts';
import { generous, never } from '../support/warehouses.ts';

const values = `SET data_type_default_nullable = 0; CREATE TABLE v (
    i Int32 COMMENT 'whole', u UInt64, big Int256, d Decimal(38, 10), f Float32, g Float64, b Bool,
    s LowCardinality(Nullable(String)), e Enum8('open' = 1, 'it\\'s' = 2), day Date, far Date32, at DateTime64(3), wall DateTime64(6, 'Europe/Berlin'),
    id UUID, four IPv4, six IPv6, list Array(Nullable(UInt64)), pairs Map(String, Decimal(38, 10)), pair Tuple(a Int8, b String),
    fixed FixedString(3), agg SimpleAggregateFunction(sum, UInt64)
  ) ENGINE = MergeTree ORDER BY i COMMENT 'all types';
  INSERT INTO v VALUES (1, 18446744073709551615, '-57896044618658097711785492504343953926634992332820282019728792003956564819968', '1234567890123456789012345678.0123456789', 0.1, 0.1, true,
    'x', 'it\\'s', '2024-02-29', '1901-01-01', '2024-02-29 10:00:00.120', '2024-07-01 10:00:00.000001',
    '61f0c404-5cb3-11e7-907b-a6006ad3dba0', '1.2.3.4', '2001:db8::1', [18446744073709551615, NULL, 1], map('k', toDecimal128('1234567890123456789012345678.0123456789', 10)), (1, 'q'),
    'abc', 7);
  CREATE TABLE empty (n INTEGER);
  CREATE TABLE merged (id INTEGER, part INTEGER) ENGINE = ReplacingMergeTree ORDER BY id;
  CREATE TABLE outer_facts (k INTEGER); INSERT INTO outer_facts VALUES (1), (2);
  CREATE TABLE inner_facts (k INTEGER, n INTEGER); INSERT INTO inner_facts VALUES (1, 10);
  CREATE VIEW seen AS SELECT i FROM v;
  CREATE MATERIALIZED VIEW kept ENGINE = MergeTree ORDER BY tuple() AS SELECT i FROM v;
  CREATE TABLE states (k INTEGER, total AggregateFunction(sum, Int64)) ENGINE = AggregatingMergeTree ORDER BY k;
  INSERT INTO states SELECT 1, sumState(toInt64(number)) FROM numbers(4);`;

const open = (url: string, overrides: Partial<WarehouseConfig> = {}, projectDir = '/') =>
  openWarehouse(
    {
      connection: 'wh',
      config: { driver: 'clickhouse', url: 'env:URL', ...overrides } as WarehouseConfig,
      projectDir,
      cacheDir: '/nowhere',
      secrets: (name) => (name === 'env:PASSWORD' ? 'p' : url),
    },
    never,
  );
const asLogin = (url: string, { user, password }: { user: string; password: string }): string =>
  Object.assign(new URL(url), { username: user, password }).href;

describe.skipIf(!hasClickhouse)('a clickhouse server', () => {
  let url: string;
  let warehouse: Warehouse;
  beforeAll(async () => {
    url = await createClickhouse(values);
    warehouse = await open(url);
  });
  afterAll(async () => warehouse?.close());
  const rows = async (sql: string) => (await warehouse.query(sql, generous, never)).rows;

  test('gives every digit of every type', async () => {
    const { columns, rows: found } = await warehouse.query('SELECT * FROM v', generous, never);
    const [row = []] = found;
    expect(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))).toEqual({
      i: 1,
      u: '18446744073709551615',
      big: '-57896044618658097711785492504343953926634992332820282019728792003956564819968',
      d: '1234567890123456789012345678.0123456789',
      f: 0.1,
      g: 0.1,
      b: true,
      s: 'x',
      e: "it's",
      day: '2024-02-29',
      far: '1901-01-01',
      at: '2024-02-29 10:00:00.12',
      wall: '2024-07-01T08:00:00.000001Z',
      id: '61f0c404-5cb3-11e7-907b-a6006ad3dba0',
      four: '1.2.3.4',
      six: '2001:db8::1',
      list: '["18446744073709551615",null,1]',
      pairs: '{"k":"1234567890123456789012345678.0123456789"}',
      pair: '{"a":1,"b":"q"}',
      fixed: 'abc',
      agg: 7,
    });
    expect(await rows('SELECT nan, inf, -inf, NULL, -0.')).toEqual([
      ['NaN', 'Infinity', '-Infinity', null, 0],
    ]);
  });

  test('tells the types, kinds, comments and values of its tables', async () => {
    const { tables, queries } = await warehouse.introspect({}, never);
    expect(queries).toBe(2);
    expect(tables.map(({ table, kind }) => [table, kind])).toEqual([
      ['empty', 'table'],
      ['inner_facts', 'table'],
      ['kept', 'materialized_view'],
      ['merged', 'table'],
      ['outer_facts', 'table'],
      ['seen', 'view'],
      ['states', 'table'],
      ['v', 'table'],
    ]);
    const table = tables.find((one) => one.table === 'v');
    expect(table).toMatchObject({ comment: 'all types', rowEstimate: 1 });
    const types = Object.fromEntries(table?.columns.map(({ name, type }) => [name, type]) ?? []);
    expect(types).toMatchObject({
      u: 'integer',
      d: 'decimal',
      b: 'boolean',
      s: 'string',
      at: 'datetime',
      wall: 'datetime_tz',
      far: 'date',
      four: 'string',
      list: 'unknown',
      pairs: 'unknown',
      agg: 'integer',
    });
    expect(table?.columns.find(({ name }) => name === 'i')?.comment).toBe('whole');
    expect(table?.columns.find(({ name }) => name === 'e')?.values).toEqual(['open', "it's"]);
  });

  test('joins rows without a partner to NULL, and reads stored states', async () => {
    const joined =
      'SELECT o.k, i.n FROM outer_facts AS o LEFT JOIN inner_facts AS i ON o.k = i.k ORDER BY o.k';
    expect(await rows(joined)).toEqual([
      [1, 10],
      [2, null],
    ]);
    expect(await rows('SELECT sumMerge(total) FROM states')).toEqual([[6]]);
    const { settings } = warehouse.dialect;
    expect(await rows(`SELECT sum(n) FROM empty ${settings}`)).toEqual([[null]]);
  });

  test('ends a statement that takes or reads more than the connection lets it', async () => {
    const small = await open(url, { max_memory_mb: 20, max_read_mb: 50 });
    try {
      const ask = (sql: string) => small.query(sql, generous, never);
      await expect(
        ask('SELECT length(groupArray(number)) FROM numbers(5000000)'),
      ).rejects.toMatchObject({ code: 'out_of_memory' });
      await expect(ask('SELECT sum(number) FROM numbers(50000000)')).rejects.toMatchObject({
        code: 'too_expensive',
        hint: expect.stringContaining('max_read_mb'),
      });
      expect((await ask('SELECT 1')).rows).toEqual([[1]]);
    } finally {
      await small.close();
    }
  });

  test('takes a common table for one, and a hidden table of its name for that', async () => {
    const reads = (sql: string) => warehouse.reads(sql);
    expect(await reads('WITH c AS (SELECT i FROM v) SELECT * FROM c')).toMatchObject([
      { table: 'v' },
    ]);
    expect(await reads('SELECT 1 IN seen')).toMatchObject([{ table: 'seen' }]);
    const narrow = await open(url, { schemas: ['elsewhere'] });
    try {
      // The outer name is the table, whatever the inner query calls its own.
      const hidden = 'SELECT * FROM v, (WITH v AS (SELECT 1 AS x) SELECT x FROM v) AS w';
      await expect(narrow.query(hidden, generous, never)).rejects.toMatchObject({
        details: { rule: 'table' },
      });
    } finally {
      await narrow.close();
    }
  });

  test('reads tables of other databases only if the connection has them', async () => {
    const other = new URL(await createClickhouse('CREATE TABLE o (id INTEGER)')).pathname.slice(1);
    const sql = `SELECT count() FROM ${other}.o JOIN v ON 1`;
    await expect(warehouse.query(sql, generous, never)).rejects.toMatchObject({
      details: { rule: 'table' },
    });
    const both = await open(url, { schemas: [new URL(url).pathname.slice(1), other] });
    try {
      expect((await both.query(sql, generous, never)).rows).toEqual([[0]]);
    } finally {
      await both.close();
    }
  });

  test('takes a login that may set limits and nothing else, and none that may not', async () => {
    const two = await open(asLogin(url, readonlyTwo));
    try {
      expect(await two.privileges()).toMatchObject({ readOnly: true });
      expect((await two.query('SELECT count() FROM v', generous, never)).rows).toEqual([[1]]);
    } finally {
      await two.close();
    }
    await expect(open(asLogin(url, readonlyOne))).rejects.toMatchObject({
      code: 'warehouse_privilege',
      hint: expect.stringContaining('readonly = 2'),
    });
  });

  test('refuses a function that somebody added under the name of a safe one', async () => {
    await runClickhouse(url, 'CREATE OR REPLACE FUNCTION ARRAYMAP AS (x) -> sleep(x)');
    const other = await open(url);
    try {
      await expect(other.query('SELECT ARRAYMAP(3)', generous, never)).rejects.toMatchObject({
        details: { rule: 'function' },
      });
    } finally {
      await other.close();
      await runClickhouse(url, 'DROP FUNCTION ARRAYMAP');
    }
  });

  test('says which login, database or server is wrong', async () => {
    await expect(open(asLogin(url, { user: 'default', password: 'no' }))).rejects.toMatchObject({
      code: 'warehouse_auth',
    });
    await expect(open(new URL('/nothing', url).href)).rejects.toMatchObject({
      code: 'warehouse_not_found',
    });
    await expect(open('http://127.0.0.1:1/x')).rejects.toMatchObject({
      code: 'warehouse_unreachable',
    });
    await expect(open('mysql://x/y')).rejects.toMatchObject({ code: 'config_url' });
  });

  test('reads what people ran, and not what ktx ran', async () => {
    const history = warehouse.history;
    expect(await history?.access(never)).toMatchObject({ isReadable: false });
    const database = new URL(url).pathname.slice(1);
    const log = (sql: string, { type = 'QueryFinish', comment = '', user = 'ana' } = {}): string =>
      `('${type}', today(), '${sql.replaceAll("'", "\\'")}', 'Select', '${user}', 1, '${comment}', ['${database}'], cityHash64('${sql.replaceAll(/[\d']+/g, '?')}'))`;
    await runClickhouse(
      url,
      `SET data_type_default_nullable = 0; CREATE TABLE system.query_log (type String, event_date Date, query String, query_kind String, initial_user String, is_initial_query UInt8, log_comment String, databases Array(String), normalized_query_hash UInt64) ENGINE = Memory;
       INSERT INTO system.query_log VALUES ${[
         log('SELECT i FROM v WHERE i = 1'),
         log('SELECT i FROM v WHERE i = 2'),
         log('SELECT i FROM v WHERE i = 3', { user: 'bob' }),
         log('SELECT broken', { type: 'ExceptionWhileProcessing' }),
         log('SELECT u FROM v', { comment: 'ktx' }),
       ].join(', ')}`,
    );
    try {
      expect(await history?.access(never)).toEqual({ isReadable: true });
      const { statements, hidden, since } = (await history?.read(never)) ?? {};
      expect(statements?.map(({ runs, runsByUser }) => [runs, [...(runsByUser ?? [])]])).toEqual([
        [2, [['ana', 2]]],
        [1, [['bob', 1]]],
      ]);
      expect([hidden, since]).toEqual([0, new Date().toISOString().slice(0, 10)]);
    } finally {
      await runClickhouse(url, 'DROP TABLE system.query_log');
    }
  });

  test('leaves nothing running a second after its client is gone', async () => {
    const { port } = await clickhouseServer();
    const abort = new AbortController();
    const sql = 'SELECT sum(sipHash64(number)) AS lost FROM numbers(100000000000000)';
    const lost = fetch(`http://127.0.0.1:${port}/?readonly=1`, {
      method: 'POST',
      body: sql,
      signal: abort.signal,
    }).catch(() => undefined);
    const running = () =>
      runClickhouse(
        url,
        "SELECT count() FROM system.processes WHERE query LIKE '%AS lost%' AND query NOT LIKE '%processes%'",
      );
    await expect.poll(running, { timeout: 20_000 }).toEqual(['1']);
    abort.abort();
    await lost;
    await expect.poll(running, { timeout: 1000 }).toEqual(['0']);
  });
});

describe.skipIf(!hasClickhouse)('a clickhouse server with TLS', () => {
  test('shows its certificate, or is told nothing', async () => {
    const { key, certificate } = throwAwayCertificate('localhost');
    const login = { user: 'ana', password: 'p' };
    const server = await startClickhouse({ tls: { key, cert: certificate }, logins: [login] });
    const folder = await mkdtemp(join(tmpdir(), 'ktx-clickhouse-tls-'));
    await writeFile(join(folder, 'ca.pem'), certificate);
    const url = `https://ana:p@localhost:${server.port}/default`;
    const fields = {
      url: undefined,
      host: 'localhost',
      port: server.port,
      database: 'default',
      user: 'ana',
      password: 'env:PASSWORD',
    };
    const answer = async (overrides: Partial<WarehouseConfig>) => {
      const warehouse = await open(url, overrides, folder);
      const { rows } = await warehouse.query('SELECT 1', generous, never);
      await warehouse.close();
      return rows;
    };
    try {
      await expect(answer({})).rejects.toMatchObject({ code: 'warehouse_insecure' });
      expect(await answer({ ssl: 'no-verify' })).toEqual([[1]]);
      expect(await answer({ ca: 'ca.pem' })).toEqual([[1]]);
      expect(await answer({ ...fields, ca: 'ca.pem' })).toEqual([[1]]);
      await expect(answer({ ca: 'nowhere.pem' })).rejects.toMatchObject({
        code: 'warehouse_not_found',
      });
    } finally {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** What a server says while a connection is opened, before the statement of the test. */
function answerToConnect(sql: string): string | undefined {
  if (sql.includes('getSetting')) return '["a","b","c"]\n["UInt32","Float64","Float64"]\n[0,0,0]\n';
  if (sql.includes('system.functions'))
    return '["name","origin","is_aggregate"]\n["String","String","UInt8"]\n';
  if (sql.startsWith('EXPLAIN AST'))
    return '["explain"]\n["String"]\n["SelectWithUnionQuery (children 1)"]\n';
  return undefined;
}

describe('a server that speaks like clickhouse', () => {
  let server: Server;
  let answer: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const sql = Buffer.concat(chunks).toString('utf8');
        response.setHeader('X-ClickHouse-Summary', '{"read_rows":"3000","read_bytes":"24000"}');
        const isLost = answerToConnect(sql) === undefined && answer === 'lost';
        response.write(answerToConnect(sql) ?? (isLost ? '["a"]\n["UInt8"]\n[1]\n' : answer));
        if (isLost) setTimeout(() => response.destroy(), 50);
        else response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void server?.close());

  const ask = async () => {
    const { port } = server.address() as AddressInfo;
    const warehouse = await open(`http://127.0.0.1:${port}/db`);
    return warehouse.query('SELECT 1', generous, never).finally(() => warehouse.close());
  };

  test('tells what a statement read', async () => {
    answer = '["a"]\n["UInt8"]\n[1]\n';
    expect(await ask()).toMatchObject({ rows: [[1]], cost: { rowsRead: 3000, bytesRead: 24_000 } });
  });

  test.each([
    [
      'an error among the rows',
      '["a"]\n["UInt8"]\n[1]\nCode: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)\n',
      { code: 'out_of_memory' },
    ],
    [
      'an error without a space',
      '["a"]\n["UInt8"]\n[1]\nCode: 159.DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)\n',
      { code: 'query_timeout' },
    ],
    ['no more rows', 'lost', { code: 'warehouse_unreachable' }],
    ['something else', '<html>login</html>\n', { code: 'query_failed' }],
  ])('fails, and returns no part of the rows: %s', async (_name, given, error) => {
    answer = given;
    await expect(ask()).rejects.toMatchObject(error);
  });
});
