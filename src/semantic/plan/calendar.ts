import {
  type Grain,
  grains,
  liesIn,
  periodOfGrains,
  periodStart,
  periodStartType,
  yearStartFor,
} from '../model/grains.ts';
import { isToOne } from '../model/join-graph.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type {
  CommonTable,
  Expr,
  FromItem,
  JoinClause,
  Query,
  Select,
} from '../relational/query-tree.ts';
import { formatFieldPath, requireDataset, type ResolvedField } from '../resolve/field-path.ts';
import { type FactQuery, planFactQuery } from './fact-query.ts';
import type { PlanContext } from './plan-context.ts';
import { findPeriodDimension, periodsTable, shareParts } from './running.ts';

/** The periods of the result. Running totals and `fill_time` need them. */
export interface Calendar {
  readonly tables: readonly CommonTable[];
  /** Set for `fill_time`: the table with every period between the first and the last. */
  readonly filledPeriods: FilledPeriods | undefined;
  /** True if one of the tables reads itself. */
  readonly isRecursive: boolean;
  /** The fact queries, which may read tables of the calendar. */
  readonly factQueries: readonly FactQuery[];
}

export interface FilledPeriods {
  readonly table: string;
  /** The dimension that is filled, `d1`… */
  readonly column: string;
  /** Coarser dimensions of the same time; they follow from the period. */
  readonly coarser: Select['columns'];
}

/** Plans the common table `ktx periods`, if the query has running totals or `fill_time`. */
export function planCalendar(context: PlanContext, factQueries: readonly FactQuery[]): Calendar {
  const { model, query } = context;
  const running = factQueries.filter(({ aggregates }) =>
    aggregates.some((aggregate) => aggregate.running !== undefined),
  );
  if (running.length === 0 && !query.fill_time)
    return { tables: [], filledPeriods: undefined, isRecursive: false, factQueries };
  const { index, grain } = periodDimension(context, factQueries, running);
  if (query.fill_time) checkFillsOneTime(query, factQueries, index);
  const seen = planSeenPeriods(context, factQueries, { running, index, grain });
  if (!query.fill_time) {
    const tables = [...seen.tables, { name: periodsTable, query: seen.periods }];
    return { tables, filledPeriods: undefined, isRecursive: false, factQueries: seen.factQueries };
  }
  const seenTable = { name: `${periodsTable} seen`, query: seen.periods };
  const coarser = coarserPeriods(context, factQueries, index);
  const column = `d${index + 1}`;
  const gaps = { seen: seenTable, column, grain };
  const filled =
    model.dialect.recursiveWith === undefined
      ? fillByDigits(context, gaps)
      : fillRecursively(gaps, skippedZone(query, factQueries, { index, grain }));
  return {
    tables: [...seen.tables, seenTable, ...filled.tables],
    filledPeriods: { table: periodsTable, column, coarser },
    isRecursive: filled.isRecursive,
    factQueries: seen.factQueries,
  };
}

/**
 * The periods that have rows, and the tables and fact queries that go with them. A single fact
 * query of running totals shares its rows with the periods, if they are the same.
 */
function planSeenPeriods(
  context: PlanContext,
  factQueries: readonly FactQuery[],
  { running, index, grain }: { running: readonly FactQuery[]; index: number; grain: Grain },
): Pick<Calendar, 'tables' | 'factQueries'> & { readonly periods: Query } {
  const parts = seenPeriods(context, factQueries, index);
  const [only, ...others] = running;
  const shared =
    only === undefined || others.length > 0
      ? undefined
      : shareParts(only.select, parts, { column: `d${index + 1}`, grain });
  if (shared === undefined)
    return { tables: [], periods: { kind: 'union', all: false, parts }, factQueries };
  return {
    tables: [shared.table],
    periods: shared.periods,
    factQueries: factQueries.map((factQuery) =>
      factQuery === only ? { ...factQuery, select: shared.select } : factQuery,
    ),
  };
}

/** The dimension whose periods the running totals or `fill_time` use, and its grain. */
function periodDimension(
  { model }: PlanContext,
  factQueries: readonly FactQuery[],
  running: readonly FactQuery[],
): { readonly index: number; readonly grain: Grain } {
  const ofRunning = running.map(({ owner, dimensions, aggregates: [first] }) => {
    const scope = { model, owner: requireDataset(model, owner), time: first?.time };
    return findPeriodDimension(scope, dimensions).index;
  });
  const [index = finestPeriod(factQueries), ...others] = new Set(ofRunning);
  if (others.length > 0)
    throw notSupportedError(
      'running totals over several times',
      'Group by metric_time, which is the default time of each metric',
    );
  const grain = factQueries[0]?.dimensions[index]?.grain;
  if (grain !== undefined) return { index, grain };
  throw queryError('no_period', 'fill_time needs a dimension that is a period', {
    hint: 'Add one to the dimensions, or leave fill_time out.',
    choices: ['metric_time.month'],
  });
}

