import * as fc from 'fast-check';
import { meets } from './paths.ts';
import type { Grain, Span } from './times.ts';

/** A random model with its rows: what a query can be asked of, and all that the brute-force evaluator knows. */
export interface World {
  readonly datasets: readonly Dataset[];
}

export interface Dataset {
  readonly name: string;
  readonly links: readonly Link[];
  /** With `n`, which is no column, where there is a measure. */
  readonly rows: readonly Row[];
  /** A metric of the rows that point here by a role. */
  readonly measure: { readonly metric: 'total' | 'rows_in_a'; readonly of: string; readonly role: string } | undefined;
  /** Only rows whose `v` is greater, or NULL, are seen; undefined where all are. */
  readonly above?: number | undefined;
  /** Its segment: a `v` that is greater, of the row itself or of the one that a role leads to. */
  readonly chosen: { readonly role: string | undefined; readonly above: number };
  /** Of its trailing metric, of its metric to date, and of its conversions. */
  readonly window: Span;
  readonly since: Exclude<Grain, 'hour' | 'day'>;
  readonly within: Span | undefined;
}

/** From many to one, by a column of the role's name or by a range; or through a bridge, whose pairs are its rows. */
export interface Link {
  readonly role: string;
  readonly to: string;
  readonly via?: string;
  readonly within?: Within;
}

/** The value of `field` lies between two of the other side, for each `g` where they are of a group. */
interface Within {
  readonly field: 'v' | 't';
  readonly from: 'low' | 'since';
  readonly to: 'high' | 'until';
  readonly includesEnd: boolean;
  readonly byGroup: boolean;
}

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

const key = fc.option(fc.integer({ min: 1, max: 5 }), { nil: null, freq: 5 });
const days = fc.constantFrom(
  '2024-01-01', '2024-01-15', '2024-01-31', '2024-02-01', '2024-02-15', '2024-02-29', '2024-03-01', '2024-03-02', '2024-03-10',
  '2024-03-31', '2024-04-15', '2024-04-28',
); // prettier-ignore
const hours = fc.constantFrom('00:30:00', '01:30:00', '06:00:00', '12:00:00', '22:30:00', '23:30:00');
const cells = fc.record({
  g: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: null, freq: 4 }),
  v: fc.option(fc.integer({ min: -4, max: 9 }), { nil: null, freq: 5 }),
  t: fc.option(days, { nil: null, freq: 8 }),
  z: fc.option(fc.tuple(days, hours).map(([day, hour]) => `${day}T${hour}+00:00`), { nil: null, freq: 8 }), // prettier-ignore
  keys: fc.array(key, { minLength: 3, maxLength: 3 }),
});

const names = ['ants', 'bees', 'cats', 'dogs', 'elks'];
const spansName = 'spans';

const span: fc.Arbitrary<Span> = fc.constantFrom<Span>(
  { count: 1, unit: 'day' },
  { count: 10, unit: 'day' },
  { count: 14, unit: 'day' },
  { count: 1, unit: 'week' },
  { count: 2, unit: 'week' },
  { count: 1, unit: 'month' },
  { count: 2, unit: 'month' },
  { count: 1, unit: 'quarter' },
);
const traits = fc.record({
  above: fc.option(fc.integer({ min: -4, max: 2 }), { nil: undefined, freq: 1 }),
  chosen: fc.record({ isFar: fc.boolean(), above: fc.integer({ min: -3, max: 3 }) }),
  window: span,
  since: fc.constantFrom('week' as const, 'month' as const, 'quarter' as const, 'year' as const),
  within: fc.option(span, { nil: undefined, freq: 3 }),
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

/** Later datasets point at earlier ones, twice perhaps; one may point at itself; two may meet through a bridge, one lie in ranges. */
export const worldArbitrary: fc.Arbitrary<World> = fc
  .record({
    shape: fc.array(fc.record({ ups: fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 2 }), isLoop: fc.boolean() }), {
      minLength: 2,
      maxLength: 5,
    }),
    tables: fc.array(fc.array(cells, { minLength: 2, maxLength: 7 }), { minLength: 7, maxLength: 7 }),
    all: fc.array(traits, { minLength: 7, maxLength: 7 }),
    hasRules: fc.boolean(),
    bridge: fc.option(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { nil: undefined }),
    within: fc.option(ranges, { nil: undefined, freq: 2 }),
  })
  .map(({ shape, tables, bridge, all, hasRules, within }): World => {
    const made = (name: string, links: readonly Link[], index: number): Dataset => {
      const trait = all[index];
      if (trait === undefined) throw new Error('too few traits');
      const { isFar, above } = trait.chosen;
      const role = isFar ? links.find(({ via }) => via === undefined)?.role : undefined;
      const rows = rowsOf(links, tables[index] ?? []);
      return { ...trait, name, links, rows, measure: undefined, chosen: { role, above }, above: hasRules ? trait.above : undefined };
    };
    const datasets = shape.map(({ ups, isLoop }, index) => {
      const parents = index === 0 ? [] : ups.map((up) => names[up % index] ?? '');
      const links = parents.map((to, position): Link => ({
        to,
        role: parents.indexOf(to) === position && parents.lastIndexOf(to) === position ? to : `r${position + 1}`,
      }));
      const loop: readonly Link[] = isLoop ? [{ to: names[index] ?? '', role: 'boss' }] : [];
      return made(names[index] ?? '', [...links, ...loop], index);
    });
    const ranged = within === undefined ? datasets : withRanges(datasets, within, made(spansName, [], 6));
    const ends = bridge?.map((at) => ranged[at % datasets.length]) ?? [];
    const [from, to] = ends;
    if (from === undefined || to === undefined || from === to) return measured(ranged);
    const links = [from, to].map(({ name }): Link => ({ to: name, role: name }));
    const bridged = ranged.map((one): Dataset => {
      return one === from ? { ...one, links: [...one.links, { role: 'linked', to: to.name, via: 'pairs' }] } : one;
    });
    return measured([...bridged, made('pairs', links, 5)]);
  });

