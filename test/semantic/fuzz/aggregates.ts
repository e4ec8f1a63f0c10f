import { datasetNamed, followPath, nameOf, resolvePath } from './paths.ts';
import type { aggregatesOf, Derived, Question } from './question.ts';
import { cellAt, leastOf, passes, testOf } from './rows.ts';
import { later, localTime } from './times.ts';
import type { Cell, Dataset, Row, World } from './world.ts';

/** A metric of the model, or an aggregate that the query writes itself. */
export type AggregateNode = ReturnType<typeof aggregatesOf>[number];

interface ModelAndQuestion {
  readonly world: World;
  readonly question: Question;
}

/** The aggregates that are functions of the values of their group. */
const ofValues: Partial<Record<AggregateNode['function'], (values: readonly number[]) => Cell>> = {
  count: (values) => values.length,
  count_distinct: (values) => new Set(values).size,
  over_g: (values) => new Set(values).size,
  earlier: summed,
  overall: summed,
  running: summed,
  trailing: summed,
  to_date: summed,
  sum: summed,
  avg: averageOf,
  min: (values) => extreme(values, Math.min),
  max: (values) => extreme(values, Math.max),
  median: medianOf,
};

/** The value of an aggregate over the rows of a group. */
export function aggregate(
  { owner, function: name }: AggregateNode,
  rows: readonly Row[],
  at: ModelAndQuestion,
): Cell {
  const compute = ofValues[name];
  if (compute !== undefined) return compute(valuesOf(rows));
  if (name === 'count_rows') return rows.length;
  if (name === 'rows_in_a') return rows.filter(({ g }) => g === 'a').length;
  if (name === 'far' || name === 'asked' || name === 'above')
    return filtered({ owner, function: name }, rows, at);
  const groups: Partial<Record<AggregateNode['function'], (row: Row) => Cell>> = {
    each: ({ t = null }) => t,
    each_far: (row) => farGroup(at.world, owner, row),
    most_of_g: ({ g = null }) => g,
  };
  const groupOf = groups[name];
  if (groupOf === undefined) throw new Error(`${name} needs more than the rows of its group`);
  const totals = totalsPer(rows, groupOf);
  return name === 'most_of_g' ? extreme(totals, Math.max) : averageOf(totals);
}

function valuesOf(rows: readonly Row[]): readonly number[] {
  return rows.map(({ v = null }) => v).filter((value) => typeof value === 'number');
}

function summed(values: readonly number[]): Cell {
  return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
}

function averageOf(values: readonly number[]): Cell {
  return values.length === 0 ? null : Number(summed(values)) / values.length;
}

function extreme(values: readonly number[], of: (...all: readonly number[]) => number): Cell {
  return values.length === 0 ? null : of(...values);
}

function medianOf(values: readonly number[]): Cell {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return averageOf(
    sorted.length === 0 ? [] : [sorted[Math.floor(middle)] ?? 0, sorted[Math.ceil(middle)] ?? 0],
  );
}

/**
 * The sum of each value of something; what has none does not count, nor what adds up to nothing.
 */
function totalsPer(rows: readonly Row[], of: (row: Row) => Cell): readonly number[] {
  return [...Map.groupBy(rows, of)].flatMap(([key, own]) => {
    const total = key === null ? null : summed(valuesOf(own));
    return total === null ? [] : [Number(total)];
  });
}

function farGroup(world: World, owner: string, row: Row): Cell {
  const { per } = datasetNamed(world, owner);
  const path = resolvePath(world, owner, { start: owner, roles: per === undefined ? [] : [per] });
  const [binding] = followPath(new Map([['', row]]), path, 'left');
  return binding?.get(nameOf(path))?.['g'] ?? null;
}

/**
 * Metrics with a condition of their own: of a row that a role leads to, of any row below, of a
 * parameter.
 */
