import * as fc from 'fast-check';
import { resolvePath, Refusal } from './paths.ts';
import type { Span } from './times.ts';
import type { Cell, Chosen, Dataset, Link, Row, World } from './world.ts';

const key = fc.option(fc.integer({ min: 1, max: 6 }), { nil: null, freq: 7 });
/** Few, and a day, two weeks or a month apart, so that bounds are met. */
const days = fc.constantFrom(
  '2023-12-31',
  '2024-01-01',
  '2024-01-15',
  '2024-01-31',
  '2024-02-01',
  '2024-02-15',
  '2024-02-29',
  '2024-03-01',
  '2024-03-02',
  '2024-03-31',
  '2024-04-15',
);
const hours = fc.constantFrom('00:00:00', '00:30:00', '06:00:00', '23:30:00');
const cells = fc.record({
  g: fc.option(fc.constantFrom('a', 'a', 'b', 'c'), { nil: null, freq: 6 }),
  v: fc.option(fc.integer({ min: -4, max: 9 }), { nil: null, freq: 7 }),
  t: fc.option(days, { nil: null, freq: 9 }),
  m: fc.option(
    fc.tuple(days, hours).map(([day, hour]) => `${day} ${hour}`),
    { nil: null, freq: 9 },
  ),
  z: fc.option(
    fc.tuple(days, hours).map(([day, hour]) => `${day}T${hour}+00:00`),
    { nil: null, freq: 9 },
  ),
  keys: fc.array(key, { minLength: 4, maxLength: 4 }),
});

const names = ['ants', 'bees', 'cats', 'dogs', 'elks'];
/** What lies in ranges, what is one to one, what a bridge's pairs are: beside those. */
const [spansName, twinsName, pairsName] = ['spans', 'twins', 'pairs'] as const;
export const tableNames = [...names, spansName, twinsName, pairsName];

/** Mostly distances that days have. */
const span = fc.constantFrom<Span>(
  { count: 1, unit: 'day' },
  { count: 10, unit: 'day' },
  { count: 14, unit: 'day' },
  { count: 1, unit: 'day' },
  { count: 2, unit: 'week' },
  { count: 1, unit: 'week' },
  { count: 1, unit: 'month' },
  { count: 2, unit: 'month' },
  { count: 1, unit: 'quarter' },
);
const back = fc.constantFrom<Span>(
  { count: 1, unit: 'month' },
  { count: 1, unit: 'month' },
  { count: 1, unit: 'day' },
  { count: 1, unit: 'week' },
  { count: 2, unit: 'month' },
  { count: 1, unit: 'quarter' },
  { count: 1, unit: 'year' },
);
const traits = fc.record({
  rules: fc.option(
    fc.record({
      isFar: fc.boolean(),
      above: fc.integer({ min: -5, max: 0 }),
      none: fc.nat({ max: 14 }),
    }),
    { nil: undefined, freq: 2 },
  ),
  chosen: fc.record({ isFar: fc.boolean(), above: fc.integer({ min: -4, max: 1 }) }),
  far: fc.integer({ min: -3, max: 4 }),
  asked: fc.integer({ min: -1, max: 5 }),
  window: span,
  since: fc.constantFrom(
    'week' as const,
    'month' as const,
    'month' as const,
    'quarter' as const,
    'year' as const,
    'fiscal_quarter' as const,
    'fiscal_year' as const,
  ),
  within: fc.option(
    fc.oneof(
      span,
      fc.constantFrom<Span>(
        { count: 1, unit: 'day' },
        { count: 2, unit: 'week' },
        { count: 1, unit: 'month' },
      ),
    ),
    { nil: undefined, freq: 4 },
  ),
  back,
  clock: fc.constantFrom('t' as const, 't' as const, 'm' as const, 'z' as const),
  take: fc.constantFrom(
    'last' as const,
    'last' as const,
    'first' as const,
    'first' as const,
    'min' as const,
    'max' as const,
    'avg' as const,
  ),
  isOdd: fc.nat({ max: 11 }).map((value) => value === 0),
});

/** What the datasets of a world share, for the most part. */
const customs = fc.record({
  fiscal: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined, freq: 2 }),
  otherFiscal: fc.integer({ min: 1, max: 12 }),
  least: fc.option(fc.integer({ min: -2, max: 4 }), { nil: undefined, freq: 4 }),
  hasRules: fc.boolean(),
  clock: fc.option(fc.constantFrom('t' as const, 'm' as const, 'z' as const), {
    nil: undefined,
    freq: 2,
  }),
});

