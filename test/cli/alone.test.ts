import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createDatabaseFile } from '../../src/warehouse/open.ts';
import { folder, ktx, ktxJson } from './run-cli.ts';

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
  expect(commands.slice(2, 10).join('\n')).toMatchInlineSnapshot(`
    "big.duckdb | a DuckDB database | setup --driver duckdb --path ./big.duckdb
    my shop.db | a SQLite database | setup --driver sqlite --path "./my shop.db"
    exports | 2 files of tables, such as items.parquet | setup --driver duckdb --path ./exports
    DATABASE_URL | a variable of the environment | setup --driver postgres --url env:DATABASE_URL
    .env | variables that ktx.yaml can refer to as env:NAME | setup

    Once ktx setup has made a project:
    "
  `);
  expect(commands).toContain(
    'dbt_project.yml | a dbt project | connection add dbt --driver dbt --path .',
  );
  expect(alone.stdout).not.toContain('secret');
  writeFileSync(join(dir, 'ktx.yaml'), '');
  expect((await ktx([], { cwd: dir, env })).stdout).toMatch(/a ktx project +\S.* status\n/);
});

test('ktx alone sees a dbt project in a folder beside others', async () => {
  const dir = folder();
  mkdirSync(join(dir, 'dbt'));
  mkdirSync(join(dir, 'my models'));
  writeFileSync(join(dir, 'dbt/dbt_project.yml'), 'name: shop\n');
  writeFileSync(join(dir, 'dbt/profiles.yml'), 'shop: {}\n');
  writeFileSync(join(dir, 'my models/dbt_project.yml'), 'name: other\n');
  const { stdout } = await ktx([], { cwd: dir, env });
  expect(stdout).toMatch(
    /dbt\/dbt_project.yml +a dbt project with profiles.yml +.*setup --from-dbt .\/dbt\n/,
  );
  expect(stdout).toMatch(/my models\/dbt_project.yml .*"?.\/my models"?\n/);
  const narrow = await ktx([], { cwd: dir, env, terminal: true });
  expect(narrow.stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(narrow.stdout).toContain('\n      ktx setup --from-dbt ./dbt\n');
});

test('ktx alone and the end of setup name folders of documents and dbt projects', async () => {
  const dir = folder();
  const database = new DatabaseSync(join(dir, 'shop.db'));
  database.exec('CREATE TABLE t (a INTEGER)');
  database.close();
  for (const name of ['Docs', 'handbook', 'dbt', 'wiki']) mkdirSync(join(dir, name));
  writeFileSync(join(dir, 'Docs/terms.md'), '# Terms\n');
  writeFileSync(join(dir, 'Docs/rules.html'), '<p>Rules</p>\n');
  writeFileSync(join(dir, 'dbt/dbt_project.yml'), 'name: shop\n');
  const { stdout } = await ktx([], { cwd: dir, env });
  const [before = '', after = ''] = stdout.split('Once ktx setup has made a project:');
  expect(before).toMatch(/shop\.db .* setup --driver sqlite/);
  expect(before).not.toContain('connection add');
  expect(after).toMatch(
    /dbt\/dbt_project\.yml .* connection add dbt --driver dbt --path \.\/dbt\n/,
  );
  expect(after).toMatch(/Docs +2 documents .* connection add docs --driver docs --path \.\/Docs\n/);
  expect(after).not.toMatch(/handbook|wiki/);
  const next = async () => {
    const { stderr } = await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], {
      cwd: dir,
      env,
    });
    return stderr.match(/connection add (?!--).*?(?=  )/g) ?? [];
  };
  expect(await next()).toEqual([
    'connection add dbt --driver dbt --path ./dbt',
    'connection add docs --driver docs --path ./Docs',
  ]);
  await ktx(['connection', 'add', 'docs', '--driver', 'docs', '--path', 'Docs'], { cwd: dir, env });
  expect(await next()).toEqual(['connection add dbt --driver dbt --path ./dbt']);
});

test('a wrong --path of connection add is told as a flag, for nothing was written', async () => {
  const dir = folder();
  const database = new DatabaseSync(join(dir, 'shop.db'));
  database.exec('CREATE TABLE t (a INTEGER)');
  database.close();
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd: dir, env });
  for (const driver of ['docs', 'dbt', 'lookml', 'metricflow', 'sqlite']) {
    const flags = ['--driver', driver, '--path', 'missing'];
    const { envelope } = await ktxJson(['connection', 'add', 'more', ...flags], {
      cwd: dir,
      env,
    });
    expect(envelope.error?.hint, driver).toMatch(/^check .*Nothing was written to ktx\.yaml$/);
  }
});
