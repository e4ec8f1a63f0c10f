import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noLabels } from '../../src/context/catalog/column-labels.ts';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { measureAll } from '../../src/scan/facts/measure.ts';
import { scan } from '../../src/scan/scan.ts';
import { openScanStore } from '../../src/scan/scan-store.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { engines, isThere, makeDatabase, never, type TestDatabase } from '../support/warehouses.ts';

const config = scanConfigSchema.parse({});

describe.each(engines.filter(isThere))(
  'a key with many more rows than its child on %s',
  (engine) => {
    let database: TestDatabase;
    let warehouse: Warehouse;
    beforeAll(async () => {
      const digits =
        '(SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4)';
      const numbers = `SELECT a.d + 5 * b.d + 25 * c.d + 125 * e.d + 1000 AS n FROM ${digits} a, ${digits} b, ${digits} c, ${digits} e`;
      database = await makeDatabase(
        engine,
        `CREATE TABLE person (person_id BIGINT, label VARCHAR(20)); INSERT INTO person SELECT n, 'x' FROM (${numbers}) AS all_numbers;
      CREATE TABLE visit (visit_id INTEGER, person_id INTEGER, city VARCHAR(20));
      INSERT INTO visit SELECT n, n, 'y' FROM (${numbers}) AS all_numbers WHERE n < 1060; INSERT INTO visit VALUES (1, 7, 'z'), (2, NULL, 'z');`,
      );
      warehouse = await database.open();
    });
    afterAll(async () => {
      await warehouse.close();
      await database.remove();
    });

    test('is linked, and rows without a parent are counted', async () => {
      const db = new DatabaseSync(':memory:');
      const { links } = await scan({ warehouse, scope: {}, state: { db }, config, signal: never });
      db.close();
      const link = links.find(
        ({ from, to }) => from.columns[0] === 'person_id' && to.columns[0] === 'person_id',
      );
      expect(link).toMatchObject({
        status: 'accepted',
        evidence: { measured: true, orphans: 1, containment: 0.9836 },
      });
    });
  },
);

describe('measurements that take too long', () => {
  test('end after twice the time limit of a statement, however many there are', async () => {
    const database = await makeDatabase(
      'duckdb',
      'CREATE TABLE t AS SELECT range AS a FROM range(20000)',
    );
    const warehouse = await database.open();
    const db = new DatabaseSync(':memory:');
    try {
      const slow = Array.from({ length: 32 }, (_, index) => ({
        sql: `SELECT sum(x.a * y.a % ${index + 7}) AS a FROM t AS x, t AS y, t AS z`,
        tables: [],
        group: '',
      }));
      const started = performance.now();
      const results = await measureAll(slow, {
        warehouse,
        config: { ...config, table_seconds: 1 },
        labels: noLabels,
        store: openScanStore(db, 'wh'),
        signal: never,
        onQuery: () => undefined,
      });
      expect(results).toEqual(slow.map(() => undefined));
      expect(performance.now() - started).toBeLessThan(24_000);
    } finally {
      db.close();
      await warehouse.close();
      await database.remove();
    }
  });

  test('do not happen to the distinct values of a long column: DuckDB keeps the smallest hashes, not all of them', async () => {
    const database = await makeDatabase(
      'duckdb',
      'CREATE TABLE t AS SELECT md5(range::VARCHAR) AS a FROM range(400000)',
    );
    const warehouse = await database.open();
    try {
      const { statistics } = warehouse.dialect;
      const sql = `SELECT ${statistics?.sketch('a', 512, 't')} AS kept, CAST(to_json(list_slice(list_sort(list(DISTINCT substr(printf('%016x', hash(a)), 1, 12))), 1, 512)) AS VARCHAR) AS expected FROM t`;
      const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs: 20_000 }, never);
      expect(rows[0]?.[0]).toBe(rows[0]?.[1]);
      expect(statistics?.sketch('a', 512, 't')).not.toMatch(/\blist\(/);
    } finally {
      await warehouse.close();
      await database.remove();
    }
  });

  test('are sampled alike each time, so that a scan finds the same again', async () => {
    const database = await makeDatabase('duckdb', 'CREATE TABLE t AS FROM range(3000000) AS r(a)');
    const warehouse = await database.open();
    try {
      const sample = warehouse.dialect.statistics?.sample('main.t', 0.25) ?? '';
      const sql = `SELECT sum(a) AS sum, count(*) AS rows FROM ${sample}`;
      const read = async () =>
        (await warehouse.query(sql, { maxRows: 1, timeoutMs: 20_000 }, never)).rows[0];
      const first = await read();
      expect(Number(first?.[1]) / 3_000_000).toBeCloseTo(0.25, 1);
      for (let round = 0; round < 5; round += 1) expect(await read()).toEqual(first);
    } finally {
      await warehouse.close();
      await database.remove();
    }
  });

  test('keep sketches of DuckDB, whose hashes are those of the versions before', async () => {
    const database = await makeDatabase('duckdb', 'CREATE TABLE t AS SELECT 1 AS a');
    const warehouse = await database.open();
    try {
      const sketch = warehouse.dialect.statistics?.sketch('v', 4, 't') ?? '';
      const sql = `SELECT ${sketch} AS k FROM (VALUES ('a'), (NULL), ('b'), ('a')) AS t(v)`;
      const { rows } = await warehouse.query(sql, { maxRows: 1, timeoutMs: 20_000 }, never);
      // If an update of DuckDB changes this, raise `profileVersion` in profile-tables.ts: sketches
      // of stored profiles are compared with new ones.
      expect(rows[0]?.[0]).toBe('["93f04449d3a6","ae5494ee2630"]');
    } finally {
      await warehouse.close();
      await database.remove();
    }
  });
});
