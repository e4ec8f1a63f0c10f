import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync, fork } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { generous, never } from '../support/warehouses.ts';

let folder: string;
let opened: Warehouse[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ktx-test-files-'));
  opened = [];
});
afterEach(async () => {
  for (const warehouse of opened) await warehouse.close();
  await rm(folder, { recursive: true, force: true });
});

const open = async (driver: 'duckdb' | 'sqlite', path: string): Promise<Warehouse> => {
  const config: WarehouseConfig = { driver, path };
  const warehouse = await openWarehouse(
    {
      connection: 'wh',
      config,
      projectDir: folder,
      cacheDir: join(folder, '.cache'),
      secrets: () => '',
    },
    never,
  );
  opened.push(warehouse);
  return warehouse;
};
const tablesOf = async (warehouse: Warehouse) =>
  (await warehouse.introspect({}, never)).tables.map(({ table }) => table);
const rowsOf = async (warehouse: Warehouse, sql: string) =>
  (await warehouse.query(sql, generous, never)).rows;
const put = async (name: string, text: string) => {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), text);
};

describe('a folder of files', () => {
  test('has a table for each file, and for each subfolder of parts', async () => {
    await put('data/orders.csv', 'id,day,amount\n1,2024-01-02,1.5\n2,2024-01-03,2.5\n');
    await put('data/It is "odd".csv', 'a b\n1\n');
    await put('data/people.json', '[{"id": 1, "tags": ["x"], "address": {"city": "Ulm"}}]');
    await put('data/log.jsonl', '{"n": 1}\n{"n": 2}\n');
    await put('data/parts/1.csv', 'k,v\n1,a\n');
    await put('data/parts/deep/2.csv', 'v,k,w\nb,2,z\n');
    await put('data/.hidden.csv', 'x\n1\n');
    await put('data/readme.txt', 'no table');
    const writer = await DuckDBInstance.create(':memory:');
    const connection = await writer.connect();
    await connection.run(
      `COPY (SELECT 1 AS id, DATE '2024-02-29' AS day) TO '${join(folder, 'data/days.parquet')}'`,
    );
    connection.closeSync();
    writer.closeSync();
    const warehouse = await open('duckdb', 'data');
    expect(await tablesOf(warehouse)).toEqual([
      'It is "odd"',
      'days',
      'log',
      'orders',
      'parts',
      'people',
    ]);
    expect(await rowsOf(warehouse, 'SELECT * FROM orders')).toEqual([
      [1, '2024-01-02', 1.5],
      [2, '2024-01-03', 2.5],
    ]);
    expect(await rowsOf(warehouse, 'SELECT k, v, w FROM parts ORDER BY k')).toEqual([
      [1, 'a', null],
      [2, 'b', 'z'],
    ]);
    expect(await rowsOf(warehouse, 'SELECT * FROM people')).toEqual([
      [1, '["x"]', '{"city":"Ulm"}'],
    ]);
    expect(await rowsOf(warehouse, 'SELECT * FROM days')).toEqual([[1, '2024-02-29']]);
    expect(await rowsOf(warehouse, 'SELECT * FROM "It is ""odd"""')).toEqual([[1]]);
  });

  test('is a glob or a single file too; two files of one name get their kind', async () => {
    await put('data/a.csv', 'x\n1\n');
    await put('data/b.csv', 'x\n2\n');
    await put('data/b.json', '[{"x": 3}]');
    expect(await tablesOf(await open('duckdb', 'data/*.csv'))).toEqual(['a', 'b']);
    expect(await tablesOf(await open('duckdb', 'data/a.csv'))).toEqual(['a']);
    expect(await tablesOf(await open('duckdb', 'data'))).toEqual(['a', 'b_csv', 'b_json']);
  });

  test('is loaded again only when a file changed, and marks only the table that did', async () => {
    await put('data/a.csv', 'x\n1\n');
    await put('data/b.csv', 'x\n2\n');
    const cache = join(folder, '.cache/wh.duckdb');
    const markers = async (warehouse: Warehouse) =>
      (await warehouse.introspect({}, never)).tables.map(({ marker }) => marker);
    const first = await markers(await open('duckdb', 'data'));
    const { ino } = await stat(cache);
    expect(await markers(await open('duckdb', 'data'))).toEqual(first);
    expect((await stat(cache)).ino).toBe(ino);
    await put('data/b.csv', 'x\n7\n8\n');
    const changed = await open('duckdb', 'data');
    expect(await rowsOf(changed, 'SELECT x FROM b ORDER BY x')).toEqual([[7], [8]]);
    const [a, b] = await markers(changed);
    expect([a === first[0], b === first[1]]).toEqual([true, false]);
    expect(await readdir(join(folder, '.cache'))).toEqual(['wh.duckdb', 'wh.duckdb.key']);
  });
});

