import { calculate } from './aggregates.ts';
import { isToOne, resolvePath, Refusal } from './paths.ts';
import {
  type Dimension,
  type Metric,
  nameOfDimension,
  partsOf,
  type Question,
  type StageQuestion,
} from './question.ts';
import { grains, type Grain } from './times.ts';
import type { Cell, World } from './world.ts';

/** A row of the result before its columns are put together. */
export interface Line {
  readonly cells: readonly Cell[];
  readonly metrics: readonly Cell[];
  /** Of each metric: its share, then its value a period before, the difference and the growth. */
  readonly added: readonly (readonly Cell[])[];
  readonly extra: Cell;
}

interface RankedLine extends Line {
  readonly windows: readonly Cell[];
  readonly rank: Cell;
  readonly kind: string;
  readonly level: number;
}

interface Evaluation {
  /** The lines of a question, without `having` and order. */
  readonly linesOf: (question: Question) => readonly Line[];
  readonly kept: (line: Line) => boolean;
  /** Whether a question says which periods it is about, for each owner. */
  readonly saysWhen: (question: Question) => boolean;
}

/** What the second stage makes of the lines of a question: rows in their order. */
export function stageRows(
  question: Question,
  stage: StageQuestion,
  evaluation: Evaluation,
): readonly (readonly Cell[])[] {
  const lines = evaluation.linesOf(question).filter(evaluation.kept);
  const windows = stage.overRows.map((one) => windowOf(question, one, lines));
  const { top } = stage;
  const ranks =
    top === undefined
      ? lines.map(() => null)
      : ranksOf(lines, {
          valueOf: ({ metrics }) => metrics[top.by] ?? null,
          dir: top.dir,
          per: top.per,
        });
  const ranked = lines.map((line, index): RankedLine => ({
    ...line,
    windows: windows.map((values) => values[index] ?? null),
    rank: ranks[index] ?? null,
    kind: 'group',
    level: 0,
  }));
  const isShown = ({ rank }: RankedLine) =>
    top === undefined || (rank !== null && Number(rank) <= top.count);
  const { qualify } = stage;
  const meetsQualify = ({ metrics, windows: over }: RankedLine) => {
    if (qualify === undefined) return true;
    const value = [...metrics, ...over][qualify.of] ?? null;
    if (value === null) return false;
    return qualify.op === '<' ? Number(value) < qualify.bound : Number(value) > qualify.bound;
  };
  const shown = ranked.filter((line) => isShown(line) && meetsQualify(line));
  const coarser = [
    ...(top?.others === true ? othersOf(question, { ...evaluation, top, ranked, shown }) : []),
    ...(stage.rollup ? totalsOf(question, evaluation) : []),
  ];
  const all = [...shown, ...coarser].toSorted((a, b) => compareRows(question, a, b));
  const hasKind = stage.rollup || top?.others === true;
  return all
    .slice(0, question.limit)
    .map(({ cells, metrics, added, windows: over, kind }) => [
      ...cells,
      ...(hasKind ? [kind] : []),
      ...metrics.flatMap((value, index) => [value, ...(added[index] ?? [])]),
      ...over,
    ]);
}

function othersOf(
  question: Question,
  {
    top,
    ranked,
    shown,
    ...evaluation
  }: Evaluation & {
    top: NonNullable<StageQuestion['top']>;
    ranked: readonly RankedLine[];
    shown: readonly RankedLine[];
  },
): readonly RankedLine[] {
  const kept = [...question.dimensions.keys()].filter((index) => top.per.includes(index));
  if (kept.length === 0 && ranked.length === shown.length) return [];
  const groups = new Set(shown.map(({ cells }) => JSON.stringify(cells)));
  const excluded = { dimensions: question.dimensions, groups };
  const rest: Question = {
    ...coarserQuestion(question, kept),
    excluded,
    includeEmpty: false,
    fillTime: false,
  };
  return coarserLines(question, { kept, rest, evaluation, kind: 'others', level: 1 });
}

function totalsOf(question: Question, evaluation: Evaluation): readonly RankedLine[] {
  const names = question.dimensions.map(nameOfDimension);
  return question.dimensions.flatMap((_, index) => {
    const count = question.dimensions.length - 1 - index;
    const kept = [...question.dimensions.keys()].slice(0, count);
    const kind = count === 0 ? 'total' : `total by ${names.slice(0, count).join(', ')}`;
    const rest = coarserQuestion(question, kept);
    return coarserLines(question, { kept, rest, evaluation, kind, level: index + 2 });
  });
}

