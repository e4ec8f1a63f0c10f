import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { load as readYaml } from 'js-yaml';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { writeMetricflow } from '../../src/semantic/formats/metricflow/write.ts';
import { type Dataset, datasetSchema } from '../../src/semantic/model/dataset.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

/** Sales around the ends of months, on 31 January twice; the spine is longer than the sales. */
const sales = [
  { day: '2023-12-31', shop: 'a', amount: 5, buyer: 1 },
  { day: '2024-01-01', shop: 'a', amount: 7, buyer: 1 },
  { day: '2024-01-31', shop: 'a', amount: 10, buyer: 2 },
  { day: '2024-01-31', shop: 'b', amount: 20, buyer: 3 },
  { day: '2024-02-01', shop: 'b', amount: 3, buyer: 3 },
  { day: '2024-02-29', shop: 'a', amount: 40, buyer: 1 },
  { day: '2024-03-15', shop: 'b', amount: 2, buyer: 2 },
];
const dayOf = (time: Date) => time.toISOString().slice(0, 10);
const addDays = (day: string, count: number) =>
  dayOf(new Date(Date.parse(day) + count * 86_400_000));
/** From 30 December to 30 April. */
const spine = Array.from({ length: 123 }, (_, index) => addDays('2023-12-30', index));

const script = `
CREATE TABLE sales (id INTEGER, sold_on DATE, shop VARCHAR(5), amount INTEGER, buyer INTEGER);
INSERT INTO sales VALUES ${sales.map(({ day, shop, amount, buyer }, index) => `(${index}, '${day}', '${shop}', ${amount}, ${buyer})`).join(', ')};
CREATE TABLE days (day DATE);
INSERT INTO days VALUES ${spine.map((day) => `('${day}')`).join(', ')};`;

const files = {
  sales: `
dataset: sales
source: sales
primary_key: [id]
default_time: sold_on
missing: none
fields:
  - {name: id, type: integer}
  - {name: sold_on, type: date}
  - {name: shop, type: string}
  - {name: amount, type: integer}
  - {name: buyer, type: integer}
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: buyers, agg: count_distinct, of: buyer}
  - {name: filled, agg: sum, of: amount, join_to_timespine: true}
  - {name: filtered, agg: sum, of: amount, where: shop = 'a' and buyer > 1, join_to_timespine: true}
  - {name: zero, agg: sum, of: amount, join_to_timespine: true, default: 0}
  - {name: all_time, cumulative: {of: revenue, over_time_spine: true, period_agg: last}}
  - {name: all_time_first, cumulative: {of: revenue, over_time_spine: true}}
  - {name: month_window, cumulative: {of: revenue, window: 1 month, over_time_spine: true, period_agg: average}}
  - {name: to_date, cumulative: {of: revenue, grain_to_date: month, over_time_spine: true, period_agg: last}}
  - {name: buyers_of_two_months, cumulative: {of: buyers, window: 2 months, over_time_spine: true, period_agg: last}}
  - {name: by_week, time_granularity: week, cumulative: {of: revenue, over_time_spine: true}}
  - {name: by_week_again, cumulative: {of: revenue, window: 1 week}}
  - {name: month_ago, offset: {of: revenue, by: 1 month, over_time_spine: true}}
  - {name: buyers_month_ago, offset: {of: buyers, by: 1 month, over_time_spine: true}}
  - {name: month_start, offset: {of: revenue, to_grain: month, over_time_spine: true}}
  - {name: filled_ago, offset: {of: zero, by: 3 days, over_time_spine: true}}
  - {name: window_ago, offset: {of: month_window, by: 2 days, over_time_spine: true}}
`,
  days: `
dataset: days
source: days
primary_key: [day]
default_time: day
time_spine: {column: day, grain: day}
fields: [{name: day, type: date}]
`,
};

/** A month earlier, at most at the end of that month. */
function monthBefore(day: string, count = 1): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month - count, 0)).getUTCDate();
  return dayOf(new Date(Date.UTC(year, month - 1 - count, Math.min(date, last))));
}

type Sale = (typeof sales)[number];
type Measure = (rows: readonly Sale[]) => number;
const total: Measure = (rows) => rows.reduce((sum, { amount }) => sum + amount, 0);
const buyerCount: Measure = (rows) => new Set(rows.map(({ buyer }) => buyer)).size;
const periodOf = { day: (day: string) => day, month: (day: string) => `${day.slice(0, 7)}-01` };

