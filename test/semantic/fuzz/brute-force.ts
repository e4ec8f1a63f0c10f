import {
  aggregate,
  balanceOf,
  calculate,
  countFollowers,
  type AggregateNode,
} from './aggregates.ts';
import { membersOf } from './members.ts';
import { datasetNamed, resolvePath, Refusal } from './paths.ts';
import { aggregatesOf, type Dimension, type Metric, partsOf, type Question } from './question.ts';
import { factQueryName, factQueriesOf, check } from './refusals.ts';
import {
  cellsOf,
  conditionsOn,
  type Groups,
  groupsOf,
  isOfTime,
  isOwnTime,
  timesOf,
} from './rows.ts';
import { checkStage, type Line, stageRows } from './stage.ts';
import { accumulated, clockDimension, filledGroups, isRunning, periodsOf } from './running.ts';
import type { Cell, World } from './world.ts';

type Evaluated =
  | { readonly rows: readonly (readonly Cell[])[]; readonly owners: readonly string[] }
  | { readonly refused: string };

/**
 * The answer by the rules of the semantic layer, computed over arrays: rows in order, or the code
 * of the error.
 */
export function evaluate(world: World, question: Question): Evaluated {
  try {
    const owners = check(world, question);
    return { rows: answer(world, question, owners), owners };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code };
    throw error;
  }
}

function answer(
  world: World,
  question: Question,
  owners: readonly string[],
): readonly (readonly Cell[])[] {
  const { stage } = question;
  const kept = ({ metrics: [first = null], extra }: Line) => {
    const value = question.extra === undefined ? first : extra;
    return question.having === undefined || (value !== null && Number(value) > question.having);
  };
  const linesOf = (asked: Question) => groupLines(world, asked, owners);
  if (stage !== undefined) {
    checkStage(world, question, owners);
    const saysWhen = (asked: Question) => owners.every((owner) => usesTime(world, asked, owner));
    return stageRows(question, stage, { linesOf, kept, saysWhen });
  }
  const ordered = linesOf(question)
    .filter(kept)
    .map(({ cells, metrics, extra }) => [...cells, ...metrics, extra])
    .toSorted((a, b) => compareRows(question, a, b))
    .slice(0, question.limit);
  const width = question.dimensions.length + question.metrics.length;
  return ordered.map((line) => line.slice(0, width));
}

/** Whether a question names the owner's time. */
function usesTime(world: World, question: Question, owner: string): boolean {
  const named = [...question.dimensions, ...(question.excluded?.dimensions ?? [])];
  return (
    named.some((of) => isOwnTime(world, owner, of)) ||
    conditionsOn(world, question, owner).some((tests) =>
      tests.some((test) => isOfTime(world, owner, test)),
    )
  );
}

/** A line for each group that the question has. */
function groupLines(world: World, question: Question, owners: readonly string[]): readonly Line[] {
  const aggregates = aggregatesOf(question);
  const running = aggregates.filter(isRunning);
  const index = clockDimension(world, question, {
    all: owners,
    running: running.map(({ owner }) => owner),
  });
  const rows = new Map<string, Groups>(
    factQueriesOf(world, question).map(({ owner, leaves: [first] }) => [
      first === undefined ? owner : factQueryName(first),
      groupsOf(world, question, {
        owner,
        isEarlier: first?.function === 'earlier',
        ignoresTime: false,
      }),
    ]),
  );
  const compareTo = question.stage?.compareTo;
  const before =
    compareTo === undefined
      ? []
      : factQueriesOf(world, question).flatMap(({ owner, leaves: [first] }) =>
          first === undefined
            ? []
            : [
                [
                  `${factQueryName(first)}${isBefore}`,
                  groupsOf(world, question, {
                    owner,
                    isEarlier: false,
                    ignoresTime: false,
                    shift: compareTo,
                  }),
                ] as const,
              ],
        );
  const seen = [...rows.values(), ...before.map(([, groups]) => groups)].flatMap((groups) => [
    ...groups.keys(),
  ]);
  const periods = index === undefined ? [] : periodsOf(question, index, seen);
  const blocks: FactGroups = new Map([
    ...rows,
    ...before,
    ...runningGroups(world, question, { running, index, periods }),
  ]);
  const found = [...new Set([...blocks.values()].flatMap((groups) => [...groups.keys()]))];
  const members = question.includeEmpty
    ? owners.flatMap((owner) => membersOf(world, question, { owner, found }))
    : [];
  const filled =
    question.fillTime && index !== undefined
      ? filledGroups(world, question, { owners, index, periods, found })
      : [];
  return [...new Set([...found, ...members, ...filled])].map((group) => {
    const value = (metric: Metric): Cell =>
      metricValue(metric, (one) => valueOf(world, question, { one, group, blocks }));
    return {
      cells: cellsOf(group),
      metrics: question.metrics.map(value),
      added: question.metrics.map((metric) =>
        addedValues(world, question, { metric, group, blocks }),
      ),
      extra: question.extra === undefined ? null : value(question.extra),
    };
  });
}

