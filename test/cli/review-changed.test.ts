import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { read, write } from '../store/git-project.ts';
import { ktx, ktxJson, shopDatabase } from './run-cli.ts';

// A person decides for the metric of dbt. It moves, changes and goes: the decision follows it, then
// the question is open again with every number, and what was rejected never answers silently.

let cwd: string;
const subject = 'metric:warehouse.orders.revenue';

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'ktx-decided-'));
  shopDatabase(join(cwd, 'shop.db'));
  mkdirSync(join(cwd, 'dbt/models'), { recursive: true });
  write(cwd, 'dbt/dbt_project.yml', "name: shop\nversion: '1.0'\nmodel-paths: [models]\n");
  write(cwd, 'dbt/models/orders.sql', 'select * from raw.orders\n');
  write(cwd, 'dbt/models/models.yml', semanticModel);
  write(cwd, 'dbt/models/metrics.yml', metric('all'));
  write(cwd, 'looker/orders.view.lkml', view);
  const connections = {
    warehouse: 'sqlite, path: shop.db',
    dbt: 'dbt, path: dbt',
    looker: 'lookml, path: looker',
  };
  const lines = Object.entries(connections).map(([name, own]) => `  ${name}: {driver: ${own}}\n`);
  write(cwd, 'ktx.yaml', `connections:\n${lines.join('')}`);
  await ingest();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const semanticModel = `models: [{name: orders, columns: [{name: id}]}]
semantic_models:
  - name: orders
    model: ref('orders')
    entities: [{name: order, type: primary, expr: id}]
    dimensions: [{name: status, type: categorical}]
    measures: [{name: all, agg: sum, expr: amount}, {name: double, agg: sum, expr: amount * 2}]
`;
const metric = (measure: string) =>
  `metrics: [{name: revenue, type: simple, label: Revenue, type_params: {measure: ${measure}}}]\n`;
const view = `view: orders {
  sql_table_name: orders ;;
  measure: revenue { type: sum sql: \${TABLE}.amount * 0.5 ;; }
}
`;

const ingest = async () => expect((await ktx(['ingest'], { cwd })).code).toBe(0);

interface Version {
  readonly id: string;
  readonly gone?: true;
  readonly number?: { readonly value: number };
}

/** The versions of the metric that wait for a decision, the one that answers first. */
async function versions(): Promise<readonly Version[]> {
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  const { conflicts } = envelope.data as {
    readonly conflicts: readonly { readonly subject: string; readonly variants: Version[] }[];
  };
  return conflicts.find((conflict) => conflict.subject === subject)?.variants ?? [];
}

const numbers = async () => (await versions()).map(({ number }) => number?.value);

async function choose(number: number): Promise<void> {
  const { id = '' } = (await versions()).find((version) => version.number?.value === number) ?? {};
  expect((await ktx(['review', 'choose', subject, id], { cwd })).code).toBe(0);
  expect(await versions()).toEqual([]);
}

async function answer() {
  const { stdout, stderr } = await ktx(['sl', 'query', '-m', 'orders.revenue'], { cwd });
  return {
    number: Number(stdout.trim().split('\n').at(-1)),
    isContested: /contested/.test(stderr),
  };
}

test('a definition that only moves to another file stays decided', async () => {
  expect(await numbers()).toEqual([18300, 9150]);
  await choose(18300);
  rmSync(join(cwd, 'dbt/models/metrics.yml'));
  write(cwd, 'dbt/models/money.yml', metric('all'));
  await ingest();
  expect(await versions()).toEqual([]);
  expect(await answer()).toEqual({ number: 18300, isContested: false });
});

test('one that changes asks again, with its number before and now', async () => {
  write(cwd, 'dbt/models/money.yml', metric('double'));
  await ingest();
  expect(await numbers()).toEqual([36600, 9150, 18300]);
  expect(await answer()).toEqual({ number: 36600, isContested: true });
  const { stdout } = await ktx(['review'], { cwd });
  expect(stdout).toMatch(/= 36600 +\(shown\)/);
  expect(stdout).toMatch(/= 18300\n +no longer in dbt, sources\/dbt\/models\/\S+; .* chose it on /);
  await choose(36600);
});

test('one that goes leaves no silent answer to what was rejected', async () => {
  rmSync(join(cwd, 'dbt/models/money.yml'));
  await ingest();
  expect(await numbers()).toEqual([9150, 36600]);
  expect((await versions()).map(({ gone }) => gone)).toEqual([undefined, true]);
  expect(await answer()).toEqual({ number: 9150, isContested: true });
});

test('what nobody says any more can be chosen, and asks again when another source changes', async () => {
  await choose(36600);
  expect(read(cwd, 'pins.yaml')).toContain('says: {agg: sum');
  await ingest();
  expect(await answer()).toEqual({ number: 36600, isContested: false });
  write(cwd, 'looker/orders.view.lkml', view.replace('0.5', '0.25'));
  await ingest();
  expect(await numbers()).toEqual([36600, 4575]);
  expect(await answer()).toEqual({ number: 36600, isContested: true });
});
