import { readFileSync } from 'node:fs';
import { load as readYaml, loadAll } from 'js-yaml';
import { stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { type Dataset, datasetSchema } from '../../src/semantic/model/dataset.ts';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { writeMetricflow } from '../../src/semantic/formats/metricflow/write.ts';
import { readOssie } from '../../src/semantic/formats/ossie/read.ts';
import { writeOssie } from '../../src/semantic/formats/ossie/write.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { filesOf, suiteSchema } from '../conformance/convert.ts';
import { files as hazards } from './hazards/model.ts';
import { load, shop } from './shop.ts';

await loadAnalyzer();
const dialect = findDialect('duckdb');
const suite = suiteSchema.parse(
  JSON.parse(readFileSync(new URL('../conformance/semantic-layer.json', import.meta.url), 'utf8')),
);
const golden = loadAll(readFileSync(new URL('golden/model.yaml', import.meta.url), 'utf8'));

/** What neither Ossie nor dbt has a word for. */
const odd = {
  sales: `
dataset: sales
source: mart.sales
pii: 'no'
values: off
primary_key: [id]
default_time: sold_on
fiscal_year_start: 4
parameters:
  - {name: currency, type: string, default: EUR, values: [EUR, USD]}
  - {name: least, type: integer}
fields:
  - {name: id, type: integer}
  - {name: buyer_id, type: integer, pii: yes}
  - {name: agent, pii: true, values: off}
  - {name: sold_on, type: date}
  - {name: amount, type: decimal, expr: {default: amount, snowflake: to_number(amount)}}
  - {name: is_large, expr: amount > param.least, type: boolean}
segments: [{name: chosen, where: currency = param.currency}]
metrics:
  - {name: count, agg: count}
  - {name: group, agg: sum, of: amount}
  - {name: chosen, agg: sum, of: amount, where: currency = param.currency}
  - {name: to_date, cumulative: {of: chosen, grain_to_date: fiscal_year}}
  - {name: net, expr: sales.group - count}
  - {name: odd, expr: select - count}
  - {name: of_all, total: {of: count, by: [sales.tiers.tier]}}
relationships:
  - {to: tiers, on: {buyer_id: buyer_id}, within: {field: sold_on, from: since, to: until, includes_end: true}}
access: [{role: all, where: 'true'}]
`,
  tiers: `
dataset: tiers
source: mart.tiers
primary_key: [buyer_id]
unique_keys: [[buyer_id, since]]
fields: [{name: buyer_id, type: integer}, {name: tier, type: string}, {name: since, type: date}, {name: until, type: date}]
row_metrics: [{name: sales_each, metric: sales.count, via: sales.tiers}]
`,
};

/** An empty list says nothing. */
const parsed = (texts: readonly string[]) =>
  texts.map((text) =>
    datasetSchema.parse(
      JSON.parse(
        JSON.stringify(readYaml(text), (_, value: unknown) =>
          Array.isArray(value) && value.length === 0 ? undefined : value,
        ),
      ),
    ),
  );
const models: Readonly<Record<string, readonly Dataset[]>> = {
  ...Object.fromEntries(
    Object.keys(suite.models).map((name) => [
      `${name} of the conformance cases`,
      parsed(filesOf(suite, name).map(({ text }) => text)),
    ]),
  ),
  'the golden queries': golden.map((one) => datasetSchema.parse(one)),
  'the shop': parsed(Object.values(shop)),
  'the record shop': parsed(Object.values(hazards)),
  'what others have no word for': parsed(Object.values(odd)),
};

describe('out to Ossie, in, and out again', () => {
  test.each(Object.entries(models))('%s: the same bytes, and nothing lost', (_, datasets) => {
    const { text } = writeOssie(datasets, { dialect, name: 'warehouse' });
    const { datasets: back, misfits } = readOssie(text, dialect);
    expect(misfits).toEqual([]);
    expect(back).toEqual(datasets);
    // By way of the files that an import writes.
    const filed = parsed(back.map((one) => stringify(one)));
    expect(writeOssie(filed, { dialect, name: 'warehouse' }).text).toBe(text);
  });
});

test('Ossie does not tell others of a join that its range alone makes to one', () => {
  const { text, misfits } = writeOssie(models['what others have no word for'] ?? [], {
    dialect,
    name: 'warehouse',
  });
  expect(readYaml(text)).not.toHaveProperty('semantic_model.0.relationships');
  expect(misfits).toContainEqual({
    at: 'relationships.sales.tiers',
    message: 'Ossie joins by equal columns only; other tools will not see it',
  });
});

describe('out to dbt', () => {
  const { text, misfits } = writeMetricflow(models['what others have no word for'] ?? [], {
    dialect,
  });

  test('what it has no word for is named, with the reason, and never written as something near to it', () => {
    expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toEqual([
      'relationships.sales.tiers: left out: dbt joins by equal values, not by ranges',
      'metrics.sales.group: is called the_group in dbt',
      'metrics.sales.chosen: left out: dbt has no parameters',
      'metrics.sales.to_date: left out: dbt has no fiscal periods of its own',
      expect.stringMatching(/^metrics\.sales\.odd: left out: ktx cannot read "select - count": /),
      'metrics.sales.of_all: left out: dbt has no totals over all groups',
      'datasets.sales: ktx assumes that its dbt model is called sales',
      'datasets.sales: dbt has no equivalent for: segments, parameters, fiscal_year_start, values, pii, type of fields, values of fields, pii of fields',
      'datasets.sales: dbt has no row rules (access): there, everyone sees every row',
      'fields.sales.is_large: left out: dbt has no parameters',
      'datasets.tiers: ktx assumes that its dbt model is called tiers',
      'datasets.tiers: dbt has no equivalent for: row_metrics, keys of several columns, type of fields',
    ]);
    expect(text).not.toMatch(/param\.|tiers_|foreign/);
  });

  test('a metric named by a word of SQL is one that SQL can name, there and back', async () => {
    const back = readMetricflow([text], dialect);
    expect(back.misfits).toEqual([]);
    const { model, diagnostics } = await load(
      Object.fromEntries(back.datasets.map((one) => [one.dataset, stringify(one)])),
    );
    expect(diagnostics).toEqual([]);
    expect([...(model.datasets.get('sales')?.metrics.keys() ?? [])]).toEqual([
      'count',
      'the_group',
      'net',
    ]);
    const foreign = text.replaceAll('the_group', 'group');
    const { datasets } = readMetricflow([foreign], dialect);
    expect(datasets[0]?.metrics?.at(-1)).toEqual({ name: 'net', expr: 'sales.group - count' });
  });
});
