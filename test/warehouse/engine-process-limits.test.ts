import { afterEach, describe, expect, test } from 'vitest';
import { duckdbProgram } from '../../src/warehouse/drivers/duckdb/reader.ts';
import { type Engine, openEngine } from '../../src/warehouse/engine-process/engine.ts';
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
const brief = { maxRows: 10, timeoutMs: 400 };

/** DuckDB computes these while it prepares the statement, and ignores an interrupt. */
const foldedStatements = [
  'SELECT repeat([1,2,3],1000000000)',
  "SELECT bitstring('1',2000000000)",
  "SELECT lpad('x',2000000000,'y')",
  'SELECT list_resize([1],3000000000)',
];

describe('DuckDB in a process of its own', () => {
  test.each(foldedStatements)(
    '%s ends at its limits, and the next statement is answered',
    async (sql) => {
      const warehouse = await openWarehouse(await openDatabase());
      const started = performance.now();
      await expect(warehouse.query(sql, brief, never)).rejects.toMatchObject({
        code: expect.stringMatching(/^(query_timeout|out_of_memory)$/),
      });
      expect(performance.now() - started).toBeLessThan(15_000);
      const { rows } = await warehouse.query('SELECT sum(n) FROM t', generous, never);
      expect(rows).toEqual([[499500]]);
      expect(process.memoryUsage.rss()).toBeLessThan(600e6);
    },
  );

  test('a statement that the kill of another takes down is repeated', async () => {
    const warehouse = await openWarehouse(await openDatabase());
    const innocent = warehouse.query(
      'SELECT count(*) AS n FROM t AS a, t AS b, range(60) AS c(i) WHERE a.n * b.n % 7 = c.i % 5',
      generous,
      never,
    );
    const [killed] = await Promise.allSettled([
      warehouse.query(foldedStatements[0] ?? '', brief, never),
      innocent,
    ]);
    expect(killed).toMatchObject({ status: 'rejected', reason: { code: 'query_timeout' } });
    expect((await innocent).rows).toHaveLength(1);
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

  test('is an error of the one statement that needs too much, not of those beside it', async () => {
    const engine = openSmall(400e6);
    const beside = engine.send(
      statement(
        'SELECT count(*) FROM range(30000) AS a(i), range(3000) AS b(i) WHERE a.i + b.i < 100',
      ),
      limits,
    );
    const greedy = engine.send(statement('SELECT len(repeat([1,2,3],1000000000))'), limits);
    await expect(greedy).rejects.toMatchObject({ code: 'out_of_memory' });
    expect((await beside).batches.flat()).toEqual([[5050]]);
  });
});
