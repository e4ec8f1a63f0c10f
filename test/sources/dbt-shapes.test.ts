import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { duckdbCatalog, readDbtProject, writeFiles } from './dbt-fixture.ts';

let catalog: Catalog;
let dir: string;

beforeAll(async () => {
  const names = [
    'mart.orders',
    'beta.orders',
    'pkg.orders',
    'beta.uses',
    'raw.events',
    'raw.items',
  ];
  const tables = names.map((name) => `CREATE TABLE ${name} (id INTEGER, code VARCHAR);`);
  catalog = await duckdbCatalog(
    `CREATE SCHEMA mart; CREATE SCHEMA beta; CREATE SCHEMA pkg; CREATE SCHEMA raw; ${tables.join('')}`,
    ['mart', 'beta', 'pkg', 'raw'],
  );
});
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-shapes-')));
  return () => rmSync(dir, { recursive: true, force: true });
});

/** As an editor on Windows writes it: a byte order mark, and CRLF. */
const windows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;

test('files of Windows say the same: byte order mark, line ends, folded texts, doc blocks', async () => {
  writeFiles(dir, {
    'dbt_project.yml': windows(`name: alpha
vars: {alpha: {src: crm}}
models:
  alpha:
    x: {+schema: mart, +tags: [daily]}
`),
    'models/x/models.yml': windows(`version: 2
models:
  - name: orders
    description: >
      Orders of
      everybody.
    columns:
      - {name: id, tests: [unique, not_null]}
      - name: code
        description: "Code {{ var('src') }}, {{ doc('code') }}"
`),
    'models/x/docs.md': windows('{% docs code %}\nthe code\n{% enddocs %}\n'),
    'models/x/orders.sql': windows("{{ config(tags=['ours']) }}\nselect 1 as id\n"),
  });
  const { said, problems, leftOut } = await readDbtProject(dir, catalog);
  expect([...problems, ...leftOut]).toEqual([]);
  const orders = 'dataset:shop.orders';
  expect(said(orders, 'description')).toEqual(['Orders of everybody.']);
  expect(said(orders, 'tags')).toEqual([['daily', 'ours']]);
  expect(said(orders, 'primary_key')).toEqual([['id']]);
  expect(said('field:shop.orders.code', 'description')).toEqual(['Code crm, the code']);
});

test('what cannot be resolved is named with what to set, and what hangs on it with the reason', async () => {
  writeFiles(dir, {
    'dbt_project.yml': 'name: alpha\n',
    'models/sources.yml': `sources:
  - name: crm
    database: "{{ env_var('DB', 'wh') }}"
    schema: "{{ env_var('SCHEMA') }}"
    tables: [{name: events, description: Events., columns: [{name: id, tests: [unique]}]}]
  - name: erp
    schema: "{% if target.name == 'prod' %}raw{% else %}dev{% endif %}"
    tables: [{name: items, description: Items.}]
models:
  - {name: off, description: Off., config: {enabled: "{{ var('use', false) }}"}}
`,
    'models/off.sql': 'select 1',
  });
  const { problems, leftOut, said } = await readDbtProject(dir, catalog);
  expect(problems).toEqual([
    expect.stringMatching(/env_var\('SCHEMA'\) cannot be resolved; set vars\.SCHEMA of/),
    expect.stringMatching(/schema of source erp\.items: if target\.name == 'prod', else, endif/),
  ]);
  expect(leftOut.toSorted()).toEqual([
    'models/sources.yml line 10: description of a disabled relation',
    'models/sources.yml line 5: description of a relation whose table is not resolved',
    'models/sources.yml line 5: test of a relation whose table is not resolved',
    'models/sources.yml line 8: description of a relation whose table is not resolved',
  ]);
  expect(said('dataset:shop.raw__events', 'description')).toEqual([]);
  const vars = { SCHEMA: 'raw' };
  const known = await readDbtProject(dir, catalog, { vars });
  expect(known.said('dataset:shop.raw__events', 'description')).toEqual(['Events.']);
});

