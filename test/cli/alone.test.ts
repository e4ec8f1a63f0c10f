import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createDatabaseFile } from '../../src/warehouse/open.ts';
import { folder, ktx } from './run-cli.ts';

const env = { PATH: process.env['PATH'] ?? '' };

test('ktx alone says what a folder has for it, and what to type next', async () => {
  const dir = folder();
  expect((await ktx([], { cwd: dir, env })).stdout).toMatch(/^Usage: ktx/);
  const database = new DatabaseSync(join(dir, 'my shop.db'));
  database.exec('CREATE TABLE t (a)');
  database.close();
  await createDatabaseFile(join(dir, 'big.duckdb'), 'CREATE TABLE t (a INTEGER)');
  writeFileSync(join(dir, 'notes.db'), 'not a database');
  mkdirSync(join(dir, 'exports'));
  writeFileSync(join(dir, 'exports/orders.csv'), 'a\n1\n');
  writeFileSync(join(dir, 'exports/items.parquet'), '');
  writeFileSync(join(dir, 'package.json'), '{}');
  writeFileSync(join(dir, 'dbt_project.yml'), 'name: shop\n');
  writeFileSync(join(dir, '.env'), 'SECRET=1\n');
  const alone = await ktx([], {
    cwd: dir,
    env: { ...env, DATABASE_URL: 'postgres://u:secret@h/d' },
  });
  expect(alone.code).toBe(0);
  const lines = alone.stdout.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
  const commands = lines.map((line) => line.replace(/^(.*) \| .*?(setup|connection)/, '$1 | $2'));
  expect(commands.slice(2, 9).join('\n')).toMatchInlineSnapshot(`
    "big.duckdb | a DuckDB database | setup --driver duckdb --path ./big.duckdb
    my shop.db | a SQLite database | setup --driver sqlite --path "./my shop.db"
    exports | 2 files of tables, such as items.parquet | setup --driver duckdb --path ./exports
    dbt_project.yml | a dbt project | connection add dbt --driver dbt --path .
    DATABASE_URL | a variable of the environment | setup --driver postgres --url env:DATABASE_URL
    .env | variables that ktx.yaml can refer to as env:NAME | setup
    "
  `);
  expect(alone.stdout).not.toContain('secret');
  writeFileSync(join(dir, 'ktx.yaml'), '');
  expect((await ktx([], { cwd: dir, env })).stdout).toMatch(/a ktx project +\S.* status\n/);
});
