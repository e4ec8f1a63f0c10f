import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { compile, load } from './shop.ts';

const engines = [...engineNames, ...(hasMariadb ? (['mysql'] as const) : [])];

/** Visits of people around the ends of years, two of them at one time; purchases of some. */
const visits = [
  { person: 1, at: '2023-12-31 23:30:00', page: 'home' },
  { person: 1, at: '2024-01-01 00:15:00', page: 'shop' },
  { person: 2, at: '2024-02-29 12:00:00', page: 'home' },
  { person: 2, at: '2024-02-29 12:00:00', page: 'shop' },
  { person: 2, at: '2024-12-30 08:00:00', page: 'home' },
  { person: 3, at: '2021-01-03 05:00:00', page: 'home' },
  { person: 9, at: '2024-03-04 05:00:00', page: 'shop' },
];
const purchases = [
  { person: 1, on: '2024-01-02', amount: 10 },
  { person: 1, on: '2024-01-02', amount: 10 },
  { person: 2, on: '2024-03-01', amount: 5 },
  { person: 3, on: '2020-12-31', amount: 7 },
];
const people = [
  { id: 1, city: 'Ulm' },
  { id: 2, city: 'Ulm' },
  { id: 3, city: 'Bonn' },
  { id: 4, city: 'Bonn' },
];
const dayMs = 86_400_000;
const dayOf = (time: string | number) => new Date(time).toISOString().slice(0, 10);
/** 28 December 2020 to 8 January 2021, January to March 2024; retail weeks begin on Wednesday. */
const days = [
  ...Array.from({ length: 12 }, (_, index) => dayOf(Date.UTC(2020, 11, 28) + index * dayMs)),
  ...Array.from({ length: 91 }, (_, index) => dayOf(Date.UTC(2024, 0, 1) + index * dayMs)),
];
const retailWeek = (day: string) => {
  const time = Date.parse(day);
  return dayOf(time - ((new Date(time).getUTCDay() + 4) % 7) * dayMs);
};
const weekOnSpine = (at: string) =>
  days.includes(at.slice(0, 10)) ? retailWeek(at.slice(0, 10)) : null;

const script = `
CREATE TABLE visits (person INTEGER, seen_at TIMESTAMP NULL, page VARCHAR(9));
INSERT INTO visits VALUES ${visits.map(({ person, at, page }) => `(${person}, '${at}', '${page}')`).join(', ')};
CREATE TABLE purchases (person INTEGER, made_on DATE, amount INTEGER);
INSERT INTO purchases VALUES ${purchases.map(({ person, on, amount }) => `(${person}, '${on}', ${amount})`).join(', ')};
CREATE TABLE people (id INTEGER, city VARCHAR(9));
INSERT INTO people VALUES ${people.map(({ id, city }) => `(${id}, '${city}')`).join(', ')};
CREATE TABLE days (day DATE, retail_week DATE);
INSERT INTO days VALUES ${days.map((day) => `('${day}', '${retailWeek(day)}')`).join(', ')};`;

const files = {
  visits: `
dataset: visits
source: visits
default_time: seen_at
fields:
  - {name: person, type: integer}
  - {name: seen_at, type: datetime}
  - {name: page, type: string}
metrics:
  - {name: seen, agg: count}
  - {name: of_home, agg: count, where: page = 'home'}
  - {name: bought, conversion: {base: seen, to: purchases.spent, on: {person: person}, window: 7 days, calculation: conversions}}
  - {name: bought_from_home, conversion: {base: of_home, to: purchases.spent, on: {person: person}, window: 7 days, calculation: conversions}}
  - {name: week_later, offset: {of: seen, by: 2 days, over_time_spine: true}}
  - {name: so_far, cumulative: {of: seen, over_time_spine: true, period_agg: last}}
  - {name: shown, agg: count, join_to_timespine: true}
relationships: [{to: people, on: {person: id}, role: human}]
`,
  purchases: `
dataset: purchases
source: purchases
default_time: made_on
fields: [{name: person, type: integer}, {name: made_on, type: date}, {name: amount, type: integer}]
metrics: [{name: spent, agg: sum, of: amount}, {name: bought, agg: count}]
relationships: [{to: people, on: {person: id}, role: human}]
`,
  people: `
dataset: people
source: people
primary_key: [id]
entity: human
fields: [{name: id, type: integer}, {name: city, type: string}]
metrics:
  - {name: number, agg: count}
  - {name: buyers, agg: count, where: "metric_by(purchases.spent, human) > 5"}
`,
  days: `
dataset: days
source: days
primary_key: [day]
default_time: day
time_spine: {column: day, grain: day, custom_periods: {retail_week: retail_week}}
fields: [{name: day, type: date}, {name: retail_week, type: date}]
`,
};