/** For each day of the spine, the sales that it reads; days without any are left out. */
function readBy(reads: (day: string, sale: string) => boolean, rows: readonly Sale[] = sales) {
  return spine.flatMap((day) => {
    const read = rows.filter((sale) => reads(day, sale.day));
    return read.length === 0 ? [] : [{ day, rows: read }];
  });
}

/** One value for each period: of the values of its days, or of all their rows. */
function byPeriod<Value>(
  grain: keyof typeof periodOf,
  days: readonly { readonly day: string; readonly rows: readonly Sale[] }[],
  take: (days: readonly (readonly Sale[])[]) => Value,
): readonly (readonly [string, Value])[] {
  const groups = Map.groupBy(days, ({ day }) => periodOf[grain](day));
  return [...groups].map(([period, group]) => [period, take(group.map(({ rows }) => rows))]);
}

const lastOf = (measure: Measure) => (days: readonly (readonly Sale[])[]) =>
  measure(days.at(-1) ?? []);
const averageOf = (measure: Measure) => (days: readonly (readonly Sale[])[]) =>
  days.reduce((sum, rows) => sum + measure(rows), 0) / days.length;
const firstOf = (measure: Measure) => (days: readonly (readonly Sale[])[]) =>
  measure(days[0] ?? []);
const allOf = (measure: Measure) => (days: readonly (readonly Sale[])[]) => measure(days.flat());

const isBefore = (day: string, sale: string) => sale <= day;
const isInMonth = (day: string, sale: string) => sale <= day && sale > monthBefore(day);
const isInTwoMonths = (day: string, sale: string) => sale <= day && sale > monthBefore(day, 2);
const isToDate = (day: string, sale: string) => sale <= day && sale >= periodOf.month(day);
const isMonthAgo = (day: string, sale: string) => sale === monthBefore(day);
const isMonthStart = (day: string, sale: string) => sale === periodOf.month(day);
const monthStarts = (days: ReturnType<typeof readBy>) =>
  days.filter(({ day }) => day === periodOf.month(day));

type Expected = readonly (readonly unknown[])[];
/** The metric, the period, and the rows that follow from the definition by going through days. */
const cases: readonly (readonly [metric: string, grain: keyof typeof periodOf, rows: Expected])[] =
  [
    ['all_time', 'day', byPeriod('day', readBy(isBefore), lastOf(total))],
    ['all_time', 'month', byPeriod('month', readBy(isBefore), lastOf(total))],
    ['all_time_first', 'month', byPeriod('month', readBy(isBefore), firstOf(total))],
    ['month_window', 'day', byPeriod('day', readBy(isInMonth), lastOf(total))],
    ['month_window', 'month', byPeriod('month', readBy(isInMonth), averageOf(total))],
    ['to_date', 'day', byPeriod('day', readBy(isToDate), lastOf(total))],
    ['to_date', 'month', byPeriod('month', readBy(isToDate), lastOf(total))],
    ['buyers_of_two_months', 'day', byPeriod('day', readBy(isInTwoMonths), lastOf(buyerCount))],
    ['buyers_of_two_months', 'month', byPeriod('month', readBy(isInTwoMonths), lastOf(buyerCount))],
    ['month_ago', 'day', byPeriod('day', readBy(isMonthAgo), allOf(total))],
    ['month_ago', 'month', byPeriod('month', readBy(isMonthAgo), allOf(total))],
    ['buyers_month_ago', 'month', byPeriod('month', readBy(isMonthAgo), allOf(buyerCount))],
    ['month_start', 'day', byPeriod('day', readBy(isMonthStart), allOf(total))],
    ['month_start', 'month', byPeriod('month', monthStarts(readBy(isMonthStart)), allOf(total))],
    [
      'window_ago',
      'day',
      byPeriod(
        'day',
        readBy((day, sale) => isInMonth(addDays(day, -2), sale)),
        lastOf(total),
      ),
    ],
    [
      'filled',
      'day',
      spine.map((day) => [day, sumOrNull(sales.filter((sale) => sale.day === day))]),
    ],
    ['zero', 'day', spine.map((day) => [day, total(sales.filter((sale) => sale.day === day))])],
    [
      'zero',
      'month',
      [...Map.groupBy(spine, periodOf.month).keys()].map((month) => [
        month,
        total(sales.filter((sale) => periodOf.month(sale.day) === month)),
      ]),
    ],
    [
      'filled_ago',
      'day',
      spine.map((day) => [day, total(sales.filter((sale) => sale.day === addDays(day, -3)))]),
    ],
  ];