/** Cuts of a line into ranges that do not overlap, the first and the last of which may be open. */
const ranges = fc.record({
  field: fc.constantFrom('v' as const, 't' as const),
  includesEnd: fc.boolean(),
  byGroup: fc.boolean(),
  numbers: fc.uniqueArray(fc.integer({ min: -4, max: 9 }), { minLength: 2, maxLength: 4 }),
  days: fc.uniqueArray(days, { minLength: 2, maxLength: 4 }),
  isOpen: fc.tuple(fc.boolean(), fc.boolean()),
  from: fc.nat({ max: 9 }),
});

/** Mostly all of the other side. */
const only = fc.constantFrom(undefined, undefined, undefined, undefined, 'a', 'b');

const drawn = fc.record({
  shape: fc.array(
    fc.record({
      ups: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 2 }),
      isLoop: fc.boolean(),
      only,
    }),
    {
      minLength: 2,
      maxLength: 5,
    },
  ),
  tables: fc.array(fc.array(cells, { minLength: 3, maxLength: 9 }), { minLength: 8, maxLength: 8 }),
  all: fc.array(traits, { minLength: 8, maxLength: 8 }),
  customs,
  bridge: fc.option(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { nil: undefined }),
  within: fc.option(ranges, { nil: undefined, freq: 2 }),
  twin: fc.option(
    fc.record({
      of: fc.nat({ max: 9 }),
      keys: fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { minLength: 9, maxLength: 9 }),
    }),
    { nil: undefined, freq: 2 },
  ),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * Later datasets point at earlier ones, twice perhaps; one may point at itself; two may meet
 * through a bridge, one lie in ranges, one have a twin.
 */
export const worldArbitrary: fc.Arbitrary<World> = drawn.map((given): World => {
  const { shape, bridge, within, twin } = given;
  const count = shape.length;
  const base = shape.map(({ ups, isLoop, only: met }, index) => {
    const parents = index === 0 ? [] : ups.map((up) => names[up % index] ?? '');
    const links = parents.map((to, position): Link => {
      const role =
        parents.indexOf(to) === position && parents.lastIndexOf(to) === position
          ? to
          : `r${position + 1}`;
      return position === 0 ? { to, role, only: met } : { to, role };
    });
    const loop: readonly Link[] = isLoop ? [{ to: names[index] ?? '', role: 'boss' }] : [];
    return made(given, { name: names[index] ?? '', links: [...links, ...loop], index });
  });
  const twinned =
    twin === undefined
      ? base
      : [...base, twinOf(given, { to: names[twin.of % count] ?? '', keys: twin.keys })];
  const ranged =
    within === undefined
      ? twinned
      : withRanges(twinned, within, made(given, { name: spansName, links: [], index: 6 }));
  const [from, to] = bridge?.map((at) => base[at % count]?.name) ?? [];
  if (from === undefined || to === undefined || from === to) return finished(ranged);
  const links = [from, to].map((name): Link => ({ to: name, role: name }));
  const linked = ranged.map((one): Dataset => {
    return one.name === from
      ? { ...one, links: [...one.links, { role: 'linked', to, via: pairsName }] }
      : one;
  });
  return finished([...linked, made(given, { name: pairsName, links, index: 5 })]);
});

function made(
  { tables, all, customs: shared }: Drawn,
  at: { name: string; links: readonly Link[]; index: number },
): Dataset {
  const { name, links, index } = at;
  const trait = all[index];
  if (trait === undefined) throw new Error('too few traits');
  const first = links.find(({ via }) => via === undefined)?.role;
  const fiscal = trait.isOdd ? shared.otherFiscal : shared.fiscal;
  const sinceFiscal = trait.since.startsWith('fiscal_') && fiscal === undefined;
  return {
    ...trait,
    name,
    links,
    rows: rowsOf(links, tables[index] ?? []),
    measure: undefined,
    rules: shared.hasRules ? rulesOf(trait.rules, first) : undefined,
    chosen: { role: trait.chosen.isFar ? first : undefined, above: trait.chosen.above },
    far: { role: links.filter(({ via }) => via === undefined).at(-1)?.role, above: trait.far },
    asked: { of: '', above: trait.asked },
    since: sinceFiscal ? 'month' : trait.since,
    clock: shared.clock ?? trait.clock,
    fiscal,
    per: first,
    least: trait.isOdd ? undefined : shared.least,
  };
}

