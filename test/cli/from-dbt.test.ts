import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { duckdbFile, writeFiles } from '../sources/dbt-fixture.ts';
import { ktx } from './run-cli.ts';

let cwd: string;
let env: Record<string, string>;

beforeEach(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-from-dbt-')));
  env = { HOME: cwd, KTX_CONFIG_HOME: join(cwd, 'config') };
  writeFiles(join(cwd, 'dbt'), {
    'dbt_project.yml': 'name: shop\nprofile: shop\n',
    'models/orders.yml': 'models: [{name: orders, description: Orders.}]\n',
    'models/orders.sql': 'select 1 as id',
    'profiles.yml': `shop:
  target: dev
  outputs:
    dev:
      type: duckdb
      path: "{{ env_var('SHOP_DB', 'warehouse.duckdb') }}"
      schema: analytics
    prod: {type: postgres, host: localhost, port: 1, user: ana, password: hunter2, dbname: shop}
    cloud: {type: snowflake, account: shop}
`,
  });
  await duckdbFile(
    join(cwd, 'dbt'),
    'CREATE SCHEMA analytics; CREATE TABLE analytics.orders (id INTEGER);',
  );
  return () => rmSync(cwd, { recursive: true, force: true });
});

test('ktx setup --from-dbt connects the warehouse of the profile and adds the project', async () => {
  const { code, stderr } = await ktx(['setup', '--from-dbt', 'dbt', '--no-input'], { cwd, env });
  expect(code, stderr).toBe(0);
  const config = readFileSync(join(cwd, 'ktx.yaml'), 'utf8');
  expect(config.slice(config.indexOf('connections:'))).toBe(`connections:
  warehouse:
    driver: duckdb
    path: dbt/warehouse.duckdb
    schemas:
      - analytics
  dbt:
    driver: dbt
    path: dbt
    warehouse: warehouse
    target_schema: analytics
`);
  // Tables that dbt builds have names without a schema.
  expect(stderr).toContain('schemas in ktx.yaml: analytics.');
  expect(stderr).toContain(`The connection is that of ${join(cwd, 'dbt/profiles.yml')}.`);
});

test('a backend beside --from-dbt does not take the steps to the first answer away', async () => {
  const setup = ['setup', '--from-dbt', 'dbt', '--llm-backend', 'none', '--no-input'];
  const steps = ['--ingest', '--first-question', 'none', '--mcp-client', 'none'];
  const { code, stderr } = await ktx([...setup, ...steps], { cwd, env });
  expect(code, stderr).toBe(0);
  expect(existsSync(join(cwd, 'semantic-layer/warehouse')), stderr).toBe(true);
});

test('a password of the profile is nowhere, and the error names the variable to set', async () => {
  const setup = ['setup', '--from-dbt', 'dbt', '--dbt-target', 'prod', '--no-input'];
  const { code, stdout, stderr } = await ktx(setup, { cwd, env });
  expect(code).not.toBe(0);
  expect(stderr).toContain('WAREHOUSE_PASSWORD');
  expect(stdout + stderr).not.toContain('hunter2');
});

test.each([
  [['--from-dbt', 'dbt', '--dbt-target', 'cloud'], /type snowflake, which ktx does not connect to/],
  [['--from-dbt', 'dbt', '--dbt-target', 'none'], /has no target none.*\n.*dev, prod, cloud/],
  [['--from-dbt', 'elsewhere'], /has no dbt_project\.yml/],
  [['--dbt-target', 'dev'], /need --from-dbt/],
])('ktx setup %j says what is wrong', async (flags, reason) => {
  const { code, stderr } = await ktx(['setup', ...flags, '--no-input'], { cwd, env });
  expect(code).toBe(2);
  expect(stderr).toMatch(reason);
});

test('ktx connection add takes the profile too, and flags overrule it', async () => {
  await ktx(['setup', '--from-dbt', 'dbt', '--no-input'], { cwd, env });
  const add = ['connection', 'add', 'second', '--from-dbt', 'dbt'];
  const missing = await ktx([...add, '--path', 'gone.duckdb'], { cwd, env });
  expect(missing.stderr).toContain('gone.duckdb');
  expect((await ktx(add, { cwd, env })).code).toBe(0);
  expect(readFileSync(join(cwd, 'ktx.yaml'), 'utf8')).toContain(
    '  second:\n    driver: duckdb\n    path: dbt/warehouse.duckdb\n',
  );
});
