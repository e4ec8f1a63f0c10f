import { type Asked, type Block, blockOf } from './fact-query.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type { Expr, CommonTable, FromItem, JoinClause, Select } from '../relational/query-tree.ts';
import { isToOne } from '../model/join-graph.ts';
import {
  periodStart,
  yearStartFor,
  type Grain,
  grains,
  liesIn,
  periodStartType,
  periodOfGrains,
} from '../model/grains.ts';
import { requireDataset, formatFieldPath, type ResolvedField } from '../resolve/field-path.ts';
import { periodsName, timeDimension } from './running.ts';

/** The periods of the result, as running totals and `fill_time` need them. */
export interface Calendar {
  readonly tables: readonly CommonTable[];
  /** All periods between the first and the last, where they are asked for: the dimension, and the table that has them. */
  readonly filled: Filled | undefined;
  /** True where a table reads itself. */
  readonly isRecursive: boolean;
}

interface Filled {
  readonly column: string;
  readonly table: string;
  /** Dimensions that follow from the period: coarser ones of the same time. */
  readonly coarser: Select['columns'];
}

export function calendarOf(asked: Asked, blocks: readonly Block[]): Calendar {
  const { query } = asked;
  const running = blocks.filter((block) => block.leaves.some((leaf) => leaf.running !== undefined));
  if (running.length === 0 && !query.fill_time)
    return { tables: [], filled: undefined, isRecursive: false };
  const times = running.map(
    (block) =>
      timeDimension({ ...asked, owner: requireDataset(asked.model, block.owner) }, block.places)
        .index,
  );
  const [index = finestTime(blocks), ...others] = new Set(times);
  if (others.length > 0)
    throw notSupportedError(
      'running totals over several times',
      'Ask for metric_time, which is the time of each',
    );
  const grain = blocks[0]?.places[index]?.grain;
  if (grain === undefined) {
    throw queryError('no_period', 'fill_time has no periods to fill: no dimension is one', {
      hint: 'Add it to the dimensions, or leave fill_time out.',
      choices: ['metric_time.month'],
    });
  }
  if (query.fill_time) checkFilled(query, blocks, index);
  const column = `d${index + 1}`;
  const seen = {
    name: query.fill_time ? `${periodsName} seen` : periodsName,
    query: seenPeriods(asked, blocks, index),
  };
  if (!query.fill_time) return { tables: [seen], filled: undefined, isRecursive: false };
  const coarser = coarserPeriods(asked, blocks, index);
  const filling =
    asked.model.dialect.recursiveWith === undefined
      ? counted(asked, { seen, column, grain })
      : recursive({ seen, column, grain });
  return {
    tables: [seen, ...filling.tables],
    filled: { column, table: periodsName, coarser },
    isRecursive: filling.isRecursive,
  };
}

interface Filling {
  readonly seen: CommonTable;
  readonly column: string;
  readonly grain: Grain;
}

/** From the first period on, each makes the next. */
function recursive({ seen, column, grain }: Filling) {
  const name = `${periodsName} all`;
  const next: Expr = {
    kind: 'add',
    of: { kind: 'column', alias: name, name: column },
    period: periodOfGrains(1, grain),
    type: periodStartType(grain),
  };
  const isDue: Expr = {
    kind: 'text',
    parts: [next, ' <= ', { kind: 'greatest', table: seen.name, column }],
  };
  const parts = [firstOf(seen, column), selectFrom(common(name), { column, expr: next }, [isDue])];
  const known: Expr = {
    kind: 'text',
    parts: [{ kind: 'column', alias: name, name: column }, ' IS NOT NULL'],
  };
  const filled = selectFrom(
    common(name),
    { column, expr: { kind: 'column', alias: name, name: column } },
    [known],
  );
  return {
    tables: [
      { name, query: { kind: 'union' as const, all: true, parts } },
      { name: periodsName, query: filled },
    ],
    isRecursive: true,
  };
}

/** How many digits the count of periods has at most, so that no engine's last year is passed. */
const digits: Readonly<Record<Grain, number>> = {
  second: 8,
  minute: 7,
  hour: 6,
  day: 5,
  week: 4,
  month: 4,
  quarter: 4,
  fiscal_quarter: 4,
  year: 3,
  fiscal_year: 3,
};

/** For engines that stop a recursion early: the periods after the first by the digits of their number, the highest first. */
function counted({ model, notes }: Asked, { seen, column, grain }: Filling) {
  const name = model.dialect.quote('n');
  const numbers = Array.from(
    { length: 10 },
    (_, digit) => `SELECT ${digit}${digit === 0 ? ` AS ${name}` : ''}`,
  ).join(' UNION ALL ');
  const last: Expr = { kind: 'greatest', table: seen.name, column };
  const places = Array.from({ length: digits[grain] }, (_, index) => digits[grain] - index - 1);
  const nameOf = (place: number) =>
    place === 0 ? periodsName : `${periodsName} by ${10 ** place}`;
  const start = { name: `${periodsName} first`, query: firstOf(seen, column) };
  const steps = places.map((place, index) => {
    const before = index === 0 ? start.name : nameOf(place + 1);
    const of: Expr = { kind: 'column', alias: before, name: column };
    const times: Expr = { kind: 'column', alias: 'ktx digits', name: 'n' };
    const expr: Expr = {
      kind: 'add_times',
      of,
      period: periodOfGrains(10 ** place, grain),
      times,
      type: periodStartType(grain),
    };
    const isDue: Expr = { kind: 'text', parts: [expr, ' <= ', last] };
    const digit: JoinClause = {
      alias: 'ktx digits',
      relation: { kind: 'query', sql: numbers },
      kind: 'cross',
      on: { kind: 'text', parts: [] },
    };
    return {
      name: nameOf(place),
      query: { ...selectFrom(common(before), { column, expr }, [isDue]), joins: [digit] },
    };
  });
  notes.add(`At most ${10 ** digits[grain]} periods are filled`);
  return { tables: [start, ...steps], isRecursive: false };
}