function rulesOf(
  given: Drawn['all'][number]['rules'],
  first: string | undefined,
): readonly Chosen[] | undefined {
  if (given === undefined) return undefined;
  if (given.none === 0) return [];
  const { isFar, above } = given;
  return [
    { role: isFar ? first : undefined, above },
    { role: undefined, above: 0, isNull: true },
  ];
}

function twinOf(given: Drawn, { to, keys }: { to: string; keys: readonly number[] }): Dataset {
  const link: Link = { role: to, to, isOneToOne: true };
  const twins = made(given, { name: twinsName, links: [link], index: 7 });
  // Of one to one, no key comes twice.
  return {
    ...twins,
    rows: twins.rows.map((row, index) => ({
      ...row,
      [`${to}_id`]: index % 4 === 3 ? null : (keys[index] ?? null),
    })),
  };
}

type Ranges = typeof ranges extends fc.Arbitrary<infer Value> ? Value : never;

/** One of the datasets lies in ranges of a new one. */
function withRanges(
  datasets: readonly Dataset[],
  given: Ranges,
  spans: Dataset,
): readonly Dataset[] {
  const { field, includesEnd, byGroup, isOpen } = given;
  const cuts = field === 'v' ? given.numbers.toSorted((a, b) => a - b) : given.days.toSorted();
  const [from, to] = field === 'v' ? (['low', 'high'] as const) : (['since', 'until'] as const);
  const bounds = cuts.slice(1).map((end, index): readonly [Cell, Cell] => {
    const isLast = index === cuts.length - 2;
    // Where the end belongs to a range, the next starts behind it.
    const start = includesEnd && index > 0 ? following(cuts[index] ?? 0) : (cuts[index] ?? null);
    return [index === 0 && isOpen[0] ? null : start, isLast && isOpen[1] ? null : end];
  });
  const groups = byGroup ? ['a', 'b'] : [undefined];
  const all = groups.flatMap((g) =>
    bounds.map(([start, end]) => ({ ...(g === undefined ? {} : { g }), [from]: start, [to]: end })),
  );
  const none = { low: null, high: null, since: null, until: null };
  const rows = all.map((bound, index) => ({
    ...spans.rows[index % spans.rows.length],
    ...none,
    ...bound,
    id: index + 1,
  }));
  const link: Link = {
    role: spansName,
    to: spansName,
    within: { field, from, to, includesEnd, byGroup },
  };
  return [
    ...datasets.map((one, index) =>
      index === given.from % datasets.length ? { ...one, links: [...one.links, link] } : one,
    ),
    { ...spans, rows },
  ];
}

function following(cut: string | number): Cell {
  return typeof cut === 'number'
    ? cut + 1
    : new Date(Date.parse(cut) + 86_400_000).toISOString().slice(0, 10);
}

/**
 * Each dataset that others point at, with what one of these adds up to for each of its rows, and
 * what it may ask of them.
 */
function finished(datasets: readonly Dataset[]): World {
  const world = { datasets };
  return {
    datasets: datasets.map((dataset, index): Dataset => {
      const { name, asked } = dataset;
      const found = datasets.flatMap((one) =>
        one.links
          .filter(({ to, via }) => to === name && via === undefined)
          .map((link) => ({ of: one.name, link })),
      );
      const below = found.map(({ of }) => of).find((of) => of !== name && leads(world, name, of));
      const last = found.filter(({ link }) => link.isOneToOne !== true).at(-1);
      return {
        ...dataset,
        asked:
          below === undefined || asked === undefined
            ? undefined
            : { of: below, above: asked.above },
        measure: last && {
          of: last.of,
          role: last.link.role,
          metric: index % 2 === 0 ? 'total' : 'rows_in_a',
        },
      };
    }),
  };
}

function leads(world: World, from: string, to: string): boolean {
  try {
    return resolvePath(world, from, { start: to, roles: [] }).length > 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

type Cells = typeof cells extends fc.Arbitrary<infer Value> ? Value : never;

function rowsOf(links: readonly Link[], rows: readonly Cells[]): readonly Row[] {
  return rows.map(({ keys, ...own }, index) => {
    const pointers = links.map(({ role }, position): [string, Cell] => [
      `${role}_id`,
      keys[position] ?? null,
    ]);
    return { id: index + 1, ...own, ...Object.fromEntries(pointers) };
  });
}
