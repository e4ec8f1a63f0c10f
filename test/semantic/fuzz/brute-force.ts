import { aggregate, balanceOf, calculated, followers, type Leaf } from './aggregates.ts';
import { membersOf } from './members.ts';
import { datasetNamed, placeOf, Refused } from './paths.ts';
import { aggregatesOf, type Dimension, type Metric, partsOf, type Question } from './question.ts';
import { blockName, blocksOf, check } from './refusals.ts';
import { cellsOf, type Groups, groupsOf, timesOf } from './rows.ts';
import { accumulated, clockDimension, filledGroups, isRunning, periodsOf } from './running.ts';
import type { Cell, World } from './world.ts';

type Evaluated =
  | { readonly rows: readonly (readonly Cell[])[]; readonly owners: readonly string[] }
  | { readonly refused: string };

/**
 * What the rules of the semantic layer say, by walking over arrays: rows in order, or the code of
 * the error that they call it.
 */
export function evaluate(world: World, question: Question): Evaluated {
  try {
    const owners = check(world, question);
    return { rows: answer(world, question, owners), owners };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.code };
    throw error;
  }
}

function answer(
  world: World,
  question: Question,
  owners: readonly string[],
): readonly (readonly Cell[])[] {
  const aggregates = aggregatesOf(question);
  const running = aggregates.filter(isRunning);
  const index = clockDimension(world, question, {
    all: owners,
    running: running.map(({ owner }) => owner),
  });
  const rows = new Map<string, Groups>(
    blocksOf(world, question).map(({ owner, leaves: [first] }) => [
      first === undefined ? owner : blockName(first),
      groupsOf(world, question, {
        owner,
        isEarlier: first?.function === 'earlier',
        ignoresTime: false,
      }),
    ]),
  );
  const seen = [...rows.values()].flatMap((groups) => [...groups.keys()]);
  const periods = index === undefined ? [] : periodsOf(question, index, seen);
  const blocks: Blocks = new Map([
    ...rows,
    ...runningBlocks(world, question, { running, index, periods }),
  ]);
  const found = [...new Set([...blocks.values()].flatMap((groups) => [...groups.keys()]))];
  const members = question.includeEmpty
    ? owners.flatMap((owner) => membersOf(world, question, { owner, found }))
    : [];
  const filled =
    question.fillTime && index !== undefined
      ? filledGroups(world, question, { owners, index, periods, found })
      : [];
  const asked = [...question.metrics, ...(question.extra === undefined ? [] : [question.extra])];
  const lines = [...new Set([...found, ...members, ...filled])].map((group) => {
    const values = asked.map((metric) => metricValue(world, question, { metric, group, blocks }));
    return [...cellsOf(group), ...values];
  });
  const width = question.dimensions.length + question.metrics.length;
  const judged = question.extra === undefined ? question.dimensions.length : width;
  const kept = lines.filter((line) => {
    const value = line[judged] ?? null;
    return question.having === undefined || (value !== null && Number(value) > question.having);
  });
  const ordered = kept.toSorted((a, b) => compared(question, a, b)).slice(0, question.limit);
  return ordered.map((line) => line.slice(0, width));
}

type Blocks = ReadonlyMap<string, Groups>;

interface Clock {
  readonly index: number | undefined;
  readonly periods: readonly string[];
}

function runningBlocks(
  world: World,
  question: Question,
  { running, index, periods }: Clock & { running: readonly Leaf[] },
): Blocks {
  if (index === undefined) return new Map();
  return new Map(
    running.map((one) => {
      const times = timesOf(world, question, one.owner);
      const groups = groupsOf(world, question, {
        owner: one.owner,
        isEarlier: false,
        ignoresTime: true,
      });
      const dataset = datasetNamed(world, one.owner);
      return [
        blockName(one),
        accumulated(groups, {
          world,
          question,
          function: one.function,
          dataset,
          times,
          index,
          periods,
        }),
      ];
    }),
  );
}

/** Arithmetic across blocks counts a sum without rows as 0. */
function metricValue(
  world: World,
  question: Question,
  { metric, ...at }: { metric: Metric; group: string; blocks: Blocks },
): Cell {
  const [first, second] = partsOf(metric);
  if (first === undefined) return null;
  if (!('left' in metric) || second === undefined)
    return valueOf(world, question, { ...at, one: first });
  const isAcross = new Set([first, second].flatMap(blockNames)).size > 1;
  const [left = null, right = null] = [first, second].map((one) => {
    const value = valueOf(world, question, { ...at, one });
    return value === null && isAcross && isSum(one) ? 0 : value;
  });
  return calculated(metric.op, left, right);
}

/** A rate is itself of two. */
function blockNames(one: Leaf): readonly string[] {
  return one.function === 'follow_rate' ? [blockName(one), `${one.owner} `] : [blockName(one)];
}

function valueOf(
  world: World,
  question: Question,
  { one, group, blocks }: { one: Leaf; group: string; blocks: Blocks },
): Cell {
  const kept = keptBy(world, question, one);
  const at = { world, question };
  if (kept.length < question.dimensions.length) {
    const dimensions = kept.flatMap((index) => question.dimensions[index] ?? []);
    const totals = groupsOf(
      world,
      { ...question, dimensions },
      { owner: one.owner, isEarlier: false, ignoresTime: false },
    );
    const own = totals.get(JSON.stringify(kept.map((index) => cellsOf(group)[index] ?? null)));
    return own === undefined && one.function === 'overall' ? null : aggregate(one, own ?? [], at);
  }
  const block = blocks.get(blockName(one));
  const rows = block?.get(group) ?? [];
  if (one.function === 'followed') return followers(world, one.owner, rows);
  if (one.function === 'follow_rate')
    return rows.length === 0 ? null : followers(world, one.owner, rows) / rows.length;
  if (one.function !== 'closing') return aggregate(one, rows, at);
  const { clock } = datasetNamed(world, one.owner);
  const times = question.dimensions.flatMap((of, index) =>
    isOver(world, one.owner, { of, clock }) ? [index] : [],
  );
  return balanceOf(rows, {
    world,
    question,
    owner: one.owner,
    all: [...(block?.values() ?? [])].flat(),
    times,
  });
}

function isOver(
  world: World,
  owner: string,
  { of, clock }: { of: Dimension; clock: string },
): boolean {
  return (
    placeOf(world, owner, of).length === 0 && (of.start === 'metric_time' || of.field === clock)
  );
}

/** The dimensions that a metric is computed by: all of them but for totals. */
function keptBy(
  world: World,
  { dimensions }: Question,
  { owner, function: name }: Leaf,
): readonly number[] {
  if (name === 'overall') return [];
  if (name !== 'over_g') return [...dimensions.keys()];
  return [...dimensions.keys()].filter((index) => {
    const of = dimensions[index];
    return of?.field === 'g' && placeOf(world, owner, of).length === 0;
  });
}

function isSum(one: Leaf): boolean {
  return isRunning(one) || ['sum', 'above', 'closing', 'earlier', 'overall'].includes(one.function);
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