function sumOrNull(rows: readonly Sale[]): number | null {
  return rows.length === 0 ? null : total(rows);
}

function comparable(rows: Expected): readonly string[] {
  const cell = (value: unknown) => {
    if (value === null) return value;
    const isNumber = !Number.isNaN(Number(value));
    return isNumber ? Math.round(Number(value) * 1e4) / 1e4 : JSON.stringify(value).slice(1, 11);
  };
  return rows.map((row) => JSON.stringify(row.map(cell))).toSorted();
}

const engines = [...engineNames, ...(hasMariadb ? (['mysql'] as const) : [])];

test('a time spine and what reads it are written for dbt, and read back', async () => {
  const datasets = Object.values(files).map((text) => datasetSchema.parse(readYaml(text)));
  const dialect = findDialect('duckdb');
  await withAnalyzer(() => {
    const { text, misfits } = writeMetricflow(datasets, { dialect });
    expect(misfits.filter(({ message }) => message.startsWith('left out'))).toEqual([
      {
        at: 'metrics.sales.by_week_again',
        message:
          'left out: dbt would read the time spine, and it does not: add over_time_spine: true',
      },
    ]);
    const back = readMetricflow([text], dialect);
    expect(back.misfits.filter(({ at }) => at.startsWith('metrics'))).toEqual([]);
    const metricsOf = (list: readonly Dataset[]) =>
      list.find(({ dataset }) => dataset === 'sales')?.metrics ?? [];
    const withDefaults = metricsOf(datasets).filter(({ name }) => name !== 'by_week_again');
    const named = new Map(metricsOf(back.datasets).map((metric) => [metric.name, metric]));
    expect(withDefaults.map(({ name }) => named.get(name))).toMatchObject(withDefaults);
    const spineOf = (list: readonly Dataset[]) => list.find(({ dataset }) => dataset === 'days');
    expect(spineOf(back.datasets)).toEqual(spineOf(datasets));
  });
});

test('a semantic manifest declares its time spines in either form', async () => {
  const read = (configuration: object) =>
    readMetricflow(
      [JSON.stringify({ semantic_models: [], project_configuration: configuration })],
      findDialect('duckdb'),
    );
  const node_relation = { alias: 'days', relation_name: '"db"."main"."days"' };
  const newer = {
    node_relation,
    primary_column: { name: 'day', time_granularity: 'DAY' },
    custom_granularities: [{ name: 'retail_week', column_name: 'week_start' }, { name: 'season' }],
  };
  const older = { location: 'main.hours', column_name: 'at', grain: 'hour' };
  const { datasets, misfits } = await withAnalyzer(() =>
    read({ time_spines: [newer], time_spine_table_configurations: [older] }),
  );
  expect(datasets).toEqual([
    {
      dataset: 'days',
      source: '"db"."main"."days"',
      primary_key: ['day'],
      default_time: 'day',
      time_spine: {
        column: 'day',
        grain: 'day',
        custom_periods: { retail_week: 'week_start', season: 'season' },
      },
      fields: [{ name: 'day', type: 'date' }, { name: 'week_start' }, { name: 'season' }],
    },
    {
      dataset: 'hours',
      source: 'main.hours',
      primary_key: ['at'],
      default_time: 'at',
      time_spine: { column: 'at', grain: 'hour' },
      fields: [{ name: 'at', type: 'datetime' }],
    },
  ]);
  expect(misfits).toEqual([]);
});

test('a filter on a time is refused where MetricFlow applies it to the time spine', async () => {
  const text = `
semantic_models:
  - name: sales
    model: x.sales
    defaults: {agg_time_dimension: sold_on}
    entities: [{name: sale, type: primary, expr: id}]
    dimensions: [{name: sold_on, type: time, type_params: {time_granularity: day}}]
    measures: [{name: revenue, agg: sum, expr: amount}]
metrics:
  - {name: recent, type: simple, type_params: {measure: revenue}, filter: "{{ TimeDimension('metric_time', 'day') }} > '2024-01-01'"}
  - {name: recent_so_far, type: cumulative, type_params: {cumulative_type_params: {metric: recent}}}
models: [{name: days, time_spine: {standard_granularity_column: day}, columns: [{name: day, granularity: day}]}]
`;
  const { misfits } = await withAnalyzer(() => readMetricflow([text], findDialect('duckdb')));
  expect(misfits).toEqual([
    {
      at: 'metrics.recent_so_far',
      message: expect.stringContaining('it reads the time spine, and its filter is about a time'),
    },
  ]);
});

