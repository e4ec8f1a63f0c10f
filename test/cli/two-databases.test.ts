import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSqlserver } from '../engines/sqlserver/server.ts';
import { startTrino } from '../engines/trino/server.ts';
import { run } from '../store/git-project.ts';
import { makeSnowflake, secrets } from '../support/snowflake.ts';
import { ktx, ktxJson } from './run-cli.ts';

/** Two databases with an `orders` each. The second has names that need quotes. */
const scriptIn = (schema: string): string => `
  CREATE TABLE orders (order_id INTEGER PRIMARY KEY, account_id INTEGER, amount INTEGER);
  INSERT INTO orders SELECT range + 7000, range % 60 * 3 + 11, range * 7 FROM range(400);
  ATTACH ':memory:' AS "crm-eu 2"; CREATE SCHEMA IF NOT EXISTS "crm-eu 2".${schema};
  CREATE TABLE "crm-eu 2".${schema}.accounts (account_id INTEGER PRIMARY KEY, "Sales Region" VARCHAR);
  INSERT INTO "crm-eu 2".${schema}.accounts SELECT range * 3 + 11, CASE WHEN range < 30 THEN 'North' ELSE 'South' END FROM range(60);
  CREATE TABLE "crm-eu 2".${schema}.orders (order_id INTEGER PRIMARY KEY, "unit price" INTEGER);
  INSERT INTO "crm-eu 2".${schema}.orders SELECT range, 100 FROM range(5);
`;

const inQuotes = (name: string): string => `"${name}"`;

/** The flags of the connection without its databases, and the end of its server. */
const servers = {
  async trino() {
    const server = await startTrino({ script: scriptIn('main') });
    const flags = `--host 127.0.0.1 --port ${new URL(server.origin).port} --catalog memory --ssl off --user ann --other-catalog`;
    return { server, flags, schema: 'main', written: 'crm-eu 2', quote: inQuotes, env: {} };
  },
  async snowflake() {
    const { server } = await makeSnowflake(scriptIn('public'));
    const flags = `--account testorg-testaccount --token env:SF_TOKEN --warehouse wh --database sales --endpoint ${server.endpoint} --other-database`;
    const env = { SF_TOKEN: secrets['env:TOKEN'] ?? '' };
    return { server, flags, schema: 'PUBLIC', written: '"crm-eu 2"', quote: inQuotes, env };
  },
  async sqlserver() {
    const server = await startSqlserver({ script: scriptIn('main') });
    const flags = `--host 127.0.0.1 --port ${server.port} --database memory --user ktx_reader --password env:MS_PASSWORD --ssl off --other-database`;
    const quote = (name: string): string => `[${name}]`;
    const env = { MS_PASSWORD: 'p' };
    return { server, flags, schema: 'main', written: 'crm-eu 2', quote, env };
  },
};

describe.each(['trino', 'snowflake', 'sqlserver'] as const)('two databases of %s', (driver) => {
  test('give datasets with names of their own, and metrics over both', async () => {
    const { server, flags, schema, written, quote, env } = await servers[driver]();
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-databases-')));
    onTestFinished(async () => {
      await server.close();
      rmSync(cwd, { recursive: true, force: true });
    });
    writeFileSync(join(cwd, 'ktx.yaml'), 'connections: {}\n');
    run(cwd, 'init', '-q', '-b', 'main');
    run(cwd, 'add', '.');
    run(cwd, 'commit', '-qm', 'start');
    const succeed = async (...argv: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await ktx(argv, { cwd, env });
      expect(code, stdout + stderr).toBe(0);
      return stdout;
    };
    const rowsOf = async (...argv: readonly string[]): Promise<unknown> => {
      const { envelope } = await ktxJson(argv, { cwd, env });
      return (envelope.data as { readonly rows?: unknown } | undefined)?.rows ?? envelope.error;
    };
    const words = ['connection', 'add', 'lake', '--driver', driver, ...flags.split(' ')];
    expect(await succeed(...words, written, '--schema', schema)).toContain('3 tables');
    await succeed('ingest');
    const datasets = await succeed('sl', 'list');
    expect(datasets).toMatch(/^crm_eu_2__orders +count$/m);
    expect(datasets).toMatch(/^orders +count, total_amount +crm_eu_2__accounts$/im);
    expect(await succeed('search', 'accounts')).toContain('dataset:lake.crm_eu_2__accounts');
    expect(await succeed('check')).toContain('Nothing stale, contested or invalid.');
    const region = 'crm_eu_2__accounts.sales_region';
    const amount = driver === 'snowflake' ? 'orders.total_AMOUNT' : 'orders.total_amount';
    const byRegion = await rowsOf('sl', 'query', '-m', amount, '-d', region);
    expect(byRegion).toEqual(
      expect.arrayContaining([
        ['North', 285_915],
        ['South', 272_685],
      ]),
    );
    const both = await rowsOf('sl', 'query', '-m', 'orders.count', '-m', 'crm_eu_2__orders.count');
    expect(both).toEqual([[400, 5]]);
    const place = `${quote('crm-eu 2')}.${schema}`;
    expect(await rowsOf('sql', `SELECT sum(${quote('unit price')}) FROM ${place}.orders`)).toEqual([
      [500],
    ]);
    // Where rows have rules, a table without a dataset is closed, whatever its namesake has.
    rmSync(join(cwd, 'semantic-layer/lake/crm_eu_2__orders.yaml'));
    const rule = "access: [{role: north, where: 'account_id > 0'}]\n";
    appendFileSync(join(cwd, 'semantic-layer/lake/crm_eu_2__accounts.yaml'), rule);
    const asNorth = (table: string) =>
      rowsOf('sql', `SELECT count(*) FROM ${table}`, '--role', 'north');
    expect(await asNorth('orders')).toEqual([[400]]);
    expect(await asNorth(`${place}.orders`)).toMatchObject({ code: 'row_rules' });
    const foreign = await rowsOf('sql', `SELECT * FROM ${place}.salaries`);
    expect(foreign).toMatchObject({ code: expect.stringMatching(/gate_refused|missing_object/) });
  });
});