/** The same for some of the dimensions; a share of groups that are not there is nothing. */
function coarserQuestion(question: Question, kept: readonly number[]): Question {
  const { stage } = question;
  const dimensions = kept.flatMap((index) => question.dimensions[index] ?? []);
  const whole = stage?.shareOf?.map((index) => kept.indexOf(index));
  return {
    ...question,
    dimensions,
    includeEmpty: question.includeEmpty && kept.length > 0,
    fillTime: question.fillTime && dimensions.some(({ grain }) => grain !== undefined),
    stage:
      stage === undefined
        ? undefined
        : { ...stage, shareOf: whole?.includes(-1) === true ? undefined : whole },
  };
}

interface Coarser {
  readonly kept: readonly number[];
  readonly rest: Question;
  readonly evaluation: Evaluation;
  readonly kind: string;
  readonly level: number;
}

/** Where nothing says when, there is no period before. */
function coarserLines(
  { dimensions, stage }: Question,
  { kept, rest, evaluation, kind, level }: Coarser,
): readonly RankedLine[] {
  const isShared = rest.stage?.shareOf !== undefined;
  const isCompared = rest.stage?.compareTo !== undefined && evaluation.saysWhen(rest);
  const asked = {
    ...rest,
    stage: rest.stage && {
      ...rest.stage,
      compareTo: isCompared ? rest.stage.compareTo : undefined,
    },
  };
  return evaluation.linesOf(asked).map((line) => ({
    ...line,
    cells: [...dimensions.keys()].map((index) =>
      kept.includes(index) ? (line.cells[kept.indexOf(index)] ?? null) : null,
    ),
    added: line.added.map((values) => [
      ...(stage?.shareOf === undefined || isShared ? [] : [null]),
      ...values,
      ...(stage?.compareTo === undefined || isCompared ? [] : [null, null, null]),
    ]),
    windows: stage?.overRows.map(() => null) ?? [],
    rank: null,
    kind,
    level,
  }));
}

interface Ranking {
  readonly valueOf: (line: Line) => Cell;
  readonly dir: 'asc' | 'desc';
  readonly per: readonly number[];
}

/** One more than how many of the same kind come before; nothing has no place. */
function ranksOf(lines: readonly Line[], { valueOf, dir, per }: Ranking): readonly Cell[] {
  return lines.map((line) => {
    const value = valueOf(line);
    if (value === null) return null;
    const before = lines.filter((other) => {
      const rival = valueOf(other);
      if (rival === null || !isSame(line, other, per)) return false;
      return dir === 'desc' ? rival > value : rival < value;
    });
    return before.length + 1;
  });
}

function isSame(one: Line, other: Line, per: readonly number[]): boolean {
  return per.every((index) => one.cells[index] === other.cells[index]);
}

function windowOf(
  question: Question,
  { compute, of, dir, per }: StageQuestion['overRows'][number],
  lines: readonly Line[],
): readonly Cell[] {
  const valueOf = ({ metrics }: Line) => metrics[of] ?? null;
  if (compute === 'rank') return ranksOf(lines, { valueOf, dir, per: per ?? [] });
  if (compute === 'average' || compute === 'to_average')
    return lines.map((line) => {
      const same = lines.filter((other) => isSame(line, other, per ?? []));
      const values = same.map(valueOf).flatMap((value) => (value === null ? [] : [Number(value)]));
      const total = values.reduce((sum, value) => sum + value, 0);
      const average = values.length === 0 ? null : total / values.length;
      return compute === 'average' ? average : calculate('/', valueOf(line), average);
    });
  const sequence = sequenceOf(question, per);
  return lines.map((line) => {
    const same = lines
      .filter((other) => isSame(line, other, sequence.per))
      .toSorted(sequence.compare);
    const index = same.indexOf(line);
    if (compute === 'previous' || compute === 'next') {
      const neighbour = same[compute === 'previous' ? index - 1 : index + 1];
      return neighbour === undefined ? null : valueOf(neighbour);
    }
    const values = same.slice(0, index + 1).flatMap((one) => {
      const value = valueOf(one);
      return value === null ? [] : [Number(value)];
    });
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  });
}

/** The rows in which a row has one before it, and their order. */
function sequenceOf(
  { dimensions, order }: Question,
  given: readonly number[] | undefined,
): { readonly per: readonly number[]; readonly compare: (a: Line, b: Line) => number } {
  const all = [...dimensions.keys()];
  const time = finestPeriod(dimensions);
  const [first] = order;
  const isByTime = first?.column === time?.index && first?.dir === 'asc';
  if (order.length > 0 && !isByTime) {
    const per = given ?? [];
    const ties = all.filter((index) => !per.includes(index));
    return {
      per,
      compare: (a, b) =>
        comparedBy(
          [
            ...order.map((item) => ({ ...item, of: cellOf(item.column, dimensions.length) })),
            ...ties.map(byCell),
          ],
          a,
          b,
        ),
    };
  }
  if (time === undefined) throw new Refusal('no_period', 'rows without an order');
  const per = given ?? all.filter((index) => index !== time.index && !time.same.includes(index));
  const ties = all.filter((index) => index !== time.index && !per.includes(index));
  return { per, compare: (a, b) => comparedBy([time.index, ...ties].map(byCell), a, b) };
}

