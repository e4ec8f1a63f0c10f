import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/context/catalog/catalog.ts';
import type { MetricflowConfig } from '../../src/sources/metricflow/config.ts';
import { metricflow } from '../../src/sources/metricflow/source.ts';
import { bakeryCatalog, fetchAll, summary } from './dbt-fixture.ts';

const folder = new URL('../fixtures/metricflow', import.meta.url).pathname;
const config: MetricflowConfig = { driver: 'metricflow', path: folder };
let catalog: Catalog;

beforeAll(async () => {
  catalog = await bakeryCatalog();
});

async function extracted() {
  const { items, failed } = await fetchAll(metricflow, config, '/');
  const catalogs = new Map([['shop', catalog]]);
  return {
    items,
    failed,
    ...summary(metricflow.extract(items, { connection: 'mf', config, catalogs })),
  };
}

describe('semantic models in YAML of their own', () => {
  test('are read from lists and from documents, over the tables that they name', async () => {
    const { said, claims } = await extracted();
    expect(said('dataset:shop.baskets', 'primary_key')).toEqual([['basket_id']]);
    expect(said('dataset:shop.baskets', 'default_time')).toEqual(['bought_at']);
    expect(said('dataset:shop.people', 'unique_key')).toEqual([['person_id']]);
    expect(said('field:shop.baskets.size', 'synonyms')).toEqual([['basket_size']]);
    expect(said('relationship:shop.baskets(person_id)', 'relationship')).toEqual([
      { to: 'people', on: { person_id: 'person_id' }, cardinality: 'many_to_one' },
    ]);
    const [evidence] =
      claims.find(({ subject }) => subject === 'metric:shop.baskets.takings')?.evidence ?? [];
    expect(evidence).toMatchObject({
      item: 'sources/mf/baskets.yaml',
      location: 'line 27',
      origin: 'code',
      extractor: 'metricflow@1',
    });
  });

  test('give metrics; a filter finds its way to other datasets', async () => {
    const { said } = await extracted();
    const metric = (name: string) => said(`metric:shop.baskets.${name}`, 'metric')[0];
    expect(metric('takings')).toEqual({ agg: 'sum', of: 'net' });
    expect(metric('takings_of_regulars')).toEqual({
      agg: 'sum',
      of: 'net',
      where: "baskets.people.person_type = 'returning' and bought_at > '2025-01-01'",
    });
    expect(metric('running_takings')).toEqual({ cumulative: { of: 'takings', window: '2 weeks' } });
  });

  test('name what does not fit', async () => {
    const { problems } = await extracted();
    expect(problems).toMatchInlineSnapshot(`
      [
        "baskets.yaml line 16: baskets_at_the_till.gone is not in the table: dropped_column",
        "baskets.yaml line 66: unfinished: it has no denominator",
        "baskets.yaml line 71: new_kind: ktx does not know the metric type forecast",
        "baskets.yaml line 39: metric takings_by_month: its filter truncates basket__bought_at to month",
        "baskets.yaml line 50: metric odd: ktx has no aggregate histogram",
        "baskets.yaml line 55: metric round_about: it is made of itself: round_about → round_about",
        "baskets.yaml line 45: metric running_takings: ktx knows no time spine of this project, so a cumulative metric shows only periods that have rows, and a longer period shows the total at its end",
        "elsewhere.yml line 2: semantic model nowhere: the warehouse has no table not_built",
        "elsewhere.yml line 7: metric thing_count: no semantic model with a table in the warehouse has the measure things",
      ]
    `);
  });

  test('in a file that is broken stay as they were', async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-mf-')));
    writeFileSync(join(dir, 'broken.yml'), 'metrics:\n  - name: x\n   type: y\n');
    writeFileSync(join(dir, 'fine.yml'), 'metrics: []\n');
    const { items, failed } = await fetchAll(metricflow, { ...config, path: dir }, '/');
    expect(items.map(({ key }) => key)).toEqual(['fine.yml']);
    expect(failed).toMatchObject([
      { key: 'broken.yml', reason: expect.stringMatching(/^line 3: not YAML/) as unknown },
    ]);
    rmSync(dir, { recursive: true });
  });

  test('of a folder that is not there are an error', async () => {
    await expect(fetchAll(metricflow, { ...config, path: 'nowhere' }, '/')).rejects.toMatchObject({
      code: 'metricflow_folder_missing',
    });
  });
});