/** Behind the name of a block of rows that are moved on. */
const isBefore = ' before';

/** The share of a metric, and what it was before. */
function addedValues(
  world: World,
  question: Question,
  { metric, group, blocks }: { metric: Metric; group: string; blocks: FactGroups },
): readonly Cell[] {
  const { shareOf, compareTo } = question.stage ?? {};
  const now = (one: AggregateNode) => valueOf(world, question, { one, group, blocks });
  const values: Cell[] = [];
  if (shareOf !== undefined) {
    const whole = (one: AggregateNode) => {
      const dimensions = shareOf.flatMap((index) => question.dimensions[index] ?? []);
      const totals = groupsOf(
        world,
        { ...question, dimensions, excluded: undefined },
        { owner: one.owner, isEarlier: false, ignoresTime: false },
      );
      const key = JSON.stringify(shareOf.map((index) => cellsOf(group)[index] ?? null));
      return aggregate(one, totals.get(key) ?? [], { world, question });
    };
    values.push(calculate('/', metricValue(metric, now, true), metricValue(metric, whole, true)));
  }
  if (compareTo !== undefined) {
    const before = (one: AggregateNode) =>
      aggregate(one, blocks.get(`${factQueryName(one)}${isBefore}`)?.get(group) ?? [], {
        world,
        question,
      });
    const previous = metricValue(metric, before, true);
    const difference = calculate('-', metricValue(metric, now, true), previous);
    values.push(metricValue(metric, before), difference, calculate('/', difference, previous));
  }
  return values;
}

type FactGroups = ReadonlyMap<string, Groups>;

interface Clock {
  readonly index: number | undefined;
  readonly periods: readonly string[];
}

function runningGroups(
  world: World,
  question: Question,
  { running, index, periods }: Clock & { running: readonly AggregateNode[] },
): FactGroups {
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
        factQueryName(one),
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

/** In arithmetic across fact queries, a sum without rows counts as 0. */
function metricValue(
  metric: Metric,
  valueOfLeaf: (one: AggregateNode) => Cell,
  isMixed = false,
): Cell {
  const parts = partsOf(metric);
  const isAcross = isMixed || new Set(parts.flatMap(factQueryNames)).size > 1;
  const [left = null, right = null] = parts.map((one) => {
    const value = valueOfLeaf(one);
    const isArithmetic = isMixed || 'left' in metric;
    return value === null && isArithmetic && isAcross && isSum(one) ? 0 : value;
  });
  return 'left' in metric ? calculate(metric.op, left, right) : left;
}

/** A conversion rate reads two fact queries. */
function factQueryNames(one: AggregateNode): readonly string[] {
  return one.function === 'follow_rate'
    ? [factQueryName(one), `${one.owner} `]
    : [factQueryName(one)];
}

function valueOf(
  world: World,
  question: Question,
  { one, group, blocks }: { one: AggregateNode; group: string; blocks: FactGroups },
): Cell {
  const kept = keptDimensions(world, question, one);
  const at = { world, question };
  if (kept.length < question.dimensions.length) {
    const dimensions = kept.flatMap((index) => question.dimensions[index] ?? []);
    const totals = groupsOf(
      world,
      { ...question, dimensions, excluded: undefined },
      { owner: one.owner, isEarlier: false, ignoresTime: false },
    );
    const own = totals.get(JSON.stringify(kept.map((index) => cellsOf(group)[index] ?? null)));
    return own === undefined && one.function === 'overall' ? null : aggregate(one, own ?? [], at);
  }
  const block = blocks.get(factQueryName(one));
  const rows = block?.get(group) ?? [];
  if (one.function === 'followed') return countFollowers(world, one.owner, rows);
  if (one.function === 'follow_rate')
    return rows.length === 0 ? null : countFollowers(world, one.owner, rows) / rows.length;
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
    resolvePath(world, owner, of).length === 0 && (of.start === 'metric_time' || of.field === clock)
  );
}

/** The dimensions that a metric is grouped by: all of them, except for totals. */
function keptDimensions(
  world: World,
  { dimensions }: Question,
  { owner, function: name }: AggregateNode,
): readonly number[] {
  if (name === 'overall') return [];
  if (name !== 'over_g') return [...dimensions.keys()];
  return [...dimensions.keys()].filter((index) => {
    const of = dimensions[index];
    return of?.field === 'g' && resolvePath(world, owner, of).length === 0;
  });
}

function isSum(one: AggregateNode): boolean {
  return isRunning(one) || ['sum', 'above', 'closing', 'earlier', 'overall'].includes(one.function);
}

/** By the order of the question, then by every dimension. NULL is last in both directions. */
function compareRows(
  { order, dimensions }: Question,
  a: readonly Cell[],
  b: readonly Cell[],
): number {
  const ties = [...dimensions.keys()].map((column) => ({ column, dir: 'asc' as const }));
  for (const { column, dir } of [...order, ...ties]) {
    const [left, right] = [a[column] ?? null, b[column] ?? null];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right === (dir === 'asc') ? -1 : 1;
  }
  return 0;
}