/** The index of the dimension with the finest grain; -1 if none has a grain. */
function finestPeriod(factQueries: readonly FactQuery[]): number {
  const dimensionGrains = (factQueries[0]?.dimensions ?? []).map(({ grain, derived }) =>
    derived === undefined ? grain : undefined,
  );
  const finest = grains.find((grain) => dimensionGrains.includes(grain));
  return finest === undefined ? -1 : dimensionGrains.indexOf(finest);
}

/** Throws if another dimension is an equally fine period of another time. */
function checkFillsOneTime(
  query: PlanContext['query'],
  factQueries: readonly FactQuery[],
  index: number,
): void {
  const dimensions = factQueries[0]?.dimensions ?? [];
  const finest = dimensions[finestPeriod(factQueries)]?.grain;
  const rival = dimensions.findIndex(
    ({ grain, derived }, position) =>
      grain === finest && derived === undefined && !isSameTime(factQueries, index, position),
  );
  if (rival === -1) return;
  throw notSupportedError(
    'fill_time over several times',
    `${query.dimensions[index]} and ${query.dimensions[rival]} both have periods to fill`,
  );
}

/** True if both dimensions are of one time field, in every fact query. */
function isSameTime(factQueries: readonly FactQuery[], left: number, right: number): boolean {
  const timeOf = (dimension: ResolvedField | undefined) =>
    dimension && formatFieldPath({ ...dimension, grain: undefined, derived: undefined });
  return factQueries.every(
    ({ dimensions }) => timeOf(dimensions[left]) === timeOf(dimensions[right]),
  );
}

/** The dimensions that are coarser periods of the same time, computed from the finest period. */
function coarserPeriods(
  { query }: PlanContext,
  factQueries: readonly FactQuery[],
  index: number,
): FilledPeriods['coarser'] {
  const dimensions = factQueries[0]?.dimensions ?? [];
  const finest = dimensions[index]?.grain;
  if (finest === undefined) return [];
  const period: Expr = { kind: 'column', alias: periodsTable, name: `d${index + 1}` };
  return dimensions.flatMap(({ grain, derived, dataset }, position) => {
    if (position === index || grain === undefined) return [];
    if (!isSameTime(factQueries, index, position)) return [];
    if (derived !== undefined)
      throw notSupportedError(
        `fill_time beside ${query.dimensions[position]}`,
        'Leave one of them out',
      );
    const yearStart = yearStartFor(dataset, [finest, grain]);
    if (!liesIn(finest, grain, yearStart))
      throw notSupportedError(
        `fill_time by ${finest} and ${grain}`,
        `A ${finest} can begin in one ${grain} and end in the next`,
      );
    const options = { type: periodStartType(finest), weekStart: query.week_start, yearStart };
    const expr = grain === finest ? period : periodStart(period, grain, options);
    return [{ column: `d${position + 1}`, expr }];
  });
}

/**
 * The periods in which any fact query has a group. It also groups by the other dimensions that
 * cross one-to-many joins, because those can leave a row without a group.
 */
function seenPeriods(
  context: PlanContext,
  factQueries: readonly FactQuery[],
  index: number,
): readonly Select[] {
  const isFanOut = (position: number): boolean =>
    factQueries.some(({ dimensions }) => dimensions[position]?.path.every(isToOne) === false);
  const { query, model } = context;
  const otherDimensions = query.dimensions.filter(
    (_, position) => position !== index && isFanOut(position),
  );
  const periodQuery = {
    ...query,
    dimensions: [query.dimensions[index] ?? '', ...otherDimensions],
    include_empty: false,
  };
  return rowSources(factQueries).map(({ owner, shift, time }): Select => {
    const fact = {
      owner: requireDataset(model, owner),
      metric: `the metrics of ${owner}`,
      shift,
      time,
    };
    const { select } = planFactQuery({ ...context, query: periodQuery }, [], fact);
    const period = select.columns[0]?.expr;
    const columns = period === undefined ? [] : [{ column: `d${index + 1}`, expr: period }];
    return { ...select, columns };
  });
}

/**
 * The owners of all aggregates, each with the time shifts of its rows. Without metrics, the owner
 * of the fact query.
 */
function rowSources(factQueries: readonly FactQuery[]) {
  const aggregates = factQueries.flatMap((factQuery) =>
    factQuery.aggregates.flatMap((aggregate) => aggregate.nested?.aggregates ?? [aggregate]),
  );
  const sources =
    aggregates.length > 0
      ? aggregates
      : factQueries.map(({ owner }) => ({ owner, shift: [], time: undefined }));
  const byKey = new Map(
    sources.map(({ owner, shift, time }) => [
      JSON.stringify([owner, shift, time]),
      { owner, shift, time },
    ]),
  );
  return [...byKey.values()];
}