function filtered(
  { owner, function: name }: Pick<AggregateNode, 'owner' | 'function'>,
  rows: readonly Row[],
  { world, question }: ModelAndQuestion,
): Cell {
  const { far, asked } = datasetNamed(world, owner);
  if (name === 'above') {
    const least = leastOf(world, question, owner) ?? 0;
    return summed(valuesOf(rows).filter((value) => value > least));
  }
  const below =
    asked === undefined ? undefined : testOf(asked.of, { role: undefined, above: asked.above });
  const test = name === 'far' ? testOf(owner, far) : below;
  return rows.filter((row) => test === undefined || passes(world, question, { owner, row, test }))
    .length;
}

/**
 * Of each `g`, in the same periods where these are asked for, the value that counts; those of the
 * group are added up.
 */
export function balanceOf(
  rows: readonly Row[],
  at: ModelAndQuestion & {
    readonly owner: string;
    readonly all: readonly Row[];
    readonly times: readonly number[];
  },
): Cell {
  const { world, question, owner, all, times } = at;
  const { clock, take } = datasetNamed(world, owner);
  const timed = (some: readonly Row[]): readonly Row[] =>
    some.filter((row) => (row[clock] ?? null) !== null);
  if (take !== 'first' && take !== 'last') {
    const entities = [...Map.groupBy(timed(rows), ({ g = null }) => g).values()].map(valuesOf);
    const of =
      take === 'avg'
        ? averageOf
        : (values: readonly number[]) => extreme(values, take === 'min' ? Math.min : Math.max);
    return summed(entities.map(of).filter((value) => typeof value === 'number'));
  }
  const seen = { world, question, owner, shift: undefined };
  const periods = times.flatMap((index) => question.dimensions[index] ?? []);
  const entity = (row: Row): string =>
    JSON.stringify([row['g'], ...periods.map((of) => cellAt(seen, row, { of, path: [] }))]);
  const isNext = (row: Row, other: Row): boolean => {
    const [time, rival] = [String(row[clock]), String(other[clock])];
    return entity(other) === entity(row) && (take === 'last' ? rival > time : rival < time);
  };
  return summed(
    valuesOf(timed(rows).filter((row) => !timed(all).some((other) => isNext(row, other)))),
  );
}

/**
 * Of the rows of the next dataset, those whose last row before them, of the same `g` and in the
 * window, is one of these.
 */
export function countFollowers({ datasets }: World, owner: string, rows: readonly Row[]): number {
  const place = datasets.findIndex(({ name }) => name === owner);
  const base = datasets[place];
  const next = datasets[place + 1] ?? base;
  if (base === undefined || next === undefined) throw new Error(`no dataset ${owner}`);
  const isSelf = base === next;
  const isBefore = isBeforeBy(base, next);
  return next.rows.filter((event) => {
    const before = base.rows.filter(
      (row) =>
        !(isSelf && row === event) &&
        row['g'] !== null &&
        row['g'] === event['g'] &&
        isBefore(row, event),
    );
    const last = before.toSorted((a, b) =>
      a[base.clock] === b[base.clock]
        ? Number(b['id']) - Number(a['id'])
        : String(b[base.clock]) > String(a[base.clock])
          ? 1
          : -1,
    )[0];
    return last !== undefined && rows.includes(last);
  }).length;
}

/** By their times, or by their days where one knows more of it than the other. */
function isBeforeBy(base: Dataset, next: Dataset): (row: Row, event: Row) => boolean {
  const digits = base.clock === next.clock && base.clock !== 't' ? 19 : 10;
  return (row, event) => {
    const [start = null, end = null] = [row[base.clock], event[next.clock]].map((time) =>
      typeof time === 'string' ? localTime(time, 'UTC').slice(0, digits) : null,
    );
    if (start === null || end === null || start > end) return false;
    return (
      base.within === undefined || start > later(end, { ...base.within, count: -base.within.count })
    );
  };
}

export function calculate(op: Derived['op'], left: Cell, right: Cell): Cell {
  if (left === null || right === null) return null;
  if (op === '-') return Number(left) - Number(right);
  return right === 0 ? null : Number(left) / Number(right);
}
