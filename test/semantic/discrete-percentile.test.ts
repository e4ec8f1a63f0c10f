import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const measured = `
dataset: measured
source: measured
primary_key: [id]
fields:
  - {name: id, type: integer}
  - {name: part, type: string}
  - {name: amount, type: decimal}
metrics:
  - {name: third, agg: percentile_disc, of: amount, fraction: 0.34}
  - {name: lowest, agg: percentile_disc, of: amount, fraction: 0}
  - {name: highest, agg: percentile_disc, of: amount, fraction: 1}
  - {name: seventh, agg: percentile_disc, of: id, fraction: 0.07}
  - {name: filtered, agg: percentile_disc, of: amount, fraction: 0.5, where: id > 2}
`;

// Three values in part a, only NULL in b. 0.07 * 100 is more than 7 in floating point.
const rows = [
  [1, 'a', 1.25],
  [2, 'a', 10.5],
  [3, 'a', 100.75],
  [4, 'b', null],
  ...Array.from({ length: 96 }, (_, index) => [index + 5, 'c', index]),
];
const literals = rows.map(([id, part, amount]) => `(${id}, '${part}', ${amount ?? 'NULL'})`);
const script = `CREATE TABLE measured (id INTEGER, part VARCHAR(9), amount DECIMAL(9, 2));
INSERT INTO measured VALUES ${literals.join(', ')};`;

describe.each([...engineNames, 'mysql' as const])('a discrete percentile on %s', (name) => {
  let engine: Engine;
  let model: Awaited<ReturnType<typeof load>>['model'];
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load({ measured }, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });
  afterAll(async () => engine.close());

  const answer = async (query: Parameters<typeof compile>[1]) =>
    (await rowsOf(engine, compile(model, query).sql)).map((row) =>
      row.map((cell) => (typeof cell === 'string' && /^\d/.test(cell) ? Number(cell) : cell)),
    );

  test('is a value that exists, per group and without NULL', async () => {
    const metrics = ['measured.third', 'measured.lowest', 'measured.highest', 'measured.filtered'];
    const where = ["measured.part in ('a', 'b')"];
    expect(await answer({ metrics, dimensions: ['measured.part'], where })).toEqual([
      ['a', 10.5, 1.25, 100.75, 100.75],
      ['b', null, null, null, null],
    ]);
  });

  test('takes the same value on every engine where a share of the rows is a whole number', async () => {
    expect(await answer({ metrics: ['measured.seventh'] })).toEqual([[7]]);
  });

  test('can be written in a query', async () => {
    const metrics = ['percentile_disc(measured.amount, 0.5)', 'percentile(measured.amount, 0.5)'];
    expect(
      await answer({ metrics, where: ["measured.part = 'a'", 'measured.amount < 50'] }),
    ).toEqual([[1.25, 5.875]]);
  });
});

test('where values are numbered, the greatest of booleans beside it is still one of bits', async () => {
  const flagged = measured
    .replace('{name: part, type: string}', '{name: is_new, type: boolean}')
    .replace('metrics:', 'metrics:\n  - {name: any_new, agg: max, of: is_new}');
  const { model } = await load({ measured: flagged }, findDialect('sqlserver'));
  const metrics = ['measured.third', 'measured.any_new'];
  expect(compile(model, { metrics }).sql).toMatch(/max\(CAST\(\[ktx ranked\]\.\[v2\] AS tinyint/);
});

test('it needs a fraction and numbers', async () => {
  const { diagnostics } = await load(
    { measured: measured.replace(', fraction: 0.34', '') },
    findDialect('duckdb'),
  );
  expect(diagnostics.map(({ message }) => message)).toEqual(['The metric third has no fraction']);
  const { model } = await load({ measured }, findDialect('duckdb'));
  const ofText = { metrics: ['percentile_disc(measured.part, 0.5)'] };
  expect(() => compile(model, ofText)).toThrow('percentile_disc needs numbers');
});

test('dbt measures say which kind they are, and an approximate one is left out', async () => {
  const measure = (name: string, params: string) =>
    `      - {name: ${name}, agg: percentile, expr: amount, create_metric: true, agg_params: {percentile: 0.9, ${params}}}`;
  const text = [
    'semantic_models:',
    '  - name: values',
    '    measures:',
    measure('continuous', 'use_discrete_percentile: false'),
    measure('discrete', 'use_discrete_percentile: true'),
    measure('estimate', 'use_approximate_percentile: true'),
  ].join('\n');
  const read = await withAnalyzer(() => readMetricflow([text], findDialect('duckdb')));
  const [dataset] = read.datasets;
  expect(dataset?.metrics?.map(({ name, agg, fraction }) => [name, agg, fraction])).toEqual([
    ['continuous', 'percentile', 0.9],
    ['discrete', 'percentile_disc', 0.9],
  ]);
  expect(read.misfits.map(({ message }) => message)).toContain(
    'left out: ktx has no approximate percentile',
  );
});
