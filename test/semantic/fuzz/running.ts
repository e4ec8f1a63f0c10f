import { nameOf, placeOf, Refused } from './paths.ts';
import type { Aggregate, Question } from './question.ts';
import { cellsOf, clockOf, type Groups, timesOf } from './rows.ts';
import { cutTo, type Grain, grains, later, liesIn, nextPeriod } from './times.ts';
import type { Cell, Dataset, Row, World } from './world.ts';

const runningNames: readonly Aggregate['function'][] = ['running', 'trailing', 'to_date'];

export function isRunning({ function: name }: Aggregate): boolean {
  return runningNames.includes(name);
}

/** The dimension of which periods run or are filled; undefined where none is asked to. */
export function clockDimension(world: World, question: Question, aggregates: readonly Aggregate[]): number | undefined {
  const { dimensions, fillTime } = question;
  const running = aggregates.filter(isRunning).map(({ owner }) => finest(question, timesOf(world, question, owner)));
  const [first, ...others] = new Set(running);
  if (others.length > 0 || first === -1) throw new Refused('no one time that runs');
  if (!fillTime) return first;
  const timed = [...dimensions.keys()].filter((index) => dimensions[index]?.grain !== undefined);
  const order = timed.toSorted((a, b) => grains.indexOf(grainAt(question, a)) - grains.indexOf(grainAt(question, b)));
  const [finestTime] = order;
  if (finestTime === undefined) throw new Refused('nothing to fill');
  const index = first ?? finestTime;
  const same = [index, ...sameTimes(world, question, { owners: aggregates.map(({ owner }) => owner), index })];
  const rivals = order.filter((one) => grainAt(question, one) === grainAt(question, finestTime) && !same.includes(one));
  if (rivals.length > 0) throw new Refused('several times to fill');
  return index;
}

function finest(question: Question, times: readonly number[]): number {
  const [first, ...others] = times.toSorted((a, b) => grains.indexOf(grainAt(question, a)) - grains.indexOf(grainAt(question, b)));
  if (first === undefined) return -1;
  if (others.some((other) => !liesIn(grainAt(question, first), grainAt(question, other)))) throw new Refused('periods that cross');
  return first;
}

function grainAt({ dimensions }: Question, index: number): Grain {
  return dimensions[index]?.grain ?? 'day';
}

/** Those of the groups, with all between the first and the last where these are filled. */
export function periodsOf(question: Question, index: number, groups: readonly string[]): readonly string[] {
  const seen = [...new Set(groups.flatMap((group) => cellsOf(group)[index] ?? []))].map(String).toSorted();
  const grain = grainAt(question, index);
  const [first, last] = [seen[0], seen.at(-1)];
  if (!question.fillTime || first === undefined || last === undefined) return seen;
  if (grain === 'hour') throw new Error('hours are not filled here');
  const all = [first];
  for (let next = nextPeriod(grain, first); next <= last; next = nextPeriod(grain, next)) all.push(next);
  return all;
}

/** In each period, the rows that count in it by their own time: those before it, of a window, or since a start. */
export function accumulated(groups: Groups, at: Running): Groups {
  if (at.function === 'to_date' && !liesIn(grainAt(at.question, at.index), at.dataset.since)) throw new Refused('no total to date');
  const found = new Map<string, readonly Row[]>();
  for (const period of at.periods) {
    for (const [group, rows] of groups) {
      const counting = rows.filter((row) => counts(row['t'] ?? null, period, at));
      if (counting.length === 0) continue;
      const cells = at.times.reduce((done, index) => done.with(index, periodAt(at, index, period)), cellsOf(group));
      const key = JSON.stringify(cells);
      found.set(key, [...new Set([...(found.get(key) ?? []), ...counting])]);
    }
  }
  return found;
}

interface Running {
  readonly question: Question;
  readonly function: Aggregate['function'];
  readonly dataset: Pick<Dataset, 'window' | 'since'>;
  /** The dimensions of the owner's time, and the one that runs. */
  readonly times: readonly number[];
  readonly index: number;
  readonly periods: readonly string[];
}

/** The coarser period that a period lies in. */
export function periodAt({ question }: Pick<Running, 'question'>, index: number, period: string): Cell {
  return cutTo(grainAt(question, index), period, { ...clockOf(question), zone: 'UTC' });
}

function counts(time: Cell, period: string, { question, function: name, dataset, index }: Running): boolean {
  const grain = grainAt(question, index);
  if (grain === 'hour') throw new Error('dates have no hours');
  const end = nextPeriod(grain, period);
  if (typeof time !== 'string' || time >= end) return false;
  if (name === 'trailing') return time >= later(end, { ...dataset.window, count: -dataset.window.count });
  const clock = clockOf(question);
  return name === 'running' || cutTo(dataset.since, time, clock) === cutTo(dataset.since, period, clock);
}

/** Dimensions of the same time as the one that is filled, in every block: their periods follow from it. */
export function sameTimes(world: World, question: Question, { owners, index }: { owners: readonly string[]; index: number }) {
  const { dimensions } = question;
  const timeAt = (owner: string, place: number): string => {
    const of = dimensions[place];
    return of === undefined ? '' : `${nameOf(placeOf(world, owner, of))} ${of.field}`;
  };
  const same = [...dimensions.keys()].filter((place) => {
    if (place === index || dimensions[place]?.grain === undefined) return false;
    return owners.every((owner) => timeAt(owner, index) === timeAt(owner, place));
  });
  if (question.fillTime && same.some((place) => !liesIn(grainAt(question, index), grainAt(question, place)))) throw new Refused('periods that cross'); // prettier-ignore
  return same;
}
