import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mysql as dialect } from '../../src/sql/dialects/mysql.ts';
import { mysqlPolicy } from '../../src/warehouse/drivers/mysql/policy.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import {
  generous,
  isThere,
  makeDatabase,
  never,
  type TestDatabase,
} from '../support/warehouses.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await makeDatabase('sqlite', 'CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1);');
});
afterAll(() => database.remove());

describe('the gate on Postgres', () => {
  test('refuses a system table, also if a user table has its name', async () => {
    const postgres = await makeDatabase('postgres', 'CREATE TABLE pg_authid (a int);');
    const warehouse = await postgres.open();
    await expect(warehouse.query('SELECT * FROM pg_authid', generous, never)).rejects.toMatchObject(
      { code: 'gate_refused' },
    );
    await warehouse.query('SELECT a FROM public.pg_authid', generous, never);
    await warehouse.close();
    await postgres.remove();
  });
});

describe('Postgres behind the gate', () => {
  test('reads a backslash as the gate does, whatever the database is set to', async () => {
    const postgres = await makeDatabase(
      'postgres',
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database()); END $$;`,
    );
    const warehouse = await postgres.open();
    const { rows } = await warehouse.query(
      String.raw`SELECT '\'', pg_backend_pid() --'`,
      generous,
      never,
    );
    expect(rows).toEqual([[String.raw`\', pg_backend_pid() --`]]);
    await warehouse.close();
    await postgres.remove();
  });

  test('writes nothing, whatever its login may do', async () => {
    const postgres = await makeDatabase('postgres', 'CREATE TABLE t (a int);');
    const { open } = await import('../../src/warehouse/drivers/postgres/driver.ts');
    const driver = await open(
      { driver: 'postgres', url: 'env:TEST_URL' },
      { connection: 'wh', projectDir: '.', cacheDir: '.', secrets: () => postgres.secret },
      never,
    );
    await expect(driver.run('CREATE TABLE u (a int)', generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
    });
    await driver.close();
    await postgres.remove();
  });
});

describe('the gate on MySQL', () => {
  test.skipIf(!isThere('mysql'))(
    'refuses a stored function that has the name of a safe one',
    async () => {
      const mysql = await makeDatabase(
        'mysql',
        'CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE FUNCTION is_uuid(x text) RETURNS int RETURN 1;',
      );
      const warehouse = await mysql.open();
      await expect(
        warehouse.query('SELECT is_uuid(a) FROM t', generous, never),
      ).rejects.toMatchObject({ code: 'gate_refused' });
      await warehouse.close();
      await mysql.remove();
    },
  );
});

describe('Postgres, if ktx dies in the middle of a statement', () => {
  test('ends the statement at its time limit', async () => {
    const postgres = await makeDatabase('postgres', 'CREATE TABLE t (a int);');
    const driver = await postgres.openDriver();
    const sql = "SELECT current_setting('statement_timeout')";
    const { rows } = await driver.run(sql, { ...generous, timeoutMs: 20_000 }, never);
    expect(rows).not.toEqual([['0']]);
    await driver.close();
    await postgres.remove();
  });
});

describe('SQLite behind the gate', () => {
  test('reads no system table', async () => {
    const own = await makeDatabase(
      'sqlite',
      'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1); ANALYZE;',
    );
    const driver = await own.openDriver();
    for (const table of ['sqlite_schema', 'sqlite_master', 'sqlite_sequence', 'sqlite_stat1'])
      await expect(
        driver.run(`SELECT * FROM ${table}`, generous, never),
        table,
      ).rejects.toMatchObject({ code: 'gate_refused' });
    expect((await driver.run('SELECT a FROM t', generous, never)).rows).toEqual([[1]]);
    await driver.close();
    await own.remove();
  });
});

describe('DuckDB behind the gate', () => {
  test('takes no setting once it is open', async () => {
    const duckdb = await makeDatabase('duckdb', 'CREATE TABLE t (a INTEGER);');
    const driver = await duckdb.openDriver();
    for (const statement of ["SET GLOBAL TimeZone = 'Europe/Paris'", 'RESET disabled_optimizers'])
      await expect(driver.run(statement, generous, never)).rejects.toMatchObject({
        code: 'gate_refused',
      });
    // The engine would refuse it by itself, too.
    const locked = "SELECT current_setting('lock_configuration')";
    expect((await driver.run(locked, generous, never)).rows).toEqual([[true]]);
    await driver.close();
    await duckdb.remove();
  });
});

describe('the gate, around every driver', () => {
  test('refuses a NUL character before any parser reads the text', async () => {
    const warehouse = await database.open();
    await expect(warehouse.query('SELECT a FROM t\0', generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
      message: expect.stringContaining('NUL character'),
    });
    await warehouse.close();
  });

  test('finds a table that was created after the catalog was read', async () => {
    const { config, folder } = database;
    const warehouse = await openWarehouse(
      {
        config,
        connection: 'wh',
        projectDir: folder,
        cacheDir: folder,
        secrets: () => '',
        tables: async () => [{ schema: 'main', table: 't' }],
      },
      never,
    );
    expect((await warehouse.query('SELECT a FROM t', generous, never)).rows).toEqual([[1]]);
    const writer = new DatabaseSync('path' in config ? config.path : '');
    writer.exec('CREATE TABLE later (b INTEGER); INSERT INTO later VALUES (2);');
    writer.close();
    expect((await warehouse.query('SELECT b FROM later', generous, never)).rows).toEqual([[2]]);
    await warehouse.close();
  });

  test.each([
    ['month', "CAST(strftime('%m', x) AS INTEGER) for month(x)"],
    ['year', "CAST(strftime('%Y', x) AS INTEGER) for year(x)"],
  ])('says how this engine writes %s, which only others have', async (name, way) => {
    const open = await database.open();
    const asked = open.query(`SELECT ${name}('2025-09-01')`, generous, never);
    await expect(asked).rejects.toMatchObject({
      code: 'gate_refused',
      hint: `Here, write ${way}.`,
    });
    await open.close();
  });

  test('allows a function of allow_functions, however it is written', async () => {
    const statement = 'SELECT length(randomblob(4))';
    const strict = await database.open();
    await expect(strict.query(statement, generous, never)).rejects.toMatchObject({
      code: 'gate_refused',
    });
    await strict.close();
    const open = await database.open({ allow_functions: ['RandomBlob'] });
    expect((await open.query(statement, generous, never)).rows).toEqual([[4]]);
    await open.close();
  });
});

describe('the gate on MySQL', () => {
  test.each([
    'WITH w AS (TABLE secrets) SELECT * FROM w',
    'WITH `table` AS (SELECT 1) SELECT * FROM (TABLE secrets) x',
    'WITH `table` AS (SELECT 1) SELECT * FROM (TABLE secrets)',
    'SELECT 1 FROM (WITH w AS (TABLE secrets) SELECT * FROM w) x',
  ])('sees no query in %s, which reads a table', async (sql) => {
    await expect(mysqlPolicy(dialect, []).inspect(sql)).rejects.toMatchObject({
      code: 'gate_refused',
      details: { rule: 'node' },
    });
  });
});