function finestPeriod(dimensions: readonly Dimension[]) {
  const nameOf = (one: Dimension) => nameOfDimension({ ...one, grain: undefined });
  const rank = (grain: Grain | undefined) => (grain === undefined ? 99 : places.indexOf(grain));
  const [index, ...others] = [...dimensions.keys()]
    .filter((at) => dimensions[at]?.grain !== undefined)
    .toSorted((a, b) => rank(dimensions[a]?.grain) - rank(dimensions[b]?.grain));
  const found = index === undefined ? undefined : dimensions[index];
  if (index === undefined || found === undefined) return undefined;
  const isOfSame = (at: number) => {
    const other = dimensions[at];
    return other !== undefined && nameOf(other) === nameOf(found);
  };
  return { index, same: others.filter(isOfSame) };
}

const places: readonly Grain[] = grains;

interface By {
  readonly of: (line: Line) => Cell;
  readonly dir: 'asc' | 'desc';
}

function byCell(index: number): By {
  return { of: ({ cells }) => cells[index] ?? null, dir: 'asc' };
}

/** A column of the question: a dimension, a metric, or the extra aggregate behind them. */
function cellOf(column: number, dimensions: number): (line: Line) => Cell {
  return ({ cells, metrics, extra }) =>
    column < dimensions
      ? (cells[column] ?? null)
      : column - dimensions < metrics.length
        ? (metrics[column - dimensions] ?? null)
        : extra;
}

function comparedBy<One extends Line>(items: readonly By[], a: One, b: One): number {
  for (const { of, dir } of items) {
    const [left, right] = [of(a), of(b)];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right === (dir === 'asc') ? -1 : 1;
  }
  return 0;
}

function compareRows({ order, dimensions, stage }: Question, a: RankedLine, b: RankedLine): number {
  const top = stage?.top;
  const all = [...dimensions.keys()];
  const requested = order.map(({ column, dir }) => ({
    dir,
    of: cellOf(column, dimensions.length),
  }));
  const level = a.level - b.level;
  if (top === undefined || order.length > 0)
    return comparedBy([...requested, ...all.map(byCell)], a, b) || level;
  const [per, others] = [true, false].map((is) =>
    all.filter((index) => top.per.includes(index) === is).map(byCell),
  );
  const rank = Number(a.rank ?? Infinity) - Number(b.rank ?? Infinity);
  return comparedBy(per ?? [], a, b) || level || rank || 0 || comparedBy(others ?? [], a, b);
}

/** Throws what the second stage refuses, in the order in which it is met. */
export function checkStage(world: World, question: Question, owners: readonly string[]): void {
  const { stage, dimensions, having, metrics } = question;
  if (stage === undefined) return;
  const isMany = (of: Dimension, owner: string) => !resolvePath(world, owner, of).every(isToOne);
  for (const { compute, of, per } of stage.overRows) {
    if (compute === 'rank' || compute === 'average' || compute === 'to_average') continue;
    const sequence = sequenceOf(question, per);
    const summed = dimensions.filter((_, index) => !sequence.per.includes(index));
    const metric = metrics[of];
    if (compute !== 'running' || metric === undefined) continue;
    const isLost = (dimension: Dimension) =>
      !addsUp(metric) || partsOf(metric).some(({ owner }) => isMany(dimension, owner));
    if (summed.some(isLost)) throw new Refusal('not_additive', 'a sum of what is no part');
  }
  const hasMany = dimensions.some((of) => owners.some((owner) => isMany(of, owner)));
  if (stage.top?.others === true && (having !== undefined || hasMany))
    throw new Refusal('not_supported', 'others of what is in several groups, or was left out');
}

const additive: readonly string[] = ['sum', 'count', 'count_rows', 'rows_in_a', 'far', 'above'];
const sums: readonly string[] = ['sum', 'above'];

/** Differences too; but within one block a sum without rows makes them nothing. */
function addsUp(metric: Metric): boolean {
  const parts = partsOf(metric);
  if (parts.some((one) => !additive.includes(one.function))) return false;
  if (!('left' in metric)) return true;
  const isOneBlock = metric.left.owner === metric.right.owner;
  const hasSum = parts.some((one) => sums.includes(one.function));
  const isOne = JSON.stringify(metric.left) === JSON.stringify(metric.right);
  return metric.op === '-' && !(isOneBlock && hasSum && !isOne);
}
