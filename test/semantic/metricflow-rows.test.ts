import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

const script = `
CREATE TABLE stays (id INTEGER, house INTEGER, booked DATE, paid DATE, part DATE, price INTEGER);
INSERT INTO stays VALUES (1, 1, '2024-01-01', '2024-01-03', '2024-01-01', 10), (2, 1, '2024-01-02', '2024-01-03', '2024-01-02', 20),
  (3, 2, '2024-01-02', '2024-01-04', '2024-01-02', 40);
CREATE TABLE visits (id INTEGER, house INTEGER, seen DATE);
INSERT INTO visits VALUES (1, 1, '2024-01-02'), (2, 3, '2024-01-05');
CREATE TABLE houses (id INTEGER, town VARCHAR(9), owner INTEGER);
INSERT INTO houses VALUES (1, 'x', 7), (2, 'y', 8);
CREATE TABLE house_labels (id INTEGER, label VARCHAR(9));
INSERT INTO house_labels VALUES (1, 'green'), (2, 'red');
CREATE TABLE owners (id INTEGER, part DATE, name VARCHAR(9));
INSERT INTO owners VALUES (7, '2024-01-01', 'ann'), (7, '2024-01-02', 'anne'), (8, '2024-01-02', 'bob');
CREATE TABLE prices (house INTEGER, since DATE, until DATE, class VARCHAR(9));
INSERT INTO prices VALUES (1, '2024-01-01', '2024-01-02', 'low'), (1, '2024-01-02', NULL, 'high'), (2, '2023-01-01', NULL, 'mid');`;

const dbt = `
semantic_models:
  - name: stays
    model: ref('stays')
    defaults: {agg_time_dimension: booked}
    primary_entity: stay
    entities: [{name: house, type: foreign}]
    dimensions:
      - {name: booked, type: time, type_params: {time_granularity: day}}
      - {name: paid, type: time, type_params: {time_granularity: day}}
      - {name: part, type: time, is_partition: true, type_params: {time_granularity: day}}
    measures:
      - {name: stays, agg: sum, expr: 1}
      - {name: price, agg: sum}
      - {name: income, agg: sum, expr: price, agg_time_dimension: paid}
  - name: visits
    model: ref('visits')
    defaults: {agg_time_dimension: seen}
    primary_entity: visit
    entities: [{name: house, type: foreign}]
    dimensions: [{name: seen, type: time, type_params: {time_granularity: day}}]
    measures: [{name: visits, agg: count, expr: 1}]
  - name: houses
    model: ref('houses')
    entities: [{name: house, type: primary, expr: id}, {name: owner, type: foreign}]
    dimensions: [{name: town, type: categorical}]
  - name: house_labels
    model: ref('house_labels')
    entities: [{name: house, type: primary, expr: id}]
    dimensions: [{name: label, type: categorical}]
  - name: owners
    model: ref('owners')
    entities: [{name: owner, type: primary, expr: id}]
    dimensions:
      - {name: name, type: categorical}
      - {name: part, type: time, is_partition: true, type_params: {time_granularity: day}}
  - name: prices
    model: ref('prices')
    primary_entity: price_period
    entities: [{name: house, type: natural}]
    dimensions:
      - {name: since, type: time, type_params: {time_granularity: day, validity_params: {is_start: true}}}
      - {name: until, type: time, type_params: {time_granularity: day, validity_params: {is_end: true}}}
      - {name: class, type: categorical}
metrics:
  - {name: stay_count, type: simple, type_params: {measure: stays}}
  - {name: revenue, type: simple, type_params: {measure: price}}
  - {name: paid_revenue, type: simple, type_params: {measure: income}}
  - {name: visit_count, type: simple, type_params: {measure: visits}}
  - {name: filled, type: simple, type_params: {measure: {name: visits, fill_nulls_with: 0}}}
  - {name: dear, type: simple, type_params: {measure: stays}, filter: "{{ Dimension('house__town') }} = 'y'"}
  - {name: together, type: derived, type_params: {expr: stay_count + visit_count, metrics: [stay_count, visit_count]}}
`;

const cases: readonly (readonly [string, z.input<typeof querySchema>, readonly unknown[][]])[] = [
  [
    'one entity leads to each semantic model that has it, whatever the fact',
    { metrics: ['revenue', 'visit_count'], dimensions: ['house.town', 'house.label'] },
    [
      ['x', 'green', 30, 1],
      ['y', 'red', 40, null],
      [null, null, null, 1],
    ],
  ],
  [
    'a path of entities takes the partition of the fact',
    { metrics: ['revenue'], dimensions: ['house.owner.name'] },
    [
      ['ann', 10],
      ['anne', 20],
      ['bob', 40],
    ],
  ],
  [
    'a natural entity joins the row that is valid at the time of the fact',
    { metrics: ['revenue'], dimensions: ['house.class'] },
    [
      ['high', 20],
      ['low', 10],
      ['mid', 40],
    ],
  ],
  [
    'a measure has a time of its own',
    { metrics: ['revenue', 'paid_revenue'], dimensions: ['metric_time.day'] },
    [
      ['2024-01-01', 10, null],
      ['2024-01-02', 60, null],
      ['2024-01-03', null, 30],
      ['2024-01-04', null, 40],
    ],
  ],
  [
    'conditions on metric_time are about the time of each metric',
    { metrics: ['revenue', 'paid_revenue'], where: ["metric_time.day <= '2024-01-03'"] },
    [[70, 30]],
  ],
  [
    'without rows a metric is NULL, also in arithmetic, unless it is filled',
    {
      metrics: ['visit_count', 'filled', 'together'],
      dimensions: ['house.town'],
      skip_empty: true,
    },
    [
      ['x', 1, 1, 3],
      ['y', null, 0, null],
      [null, 1, 1, null],
    ],
  ],
  [
    'skip_empty leaves out groups without a row that meets the filter',
    { metrics: ['dear'], dimensions: ['metric_time.day'], skip_empty: true },
    [['2024-01-02', 1]],
  ],
  [
    'without skip_empty these groups stay',
    { metrics: ['dear'], dimensions: ['metric_time.day'] },
    [
      ['2024-01-01', null],
      ['2024-01-02', 1],
    ],
  ],
  ['an entity lists its own members', { dimensions: ['house.town'] }, [['x'], ['y']]],
];

beforeAll(loadAnalyzer);

for (const name of [...engineNames, 'mysql'] as const) {
  describe.skipIf(name === 'mysql' && !hasMariadb)(
    `rows of an imported dbt project on ${name}`,
    () => {
      let engine: Engine;
      let model: SemanticModel;
      beforeAll(async () => {
        engine = await engineWith(name, script);
        const { datasets } = readMetricflow([dbt], engine.warehouse.dialect);
        const files = Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)]));
        model = (await load(files, engine.warehouse.dialect)).model;
      });
      afterAll(async () => engine.close());

      test.each(cases)('%s', async (_, query, expected) => {
        const { sql } = compile(model, query);
        const rows = await rowsOf(engine, sql);
        expect(rows.map((row) => row.map(comparable))).toEqual(expected);
      });
    },
  );
}

function comparable(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  return /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell.slice(0, 10);
}
