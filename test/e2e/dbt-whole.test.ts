import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseClaims } from '../../src/context/claims/claims-file.ts';
import type { Dataset } from '../../src/semantic/model/dataset.ts';
import { ktxJson } from '../cli/run-cli.ts';
import { bakery, duckdbFile } from '../sources/dbt-fixture.ts';
import { run } from '../store/git-project.ts';

/** What dbt itself would know of the project. */
const column = z.object({ name: z.string(), description: z.string() });
const nodeSchema = z.object({
  unique_id: z.string(),
  resource_type: z.string(),
  name: z.string(),
  /** Of the table. */
  alias: z.string(),
  schema: z.string(),
  description: z.string(),
  columns: z.record(z.string(), column).default({}),
  attached_node: z.string().nullish(),
  column_name: z.string().nullish(),
  test_metadata: z
    .object({ name: z.string(), kwargs: z.record(z.string(), z.unknown()) })
    .nullish(),
});
const manifestSchema = z.object({
  nodes: z.record(z.string(), nodeSchema),
  metrics: z.record(z.string(), z.object({ name: z.string() })),
});
const nodes = () => Object.values(manifest.nodes);

let manifest: z.infer<typeof manifestSchema>;
const dirs: string[] = [];

/** The bakery with some of its project, in a repository of its own. */
async function projectWith(change: (bakeryDir: string) => void): Promise<string> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-bakery-')));
  dirs.push(dir);
  cpSync(bakery, join(dir, 'bakery'), { recursive: true });
  change(join(dir, 'bakery'));
  await duckdbFile(dir, readFileSync(join(bakery, 'warehouse.sql'), 'utf8'));
  const shop = 'shop: {driver: duckdb, path: warehouse.duckdb, schemas: [main, raw]}';
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `connections:\n  ${shop}\n  bakery: {driver: dbt, path: bakery, target_schema: main}\n`,
  );
  writeFileSync(join(dir, '.gitignore'), 'warehouse.duckdb*\ntarget/\n');
  run(dir, 'init', '-q', '-b', 'main');
  run(dir, 'add', '.');
  run(dir, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'start');
  expect(await ktxJson(['ingest'], { cwd: dir })).toMatchObject({
    code: 0,
    envelope: { data: { quarantined: [] } },
  });
  return dir;
}

/** Every file of the semantic layer and the wiki. */
function written(dir: string): Record<string, string> {
  const folders = ['semantic-layer/shop', 'wiki'];
  return Object.fromEntries(
    folders.flatMap((folder) =>
      readdirSync(join(dir, folder)).map((name) => [
        name,
        readFileSync(join(dir, folder, name), 'utf8'),
      ]),
    ),
  );
}

let whole: string;
beforeAll(async () => {
  manifest = manifestSchema.parse(
    JSON.parse(readFileSync(join(bakery, 'target/manifest.json'), 'utf8')),
  );
  whole = await projectWith(() => undefined);
});
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

function dataset(uniqueId: string): Dataset {
  const node = nodes().find((one) => one.unique_id === uniqueId);
  return load(
    readFileSync(join(whole, `semantic-layer/shop/${node?.alias}.yaml`), 'utf8'),
  ) as Dataset;
}

