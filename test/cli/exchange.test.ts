import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as readYaml } from 'js-yaml';
import { expect, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import {
  renderVisibleDataset,
  readVisibleDatasets,
} from '../../src/project/answer/visible-datasets.ts';
import { ktx, ktxJson, shopProject } from './run-cli.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');

test('an Ossie model comes in as dataset files, and goes out as it was', async () => {
  const cwd = await shopProject();
  const text = fixture('ossie/tpcds_semantic_model.yaml');
  writeFileSync(join(cwd, 'tpcds.yaml'), text);
  const dry = await ktxJson(['sl', 'import', 'tpcds.yaml', '--dry-run'], { cwd });
  expect(dry.envelope.data).toMatchObject({
    format: 'ossie',
    written: expect.arrayContaining(['semantic-layer/warehouse/item.yaml']),
    misfits: [],
  });
  expect(existsSync(join(cwd, 'semantic-layer/warehouse/item.yaml'))).toBe(false);

  const imported = await ktx(['sl', 'import', 'tpcds.yaml'], { cwd });
  expect(imported.code).toBe(0);
  expect(imported.stdout).toContain('wrote semantic-layer/warehouse/store_sales.yaml');
  writeFileSync(join(cwd, 'semantic-layer/warehouse/item.yaml'), 'dataset: item\nsource: mine\n');
  const again = await ktx(['sl', 'import', 'tpcds.yaml'], { cwd });
  expect(again.stdout).toContain('kept: semantic-layer/warehouse/item.yaml');
  expect(readFileSync(join(cwd, 'semantic-layer/warehouse/item.yaml'), 'utf8')).toBe(
    'dataset: item\nsource: mine\n',
  );

  const plan = await ktx(
    ['sl', 'query', '-m', 'store_sales.total_sales', '-d', 'store.s_state', '--plan'],
    { cwd },
  );
  expect(plan.stdout).toContain('LEFT JOIN "tpcds"."public"."store"');
  const exported = await ktx(['sl', 'export', '--out', 'out.yaml'], { cwd });
  expect(exported.stdout).toContain('as ossie to out.yaml');
  const models = (
    readYaml(readFileSync(join(cwd, 'out.yaml'), 'utf8')) as { semantic_model: { name: string }[] }
  ).semantic_model;
  expect(models.map(({ name }) => name)).toContain('tpcds_retail_model');
});

test('a model goes out as dbt semantic models, with what dbt cannot say as notes', async () => {
  const cwd = await shopProject();
  mkdirSync(join(cwd, 'semantic-layer/warehouse'), { recursive: true });
  writeFileSync(
    join(cwd, 'semantic-layer/warehouse/orders.yaml'),
    'dataset: orders\nsource: orders\nprimary_key: [id]\nfields: [{name: id}]\n',
  );
  const { code, stdout, stderr } = await ktx(['sl', 'export', '--format', 'dbt'], { cwd });
  expect(code).toBe(0);
  expect(readYaml(stdout)).toMatchObject({
    semantic_models: expect.arrayContaining([
      expect.objectContaining({ name: 'orders' }),
    ]) as unknown,
  });
  expect(stderr).toContain('datasets.orders: ktx assumes that its dbt model is called orders');
  writeFileSync(join(cwd, 'dbt.yml'), stdout);
  const back = await ktxJson(['sl', 'import', 'dbt.yml', '--dry-run'], { cwd });
  expect(back.envelope.data).toMatchObject({
    format: 'dbt',
    kept: expect.arrayContaining(['semantic-layer/warehouse/orders.yaml']) as unknown,
  });
});

test('what is no model, or no format, is an error that lists the formats', async () => {
  const cwd = await shopProject();
  writeFileSync(join(cwd, 'notes.txt'), 'nothing of that kind');
  for (const argv of [
    ['sl', 'import', 'notes.txt'],
    ['sl', 'export', '--format', 'cube'],
    ['sl', 'import', 'notes.txt', '--format', 'cube'],
  ]) {
    const { code, envelope } = await ktxJson(argv, { cwd });
    expect({ code, error: envelope.error?.code, hint: envelope.error?.hint }).toMatchObject({
      code: 2,
      error: 'unknown_format',
      hint: expect.stringContaining('ossie'),
    });
  }
  expect((await ktxJson(['sl', 'import', 'absent.yaml'], { cwd })).envelope.error?.code).toBe(
    'file_not_found',
  );
});

test('agents read nothing of what other formats left', async () => {
  const cwd = await shopProject();
  const dataset =
    'dataset: kept\nsource: orders\nfields: [{name: id, extensions: {ossie: {add: {label: SECRET}}}}]\nextensions: {x: SECRET}\n';
  mkdirSync(join(cwd, 'semantic-layer/warehouse'), { recursive: true });
  writeFileSync(join(cwd, 'semantic-layer/warehouse/kept.yaml'), dataset);
  const project = await openProject(cwd);
  const texts = (await readVisibleDatasets(project, 'warehouse')).map(renderVisibleDataset);
  await project.close();
  expect(texts.join('')).toContain('name: id');
  expect(texts.join('')).not.toContain('SECRET');
});