describe('installed packages', () => {
  const files = {
    'dbt_project.yml': 'name: alpha\n',
    'models/orders.sql': 'select 1 as id',
    'models/orders.yml': 'models: [{name: orders, description: Ours.}]\n',
    'dbt_packages/pkg/models/orders.sql': 'select 1 as id',
    'dbt_packages/pkg/models/orders.yml': 'models: [{name: orders, description: Theirs.}]\n',
    'dbt_packages/dbt_utils/macros/star.sql': 'select 1',
  };

  test('are named where no artifact tells about them, and never mixed up with own models', async () => {
    writeFiles(dir, files);
    const { said, leftOut } = await readDbtProject(dir, catalog, { target_schema: 'beta' });
    expect(said('dataset:shop.beta__orders', 'description')).toEqual(['Ours.']);
    expect(said('dataset:shop.pkg__orders', 'description')).toEqual([]);
    expect(leftOut).toEqual(['packages.jsonl line 1: package without a manifest.json']);
  });

  test('with a manifest, their models are read and nothing is left out', async () => {
    const node = {
      resource_type: 'model',
      name: 'orders',
      alias: 'orders',
      schema: 'pkg',
      description: 'Theirs.',
      columns: {},
      config: {},
      fqn: ['pkg', 'marts', 'orders'],
    };
    const manifest = {
      metadata: { dbt_schema_version: 'https://schemas.getdbt.com/dbt/manifest/v12.json' },
      nodes: { 'model.pkg.orders': { ...node, unique_id: 'model.pkg.orders', group: 'theirs' } },
      groups: {
        'group.pkg.theirs': {
          resource_type: 'group',
          name: 'theirs',
          owner: { name: 'Vendor', email: null },
        },
      },
    };
    writeFiles(dir, { ...files, 'target/manifest.json': JSON.stringify(manifest) });
    const { said, leftOut } = await readDbtProject(dir, catalog, { target_schema: 'beta' });
    const theirs = 'dataset:shop.pkg__orders';
    expect(said(theirs, 'description')).toEqual(['Theirs.']);
    expect(said(theirs, 'owner')).toEqual(['Vendor']);
    expect(said(theirs, 'layer')).toEqual(['mart']);
    expect(leftOut).toEqual([]);
  });
});

test('models that only the manifest has are left out by name', async () => {
  const node = (name: string) => ({
    unique_id: `model.alpha.${name}`,
    resource_type: 'model',
    name: name.split('.')[0],
    alias: 'orders',
    schema: 'beta',
    description: 'Of the manifest.',
    columns: {},
    config: {},
    fqn: ['alpha', name],
  });
  const nodes = ['orders', 'orders.v2', 'gone'].map((name) => [`model.alpha.${name}`, node(name)]);
  writeFiles(dir, {
    'dbt_project.yml': 'name: alpha\n',
    'models/orders.sql': 'select 1 as id',
    'target/manifest.json': JSON.stringify({ metadata: {}, nodes: Object.fromEntries(nodes) }),
  });
  const { leftOut } = await readDbtProject(dir, catalog, { target_schema: 'beta' });
  expect(leftOut).toEqual(['artifacts/manifest.jsonl line 2: model that only the manifest has']);
});

test('two projects of one repository keep to their own schemas', async () => {
  const model = { 'models/orders.sql': 'select 1 as id' };
  const described = (text: string) => `models: [{name: orders, description: ${text}}]\n`;
  writeFiles(join(dir, 'a'), {
    'dbt_project.yml': 'name: alpha\n',
    'models/m.yml': described('Of alpha.'),
    ...model,
  });
  writeFiles(join(dir, 'b'), {
    'dbt_project.yml': 'name: beta\n',
    'models/m.yml': described('Of beta.'),
    'models/uses.yml': `models:
  - name: uses
    columns: [{name: id, tests: [{relationships: {to: "ref('alpha', 'orders')", field: id}}]}]
`,
    'models/uses.sql': "select * from {{ ref('alpha', 'orders') }}",
    ...model,
  });
  const a = await readDbtProject(join(dir, 'a'), catalog, { target_schema: 'mart' });
  const b = await readDbtProject(join(dir, 'b'), catalog, { target_schema: 'beta' });
  expect(a.said('dataset:shop.orders', 'description')).toEqual(['Of alpha.']);
  expect(a.said('dataset:shop.beta__orders', 'description')).toEqual([]);
  expect(b.said('dataset:shop.beta__orders', 'description')).toEqual(['Of beta.']);
  expect(b.problems).toEqual([
    expect.stringContaining("the project does not have ref('alpha', 'orders')"),
    expect.stringContaining("ref('alpha', 'orders'), which the project does not have"),
  ]);
});