describe('a dbt project, as its manifest has it', () => {
  test('is there with every model, description and described column', () => {
    const models = nodes().filter(({ resource_type: type }) => type === 'model');
    expect(models.length).toBe(13);
    for (const { unique_id: id, description, columns } of models) {
      const { description: said, fields = [] } = dataset(id);
      if (description !== '') expect(said, id).toBe(description.trim());
      for (const { name, description: words } of Object.values(columns)) {
        const field = fields.find((one) => one.name === name);
        expect(field, `${id} ${name}`).toBeDefined();
        if (words !== '') expect(field?.description, `${id} ${name}`).toBe(words.trim());
      }
    }
  });

  test('with every test as a key, values or a join', () => {
    const tests = nodes().filter(({ resource_type: type }) => type === 'test');
    const seen = new Set<string>();
    for (const { attached_node: on, column_name: name, test_metadata: about } of tests) {
      if (typeof on !== 'string' || typeof name !== 'string' || !about || !on.startsWith('model.'))
        continue;
      const {
        primary_key: key = [],
        unique_keys: keys = [],
        fields = [],
        relationships = [],
      } = dataset(on);
      const place = `${on} ${name} ${about.name}`;
      seen.add(about.name);
      if (about.name === 'unique')
        expect(
          [key, ...keys].some((one) => one.join() === name),
          place,
        ).toBe(true);
      if (about.name === 'accepted_values')
        expect(fields.find((one) => one.name === name)?.values, place).toEqual(
          about.kwargs['values'],
        );
      if (about.name === 'relationships') {
        const to = /ref\('(\w+)'\)/.exec(String(about.kwargs['to']))?.[1];
        expect(relationships, place).toContainEqual(
          expect.objectContaining({ to, on: { [name]: about.kwargs['field'] } }),
        );
      }
    }
    expect([...seen].sort()).toEqual(
      expect.arrayContaining(['accepted_values', 'not_null', 'relationships', 'unique']),
    );
  });

  test('with every metric in place, or named as one that does not fit', async () => {
    const { envelope } = await ktxJson(['status', '--fast'], { cwd: whole });
    const { attention } = envelope.data as { attention: { unfit: readonly { reason: string }[] } };
    const named = attention.unfit.map(({ reason }) => reason).join('\n');
    const layer = Object.values(written(whole)).join('\n');
    const metrics = Object.values(manifest.metrics).map(({ name }) => name);
    expect(metrics.length).toBe(28);
    // A measure that is a metric by itself may bear its metric's name as a synonym.
    const missing = metrics.filter(
      (name) => !new RegExp(`(name: ${name}\\b|synonyms: \\[[^\\]]*\\b${name}\\b)`).test(layer),
    );
    for (const name of missing) expect(named, name).toContain(`metric ${name}:`);
    expect(missing.length).toBeLessThan(3);
  });

  test('is the same without its artifacts, and from its artifacts alone', async () => {
    const files = await projectWith((dir) => rmSync(join(dir, 'target'), { recursive: true }));
    expect(written(files)).toEqual(written(whole));
    const artifacts = await projectWith((dir) => {
      for (const path of ['dbt_project.yml', 'models', 'seeds', 'macros'])
        rmSync(join(dir, path), { recursive: true });
    });
    expect(written(artifacts)).toEqual(written(whole));
  });
});

test('a clone on another machine, where dbt never ran, has nothing to read again, and knows where everything comes from', async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-clone-')));
  dirs.push(dir);
  const clone = join(dir, 'clone');
  run(dir, 'clone', '-q', whole, clone);
  cpSync(join(whole, 'warehouse.duckdb'), join(clone, 'warehouse.duckdb'));
  const places = readdirSync(join(clone, 'claims/shop')).flatMap((name) => {
    const { claims, damaged } = parseClaims(
      name,
      readFileSync(join(clone, 'claims/shop', name), 'utf8'),
    );
    expect(damaged).toEqual([]);
    return claims.flatMap(({ subject, evidence }) => evidence.map((one) => ({ subject, ...one })));
  });
  expect(places.length).toBeGreaterThan(200);
  const fromFiles = places.filter(({ connection }) => connection === 'bakery');
  for (const { subject, item = '', location = '', quote = '' } of fromFiles) {
    const line = Number(/^line (\d+)/.exec(location)?.[1]);
    const lines = readFileSync(join(clone, item), 'utf8').split('\n');
    expect(lines.slice(line - 1).join('\n'), `${subject} ${item} ${location}`).toContain(
      quote.split('\n')[0]?.trim(),
    );
  }
  expect(fromFiles.length).toBeGreaterThan(100);
  const { code, envelope } = await ktxJson(['ingest'], { cwd: clone });
  expect([code, envelope.data]).toMatchObject([
    0,
    { commit: { none: 'unchanged' }, files: { added: [], changed: [], removed: [] } },
  ]);
  expect(run(clone, 'status', '--porcelain')).toBe('');
});
