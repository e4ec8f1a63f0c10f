import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { duckdbCatalog, readDbtProject, writeFiles } from './dbt-fixture.ts';

let catalog: Catalog;
let dir: string;

/** Three versions: one in a file of another name, one with an alias, the latest. */
const entry = `models:
  - name: orders
    description: Orders.
    latest_version: 2
    columns:
      - {name: order_id, description: Key., tests: [unique, not_null]}
      - {name: amount, description: Net.}
      - {name: code, description: Old code.}
    versions:
      - v: 1
        defined_in: orders_first
        description: The first orders.
        config: {alias: orders_archive}
      - v: 2
        columns:
          - {include: all, exclude: [code]}
          - {name: amount, description: Gross.}
          - {name: person_id, description: The buyer.}
      - v: 3.1
        columns: [{include: [order_id]}]
        tests: []
  - name: report
    columns:
      - {name: a, tests: [{relationships: {to: "ref('orders', v=1)", field: order_id}}]}
      - {name: b, tests: [{relationships: {to: "ref('orders')", field: order_id}}]}
      - {name: c, tests: [{relationships: {to: "ref('orders', version='3.1')", field: order_id}}]}
`;
const project = {
  'dbt_project.yml': 'name: shop\n',
  'models/orders.yml': entry,
  'models/orders_first.sql': 'select 1 as order_id where 1 = 1',
  'models/orders.sql': 'select 1 as order_id where 2 = 2',
  'models/orders_v3.1.sql': 'select 1 as order_id',
  'models/report.sql': "select * from {{ ref('orders', v=1) }} where 3 = 3",
};

beforeAll(async () => {
  catalog = await duckdbCatalog(`
    CREATE TABLE orders_archive (order_id INTEGER, amount DECIMAL(9, 2), code VARCHAR);
    CREATE TABLE orders_v2 (order_id INTEGER, amount DECIMAL(9, 2), person_id INTEGER);
    CREATE TABLE orders_v3_1 (order_id INTEGER);
    CREATE TABLE report (a INTEGER, b INTEGER, c INTEGER);`);
});
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-versions-')));
  writeFiles(dir, project);
  return () => rmSync(dir, { recursive: true, force: true });
});

test('each version of a model has its own table, description and columns', async () => {
  const { said, problems } = await readDbtProject(dir, catalog);
  expect(problems).toEqual([]);
  const described = (subject: string) => said(subject, 'description');
  expect(described('dataset:shop.orders_archive')).toEqual(['The first orders.']);
  expect(described('dataset:shop.orders_v2')).toEqual(['Orders.']);
  expect(described('dataset:shop.orders_v3_1')).toEqual(['Orders.']);
  expect(described('field:shop.orders_archive.code')).toEqual(['Old code.']);
  expect(described('field:shop.orders_archive.amount')).toEqual(['Net.']);
  expect(described('field:shop.orders_v2.amount')).toEqual(['Gross.']);
  expect(described('field:shop.orders_v2.person_id')).toEqual(['The buyer.']);
  for (const table of ['orders_archive', 'orders_v2', 'orders_v3_1'])
    expect(said(`dataset:shop.${table}`, 'primary_key'), table).toEqual([['order_id']]);
});

test('a reference leads to the table of its version, and without one to the latest', async () => {
  const { said } = await readDbtProject(dir, catalog);
  const target = (column: string) => said(`relationship:shop.report(${column})`, 'relationship');
  const joined = (to: string, own: string) => [
    { to, on: { [own]: 'order_id' }, cardinality: 'many_to_one' },
  ];
  expect(target('a')).toEqual(joined('orders_archive', 'a'));
  expect(target('b')).toEqual(joined('orders_v2', 'b'));
  expect(target('c')).toEqual(joined('orders_v3_1', 'c'));
});

test('the SQL of every version is read, and its file is no model of its own', async () => {
  const { extractions } = await readDbtProject(dir, catalog);
  const texts = extractions.flatMap(({ unread = [] }) => unread.map(({ text }) => text));
  expect(texts.toSorted()).toEqual([
    'select * from orders_archive where 3 = 3',
    'select 1 as order_id where 1 = 1',
    'select 1 as order_id where 2 = 2',
  ]);
});