describe('a load under way', () => {
  test('stops when its caller does, and leaves nothing behind', async () => {
    await put('data/big.csv', `x\n${'1234567890\n'.repeat(2_000_000)}`);
    const abort = new AbortController();
    const config: WarehouseConfig = { driver: 'duckdb', path: 'data' };
    const opening = openWarehouse(
      {
        connection: 'wh',
        config,
        projectDir: folder,
        cacheDir: join(folder, '.cache'),
        secrets: () => '',
      },
      abort.signal,
    );
    setTimeout(() => abort.abort(), 50);
    await expect(opening).rejects.toMatchObject({ code: 'query_cancelled', exitCode: 130 });
    expect(await readdir(join(folder, '.cache'))).toEqual([]);
  });
});

describe('a file that is no database', () => {
  test.each(['duckdb', 'sqlite'] as const)(
    'is named by %s, with the exit code of a configuration',
    async (driver) => {
      await put('empty.db', '');
      await put('noise.db', 'x'.repeat(5000));
      await mkdir(join(folder, 'nothing'));
      await expect(open(driver, 'missing.db')).rejects.toMatchObject({
        code: 'warehouse_not_found',
        exitCode: 2,
        message: expect.stringContaining('missing.db'),
      });
      await expect(open(driver, 'empty.db')).rejects.toMatchObject({
        code: 'not_a_database',
        exitCode: 2,
        message: expect.stringContaining('0 bytes'),
      });
      await expect(open(driver, 'noise.db')).rejects.toMatchObject({
        code: 'not_a_database',
        exitCode: 2,
      });
      await expect(open(driver, 'nothing')).rejects.toMatchObject({ exitCode: 2 });
    },
  );

  test('is named where SQLite finds out only later', async () => {
    const path = join(folder, 'torn.db');
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    database.close();
    await writeFile(path, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(3000, 7)]));
    await expect(open('sqlite', path)).rejects.toMatchObject({ code: 'not_a_database' });
  });
});

