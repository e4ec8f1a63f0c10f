import * as fc from 'fast-check';
import { type Grain, grains } from './times.ts';
import type { World } from './world.ts';

const functions = [
  'sum', 'count', 'count_rows', 'avg', 'min', 'max', 'count_distinct', 'rows_in_a', 'closing', 'each', 'overall', 'over_g',
  'running', 'trailing', 'to_date', 'earlier', 'followed', 'follow_rate',
] as const; // prettier-ignore

export interface Aggregate {
  readonly owner: string;
  readonly function: (typeof functions)[number];
}

/** A dataset, or `metric_time`, and roles to follow from there. */
export interface Place {
  readonly start: string;
  readonly roles: readonly string[];
}

export interface Dimension extends Place {
  readonly field: 'g' | 'n' | 't' | 'z';
  readonly grain: Grain | undefined;
}

/** Of a row that a name leads to. */
export interface Test extends Place {
  readonly op: '=' | '<>' | '>' | 'null' | 'n>' | 't>=';
  readonly value: number | string;
}

/** One of the tests has to hold; `on` is whose metrics alone it is about. */
export interface Condition {
  readonly on: string | undefined;
  readonly tests: readonly Test[];
}

export interface Question {
  readonly metrics: readonly (Aggregate | { readonly op: '-' | '/'; readonly left: Aggregate; readonly right: Aggregate })[];
  readonly dimensions: readonly Dimension[];
  /** Joined by AND. */
  readonly where: readonly Condition[];
  readonly having: number | undefined;
  /** Datasets whose segment is asked for. */
  readonly segments: readonly string[];
  /** Columns by their place in the result. */
  readonly order: readonly { readonly column: number; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  readonly zone: 'UTC' | 'Europe/Paris' | 'America/New_York' | undefined;
  readonly weekStart: 'monday' | 'sunday';
  readonly includeEmpty: boolean;
  readonly fillTime: boolean;
}

const rarely = (weight: number) => fc.nat({ max: weight }).map((value) => value === 0);
const maybe = <Value>(value: fc.Arbitrary<Value>, freq: number) => fc.option(value, { nil: undefined, freq }).map((one) => one);

/** Places that a name of the query can mean: of most, the dataset itself. */
function placesIn({ datasets }: World): fc.Arbitrary<{ readonly place: Place; readonly end: string }> {
  const ups = datasets.flatMap(({ name, links }) =>
    links.flatMap(({ role, to, via }) => (via === undefined ? [{ from: name, role, to }] : [])),
  );
  const plain = datasets.map(({ name }) => ({ place: { start: name, roles: [] }, end: name }));
  const once = ups.map(({ from, role, to }) => ({ place: { start: from, roles: [role] }, end: to }));
  const twice = once.flatMap(({ place, end }) =>
    ups.filter(({ from }) => from === end).map(({ role, to }) => ({ place: { ...place, roles: [...place.roles, role] }, end: to })),
  );
  const byRoles = [once, twice].filter((one) => one.length > 0).map((one) => ({ weight: 1, arbitrary: fc.constantFrom(...one) }));
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...plain) }, ...byRoles);
}

function dimensionIn(world: World, measures: readonly string[]): fc.Arbitrary<Dimension> {
  const grain = fc.constantFrom(...grains);
  const daily = fc.constantFrom(...grains.filter((one) => one !== 'hour'), 'month' as const, 'month' as const);
  const own = placesIn(world).chain(({ place, end }) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constant({ ...place, field: 'g' as const, grain: undefined }) },
      { weight: 4, arbitrary: daily.map((cut) => ({ ...place, field: 't' as const, grain: cut })) },
      { weight: 2, arbitrary: grain.map((cut) => ({ ...place, field: 'z' as const, grain: cut })) },
      ...(measures.includes(end) ? [{ weight: 3, arbitrary: fc.constant({ ...place, field: 'n' as const, grain: undefined }) }] : []),
    ),
  );
  const conformed = daily.map((cut): Dimension => ({ start: 'metric_time', roles: [], field: 't', grain: cut }));
  return fc.oneof({ weight: 5, arbitrary: own }, { weight: 1, arbitrary: conformed });
}

function testIn(world: World, measures: readonly string[]): fc.Arbitrary<Test> {
  return placesIn(world).chain(({ place, end }) =>
    fc.oneof(
      fc
        .record({ op: fc.constantFrom('=' as const, '<>' as const), value: fc.constantFrom('a', 'b') })
        .map((test) => ({ ...place, ...test })),
      fc.integer({ min: -2, max: 6 }).map((value) => ({ ...place, op: '>' as const, value })),
      fc.constant({ ...place, op: 'null' as const, value: 0 }),
      fc.constantFrom('2024-01-15', '2024-02-01', '2024-03-02').map((value) => ({ ...place, op: 't>=' as const, value })),
      ...(measures.includes(end) ? [fc.integer({ min: -2, max: 6 }).map((value) => ({ ...place, op: 'n>' as const, value }))] : []),
    ),
  );
}

export function questionArbitrary(world: World): fc.Arbitrary<Question> {
  const measures = world.datasets.filter(({ measure }) => measure !== undefined).map(({ name }) => name);
  const dataset = fc.constantFrom(...world.datasets.map(({ name }) => name));
  // Mostly of one dataset: what several can all reach is little.
  const aggregates = dataset.chain((home) => {
    const owner = fc.oneof({ weight: 3, arbitrary: fc.constant(home) }, { weight: 1, arbitrary: dataset });
    const name = fc.constantFrom(...functions, 'followed' as const, 'followed' as const, 'trailing' as const, 'to_date' as const);
    const aggregate = fc.record({ owner, function: name });
    const derived = fc.record({ op: fc.constantFrom('-' as const, '/' as const), left: aggregate, right: aggregate });
    return fc.uniqueArray(fc.oneof(aggregate, aggregate, derived), { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) });
  });
  const condition = fc.record({ on: maybe(dataset, 6), tests: fc.array(testIn(world, measures), { minLength: 1, maxLength: 2 }) });
  return fc
    .record({
      metrics: aggregates,
      dimensions: fc.uniqueArray(dimensionIn(world, measures), { maxLength: 3, selector: nameOfDimension }),
      where: fc.oneof(fc.constant([]), fc.array(condition, { maxLength: 2 })),
      having: maybe(fc.integer({ min: -1, max: 4 }), 4),
      segments: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.uniqueArray(dataset, { minLength: 1, maxLength: 2 })),
      ordered: fc.array(fc.record({ at: fc.nat({ max: 5 }), dir: fc.constantFrom('asc' as const, 'desc' as const) }), { maxLength: 2 }),
      limit: maybe(fc.integer({ min: 1, max: 4 }), 5),
      zone: fc.constantFrom(undefined, 'UTC' as const, 'Europe/Paris' as const, 'America/New_York' as const),
      weekStart: fc.constantFrom('monday' as const, 'sunday' as const),
      includeEmpty: rarely(2),
      fillTime: rarely(3),
    })
    .map(({ ordered, ...rest }): Question => {
      const width = rest.metrics.length + rest.dimensions.length;
      const order = new Map(ordered.map(({ at, dir }) => [at % width, dir]));
      const isHourly = rest.dimensions.some(({ grain }) => grain === 'hour');
      return { ...rest, fillTime: rest.fillTime && !isHourly, order: [...order].map(([column, dir]) => ({ column, dir })) };
    });
}

export function nameOfDimension({ start, roles, field, grain }: Dimension): string {
  const parts = start === 'metric_time' ? [start] : [start, ...roles, field];
  return [...parts, ...(grain === undefined ? [] : [grain])].join('.');
}
