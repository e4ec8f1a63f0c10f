import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { nativeType, sqlserverFieldType } from '../../src/warehouse/drivers/sqlserver/values.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { type SqlServer, startSqlserver } from '../engines/sqlserver/server.ts';
import { openSqlserver, sqlserverConfig } from '../support/sqlserver.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `
  CREATE TABLE v (i INTEGER, b BIGINT, d DECIMAL(38, 10), g DOUBLE, ok BOOLEAN, s VARCHAR, day DATE, wall TIMESTAMP, zoned TIMESTAMPTZ, clock TIME, id UUID, bytes BLOB);
  INSERT INTO v VALUES (1, 9223372036854775807, -1234567890123456789012345678.0123456789, 0.1, true, 'it''s ☃😀', '2024-02-29', '0001-01-01 10:00:00.1200001', '2024-07-01 10:00:00.000001+02', '23:59:59.5', '6f9619ff-8b86-d011-b42d-00c04fc964ff', 'abc');
  INSERT INTO v (i) VALUES (NULL);
  CREATE TABLE odd (money__money DECIMAL(19, 4), small__smallmoney DECIMAL(10, 4), doc__xml VARCHAR, place__geography VARCHAR, r__real FLOAT, at__datetime TIMESTAMP, m__smalldatetime TIMESTAMP);
  INSERT INTO odd VALUES (922337203685477.5807, -1.5, '<a>ä</a>', 'abc', 0.1, '2024-02-29 10:00:00.123', '2024-02-29 10:01:00'), (-0.0001, NULL, NULL, NULL, NULL, '1899-12-31 23:59:59', NULL);
  CREATE TABLE many (n INTEGER); INSERT INTO many SELECT range FROM range(10);
  CREATE VIEW seen AS SELECT n FROM many;
  COMMENT ON TABLE many IS 'ten numbers'; COMMENT ON COLUMN many.n IS 'one of them';
