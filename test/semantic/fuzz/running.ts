import { datasetNamed, nameOf, resolvePath, Refusal } from './paths.ts';
import { fieldOf, type Question } from './question.ts';
import type { AggregateNode } from './aggregates.ts';
import { cellsOf, clockFor, type Groups, timesOf } from './rows.ts';
import {
  type Clock,
  cutTo,
  type Grain,
  grains,
  later,
  liesIn,
  localTime,
  nextPeriod,
} from './times.ts';
import type { Cell, Dataset, Row, World } from './world.ts';

const runningNames: readonly AggregateNode['function'][] = ['running', 'trailing', 'to_date'];

export function isRunning({ function: name }: Pick<AggregateNode, 'function'>): boolean {
  return runningNames.includes(name);
}

/** The dimension of which periods run or are filled; undefined where none is asked to. */
export function clockDimension(
  world: World,
  question: Question,
  owners: Owners,
): number | undefined {
  const { dimensions, fillTime } = question;
  const [first, ...others] = new Set(
    owners.running.map((owner) => finestTime(world, question, owner)),
  );
  if (others.length > 0) throw new Refusal('not_supported', 'no one time that runs');
  if (!fillTime) return first;
  const timed = [...dimensions.keys()].filter((index) => dimensions[index]?.grain !== undefined);
  const order = timed.toSorted(
    (a, b) => grains.indexOf(grainAt(question, a)) - grains.indexOf(grainAt(question, b)),
  );
  const [finest] = order;
  const index = first ?? finest;
  if (index === undefined || finest === undefined)
    throw new Refusal('no_period', 'nothing to fill');
  const same = sameTimes(world, question, { owners: owners.all, index });
  const rivals = order.filter(
    (one) =>
      grainAt(question, one) === grainAt(question, finest) && one !== index && !same.includes(one),
  );
  if (rivals.length > 0) throw new Refusal('not_supported', 'several times to fill');
  const { fiscal } = clockOf(world, question, { owner: owners.all[0] ?? '', index });
  if (same.some((place) => !liesIn(grainAt(question, index), grainAt(question, place), fiscal)))
    throw new Refusal('not_supported', 'periods that cross');
  return index;
}

interface Owners {
  readonly all: readonly string[];
  readonly running: readonly string[];
}

/** The dimension that cuts an owner's time most finely. */
export function finestTime(world: World, question: Question, owner: string): number {
  const times = timesOf(world, question, owner);
  const [first, ...others] = times.toSorted(
    (a, b) => grains.indexOf(grainAt(question, a)) - grains.indexOf(grainAt(question, b)),
  );
  if (first === undefined) throw new Refusal('no_period', 'no time that runs');
  const { fiscal } = datasetNamed(world, owner);
  if (others.some((other) => !liesIn(grainAt(question, first), grainAt(question, other), fiscal)))
    throw new Refusal('not_supported', 'periods that cross');
  return first;
}

export function grainAt({ dimensions }: Pick<Question, 'dimensions'>, index: number): Grain {
  return dimensions[index]?.grain ?? 'day';
}

/** Of the dataset that a dimension leads to. */
function clockOf(
  world: World,
  question: Question,
  { owner, index }: { owner: string; index: number },
): Clock {
  const of = question.dimensions[index];
  const end = of === undefined ? owner : (resolvePath(world, owner, of).at(-1)?.to ?? owner);
  return { ...clockFor(world, question, end), zone: 'UTC' };
}

/** Those of the groups, with all between the first and the last where these are filled. */
export function periodsOf(
  question: Question,
  index: number,
  groups: readonly string[],
): readonly string[] {
  const seen = [...new Set(groups.flatMap((group) => cellsOf(group)[index] ?? []))]
    .map(String)
    .toSorted();
  const grain = grainAt(question, index);
  const [first, last] = [seen[0], seen.at(-1)];
  if (!question.fillTime || first === undefined || last === undefined) return seen;
  const all = [first];
  for (let next = nextPeriod(grain, first); next <= last; next = nextPeriod(grain, next))
    all.push(next);
  return all;
}

