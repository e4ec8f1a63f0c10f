import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { ownerText } from '../../src/sources/dbt/files/owners.ts';
import { dbt } from '../../src/sources/dbt/source.ts';
import { duckdbCatalog, fetchAll, readDbtProject, summary, writeFiles } from './dbt-fixture.ts';

let catalog: Catalog;
let dir: string;

const models = `groups:
  - name: finance
    owner: {name: Finance team, email: fin@example.org}
models:
  - {name: orders, group: finance}
  - {name: refunds, config: {group: finance, meta: {owner: Bo}}}
  - {name: people, meta: {owners: [Ana, {email: cy@example.org}]}}
  - {name: towns}
sources:
  - name: raw
    meta: {owner: Platform}
    tables: [{name: events}, {name: clicks, meta: {owner: Web}}]
semantic_models:
  - name: orders
    model: ref('orders')
    entities: [{name: order, type: primary, expr: order_id}]
    measures: [{name: total, agg: sum, expr: amount}]
metrics:
  - {name: total, type: simple, type_params: {measure: total}, config: {meta: {owner: Cleo, synonyms: [Ride income, 'MAR, mar net']}}}
exposures:
  - name: weekly
    label: Weekly report
    type: dashboard
    maturity: high
    url: https://bi.example.org/d/12
    owner: {name: Dan, email: dan@example.org}
    depends_on: [ref('orders'), metric('total')]
  - {name: broken, type: notebook, url: "javascript:alert(1)", owner: {name: Eve}, depends_on: []}
`;
const empty = 'select 1 as order_id';
const project = {
  'dbt_project.yml': 'name: shop\nmodels:\n  shop:\n    regions: {+meta: {owner: Regions team}}\n',
  'models/all.yml': models,
  'models/orders.sql': empty,
  'models/refunds.sql': "{{ config(group='finance') }} select 1 as order_id",
  'models/people.sql': empty,
  'models/towns.sql': empty,
  'models/regions/areas.sql': empty,
};

beforeAll(async () => {
  const names = ['orders', 'refunds', 'people', 'towns', 'areas', 'raw.events', 'raw.clicks'];
  const tables = names.map((name) => `CREATE TABLE ${name} (order_id INTEGER, amount INTEGER);`);
  catalog = await duckdbCatalog(`CREATE SCHEMA raw; ${tables.join('')}`);
});
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-owners-')));
  writeFiles(dir, project);
  return () => rmSync(dir, { recursive: true, force: true });
});

async function owners(): Promise<Record<string, unknown>> {
  const { claims } = await readDbtProject(dir, catalog);
  const named = claims.filter(({ kind }) => kind === 'owner');
  return Object.fromEntries(named.map(({ subject, body }) => [subject, body]));
}

test('owners stand in meta, in the group, in the settings of a folder, and in exposures', async () => {
  expect(await owners()).toEqual({
    'dataset:shop.orders': 'Finance team (fin@example.org)',
    'dataset:shop.refunds': 'Bo',
    'dataset:shop.people': 'Ana, cy@example.org',
    'dataset:shop.areas': 'Regions team',
    'dataset:shop.raw__events': 'Platform',
    'dataset:shop.raw__clicks': 'Web',
    'metric:shop.orders.total': 'Cleo',
    'term:weekly_report_dashboard': 'Dan (dan@example.org)',
    'term:broken_notebook': 'Eve',
  });
});

test('other names of a metric stand in its meta, which is then read', async () => {
  const { said, leftOut } = await readDbtProject(dir, catalog);
  expect(said('metric:shop.orders.total', 'synonyms')).toEqual([['Ride income', 'MAR', 'mar net']]);
  const ofMetric = leftOut.filter((line) => line.includes('meta'));
  expect(ofMetric).toEqual([]);
});

test('an exposure has its address, its maturity, and what it is made of', async () => {
  const { said, leftOut } = await readDbtProject(dir, catalog);
  const weekly = 'term:weekly_report_dashboard';
  expect(said(weekly, 'url')).toEqual(['https://bi.example.org/d/12']);
  expect(said(weekly, 'tags')).toEqual([['maturity high']]);
  expect(said(weekly, 'refs')).toEqual([['dataset:shop.orders', 'metric:shop.orders.total']]);
  expect(said('term:broken_notebook', 'url')).toEqual([]);
  expect(leftOut.filter((line) => line.includes('url'))).toHaveLength(1);
});

describe('CODEOWNERS', () => {
  const rules = `* @everyone
/dbt/models/ @modelers # the models
towns.sql @town-team @other
[Section] @nobody
/dbt/models/regions/
`;

  test('names the owners of files that say none themselves; the last rule counts', async () => {
    writeFiles(dir, { CODEOWNERS: rules.replaceAll('/dbt/', '/') });
    const found = await owners();
    expect(found['dataset:shop.towns']).toBe('@town-team, @other');
    expect(found['dataset:shop.orders']).toBe('Finance team (fin@example.org)');
    rmSync(join(dir, 'models/all.yml'));
    const { 'dataset:shop.orders': orders, ...others } = await owners();
    expect(orders).toBe('@modelers');
    expect(others['dataset:shop.areas']).toBe('Regions team');
    writeFiles(dir, { 'dbt_project.yml': 'name: shop\n' });
    expect((await owners())['dataset:shop.areas']).toBeUndefined();
  });

  test('of the repository above the project counts by its own paths, up to the folder of ktx', async () => {
    const within = join(dir, 'repository/dbt');
    mkdirSync(within, { recursive: true });
    writeFiles(within, { ...project, 'models/all.yml': '' });
    writeFiles(dir, { 'repository/.github/CODEOWNERS': rules });
    const read = async (projectDir: string, path: string) => {
      const config = { driver: 'dbt', path } as const;
      const { items } = await fetchAll(dbt, config, projectDir);
      const catalogs = new Map([['shop', catalog]]);
      const extractions = dbt.extract(items, { connection: 'dbt', config, catalogs });
      return summary(extractions).said('dataset:shop.orders', 'owner');
    };
    expect(await read(join(dir, 'repository'), 'dbt')).toEqual(['@modelers']);
    expect(await read(within, '.')).toEqual([]);
  });
});

test.each([
  ['Ana', 'Ana'],
  [{ name: 'Ana', email: ['a@example.org', 'b@example.org'] }, 'Ana (a@example.org)'],
  ['two\nlines\u202E', 'two lines'],
  ["{{ var('owner') }}", undefined],
  [12, undefined],
])('the owner %j is %j', (value, text) => expect(ownerText(value)).toBe(text));