`;
const letters = 'abcdefghijklmnopqr';
const endless = `SELECT count(*) AS n FROM ${letters.replaceAll(/./g, ', many $&').slice(2)} WHERE ${letters.split('').join('.n + ')}.n < 0`;

let server: SqlServer;
let warehouse: Warehouse;
beforeAll(async () => {
  server = await startSqlserver({ script });
  warehouse = await openSqlserver(server);
});
afterEach(() => {
  Object.assign(server.rules, {
    fault: undefined,
    garbage: undefined,
    isDeaf: () => false,
    message: undefined,
  });
});
afterAll(async () => {
  await warehouse?.close();
  await server?.close();
});
const ask = (sql: string) => warehouse.query(sql, generous, never);

describe('a SQL Server', () => {
  test('gives every digit of every type', async () => {
    const { columns, rows } = await ask('SELECT * FROM v');
    const [row = [], none = []] = rows;
    expect(Object.fromEntries(columns.map(({ name }, index) => [name, row[index]]))).toEqual({
      i: 1,
      b: '9223372036854775807',
      d: '-1234567890123456789012345678.0123456789',
      g: 0.1,
      ok: true,
      s: "it's ☃😀",
      day: '2024-02-29',
      wall: '0001-01-01 10:00:00.12',
      zoned: '2024-07-01T08:00:00.000001Z',
      clock: '23:59:59.5',
      id: '6F9619FF-8B86-D011-B42D-00C04FC964FF',
      bytes: 'YWJj',
    });
    expect(new Set(none)).toEqual(new Set([null]));
    expect(columns.map(({ type }) => type)).toEqual([
      'integer',
      'integer',
      'decimal',
      'decimal',
      'boolean',
      'string',
      'date',
      'datetime',
      'datetime_tz',
      'string',
      'string',
      'unknown',
    ]);
  });

  test('gives money, XML, places and older times', async () => {
    const { columns, rows } = await ask('SELECT * FROM odd');
    expect(rows).toEqual([
      [
        '922337203685477.5807',
        -1.5,
        '<a>ä</a>',
        'YWJj',
        0.1,
        '2024-02-29 10:00:00.123',
        '2024-02-29 10:01:00',
      ],
      [-0.0001, null, null, null, null, '1899-12-31 23:59:59', null],
    ]);
    expect(columns.map(({ type }) => type)).toEqual([
      'decimal',
      'decimal',
      'unknown',
      'unknown',
      'decimal',
      'datetime',
      'datetime',
    ]);
  });

  test('runs a statement in a transaction that is rolled back, behind its plan', async () => {
    const from = server.statements.length;
    await ask('SELECT n FROM many -- all of them\n;');
    expect(
      server.statements.slice(from).map(({ by, sql }) => [by, sql.replaceAll(/\s+/g, ' ')]),
    ).toEqual([
      [
        'batch',
        'SET XACT_ABORT ON; SET LOCK_TIMEOUT 10000; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION',
      ],
      ['batch', 'SET SHOWPLAN_XML ON'],
      ['batch', 'SELECT n FROM many '],
      ['batch', 'SET SHOWPLAN_XML OFF'],
      ['procedure', 'SELECT /* ktx */ n FROM many '],
      ['batch', 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION'],
    ]);
    await warehouse.query('SELECT n FROM many', { ...generous, asker: 'role=finance' }, never);
    const asked = server.statements.findLast(({ by }) => by === 'procedure');
    expect(asked?.sql).toBe('SELECT /* ktx */ /* role=finance */ n FROM many');
    const [login] = server.logins;
    expect(login).toMatchObject({ application: 'ktx', isReadOnly: true, user: 'ktx_reader' });
  });

  test('reads rows as they were, where the database keeps their versions', async () => {
    const versioned = await startSqlserver({ script });
    try {
      await versioned.execute('UPDATE sqlserver_server.settings SET snapshots = 1');
      const open = await openSqlserver(versioned);
      await open.query('SELECT n FROM many', generous, never);
      const begun = versioned.statements.findLast(({ sql }) => sql.includes('BEGIN TRAN'));
      expect(begun?.sql).toContain('ISOLATION LEVEL SNAPSHOT');
      await open.close();
    } finally {
      await versioned.close();
    }
  });

  test('tells comments, kinds and sizes in five statements', async () => {
    const { tables, queries } = await warehouse.introspect({}, never);
    expect(queries).toBe(5);
    expect(tables.map(({ table, kind }) => [table, kind])).toEqual([
      ['many', 'table'],
      ['odd', 'table'],
      ['seen', 'view'],
      ['v', 'table'],
    ]);
    const [many, , seen] = tables;
    expect([many?.comment, many?.columns[0]?.comment]).toEqual(['ten numbers', 'one of them']);
    expect([many?.rowEstimate, many?.bytes, seen?.bytes]).toEqual([10, 8192, undefined]);
    expect((await warehouse.introspect({ schemas: ['nowhere'] }, never)).tables).toEqual([]);
  });

  test('says what a statement would read', async () => {
    const limits = { ...generous, maxBytes: 1000 };
    await expect(warehouse.query('SELECT n FROM many', limits, never)).rejects.toMatchObject({
      code: 'too_expensive',
      details: { bytes: 100_000, kind: 'guess' },
    });
  });

  test('shows what the server says beside the rows', async () => {
    server.rules.message = 'Division by zero occurred.';
    expect((await ask('SELECT 1')).warnings).toEqual(['Division by zero occurred.']);
  });

  test('is told to end a statement that is given up, and to send no more rows', async () => {
    const from = server.attentions();
    const abort = new AbortController();
    const lost = warehouse.query(endless, generous, abort.signal);
    await expect.poll(() => server.running().length).toBe(1);
    abort.abort();
    await expect(lost).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(() => server.running()).toEqual([]);
    expect(server.attentions()).toBe(from + 1);
    const few = await warehouse.query('SELECT n FROM many', { ...generous, maxRows: 2 }, never);
    expect([few.rows.length, few.truncated, server.attentions()]).toEqual([2, true, from + 2]);
  });

  test('is left, if it does not stop', async () => {
    server.rules.isDeaf = (sql) => sql.includes('count');
    const limits = { maxRows: 1, timeoutMs: 300 };
    await expect(warehouse.query(endless, limits, never)).rejects.toMatchObject({
      code: 'query_timeout',
      hint: expect.stringContaining('sys.dm_exec_requests'),
    });
    // Without its client, the server ends it.
    await expect.poll(() => server.running(), { timeout: 5000 }).toEqual([]);
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  test.each([
    [102, 'Incorrect syntax near x.', 'sql_syntax'],
    [207, "Invalid column name 'usa'.", 'missing_object'],
    [208, "Invalid object name 'x'.", 'missing_object'],
    [229, 'The SELECT permission was denied on the object', 'warehouse_privilege'],
    [262, 'SHOWPLAN permission denied in database', 'warehouse_privilege'],
    [701, 'There is insufficient system memory', 'out_of_memory'],
    [1222, 'Lock request time out period exceeded.', 'query_timeout'],
    [3906, 'Failed to update database because the database is read-only.', 'gate_refused'],
    [8134, 'Divide by zero error encountered.', 'query_failed'],
    [40613, 'Database is not currently available.', 'warehouse_unreachable'],
  ])('names what error %d means', async (number, text, code) => {
    server.rules.fault = (sql) => (sql.includes('many') ? { number, text } : undefined);
    await expect(ask('SELECT n FROM many')).rejects.toMatchObject({ code });
    server.rules.fault = undefined;
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  test('has types as a person would declare them', () => {
    const declared = (type_name: string, max_length: number, [precision, scale] = [0, 0]) =>
      nativeType({ type_name, max_length, precision, scale });
    expect([
      declared('nvarchar', 100),
      declared('varchar', -1),
      declared('decimal', 9, [10, 2]),
      declared('datetimeoffset', 10, [34, 7]),
      declared('varbinary', 16),
      declared('int', 4, [10, 0]),
    ]).toEqual([
      'nvarchar(50)',
      'varchar(max)',
      'decimal(10,2)',
      'datetimeoffset(7)',
      'varbinary(16)',
      'int',
    ]);
    const types = ['tinyint', 'money', 'uniqueidentifier', 'smalldatetime', 'xml', 'geography'];
    expect(types.map(sqlserverFieldType)).toEqual([
      'integer',
      'decimal',
      'string',
      'datetime',
      'unknown',
      'unknown',
    ]);
  });
});

describe('a server that is not what it says', () => {
  test.each([
    ['no packets', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a token that nobody knows', Buffer.from([4, 1, 0, 9, 0, 0, 1, 0, 0x42])],
    ['half a row', Buffer.from([4, 1, 0, 12, 0, 0, 1, 0, 0xd1, 1, 2, 3])],
    [
      'a type that nobody knows',
      Buffer.from([4, 1, 0, 19, 0, 0, 1, 0, 0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0x99, 0]),
    ],
  ])('sends %s', async (_name, bytes) => {
    server.rules.garbage = (sql) => (sql.includes('many') ? bytes : undefined);
    await expect(
      warehouse.query('SELECT n FROM many', { maxRows: 5, timeoutMs: 1000 }, never),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:query_failed|query_timeout|warehouse_unreachable)$/),
    });
    server.rules.garbage = undefined;
    expect((await ask('SELECT 1')).rows).toEqual([[1]]);
  });

  test('never answers, until the time limit', async () => {
    server.rules.garbage = (sql) => (sql.includes('many') ? Buffer.alloc(0) : undefined);
    await expect(
      warehouse.query('SELECT n FROM many', { maxRows: 5, timeoutMs: 300 }, never),
    ).rejects.toMatchObject({ code: 'query_timeout' });
  });

  test('is left as soon as the first call is given up', async () => {
    const deaf = await startSqlserver();
    const abort = new AbortController();
    deaf.rules.garbage = () => Buffer.alloc(0);
    const config = sqlserverConfig(deaf);
    const opening = openWarehouse(
      { connection: 'wh', config, projectDir: '/', cacheDir: '/', secrets: () => 'p' },
      abort.signal,
    );
    setTimeout(() => abort.abort(), 200);
    await expect(opening).rejects.toMatchObject({ code: 'query_cancelled' });
    await expect.poll(() => deaf.sockets(), { timeout: 5000 }).toBe(0);
    await deaf.close();
  });
});

describe('the history of SQL Server', () => {
  test('is that of the Query Store, without what ktx ran', async () => {
    await server.execute(`
      INSERT INTO sys.query_store_query_text VALUES (1, 'SELECT n FROM many'), (2, 'SELECT /* ktx */ n FROM many'), (3, '(@p1 int,@p2 nvarchar(4000))SELECT n FROM many WHERE n = @p1'), (4, 'INSERT INTO many VALUES (1)');
      INSERT INTO sys.query_store_query VALUES (11, 1, 0, 0), (12, 2, 0, 0), (13, 3, 0, 0), (14, 4, 0, 0);
      INSERT INTO sys.query_store_plan VALUES (21, 11), (22, 12), (23, 13), (24, 14), (25, 11);
      INSERT INTO sys.query_store_runtime_stats VALUES (21, 4, 0, '2026-11-01 10:00:00+00'), (25, 3, 0, '2026-11-02 10:00:00+00'), (22, 99, 0, '2026-11-01 10:00:00+00'), (23, 2, 0, '2026-11-03 10:00:00+00'), (24, 5, 0, '2026-11-03 10:00:00+00'), (21, 50, 3, '2026-11-03 10:00:00+00')`);
    expect(await warehouse.history?.access(never)).toEqual({ isReadable: true });
    expect(await warehouse.history?.read(never)).toEqual({
      statements: [
        { sql: 'SELECT n FROM many', runs: 7 },
        { sql: 'SELECT n FROM many WHERE n = ?', runs: 2 },
      ],
      hidden: 0,
      since: '2026-11-01',
    });
  });

  test('says what is missing', async () => {
    await server.execute("UPDATE sqlserver_server.settings SET query_store = 'OFF'");
    expect(await warehouse.history?.access(never)).toMatchObject({
      isReadable: false,
      remedy: ['ALTER DATABASE CURRENT SET QUERY_STORE = ON;'],
    });
    server.rules.fault = (sql) =>
      sql.includes('query_store') ? { number: 262, text: 'VIEW DATABASE STATE denied' } : undefined;
    expect(await warehouse.history?.access(never)).toMatchObject({
      isReadable: false,
      remedy: ['GRANT VIEW DATABASE STATE TO ktx_reader;'],
    });
  });
});