describe.each(engines)('a total to date below the day on %s', (name) => {
  test('starts again with each hour, with a time spine and without', async () => {
    const minutes = ['10:58', '10:59', '11:00', '11:01', '11:59', '12:00'];
    const times = minutes.map((minute) => `2024-05-01 ${minute}:00`);
    const visits = ['10:58:30', '10:59:10', '11:01:05', '11:01:40', '12:00:20'];
    const engine = await engineWith(
      name,
      `CREATE TABLE visits (id INTEGER, seen_at TIMESTAMP NULL);
INSERT INTO visits VALUES ${visits.map((time, index) => `(${index}, '2024-05-01 ${time}')`).join(', ')};
CREATE TABLE minutes (seen_at TIMESTAMP NULL);
INSERT INTO minutes VALUES ${times.map((time) => `('${time}')`).join(', ')};`,
    );
    try {
      const { model, diagnostics } = await load(
        {
          visits: `
dataset: visits
source: visits
primary_key: [id]
default_time: seen_at
fields: [{name: id, type: integer}, {name: seen_at, type: datetime}]
metrics:
  - {name: seen, agg: count}
  - {name: so_far, cumulative: {of: seen, grain_to_date: hour}}
  - {name: of_spine, time_granularity: minute, cumulative: {of: seen, grain_to_date: hour, over_time_spine: true}}
`,
          minutes: `
dataset: minutes
source: minutes
primary_key: [seen_at]
default_time: seen_at
time_spine: {column: seen_at, grain: minute}
fields: [{name: seen_at, type: datetime}]
`,
        },
        engine.warehouse.dialect,
      );
      expect(diagnostics).toEqual([]);
      const ask = async (metric: string) => {
        const query = { metrics: [`visits.${metric}`], dimensions: ['metric_time.minute'] };
        const rows = await rowsOf(engine, compile(model, query).sql);
        return rows.map(([, count]) => Number(count));
      };
      // 10:58, 10:59, 11:01, 12:00 have visits; 11:59 only the spine, and 11:00 none before it.
      expect(await ask('so_far')).toEqual([1, 2, 2, 1]);
      expect(await ask('of_spine')).toEqual([1, 2, 2, 2, 1]);
    } finally {
      await engine.close();
    }
  });
});