/** The zone whose clocks skip some of the periods; undefined if every period is shown. */
function skippedZone(
  { timezone }: PlanContext['query'],
  factQueries: readonly FactQuery[],
  { index, grain }: { readonly index: number; readonly grain: Grain },
): string | undefined {
  const isClockTime = grain === 'hour' || grain === 'minute' || grain === 'second';
  const isInstant = factQueries.some(
    ({ dimensions }) => dimensions[index]?.field?.type === 'datetime_tz',
  );
  return isClockTime && isInstant && timezone !== 'UTC' ? timezone : undefined;
}

interface PeriodGaps {
  /** The periods that have rows. */
  readonly seen: CommonTable;
  readonly column: string;
  readonly grain: Grain;
}

interface FilledTables {
  /** The last one is `ktx periods`. */
  readonly tables: readonly CommonTable[];
  readonly isRecursive: boolean;
}

/**
 * A recursive query: it starts with the first period, and each step adds the next one, until the
 * last.
 */
function fillRecursively(
  { seen, column, grain }: PeriodGaps,
  timezone: string | undefined,
): FilledTables {
  const name = `${periodsTable} all`;
  const period: Expr = { kind: 'column', alias: name, name: column };
  const next: Expr = {
    kind: 'add',
    of: period,
    period: periodOfGrains(1, grain),
    type: periodStartType(grain),
  };
  const isUntilLast: Expr = { kind: 'text', parts: [next, ' <= ', lastPeriod(seen, column)] };
  const steps = selectFrom(fromCommon(name), { column, expr: next }, [isUntilLast]);
  // Without any row the first period is NULL.
  const isKnown: Expr = { kind: 'text', parts: [period, ' IS NOT NULL'] };
  const isShown: readonly Expr[] =
    timezone === undefined ? [] : [{ kind: 'is_shown', of: period, timezone }];
  const filled = selectFrom(fromCommon(name), { column, expr: period }, [isKnown, ...isShown]);
  return {
    tables: [
      { name, query: { kind: 'union', all: true, parts: [firstPeriod(seen, column), steps] } },
      { name: periodsTable, query: filled },
    ],
    isRecursive: true,
  };
}

/**
 * How many digits the number of periods can have. With more, the last period would be after the
 * last year of the engines.
 */
const maxDigits: Readonly<Record<Grain, number>> = {
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

/**
 * For engines that limit recursion. Adds all numbers of periods to the first one, digit by digit,
 * the highest digit first. Each step cross-joins the ten digits and drops what is after the last
 * period.
 */
function fillByDigits(
  { model, notes }: PlanContext,
  { seen, column, grain }: PeriodGaps,
): FilledTables {
  const digitCount = maxDigits[grain];
  const first = { name: `${periodsTable} first`, query: firstPeriod(seen, column) };
  const tableOf = (exponent: number) =>
    exponent === 0 ? periodsTable : `${periodsTable} by ${10 ** exponent}`;
  const digits: JoinClause = {
    alias: digitsAlias,
    relation: { kind: 'query', sql: digitsSql(model.dialect.quote('n')) },
    kind: 'cross',
    on: { kind: 'text', parts: [] },
  };
  const exponents = Array.from({ length: digitCount }, (_, index) => digitCount - index - 1);
  const steps = exponents.map((exponent, index) => {
    const previous = index === 0 ? first.name : tableOf(exponent + 1);
    const expr: Expr = {
      kind: 'add_times',
      of: { kind: 'column', alias: previous, name: column },
      period: periodOfGrains(10 ** exponent, grain),
      times: { kind: 'column', alias: digitsAlias, name: 'n' },
      type: periodStartType(grain),
    };
    const isUntilLast: Expr = { kind: 'text', parts: [expr, ' <= ', lastPeriod(seen, column)] };
    const select = selectFrom(fromCommon(previous), { column, expr }, [isUntilLast]);
    return { name: tableOf(exponent), query: { ...select, joins: [digits] } };
  });
  notes.add(`fill_time shows at most ${10 ** digitCount} periods`);
  return { tables: [first, ...steps], isRecursive: false };
}

const digitsAlias = 'ktx digits';

/** The numbers 0 to 9. */
function digitsSql(column: string): string {
  return Array.from(
    { length: 10 },
    (_, digit) => `SELECT ${digit}${digit === 0 ? ` AS ${column}` : ''}`,
  ).join(' UNION ALL ');
}

function firstPeriod(seen: CommonTable, column: string): Select {
  const of: Expr = { kind: 'column', alias: seen.name, name: column };
  const expr: Expr = { kind: 'aggregate', function: 'min', of, fraction: undefined };
  return selectFrom(fromCommon(seen.name), { column, expr }, []);
}

function lastPeriod(seen: CommonTable, column: string): Expr {
  return { kind: 'greatest', table: seen.name, column };
}

export function fromCommon(name: string): FromItem {
  return { alias: name, relation: { kind: 'common', name } };
}

function selectFrom(
  from: FromItem,
  column: Select['columns'][number],
  where: readonly Expr[],
): Select {
  return { kind: 'select', columns: [column], from, joins: [], where };
}