function firstOf(seen: CommonTable, column: string): Select {
  const expr: Expr = {
    kind: 'aggregate',
    function: 'min',
    of: { kind: 'column', alias: seen.name, name: column },
    fraction: undefined,
  };
  return selectFrom(common(seen.name), { column, expr }, []);
}

function finestTime(blocks: readonly Block[]): number {
  const asked = (blocks[0]?.places ?? []).map(({ grain }) => grain);
  const finest = grains.find((grain) => asked.includes(grain));
  return finest === undefined ? -1 : asked.indexOf(finest);
}

/** The finest periods are filled, whatever runs. */
function checkFilled(
  { dimensions }: Asked['query'],
  blocks: readonly Block[],
  index: number,
): void {
  const places = blocks[0]?.places ?? [];
  const finest = places[finestTime(blocks)]?.grain;
  const rival = places.findIndex(
    ({ grain }, at) => grain === finest && !isSameTime(blocks, index, at),
  );
  if (rival === -1) return;
  throw notSupportedError(
    'fill_time over several times',
    `${dimensions[index]} and ${dimensions[rival]} both have periods to fill`,
  );
}

/** True where the dimensions are of one time, whichever metric is asked. */
function isSameTime(blocks: readonly Block[], one: number, other: number): boolean {
  const timeOf = (place: ResolvedField | undefined) =>
    place && formatFieldPath({ ...place, grain: undefined });
  return blocks.every(({ places }) => timeOf(places[one]) === timeOf(places[other]));
}

function coarserPeriods(
  { query }: Asked,
  blocks: readonly Block[],
  index: number,
): Filled['coarser'] {
  const places = blocks[0]?.places ?? [];
  const finest = places[index]?.grain;
  return places.flatMap(({ grain, dataset }, at) => {
    if (
      at === index ||
      grain === undefined ||
      finest === undefined ||
      !isSameTime(blocks, index, at)
    )
      return [];
    const yearStart = yearStartFor(dataset, [finest, grain]);
    if (!liesIn(finest, grain, yearStart))
      throw notSupportedError(
        `fill_time by ${finest} and ${grain}`,
        'One crosses the ends of the other',
      );
    const of: Expr = { kind: 'column', alias: periodsName, name: `d${index + 1}` };
    const options = { type: periodStartType(finest), weekStart: query.week_start, yearStart };
    return [
      { column: `d${at + 1}`, expr: grain === finest ? of : periodStart(of, grain, options) },
    ];
  });
}

/** Those in which any block has a group. Of the other dimensions, only those to many can leave a row without one. */
function seenPeriods(asked: Asked, blocks: readonly Block[], index: number): CommonTable['query'] {
  const leaves = blocks.flatMap((block) =>
    block.leaves.flatMap((leaf) => leaf.nested?.aggregates ?? [leaf]),
  );
  // A query without metrics has the rows of one dataset.
  const read = leaves.length > 0 ? leaves : blocks.map(({ owner }) => ({ owner, shift: [] }));
  const isFanned = (at: number): boolean =>
    blocks.some(({ places }) => places[at]?.path.every(isToOne) === false);
  const others = asked.query.dimensions.filter((_, at) => at !== index && isFanned(at));
  const query = {
    ...asked.query,
    dimensions: [asked.query.dimensions[index] ?? '', ...others],
    include_empty: false,
  };
  const sources = [
    ...new Map(
      read.map(({ owner, shift }) => [JSON.stringify([owner, shift]), { owner, shift }]),
    ).values(),
  ];
  const parts = sources.map(({ owner, shift }): Select => {
    const at = {
      owner: requireDataset(asked.model, owner),
      metric: `what is asked of ${owner}`,
      shift,
    };
    const { select } = blockOf({ ...asked, query }, [], at);
    const [{ expr } = { expr: undefined }] = select.columns;
    return { ...select, columns: expr === undefined ? [] : [{ column: `d${index + 1}`, expr }] };
  });
  return { kind: 'union', all: false, parts };
}

function common(name: string): FromItem {
  return { alias: name, relation: { kind: 'common', name } };
}

function selectFrom(
  from: FromItem,
  column: Select['columns'][number],
  where: readonly Expr[],
): Select {
  return { kind: 'select', columns: [column], from, joins: [], where };
}