/**
 * In each period, the rows that count in it by their own time: those before it, of a window, or
 * since a start.
 */
export function accumulated(groups: Groups, at: Running): Groups {
  const found = new Map<string, readonly Row[]>();
  for (const period of at.periods) {
    for (const [group, rows] of groups) {
      const counting = rows.filter((row) => counts(row[at.dataset.clock] ?? null, period, at));
      if (counting.length === 0) continue;
      const cells = at.times.reduce(
        (done, index) => done.with(index, periodAt(at, index, period)),
        cellsOf(group),
      );
      const key = JSON.stringify(cells);
      found.set(key, [...new Set([...(found.get(key) ?? []), ...counting])]);
    }
  }
  return found;
}

interface Running {
  readonly world: World;
  readonly question: Question;
  readonly function: AggregateNode['function'];
  readonly dataset: Dataset;
  /** The dimensions of the owner's time, and the one that runs. */
  readonly times: readonly number[];
  readonly index: number;
  readonly periods: readonly string[];
}

/** The coarser period that a period lies in. */
function periodAt({ world, question, dataset }: Running, index: number, period: string): Cell {
  return cutTo(grainAt(question, index), period, {
    ...clockFor(world, question, dataset.name),
    zone: 'UTC',
  });
}

function counts(
  time: Cell,
  period: string,
  { world, question, function: name, dataset, index }: Running,
): boolean {
  if (typeof time !== 'string') return false;
  const clock = clockFor(world, question, dataset.name);
  const local = localTime(time, clock.zone);
  const end = localTime(nextPeriod(grainAt(question, index), period), 'UTC');
  if (local >= end) return false;
  if (name === 'trailing')
    return local >= later(end, { ...dataset.window, count: -dataset.window.count });
  return (
    name === 'running' || cutTo(dataset.since, local, clock) === cutTo(dataset.since, period, clock)
  );
}

/**
 * Dimensions of the same time as the one that is filled, in every block: their periods follow from
 * it.
 */
function sameTimes(
  world: World,
  question: Question,
  { owners, index }: { owners: readonly string[]; index: number },
) {
  const { dimensions } = question;
  const timeAt = (owner: string, place: number): string => {
    const of = dimensions[place];
    return of === undefined
      ? ''
      : `${nameOf(resolvePath(world, owner, of))} ${fieldOf(world, owner, of)}`;
  };
  return [...dimensions.keys()].filter((place) => {
    if (place === index || dimensions[place]?.grain === undefined) return false;
    return owners.every((owner) => timeAt(owner, index) === timeAt(owner, place));
  });
}

/** Every period beside what the result has of the other dimensions. */
export function filledGroups(
  world: World,
  question: Question,
  at: {
    owners: readonly string[];
    index: number;
    periods: readonly string[];
    found: readonly string[];
  },
): readonly string[] {
  const { owners, index, periods, found } = at;
  const same = sameTimes(world, question, at);
  // Without other dimensions there is one of nothing, whether it has rows or not.
  const isAlone = question.dimensions.length === same.length + 1;
  const bare = (group: string): string =>
    JSON.stringify([index, ...same].reduce((cells, one) => cells.with(one, null), cellsOf(group)));
  const others = new Set(
    isAlone ? [JSON.stringify(question.dimensions.map(() => null))] : found.map(bare),
  );
  return [...others].flatMap((other) =>
    periods.map((period) => {
      const cells = same.reduce(
        (done, one) =>
          done.with(
            one,
            cutTo(
              grainAt(question, one),
              period,
              clockOf(world, question, { owner: owners[0] ?? '', index: one }),
            ),
          ),
        cellsOf(other),
      );
      return JSON.stringify(cells.with(index, period));
    }),
  );
}
