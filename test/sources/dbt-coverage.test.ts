import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import type { DbtConfig } from '../../src/sources/dbt/config.ts';
import { addReferences } from '../../src/sources/dbt/files/models/declarations.ts';
import { openReferences } from '../../src/sources/dbt/files/references.ts';
import { namedEntries, parseYamlItem } from '../../src/sources/dbt/files/yaml-item.ts';
import { dbt } from '../../src/sources/dbt/source.ts';
import { bakery, bakeryCatalog, fetchAll, summary } from './dbt-fixture.ts';

const config: DbtConfig = { driver: 'dbt', path: 'bakery' };
let catalog: Catalog;
let dir: string;

beforeAll(async () => {
  catalog = await bakeryCatalog();
});
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-dbt-')));
  cpSync(bakery, join(dir, 'bakery'), { recursive: true });
  rmSync(join(dir, 'bakery/target'), { recursive: true });
  return () => rmSync(dir, { recursive: true, force: true });
});

async function extracted() {
  const { items } = await fetchAll(dbt, config, dir);
  const catalogs = new Map([['shop', catalog]]);
  const extractions = dbt.extract(items, { connection: 'dbt', config, catalogs });
  const leftOut = extractions.flatMap((extraction) => extraction.leftOut ?? []);
  return { ...summary(extractions), leftOut: leftOut.map(({ what }) => what) };
}

/** More of the entry of `stg_shops`, which has a description only. */
function addToShops(text: string): void {
  const path = join(dir, 'bakery/models/staging/_staging.yml');
  const own = '    description: Shops and the day that they opened.\n';
  writeFileSync(path, readFileSync(path, 'utf8').replace(own, own + text));
}

test.each([
  ["dbt_utils.expression_is_true: {expression: 'price > 0'}", 'price > 0'],
  ["dbt_utils.expression_is_true: {arguments: {expression: 'price > 0'}}", 'price > 0'],
  [
    "dbt_utils.expression_is_true: {expression: 'price > 0', config: {where: \"kind = 'bread'\"}}",
    "price > 0 where kind = 'bread'",
  ],
  [
    'dbt_utils.mutually_exclusive_ranges: {lower_bound_column: a, upper_bound_column: b, partition_by: c}',
    'ranges of one c from a to b do not overlap',
  ],
])('the test %s of a model is the constraint %s', async (written, constraint) => {
  addToShops(`    data_tests:\n      - ${written}\n`);
  const { said } = await extracted();
  expect(said('dataset:shop.stg_shops', 'constraint')).toContain(constraint);
});

test.each([
  ['not_null', 'shop_id is not null'],
  ['not_null: {where: "kind = \'bread\'"}', "shop_id is not null where kind = 'bread'"],
  ['accepted_values: {values: [a, 2], where: "x"}', "shop_id in ('a', 2) where x"],
  ['dbt_utils.accepted_range: {min_value: 0, max_value: 9.5}', 'shop_id >= 0 and shop_id <= 9.5'],
  ['dbt_utils.accepted_range: {min_value: 0, inclusive: false}', 'shop_id > 0'],
  ["dbt_utils.expression_is_true: {expression: '>= 1'}", 'shop_id >= 1'],
  ['dbt_utils.not_accepted_values: {values: ["it\'s"]}', "shop_id not in ('it''s')"],
  [
    'dbt_utils.not_null_proportion: {at_least: 0.95}',
    'shop_id is not null in at least 95 % of the rows',
  ],
  [
    'dbt_utils.relationships_where: {to: "ref(\'shops\')", field: shop_id, from_condition: "a = 1", to_condition: "1=1"}',
    'shop_id is in shops.shop_id where a = 1',
  ],
  ['dbt_expectations.expect_column_values_to_be_between: {min_value: 1}', 'shop_id >= 1'],
])('the test %s of a column is the constraint %s', async (written, constraint) => {
  addToShops(`    columns:
      - name: shop_id
        tests:
          - ${written}
`);
  const { said } = await extracted();
  expect(said('dataset:shop.stg_shops', 'constraint')).toEqual([constraint]);
});

