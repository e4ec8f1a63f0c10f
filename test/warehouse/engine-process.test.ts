import { afterEach, describe, expect, test } from 'vitest';
import { duckdbProgram } from '../../src/warehouse/drivers/duckdb/reader.ts';
import { type Engine, openEngine } from '../../src/warehouse/engine-process/engine.ts';
import { childrenOf, environmentOf, processesWith } from '../support/processes.ts';
import { generous, makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const openDatabase = async (script = 'CREATE TABLE t AS SELECT range AS n FROM range(1000)') => {
  const database = await makeDatabase('duckdb', script);
  closing.push(() => database.remove());
  return database;
};
const openWarehouse = async (database: TestDatabase) => {
  const warehouse = await database.open();
  closing.push(() => warehouse.close());
  return warehouse;
};
const pathOf = ({ config }: TestDatabase): string => ('path' in config ? config.path : '');
const brief = { maxRows: 10, timeoutMs: 400 };

describe('DuckDB in a process of its own', () => {
  test('a statement that ignores an interrupt and needs no memory does not run on', async () => {
    const database = await openDatabase();
    const warehouse = await openWarehouse(database);
    const [pid = 0] = processesWith(pathOf(database));
    const endless = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))";
    await expect(warehouse.query(endless, brief, never)).rejects.toMatchObject({
      code: 'query_timeout',
    });
    await expect.poll(() => childrenOf(process.pid)).not.toContain(pid);
  });

  test('a statement that ignores an interrupt ends at its limits, and the next is answered', async () => {
    // DuckDB computes it while it prepares the statement.
    const sql = 'SELECT repeat([1,2,3],1000000000)';
    const warehouse = await openWarehouse(await openDatabase());
    const started = performance.now();
    // Other files of this process have made databases in it before.
    const before = process.memoryUsage.rss();
    await expect(warehouse.query(sql, brief, never)).rejects.toMatchObject({
      code: expect.stringMatching(/^(query_timeout|out_of_memory)$/),
    });
    expect(performance.now() - started).toBeLessThan(15_000);
    const { rows } = await warehouse.query('SELECT sum(n) FROM t', generous, never);
    expect(rows).toEqual([[499500]]);
    expect(process.memoryUsage.rss() - before).toBeLessThan(300e6);
  });

  test('a process that somebody killed is replaced', async () => {
    const database = await openDatabase();
    const warehouse = await openWarehouse(database);
    const [pid = 0] = processesWith(pathOf(database));
    process.kill(pid, 'SIGKILL');
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
    expect(processesWith(pathOf(database))).not.toContain(pid);
  });

  test('the process serves the next database when one is closed', async () => {
    const [first, second] = [await openDatabase(), await openDatabase()];
    const warehouse = await first.open();
    const before = processesWith(pathOf(first));
    expect(before).toHaveLength(1);
    await warehouse.close();
    expect(processesWith(pathOf(first))).toEqual([]);
    await openWarehouse(second);
    expect(processesWith(pathOf(second))).toEqual(before);
  });

  test('a file that cannot be opened is an error, and its process serves another', async () => {
    const database = await openDatabase();
    const broken = { ...database.config, path: import.meta.filename } as typeof database.config;
    await expect(database.open(broken)).rejects.toMatchObject({ code: 'not_a_database' });
    const warehouse = await openWarehouse(database);
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
  });

  test('has nothing of the environment that it does not need', async () => {
    process.env['WAREHOUSE_PASSWORD'] = 'hunter2';
    const database = await openDatabase();
    await openWarehouse(database);
    const [pid = 0] = processesWith(pathOf(database));
    delete process.env['WAREHOUSE_PASSWORD'];
    expect(childrenOf(process.pid)).toContain(pid);
    const names = environmentOf(pid).map((entry) => entry.split('=')[0]);
    const needed = /^(NODE_COMPILE_CACHE|NODE_CHANNEL_.*|LD_LIBRARY_PATH|TMPDIR|TEMP|TMP|TZ)$/;
    expect(names.filter((name) => !needed.test(name ?? ''))).toEqual([]);
  });

  test('hands over large results in order, with every value as it was', async () => {
    const warehouse = await openWarehouse(await openDatabase());
    const sql =
      "SELECT i, i::HUGEINT * 1000000000000000000, (i / 8)::DOUBLE, 'n' || i, [i, NULL], i % 2 = 0 FROM range(70000) AS r(i)";
    const { rows, truncated } = await warehouse.query(
      sql,
      { maxRows: 69_999, timeoutMs: 20_000 },
      never,
    );
    expect(truncated).toBe(true);
    expect(rows).toHaveLength(69_999);
    const wrong = rows.filter(([i, large, eighth, text, nested, even], index) => {
      const exact = BigInt(index) * 10n ** 18n;
      const number = Number(exact);
      const expectedLarge = Number.isSafeInteger(number) ? number : String(exact);
      const isSame = i === index && large === expectedLarge && eighth === index / 8;
      return (
        !isSame ||
        text !== `n${index}` ||
        nested !== `[${index},null]` ||
        even !== (index % 2 === 0)
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe('the limit of memory', () => {
  const openSmall = (memoryBytes: number): Engine => {
    const engine = openEngine(duckdbProgram, {
      database: { path: ':memory:', options: {}, settings: [] },
      memoryBytes,
    });
    closing.push(() => engine.close());
    return engine;
  };
  const limits = { signal: never, timeoutMs: 20_000 };
  const statement = (sql: string) => ({ kind: 'statement', sql, maxRows: 10 });

  test('ends a statement that the engine does not limit, with the next step', async () => {
    const engine = openSmall(400e6);
    await expect(
      engine.send(statement('SELECT length(repeat([1,2,3],1000000000)::VARCHAR)'), limits),
    ).rejects.toMatchObject({
      code: 'out_of_memory',
      message: expect.stringContaining('DuckDB'),
      hint: expect.stringContaining('Read less'),
    });
    const { batches } = await engine.send(statement('SELECT 7'), limits);
    expect(batches.flat()).toEqual([[7]]);
  });
});
