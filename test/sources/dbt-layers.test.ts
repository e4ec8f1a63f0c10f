import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import { duckdbCatalog, readDbtProject, writeFiles } from './dbt-fixture.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'fct_i', 'stg_j', 'k'] as const;
let catalog: Catalog;
let dir: string;

beforeAll(async () => {
  const tables = ['raw.k', ...names].map((name) => `CREATE TABLE ${name} (x INTEGER);`);
  catalog = await duckdbCatalog(`CREATE SCHEMA raw; ${tables.join('')}`);
});
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-layers-')));
  return () => rmSync(dir, { recursive: true, force: true });
});

/** The layer of each dataset. */
async function layers(files: Readonly<Record<string, string>>) {
  writeFiles(dir, { 'dbt_project.yml': 'name: shop\n', ...files });
  const { claims } = await readDbtProject(dir, catalog);
  const named = claims.filter(({ kind }) => kind === 'layer');
  return Object.fromEntries(
    named.map(({ subject, body }) => [subject.replace('dataset:shop.', ''), body]),
  );
}

test('the layer of a model stands in its folder, then in a tag, then in its name', async () => {
  const found = await layers({
    'models/staging/a.sql': 'select 1 as x',
    'models/marts/core/b.sql': 'select 1 as x',
    'models/marts/intermediate/c.sql': 'select 1 as x',
    'models/staging/fct_i.sql': 'select 1 as x',
    'models/d.sql': "{{ config(tags=['staging']) }} select 1 as x",
    'models/stg_j.sql': 'select 1 as x',
    'models/raw.yml': 'sources: [{name: raw, tables: [{name: k}]}]\n',
  });
  expect(found).toEqual({
    a: 'staging',
    b: 'mart',
    c: 'intermediate',
    fct_i: 'staging',
    d: 'staging',
    stg_j: 'staging',
    raw__k: 'raw',
  });
});

test('without any of them, its place in the graph tells', async () => {
  const found = await layers({
    'models/raw.yml': 'sources: [{name: raw, tables: [{name: k}]}]\n',
    'models/a.sql': "select * from {{ source('raw', 'k') }}",
    'models/b.sql': "select * from {{ ref('a') }}",
    'models/c.sql': "select * from {{ ref('b') }}",
    'models/d.sql': "select * from {{ source('raw', 'k') }}",
    'models/e.sql': "select * from {{ ref('a') }}",
    'models/f.sql': "select * from {{ ref('e') }}",
    'models/e.yml':
      "exposures: [{name: report, type: dashboard, owner: {name: A}, depends_on: [ref('e')]}]\n",
  });
  expect(found).toEqual({ raw__k: 'raw', a: 'staging', c: 'mart', e: 'mart', f: 'mart' });
});

test('an ephemeral model becomes a term that leads to the datasets that it is part of', async () => {
  writeFiles(dir, {
    'dbt_project.yml': 'name: shop\n',
    'models/int_x.sql': "{{ config(materialized='ephemeral') }} select 1 as x",
    'models/int_y.sql': "{{ config(materialized='ephemeral') }} select * from {{ ref('int_x') }}",
    'models/a.sql': "select * from {{ ref('int_y') }}",
    'models/b.sql': "select * from {{ ref('int_x') }}",
    'models/c.sql': "select * from {{ ref('a') }}",
    'models/gone.sql': "{{ config(enabled=false, materialized='ephemeral') }} select 1",
    'models/models.yml': `models:
  - name: int_x
    description: Rows that count.
    columns:
      - {name: x, description: The key., tests: [unique]}
      - {name: y, description: The value.}
  - {name: gone, description: Turned off.}
`,
  });
  const { said, leftOut, problems } = await readDbtProject(dir, catalog);
  const term = 'term:int_x_ephemeral_model';
  expect(problems).toEqual([]);
  expect(said(term, 'description')).toEqual([
    'Rows that count.\n\n- `x`: The key.\n- `y`: The value.',
  ]);
  expect(said(term, 'refs')).toEqual([['dataset:shop.a', 'dataset:shop.b']]);
  expect(leftOut).toEqual([
    'models/models.yml line 7: description of a disabled relation',
    'models/models.yml line 5: test of an ephemeral model',
  ]);
});