/** Week of the year by ISO 8601: the week of its Thursday. */
function isoWeek(at: string): number {
  const day = new Date(`${at.slice(0, 10)}T00:00:00Z`);
  const thursday = new Date(day.getTime() + (3 - ((day.getUTCDay() + 6) % 7)) * dayMs);
  return (
    Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / dayMs / 7) + 1
  );
}
const numbers: Readonly<Record<string, (at: string) => number>> = {
  hour_of_day: (at) => Number(at.slice(11, 13)),
  day_of_week: (at) => ((new Date(`${at.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1,
  day_of_month: (at) => Number(at.slice(8, 10)),
  day_of_year: (at) =>
    (Date.parse(at.slice(0, 10)) - Date.UTC(Number(at.slice(0, 4)), 0, 1)) / dayMs + 1,
  week_of_year: isoWeek,
  month_of_year: (at) => Number(at.slice(5, 7)),
  quarter_of_year: (at) => Math.ceil(Number(at.slice(5, 7)) / 3),
  year_number: (at) => Number(at.slice(0, 4)),
};

type Cell = string | number | null;
const comparable = (rows: readonly (readonly unknown[])[]) =>
  rows
    .map((row) =>
      row.map((cell) => {
        if (cell === null) return null;
        const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
        return /^-?\d+(\.0+)?$/.test(text) ? Number(text) : text.slice(0, 10);
      }),
    )
    .map((row) => JSON.stringify(row))
    .toSorted();
const countBy = (values: readonly Cell[]): readonly (readonly Cell[])[] =>
  [...Map.groupBy(values, (value) => value)].map(([value, group]) => [value, group.length]);

describe.each(engines)('numbers and custom periods of a time on %s', (name) => {
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

  test.each(Object.entries(numbers))('%s', async (part, numberOf) => {
    const rows = countBy(visits.map(({ at }) => numberOf(at)));
    const metrics = ['visits.seen'];
    expect(await ask({ metrics, dimensions: [`visits.seen_at.${part}`] })).toEqual(
      comparable(rows),
    );
    const [[first] = []] = rows;
    const where = [`metric_time.${part} = ${first}`];
    expect(await ask({ metrics, where })).toEqual(
      comparable([[visits.filter(({ at }) => numberOf(at) === first).length]]),
    );
  });

  test('a period of the time spine groups and filters; times that it lacks have none', async () => {
    const metrics = ['visits.seen'];
    const weeks = visits.map(({ at }) => weekOnSpine(at));
    expect(await ask({ metrics, dimensions: ['metric_time.retail_week'] })).toEqual(
      comparable(countBy(weeks)),
    );
    const where = ["metric_time.retail_week >= '2024-02-28'"];
    const late = weeks.filter((week) => week !== null && week >= '2024-02-28');
    expect(late.length).toBeGreaterThan(2);
    expect(await ask({ metrics, where })).toEqual(comparable([[late.length]]));
    expect(await ask({ dimensions: ['metric_time.retail_week'] })).toEqual(
      comparable([...new Set(days.map(retailWeek))].map((week) => [week])),
    );
  });

  test('metrics over the time spine count by its custom periods and by numbers', async () => {
    const readDays = days.filter((day) =>
      visits.some(({ at }) => dayOf(Date.parse(day) - 2 * dayMs) === at.slice(0, 10)),
    );
    const moved = readDays.flatMap((day) =>
      visits
        .filter(({ at }) => dayOf(Date.parse(day) - 2 * dayMs) === at.slice(0, 10))
        .map(() => day),
    );
    const metrics = ['visits.week_later'];
    expect(moved.length).toBeGreaterThan(3);
    expect(await ask({ metrics, dimensions: ['metric_time.retail_week'] })).toEqual(
      comparable(countBy(moved.map(retailWeek))),
    );
    expect(await ask({ metrics, dimensions: ['metric_time.month_of_year'] })).toEqual(
      comparable(countBy(moved.map((day) => Number(day.slice(5, 7))))),
    );
    const upTo = (day: string) => visits.filter(({ at }) => at.slice(0, 10) <= day).length;
    const seenDays = days.filter((day) => upTo(day) > 0);
    const lastOf = [...Map.groupBy(seenDays, retailWeek)].map(([week, group]) => [
      week,
      upTo(group.at(-1) ?? ''),
    ]);
    expect(
      await ask({ metrics: ['visits.so_far'], dimensions: ['metric_time.retail_week'] }),
    ).toEqual(comparable(lastOf));
    const shown = [...new Set(days.map(retailWeek))].map((week) => [
      week,
      visits.filter(({ at }) => weekOnSpine(at) === week).length,
    ]);
    expect(
      await ask({ metrics: ['visits.shown'], dimensions: ['metric_time.retail_week'] }),
    ).toEqual(comparable(shown));
  });

  test('a metric by a field filters rows, in a query and in a metric; counts are 0 without rows', async () => {
    const spentBy = (person: number) =>
      purchases.filter((row) => row.person === person).reduce((sum, row) => sum + row.amount, 0);
    const where = ['metric_by(purchases.spent, human) > 5'];
    expect(await ask({ metrics: ['people.number'], where })).toEqual(
      comparable([[people.filter(({ id }) => spentBy(id) > 5).length]]),
    );
    expect(await ask({ metrics: ['people.buyers'], dimensions: ['people.city'] })).toEqual(
      comparable([
        ['Ulm', 1],
        ['Bonn', 1],
      ]),
    );
    // Visits of people who bought nothing: 9 is no person and has no purchase either.
    const nothing = ['metric_by(purchases.bought, human) = 0'];
    expect(await ask({ metrics: ['visits.seen'], where: nothing })).toEqual(comparable([[1]]));
    const ratio = ['metric_by(purchases.spent, human.city) > 10'];
    const spentIn = (city: string) =>
      people.filter((row) => row.city === city).reduce((sum, { id }) => sum + spentBy(id), 0);
    expect(
      await ask({ metrics: ['people.number'], dimensions: ['people.city'], where: ratio }),
    ).toEqual(
      comparable(
        ['Ulm', 'Bonn']
          .filter((city) => spentIn(city) > 10)
          .map((city) => [city, people.filter((row) => row.city === city).length]),
      ),
    );
    // By the column itself, also for values that no person has.
    const several = ['metric_by(visits.seen, human) > 1', 'metric_by(visits.of_home, human) > 1'];
    expect(await ask({ metrics: ['visits.seen'], where: several })).toEqual(comparable([[3]]));
    expect(() =>
      compile(model, { metrics: ['people.number'], where: ['metric_by(purchases.spent) > 1'] }),
    ).toThrow('metric_by(orders.revenue, customers.id)');
  });

  test('conversions of rows without keys count each later event once', async () => {
    const metrics = ['visits.bought'];
    // Person 1 bought twice after the visit of 1 January; of two visits at one time one counts.
    expect(
      await ask({ metrics, dimensions: ['visits.seen_at.day'], having: ['visits.bought > 0'] }),
    ).toEqual(
      comparable([
        ['2024-01-01', 20],
        ['2024-02-29', 5],
      ]),
    );
    expect(await ask({ metrics: ['visits.bought_from_home', 'visits.bought'] })).toEqual(
      comparable([[25, 25]]),
    );
    expect(
      await ask({
        metrics: ['visits.bought_from_home'],
        dimensions: ['visits.page'],
        having: ['visits.bought_from_home > 0'],
      }),
    ).toEqual(comparable([['home', 25]]));
  });
});
