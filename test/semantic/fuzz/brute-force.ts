import { aggregate, calculated, followers, lastOf } from './aggregates.ts';
import { membersOf } from './members.ts';
import { datasetNamed, placeOf, Refused } from './paths.ts';
import type { Aggregate, Question } from './question.ts';
import { cellsOf, type Groups, groupsOf, timesOf } from './rows.ts';
import { accumulated, clockDimension, isRunning, periodAt, periodsOf, sameTimes } from './running.ts';
import type { Cell, World } from './world.ts';

/** What the rules of the semantic layer say, by walking over arrays, in order; undefined where they say that it is an error. */
export function evaluate(world: World, question: Question): readonly (readonly Cell[])[] | undefined {
  try {
    return answer(world, question);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function answer(world: World, question: Question): readonly (readonly Cell[])[] {
  const aggregates = question.metrics.flatMap((metric) => ('left' in metric ? [metric.left, metric.right] : [metric]));
  const owners = [...new Set(aggregates.map(({ owner }) => owner))];
  check(world, question, aggregates);
  const index = clockDimension(world, question, aggregates);
  const rows = new Map(aggregates.map((one) => [blockName(one), groupsOf(world, question, { owner: one.owner, isEarlier: one.function === 'earlier', ignoresTime: false })])); // prettier-ignore
  const seen = [...rows.values()].flatMap((groups) => [...groups.keys()]);
  const periods = index === undefined ? [] : periodsOf(question, index, seen);
  const blocks: Blocks = new Map([...rows, ...runningBlocks(world, question, { aggregates, index, periods })]);
  const found = [...new Set([...blocks.values()].flatMap((groups) => [...groups.keys()]))];
  const members = question.includeEmpty ? owners.flatMap((owner) => membersOf(world, question, { owner, found })) : [];
  const filled = question.fillTime && index !== undefined ? filledGroups(world, question, { owners, index, periods, found }) : [];
  const lines = [...new Set([...found, ...members, ...filled])].map((group) => {
    const values = question.metrics.map((metric) => {
      if (!('left' in metric)) return valueOf(world, question, { one: metric, group, blocks });
      const isAcross = blockName(metric.left) !== blockName(metric.right);
      const sides = [metric.left, metric.right].map((one) => {
        const value = valueOf(world, question, { one, group, blocks });
        return value === null && isAcross && isSum(one) ? 0 : value;
      });
      return calculated(metric.op, sides[0] ?? null, sides[1] ?? null);
    });
    return [...cellsOf(group), ...values];
  });
  const width = question.dimensions.length;
  const kept = lines.filter((line) => question.having === undefined || (line[width] !== null && Number(line[width]) > question.having));
  return kept.toSorted((a, b) => compared(question, a, b)).slice(0, question.limit);
}

type Blocks = ReadonlyMap<string, Groups>;

/** What the rules refuse before any row is read. */
function check(world: World, question: Question, aggregates: readonly Aggregate[]): void {
  const owners = aggregates.map(({ owner }) => owner);
  const scopes = [...question.segments, ...question.where.flatMap(({ on }) => on ?? [])];
  if (scopes.some((name) => !owners.includes(name))) throw new Refused('a scope of no metric');
  for (const one of aggregates) {
    const isFanned = question.dimensions.some((of) => placeOf(world, one.owner, of).some(({ kind }) => kind !== 'up'));
    if (isFanned && ['closing', 'followed', 'follow_rate'].includes(one.function)) throw new Refused('to many');
    keptBy(world, question, one);
  }
}

/** The dimensions that a metric is computed by: all of them but for totals. */
function keptBy(world: World, { dimensions }: Question, { owner, function: name }: Aggregate): readonly number[] {
  if (name === 'overall') return [];
  if (name !== 'over_g') return [...dimensions.keys()];
  const index = dimensions.findIndex((of) => of.field === 'g' && placeOf(world, owner, of).length === 0);
  if (index === -1) throw new Refused('a total by what is not asked');
  return [index];
}

interface Clock {
  readonly index: number | undefined;
  readonly periods: readonly string[];
}

function runningBlocks(
  world: World,
  question: Question,
  { aggregates, index, periods }: Clock & { aggregates: readonly Aggregate[] },
): Blocks {
  if (index === undefined) return new Map();
  return new Map(
    aggregates.filter(isRunning).map((one) => {
      const times = timesOf(world, question, one.owner);
      const groups = groupsOf(world, question, { owner: one.owner, isEarlier: false, ignoresTime: true });
      const dataset = datasetNamed(world, one.owner);
      return [blockName(one), accumulated(groups, { question, function: one.function, dataset, times, index, periods })];
    }),
  );
}

/** Every period beside what the result has of the other dimensions. */
function filledGroups(
  world: World,
  question: Question,
  { owners, index, periods, found }: { owners: readonly string[]; index: number; periods: readonly string[]; found: readonly string[] },
): readonly string[] {
  const same = sameTimes(world, question, { owners, index });
  const others = new Set(
    found.map((group) => JSON.stringify([index, ...same].reduce((cells, one) => cells.with(one, null), cellsOf(group)))),
  );
  return [...others].flatMap((other) =>
    periods.map((period) => {
      const cells = same.reduce((done, one) => done.with(one, periodAt({ question }, one, period)), cellsOf(other));
      return JSON.stringify(cells.with(index, period));
    }),
  );
}

function valueOf(world: World, question: Question, { one, group, blocks }: { one: Aggregate; group: string; blocks: Blocks }): Cell {
  const kept = keptBy(world, question, one);
  if (kept.length < question.dimensions.length) {
    const dimensions = kept.flatMap((index) => question.dimensions[index] ?? []);
    const totals = groupsOf(world, { ...question, dimensions }, { owner: one.owner, isEarlier: false, ignoresTime: false });
    const own = totals.get(JSON.stringify(kept.map((index) => cellsOf(group)[index] ?? null)));
    return own === undefined && one.function === 'overall' ? null : aggregate(one, own ?? []);
  }
  const block = blocks.get(blockName(one));
  const rows = block?.get(group) ?? [];
  if (one.function === 'followed') return followers(world, one.owner, rows);
  if (one.function === 'follow_rate') return rows.length === 0 ? null : followers(world, one.owner, rows) / rows.length;
  if (one.function !== 'closing') return aggregate(one, rows);
  const times = timesOf(world, question, one.owner);
  return aggregate({ function: 'sum' }, lastOf(rows, { all: [...(block?.values() ?? [])].flat(), times, question }));
}

/** Aggregates of one name read the same groups of rows, and are arithmetic of one block. */
function blockName(one: Aggregate): string {
  const isApart = isRunning(one) || ['closing', 'each', 'earlier', 'overall', 'over_g', 'followed', 'follow_rate'].includes(one.function);
  return `${one.owner} ${isApart ? one.function : ''}`;
}

function isSum(one: Aggregate): boolean {
  return isRunning(one) || ['sum', 'closing', 'earlier', 'overall'].includes(one.function);
}

/** By what is asked for, then by every dimension; NULL is last whatever the direction. */
function compared({ order, dimensions }: Question, a: readonly Cell[], b: readonly Cell[]): number {
  const ties = [...dimensions.keys()].map((column) => ({ column, dir: 'asc' as const }));
  for (const { column, dir } of [...order, ...ties]) {
    const [left, right] = [a[column] ?? null, b[column] ?? null];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right === (dir === 'asc') ? -1 : 1;
  }
  return 0;
}