describe.each(engines)('metrics over the time spine on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load(files, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });
  afterAll(async () => engine.close());

  const ask = async (query: Parameters<typeof compile>[1]) =>
    comparable(await rowsOf(engine, compile(model, query).sql));

  test.each(cases)('%s by %s', async (metric, grain, rows) => {
    expect(rows.length).toBeGreaterThan(1);
    const query = { metrics: [`sales.${metric}`], dimensions: [`metric_time.${grain}`] };
    expect(await ask(query)).toEqual(comparable(rows));
  });

  test('a condition on the time chooses periods of the spine, one on another field rows', async () => {
    const where = [
      "metric_time.day >= '2024-02-27'",
      "sales.shop = 'a'",
      "metric_time <= '2024-03-02'",
    ];
    const dimensions = ['metric_time.day'];
    const inA = sales.filter(({ shop }) => shop === 'a');
    const days = spine.filter((day) => day >= '2024-02-27' && day <= '2024-03-02');
    expect(await ask({ metrics: ['sales.all_time'], dimensions, where })).toEqual(
      comparable(days.map((day) => [day, total(inA.filter((sale) => sale.day <= day))])),
    );
    expect(await ask({ metrics: ['sales.zero'], dimensions, where })).toEqual(
      comparable(days.map((day) => [day, total(inA.filter((sale) => sale.day === day))])),
    );
  });

  test('another dimension has its own totals, and is NULL in periods that are added', async () => {
    const dimensions = ['metric_time.month', 'sales.shop'];
    const months = [...Map.groupBy(spine, periodOf.month).keys()];
    const windows = ['a', 'b'].flatMap((shop) =>
      byPeriod(
        'month',
        readBy(
          isInMonth,
          sales.filter((sale) => sale.shop === shop),
        ),
        averageOf(total),
      ).map(([month, value]) => [month, shop, value]),
    );
    expect(await ask({ metrics: ['sales.month_window'], dimensions })).toEqual(comparable(windows));
    const groups = Map.groupBy(sales, ({ day, shop }) => `${periodOf.month(day)} ${shop}`);
    const sold = [...groups].map(([key, rows]) => [...key.split(' '), total(rows)]);
    const added = months.filter((month) => !sold.some(([period]) => period === month));
    expect(added).toEqual(['2024-04-01']);
    expect(await ask({ metrics: ['sales.filled'], dimensions })).toEqual(
      comparable([...sold, ...added.map((month) => [month, null, null])]),
    );
    // A condition on a dimension of the result is not met by the added periods.
    const where = ["sales.shop = 'a'"];
    expect(await ask({ metrics: ['sales.filled'], dimensions, where })).toEqual(
      comparable(sold.filter(([, shop]) => shop === 'a')),
    );
    expect(() =>
      compile(model, {
        metrics: ['sales.filled'],
        dimensions,
        where: ["coalesce(sales.shop, 'a') = 'a'"],
      }),
    ).toThrow('periods of the time spine');
  });

  test('the filter of a metric drops added periods if the result has all of its fields', async () => {
    const metrics = ['sales.filtered'];
    const kept = sales.filter(({ shop, buyer }) => shop === 'a' && buyer > 1);
    const days = spine.map((day) => [day, sumOrNull(kept.filter((sale) => sale.day === day))]);
    const day = 'metric_time.day';
    expect(await ask({ metrics, dimensions: [day] })).toEqual(comparable(days));
    const all = { metrics, dimensions: [day, 'sales.shop', 'sales.buyer'], skip_empty: true };
    expect(await ask(all)).toEqual(
      comparable(kept.map((sale) => [sale.day, sale.shop, sale.buyer, sale.amount])),
    );
    expect(() => compile(model, { metrics, dimensions: [day, 'sales.shop'] })).toThrow(
      'on periods of the time spine',
    );
  });

  test('a metric that joins the spine is unchanged without a period of its time', async () => {
    expect(await ask({ metrics: ['sales.zero'], dimensions: ['sales.shop'] })).toEqual(
      comparable([
        ['a', 62],
        ['b', 25],
      ]),
    );
  });

  test('several metrics over the spine and over rows stand in one result', async () => {
    const metrics = ['sales.month_ago', 'sales.revenue', 'sales.revenue - sales.month_ago'];
    const where = ["metric_time.day >= '2024-02-29'", "metric_time.day <= '2024-03-31'"];
    const rows = ['02-29', '03-01', '03-15', '03-29', '03-30', '03-31'].map((date) => {
      const day = `2024-${date}`;
      const now = sumOrNull(sales.filter((sale) => sale.day === day));
      const then = sumOrNull(sales.filter((sale) => sale.day === monthBefore(day)));
      return [day, then, now, now === null || then === null ? null : now - then];
    });
    const answer = await ask({ metrics, dimensions: ['metric_time.day'], where });
    expect(answer).toEqual(
      comparable(rows.filter(([, then, now]) => then !== null || now !== null)),
    );
    expect(answer).toHaveLength(6);
  });

  test('what MetricFlow does not define is refused', () => {
    const refuse = (metric: string, dimension: string, why: string) =>
      expect(() => compile(model, { metrics: [metric], dimensions: [dimension] })).toThrow(why);
    refuse('sales.by_week', 'metric_time.month', 'A week can begin in one month');
    refuse('sales.window_ago', 'metric_time.month', 'by a longer period');
    refuse('sales.all_time', 'sales.shop', 'needs a period');
    refuse('sales.month_ago', 'metric_time', 'cannot be grouped by');
    refuse('sales.zero', 'metric_time.hour', 'no time spine');
  });

  test('metric_time without a metric is the periods of the spine', async () => {
    const where = ["metric_time.day >= '2024-01-15'"];
    expect(await ask({ dimensions: ['metric_time.month'], where })).toEqual(
      comparable([['2024-01-01'], ['2024-02-01'], ['2024-03-01'], ['2024-04-01']]),
    );
  });
});