test('keys are no constraints, and conditions in Jinja or of odd length are left out by name', async () => {
  const tests = [
    'dbt_utils.expression_is_true: {expression: \'{{ var("x") }} > 0\'}',
    `dbt_utils.expression_is_true: {expression: '${'x'.repeat(400)}'}`,
    'dbt_utils.recency: {datepart: day, field: bought_at, interval: 1}',
    'dbt_utils.equal_rowcount: {config: {enabled: false}}',
  ];
  addToShops(`    data_tests:\n${tests.map((written) => `      - ${written}\n`).join('')}`);
  const { said, leftOut } = await extracted();
  expect(said('dataset:shop.stg_shops', 'constraint')).toEqual([]);
  expect(said('dataset:shop.stg_people', 'constraint')).toEqual([]);
  expect(leftOut.filter((what) => what.startsWith('test'))).toEqual([
    'test dbt_utils.expression_is_true',
    'test dbt_utils.expression_is_true',
    'test dbt_utils.recency',
  ]);
});

test('what ktx has no place for is counted by kind, and empty mappings are not', async () => {
  const more = `
models:
  - name: gone_model
    description: It was dropped.
    columns: [{name: a, description: A column., tests: [not_null]}]
unit_tests:
  - {name: sums, model: products, given: [], expect: {rows: []}}
saved_queries:
  - {name: weekly, query_params: {metrics: [revenue]}}
macros:
  - {name: money, description: Money.}
`;
  const before = await extracted();
  addToShops(
    '    meta: {owner: team, slack: x}\n    access: public\n    config: {contract: {enforced: true}, meta: {}}\n    columns: [{name: town, description: 2024}]\n',
  );
  writeFileSync(join(dir, 'bakery/models/staging/more.yml'), more);
  const { said, leftOut } = await extracted();
  expect(said('field:shop.stg_shops.town', 'description')).toEqual(['2024']);
  const counts = (list: readonly string[]) => Map.groupBy(list, (what) => what);
  const added = [...counts(leftOut)].map(
    ([what, found]) =>
      [what, found.length - (counts(before.leftOut).get(what)?.length ?? 0)] as const,
  );
  expect(Object.fromEntries(added.filter(([, count]) => count > 0))).toEqual({
    'unit test': 1,
    'description of a macro': 1,
    meta: 1,
    access: 1,
    contract: 1,
    'description of a relation without a table': 2,
    'test of a relation without a table': 1,
  });
});

test('saved queries are claimed, and what of them is not read is named', async () => {
  const queries = `
saved_queries:
  - name: weekly
    label: Weekly revenue
    description: What the board reads.
    config: {meta: {owner: finance}}
    query_params:
      metrics: [revenue]
      group_by: ["TimeDimension('metric_time', 'week')"]
      order_by: ["-revenue"]
    exports: [{name: board, config: {export_as: table}}]
  - {name: unknown, query_params: {metrics: [no_such_metric]}}
  - {name: broken, query_params: 7}
`;
  writeFileSync(join(dir, 'bakery/models/queries.yml'), queries);
  const { said, problems, leftOut } = await extracted();
  expect(said('query:shop.weekly', 'saved_query')).toEqual([
    {
      description: 'What the board reads.',
      synonyms: ['Weekly revenue'],
      metrics: [expect.stringMatching(/^\w+\.revenue$/)],
      dimensions: ['metric_time.week'],
      owner: 'finance',
    },
  ]);
  expect(leftOut).toContain('export of a saved query');
  expect(leftOut).toContain('order of a saved query');
  expect(problems.join('\n')).toContain('unknown: its metric no_such_metric is not there');
  expect(problems.join('\n')).toContain('broken: query_params');
});

test('a seed whose table a source reads says what its YAML says', async () => {
  const seed = 'product_id,name\n1,Bun\n';
  writeFileSync(join(dir, 'bakery/seeds/goods.csv'), seed);
  writeFileSync(
    join(dir, 'bakery/seeds/goods.yml'),
    'seeds:\n  - name: goods\n    config: {schema: raw}\n    columns: [{name: kind, description: What it is.}]\n',
  );
  const { said, problems } = await extracted();
  expect(problems.join()).not.toContain('for goods');
  expect(said('field:shop.raw__goods.kind', 'description')).toEqual(['What it is.']);
});

test.each(['1', "'1'"])('ref without a version is the latest_version %s', (latest) => {
  const body = `models: [{name: towns, latest_version: ${latest}, versions: [{v: 1}, {v: 2}]}]`;
  const yaml = parseYamlItem({ key: 'models/towns.yml', path: 'models/towns.yml', body }, []);
  if (yaml === undefined) throw new Error('the YAML was not read');
  const [mapping = {}] = namedEntries(yaml, 'models');
  const towns = { kind: 'model', name: 'towns', entry: { yaml, mapping } } as const;
  const references = openReferences();
  addReferences(references, { declarations: [towns], yamlItems: [yaml], project: 'bakery' });
  expect(references.idOf("ref('towns')")).toBe('model.bakery.towns.v1');
});
