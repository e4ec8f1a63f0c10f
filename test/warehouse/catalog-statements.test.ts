import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  engines,
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
} from '../support/warehouses.ts';

const script =
  'CREATE TABLE parent (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL); CREATE TABLE child (id INTEGER PRIMARY KEY, parent_id INTEGER, FOREIGN KEY (parent_id) REFERENCES parent (id));';

describe.each(engines)('a question about the structure of %s', (engine) => {
  describe.skipIf(!isThere(engine))('', () => {
    let database: TestDatabase;
    let warehouse: Warehouse;
    beforeAll(async () => {
      database = await makeDatabase(engine, script);
      warehouse = await database.open();
    });
    afterAll(async () => {
      await warehouse.close();
      await database.remove();
    });
    const rowsOf = async (sql: string) => (await warehouse.query(sql, generous, never)).rows;

    test('is answered from the catalog', async () => {
      expect((await rowsOf('SHOW TABLES')).map(([name]) => name)).toEqual(['child', 'parent']);
      expect((await rowsOf("show full tables like 'P_r%'")).map(([name]) => name)).toEqual([
        'parent',
      ]);
      expect(await rowsOf('SHOW SCHEMAS')).toHaveLength(1);
      for (const sql of [
        'DESCRIBE parent',
        'DESC parent;',
        'SHOW COLUMNS FROM parent',
        'PRAGMA table_info(parent)',
      ])
        expect(await rowsOf(sql)).toMatchObject([
          ['id', expect.stringMatching(/^int/i), expect.any(String), 'PRI', null],
          ['name', expect.stringMatching(/char/i), 'NO', null, null],
        ]);
      expect(await rowsOf("SHOW COLUMNS FROM parent LIKE 'n%'")).toHaveLength(1);
      expect(await rowsOf('SHOW INDEX FROM child')).toMatchObject([
        ['PRIMARY KEY', 'id', null],
        ['FOREIGN KEY', 'parent_id', expect.stringMatching(/\.parent \(id\)$/)],
      ]);
      const [[, text] = []] = await rowsOf('SHOW CREATE TABLE child');
      expect(text).toMatch(/^CREATE TABLE .*child[^]*PRIMARY KEY .*\n.*FOREIGN KEY/);
      await expect(warehouse.reads('DESCRIBE child')).resolves.toEqual([]);
    });

    test('keeps to the tables of the catalog and to the limit of rows', async () => {
      await expect(rowsOf('DESCRIBE chil')).rejects.toMatchObject({
        code: 'missing_object',
        hint: expect.stringContaining('child'),
      });
      for (const name of ['information_schema.tables', 'sqlite_master', 'pg_authid', 'mysql.user'])
        await expect(rowsOf(`DESCRIBE ${name}`)).rejects.toMatchObject({
          details: { rule: 'table' },
        });
      const limits = { maxRows: 1, timeoutMs: 20_000 };
      const result = await warehouse.query('SHOW TABLES', limits, never);
      expect(result).toMatchObject({
        rows: [[expect.anything(), expect.anything(), 'table', null]],
      });
      expect(result.truncated).toBe(true);
    });

    test.each([
      'SHOW TABLES; DROP TABLE child',
      "SHOW TABLES LIKE (SELECT 'x')",
      "SHOW TABLES LIKE 'x' INTO OUTFILE 'x'",
      'SHOW TABLES WHERE 1',
      'SHOW VARIABLES',
      'SHOW GRANTS',
      'SHOW ALL',
      'DESCRIBE (DELETE FROM child)',
      'DESCRIBE child; SELECT 1',
      'PRAGMA table_info(child) = 1',
      'PRAGMA writable_schema(1)',
      'SHOW CREATE FUNCTION f',
      'SELECT * FROM (SHOW ALL TABLES)',
    ])('is refused where it says more: %s', async (sql) => {
      await expect(rowsOf(sql)).rejects.toMatchObject({ details: { rule: expect.any(String) } });
    });

    test('takes no longer for a pattern that matches in many ways', async () => {
      const pattern = '%e%e'.repeat(200);
      const started = performance.now();
      expect(await rowsOf(`SHOW TABLES LIKE '${pattern}'`)).toEqual([]);
      expect(performance.now() - started).toBeLessThan(30_000);
    });
  });
});

describe('where a name is in two schemas', () => {
  test('the structure comes from the schema that is named', async () => {
    const database = await makeDatabase(
      'postgres',
      'CREATE TABLE t (a int); CREATE SCHEMA s; CREATE TABLE s.t (b int); CREATE TABLE s."T" (c int);',
    );
    const warehouse = await database.open();
    const columnsOf = async (name: string) =>
      (await warehouse.query(`DESCRIBE ${name}`, generous, never)).rows.map(([column]) => column);
    expect(await columnsOf('T')).toEqual(['a']);
    expect(await columnsOf('s.t')).toEqual(['b']);
    expect(await columnsOf('s."T"')).toEqual(['c']);
    await warehouse.close();
    const scoped = await database.open({ schemas: ['public'] });
    await expect(scoped.query('DESCRIBE s.t', generous, never)).rejects.toMatchObject({
      details: { rule: 'table' },
    });
    await scoped.close();
    await database.remove();
  });
});