type Ranges = typeof ranges extends fc.Arbitrary<infer Value> ? Value : never;

/** One of the datasets lies in ranges of a new one. */
function withRanges(datasets: readonly Dataset[], given: Ranges, spans: Dataset): readonly Dataset[] {
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
  const all = groups.flatMap((g) => bounds.map(([start, end]) => ({ ...(g === undefined ? {} : { g }), [from]: start, [to]: end })));
  const none = { low: null, high: null, since: null, until: null };
  const rows = all.map((bound, index) => ({ ...spans.rows[index % spans.rows.length], ...none, ...bound, id: index + 1 }));
  const link: Link = { role: spansName, to: spansName, within: { field, from, to, includesEnd, byGroup } };
  return [...datasets.map((one, index) => (index === given.from % datasets.length ? { ...one, links: [...one.links, link] } : one)), { ...spans, rows }]; // prettier-ignore
}

function following(cut: string | number): Cell {
  return typeof cut === 'number' ? cut + 1 : new Date(Date.parse(cut) + 86_400_000).toISOString().slice(0, 10);
}

/** Each dataset that others point at, with what one of these adds up to for each of its rows. */
function measured(datasets: readonly Dataset[]): World {
  const all = datasets.map((dataset, index): Dataset => {
    const found = datasets.flatMap(({ name, links }) => links.filter(({ to, via }) => to === dataset.name && via === undefined).map((link) => ({ of: name, link }))); // prettier-ignore
    const last = found.at(-1);
    if (last === undefined) return dataset;
    const measure = { of: last.of, role: last.link.role, metric: index % 2 === 0 ? ('total' as const) : ('rows_in_a' as const) };
    const children = datasets.find(({ name }) => name === measure.of)?.rows ?? [];
    const rows = dataset.rows.map((row) => {
      const own = children.filter((child) => meets(last.link, child, row));
      const values = own.flatMap(({ v }) => (typeof v === 'number' ? [v] : []));
      const total = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
      return { ...row, n: measure.metric === 'total' ? total : own.filter(({ g }) => g === 'a').length };
    });
    return { ...dataset, rows, measure };
  });
  return { datasets: all };
}

type Cells = typeof cells extends fc.Arbitrary<infer Value> ? Value : never;

function rowsOf(links: readonly Link[], rows: readonly Cells[]): readonly Row[] {
  return rows.map(({ keys, ...own }, index) => {
    const pointers = links.map(({ role }, position): [string, Cell] => [`${role}_id`, keys[position] ?? null]);
    return { id: index + 1, ...own, ...Object.fromEntries(pointers) };
  });
}

/** As the reader sees it. */
export function visible({ datasets }: World): World {
  const isSeen = ({ v = null }: Row, above: number | undefined): boolean => above === undefined || v === null || Number(v) > above;
  return { datasets: datasets.map((one) => ({ ...one, rows: one.rows.filter((row) => isSeen(row, one.above)) })) };
}