describe('a DuckDB database', () => {
  test('says that another process writes to it', async () => {
    const path = join(folder, 'busy.duckdb');
    const writer = join(folder, 'writer.mjs');
    const library = import.meta.resolve('@duckdb/node-api');
    await writeFile(
      writer,
      `import { DuckDBInstance } from ${JSON.stringify(library)};
      const instance = await DuckDBInstance.create(${JSON.stringify(path)});
      await (await instance.connect()).run('CREATE TABLE t (a INTEGER)');
      process.send('open');
      setInterval(() => instance, 1000);`,
    );
    const child = fork(writer);
    try {
      await new Promise((resolve) => child.once('message', resolve));
      await expect(open('duckdb', path)).rejects.toMatchObject({
        code: 'warehouse_locked',
        retryable: true,
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('gives every type as a cell', async () => {
    const warehouse = await open('duckdb', await emptyDuckdb());
    const sql = `SELECT 170141183460469231731687303715884105727, 1.10::DECIMAL(10,2), 12345678901234567890.123::DECIMAL(30,3), 'NaN'::DOUBLE,
      TIMESTAMP '2024-01-02 03:04:05.25', TIMESTAMPTZ '2024-01-02 03:04:05+02', INTERVAL 1 DAY, [1, NULL], {'a': [DATE '2024-02-29']}, MAP {'k': 1}, 'ab'::BLOB, '{"a":1}'::JSON`;
    expect(await rowsOf(warehouse, sql)).toEqual([
      [
        '170141183460469231731687303715884105727',
        1.1,
        '12345678901234567890.123',
        'NaN',
        '2024-01-02 03:04:05.25',
        '2024-01-02T01:04:05Z',
        '1 day',
        '[1,null]',
        '{"a":["2024-02-29"]}',
        '{"k":1}',
        '\\x6162',
        '{"a":1}',
      ],
    ]);
  });

  async function emptyDuckdb(): Promise<string> {
    const path = join(folder, 'empty.duckdb');
    const instance = await DuckDBInstance.create(path);
    instance.closeSync();
    return path;
  }
});

describe('a SQLite database', () => {
  const withScript = (script: string): string => {
    const path = join(folder, 'data.db');
    const database = new DatabaseSync(path);
    database.exec(script);
    database.close();
    return path;
  };

  test('reads implicit targets, generated columns, WITHOUT ROWID, and leaves out what it cannot', async () => {
    const path = withScript(`
      PRAGMA foreign_keys = OFF;
      CREATE TABLE Parent (id INTEGER PRIMARY KEY);
      CREATE TABLE pair (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;
      CREATE TABLE child (p INTEGER REFERENCES parent, x, y, total INTEGER GENERATED ALWAYS AS (x + y), gone INTEGER REFERENCES nowhere, FOREIGN KEY (x, y) REFERENCES pair);
      CREATE UNIQUE INDEX whole ON child (x); CREATE UNIQUE INDEX part ON child (y) WHERE y > 0; CREATE UNIQUE INDEX expression ON child (x + 1);
      CREATE VIRTUAL TABLE words USING fts5(word);
      CREATE TABLE dropped (a); CREATE VIEW broken AS SELECT a FROM dropped; CREATE VIEW fine AS SELECT id FROM Parent; DROP TABLE dropped;
    `);
    const { tables } = await (await open('sqlite', path)).introspect({}, never);
    expect(tables.map(({ table }) => table)).toEqual(['Parent', 'child', 'fine', 'pair', 'words']);
    const child = tables.find(({ table }) => table === 'child');
    expect(child?.columns.map(({ name }) => name)).toEqual(['p', 'x', 'y', 'total', 'gone']);
    expect(child?.foreignKeys).toEqual([
      { columns: ['p'], to: { table: { schema: 'main', table: 'Parent' }, columns: ['id'] } },
      {
        columns: ['x', 'y'],
        to: { table: { schema: 'main', table: 'pair' }, columns: ['b', 'a'] },
      },
    ]);
    expect(child?.uniqueKeys).toEqual([['x']]);
    expect(
      tables.find(({ table }) => table === 'pair')?.columns.map(({ nullable }) => nullable),
    ).toEqual([false, false]);
  });

  test('gives cells by what is stored, and booleans by what is declared', async () => {
    const path = withScript(
      `CREATE TABLE t (a INTEGER, b BOOLEAN, c TEXT, d BLOB, e REAL); INSERT INTO t VALUES (9223372036854775807, 1, 'x', x'00ff', 1e999), ('text', 7, NULL, NULL, 2.0)`,
    );
    expect(await rowsOf(await open('sqlite', path), 'SELECT * FROM t')).toEqual([
      ['9223372036854775807', true, 'x', '\\x00ff', 'Infinity'],
      ['text', 7, null, null, 2],
    ]);
  });

  test('interpolates percentiles and keeps the smallest digests', async () => {
    const path = withScript(
      'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3), (4), (NULL), (4)',
    );
    const warehouse = await open('sqlite', path);
    const [row] = await rowsOf(
      warehouse,
      'SELECT ktx_percentile(a, 0.5), ktx_percentile(a, 0), ktx_percentile(a, 0.9), ktx_sketch(a, 2), ktx_sketch(NULL, 2) FROM t',
    );
    expect(row).toEqual([3, 1, 4, '["a87ff679a2f3","c4ca4238a0b9"]', '[]']);
    expect(await rowsOf(warehouse, 'SELECT ktx_percentile(a, 0.5) FROM t WHERE a > 100')).toEqual([
      [null],
    ]);
    const large = `SELECT ktx_percentile(b, 0.5) FROM (SELECT 9223372036854775807 AS b UNION ALL SELECT 9223372036854775807)`;
    expect(await rowsOf(warehouse, large)).toEqual([[2 ** 63]]);
  });

  test('shows a table that another program adds while it is open, and no system table', async () => {
    const path = withScript('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    const warehouse = await open('sqlite', path);
    expect(await rowsOf(warehouse, 'SELECT * FROM t')).toEqual([[1]]);
    const writer = new DatabaseSync(path);
    writer.exec('CREATE TABLE u (b); INSERT INTO u VALUES (2); CREATE VIEW v AS SELECT b FROM u');
    expect(await rowsOf(warehouse, 'SELECT b FROM main.u')).toEqual([[2]]);
    expect(await rowsOf(warehouse, 'SELECT b FROM v')).toEqual([[2]]);
    writer.exec('DROP VIEW v; DROP TABLE u; ALTER TABLE t RENAME TO w');
    writer.close();
    await expect(rowsOf(warehouse, 'SELECT * FROM u')).rejects.toThrow('u');
    expect(await rowsOf(warehouse, 'SELECT * FROM main.w')).toEqual([[1]]);
    await expect(rowsOf(warehouse, 'SELECT * FROM main.sqlite_schema')).rejects.toThrow('sqlite');
  });

  test('changes its marker with its rows', async () => {
    const path = withScript('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
    const marker = async () =>
      (await (await open('sqlite', path)).introspect({}, never)).tables[0]?.marker;
    const before = await marker();
    const database = new DatabaseSync(path);
    database.exec('UPDATE t SET a = 2');
    database.close();
    await utimes(path, new Date(0), new Date(0));
    expect(await marker()).not.toBe(before);
  });
});

describe('the SQLite reader process', () => {
  test('ends with its parent, even in the middle of a query', async () => {
    const path = join(folder, 'data.db');
    new DatabaseSync(path).close();
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE t (a)');
    database.close();
    const parent = join(folder, 'parent.mjs');
    const door = new URL('../../src/warehouse/open.ts', import.meta.url).href;
    await writeFile(
      parent,
      `import { openWarehouse } from ${JSON.stringify(door)};
      const signal = new AbortController().signal;
      const spec = { connection: 'wh', config: { driver: 'sqlite', path: ${JSON.stringify(path)} }, projectDir: '/', cacheDir: '/', secrets: () => '' };
      const warehouse = await openWarehouse(spec, signal);
      const endless = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c';
      warehouse.query(endless, { maxRows: 1, timeoutMs: 600000 }, signal).catch(() => undefined);
      process.send('started');`,
    );
    const child = fork(parent, { execArgv: [] });
    await new Promise((resolve) => child.once('message', resolve));
    const readers = childrenOf(child.pid ?? 0);
    expect(readers).toHaveLength(1);
    // Only a reader that is busy with the query does not hear that its parent is gone.
    const seconds = () => readers.map(cpuSeconds)[0];
    await expect.poll(seconds, { timeout: 20_000, interval: 200 }).toBeGreaterThanOrEqual(2);
    child.kill('SIGKILL');
    await expect
      .poll(() => readers.filter(isRunning), { timeout: 10_000, interval: 200 })
      .toEqual([]);
  });
});

function childrenOf(pid: number): number[] {
  const list = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return list
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([own = 0]) => own);
}

/** Whole seconds, which every ps prints. */
function cpuSeconds(pid: number): number {
  const time = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
  return time.split(/[-:]/).reduce((total, part) => total * 60 + Math.floor(Number(part)), 0);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('DuckDB', () => {
  test('reads each column from its own table where two parts of a query have the same joins', async () => {
    await put('birds/birds.csv', 'id,g,v,boss\n1,b,3,4\n2,a,-2,6\n3,c,7,4\n4,a,,3\n');
    const chain =
      'FROM birds AS e LEFT JOIN birds AS b ON e.boss = b.id LEFT JOIN birds AS bb ON b.boss = bb.id';
    const sql = `WITH first AS (SELECT d1, d2, sum(v) AS m FROM (
        SELECT e.g AS d1, bb.g AS d2, e.v, rank() OVER (PARTITION BY e.g ORDER BY e.id) ${chain}) GROUP BY 1, 2),
      second AS (SELECT e.g AS d1, bb.g AS d2, count(CASE WHEN b.v > 1 THEN 1 END) AS m ${chain} GROUP BY 1, 2)
      SELECT d1, d2, m, NULL AS n FROM first UNION ALL SELECT d1, d2, NULL, m FROM second`;
    const counts = (await rowsOf(await open('duckdb', 'birds'), sql)).filter(
      ([, , sum, count]) => sum === null && count !== null,
    );
    // Only bird 4 has a boss of more than 1.
    expect(new Set(counts.map(([bird, , , count]) => `${bird} ${count}`))).toEqual(
      new Set(['a 0', 'a 1', 'b 0', 'c 0']),
    );
  });
});
