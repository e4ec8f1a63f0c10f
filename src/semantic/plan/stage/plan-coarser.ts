import { UserError } from '../../../lib/error.ts';
import { grains } from '../../model/grains.ts';
import { notSupportedError } from '../../query/errors.ts';
import {
  type CommonTable,
  conjunctionOf,
  type Expr,
  type NamedColumn,
  type Select,
} from '../../relational/query-tree.ts';
import { renameColumns } from '../../relational/rename-columns.ts';
import type { RowCondition } from '../../resolve/conditions.ts';
import { resolveQueryField } from '../../resolve/field-path.ts';
import { fieldExpr } from '../../resolve/row-expr.ts';
import { type GroupsInput, type PlannedGroups, planGroups } from './plan-groups.ts';
import { renameTables } from './rename-tables.ts';
import { outputColumn, valuesOf } from './result-rows.ts';
import { groupColumn, kindColumn, levelColumn, rankColumn } from './shown-rows.ts';

interface RankedRows {
  /** The value columns of the result. */
  readonly names: readonly string[];
  /** How many columns follow them, by which rows are only ordered. */
  readonly hiddenCount: number;
  /** The groups of the query. */
  readonly ranked: CommonTable;
  /** The condition that a group is shown; empty if all are. */
  readonly isTop: readonly Expr[];
}

interface CoarserRows {
  /** The last one holds all rows of the result. */
  readonly tables: readonly CommonTable[];
  readonly isRecursive: boolean;
}

/**
 * Adds to the groups a row for the others, and rows for the totals. Each is the query itself for
 * fewer dimensions, so that distinct counts and ratios are those of all its rows.
 */
export function planCoarserRows(
  input: GroupsInput,
  groups: PlannedGroups,
  result: RankedRows,
): CoarserRows {
  const { query, stage } = input;
  const { top, hasRollup } = stage;
  const others =
    top?.hasOthers === true ? [planOthers(input, groups, { per: top.per, result })] : [];
  const totals = hasRollup
    ? query.dimensions.map((_, index) => {
        const kept = query.dimensions.slice(0, query.dimensions.length - 1 - index);
        return planTotal(input, kept, { level: index + 2, result });
      })
    : [];
  const levels = [...others, ...totals];
  const parts = [shownGroups(query.dimensions.length, result), ...levels.map(({ rows }) => rows)];
  const all = { name: 'ktx rows', query: { kind: 'union' as const, all: true, parts } };
  return {
    tables: [...levels.flatMap(({ tables }) => tables), all],
    isRecursive: levels.some(({ isRecursive }) => isRecursive),
  };
}

interface Level extends CoarserRows {
  /** Its part of the union. */
  readonly rows: Select;
}

function shownGroups(dimensionCount: number, result: RankedRows): Select {
  const { names, hiddenCount, ranked, isTop } = result;
  const dimensions = Array.from({ length: dimensionCount }, (_, index) => groupColumn(index));
  const columns = [...dimensions, ...valueColumns(names.length + hiddenCount)];
  const own = (column: string) => ({ column, expr: outputColumn(column) });
  return {
    kind: 'select',
    columns: [
      ...columns.map(own),
      ...(isTop.length === 0 ? [] : [own(rankColumn)]),
      { column: kindColumn, expr: { kind: 'literal', value: 'group' } },
      { column: levelColumn, expr: { kind: 'literal', value: 0 } },
    ],
    from: { alias: 'ktx', relation: { kind: 'common', name: ranked.name } },
    joins: [],
    where: isTop,
  };
}

function valueColumns(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `x${index + 1}`);
}

/** The rows that belong to none of the shown groups. */
function planOthers(
  input: GroupsInput,
  groups: PlannedGroups,
  { per, result }: { per: readonly string[]; result: RankedRows },
): Level {
  const { query } = input;
  checkOthers(input, groups);
  const dimensions = query.dimensions.filter((name) => per.includes(name));
  const condition = notShown(query.dimensions, result);
  const about = per.length === 0 ? 'the others' : `the others for each ${per.join(' and ')}`;
  const level = planLevel({ ...input, condition }, dimensions, {
    prefix: 'ktx others',
    kind: 'others',
    level: 1,
    about,
    result,
  });
  // Without dimensions there is a row even of no groups.
  const where = dimensions.length === 0 ? [hasRest(result)] : [];
  return { ...level, rows: { ...level.rows, where } };
}

/** The condition that some group is not shown. */
function hasRest({ ranked, isTop }: RankedRows): Expr {
  const isRest: Expr = {
    kind: 'text',
    parts: [outputColumn(rankColumn), ' IS NULL OR NOT ', conjunctionOf(isTop)],
  };
  const rest = selectFrom(ranked, [rankColumn], [isRest]);
  return existsIn('ktx rest', rest, isAlways);
}

const isAlways: Expr = { kind: 'text', parts: ['1 = 1'] };

function selectFrom(
  { name }: CommonTable,
  columns: readonly string[],
  where: readonly Expr[],
): Select {
  return {
    kind: 'select',
    columns: columns.map((column) => ({ column, expr: outputColumn(column) })),
    from: { alias: 'ktx', relation: { kind: 'common', name } },
    joins: [],
    where,
  };
}

function existsIn(alias: string, select: Select, on: Expr): Expr {
  const join = { alias, relation: { kind: 'select' as const, select }, on, kind: 'inner' as const };
  return { kind: 'exists', joins: [join], where: isAlways };
}

/** Throws if a row can belong to several groups, so that it could be shown and among the others. */
function checkOthers({ query }: GroupsInput, { factQueries }: PlannedGroups): void {
  if (query.having.length > 0)
    throw notSupportedError(
      'others beside having',
      'It is not clear whether the groups that having leaves out are among the others',
    );
  const fanOut = factQueries.flatMap(({ fanOutDimensions }) => fanOutDimensions)[0];
  if (fanOut !== undefined)
    throw notSupportedError(
      `others by ${fanOut}`,
      `One row can have several ${fanOut}, so it can be shown and be among the others`,
    );
  const running = factQueries.find(({ aggregates }) =>
    aggregates.some((node) => node.running !== undefined || node.spine !== undefined),
  );
  if (running !== undefined)
    throw notSupportedError(
      'others of a running total',
      'A row counts in several periods, and other groups are shown in each of them',
    );
}

/** The condition that a row is in none of the shown groups. */
function notShown(names: readonly string[], { ranked, isTop }: RankedRows): RowCondition {
  const alias = 'ktx shown';
  return {
    text: 'not in the groups of the top',
    on: undefined,
    sparesTotals: true,
    build: (scope) => {
      const equal = names.map((name, index): Expr => {
        const own = fieldExpr(scope, resolveQueryField(scope, name.split('.')));
        const shown: Expr = { kind: 'column', alias, name: groupColumn(index) };
        const parts = [own, ' = ', shown, ' OR (', own, ' IS NULL AND ', shown, ' IS NULL)'];
        return { kind: 'text', parts };
      });
      const columns = names.map((_, index) => groupColumn(index));
      const exists = existsIn(alias, selectFrom(ranked, columns, isTop), conjunctionOf(equal));
      return { kind: 'text', parts: ['NOT ', exists] };
    },
  };
}

function planTotal(
  input: GroupsInput,
  dimensions: readonly string[],
  { level, result }: { level: number; result: RankedRows },
): Level {
  const isWhole = dimensions.length === 0;
  const kind = isWhole ? 'total' : `total by ${dimensions.join(', ')}`;
  const prefix = isWhole ? 'ktx total' : `ktx total by ${dimensions.length}`;
  return planLevel(input, dimensions, { prefix, kind, level, about: `the ${kind}`, result });
}

interface LevelRow {
  /** Before the names of its tables. */
  readonly prefix: string;
  readonly kind: string;
  readonly level: number;
  /** What errors call it. */
  readonly about: string;
  readonly result: RankedRows;
}

/** The same query for some of the dimensions. */
function planLevel(
  input: GroupsInput,
  dimensions: readonly string[],
  { prefix, kind, level, about, result }: LevelRow,
): Level {
  const groups = withContext(about, () => planCoarserGroups(input, dimensions, result.names));
  const rename = (name: string) => `${prefix} ${name.replace(/^ktx /, '')}`;
  const tables = renameColumns(
    renameTables(groups.tables, rename),
    columnsOfAll(input.query.dimensions, dimensions),
  );
  const missing = (column: string): Expr => ({
    kind: 'typed_null',
    table: result.ranked.name,
    column,
  });
  const all = input.query.dimensions.map((name, index): NamedColumn<Expr> => {
    const column = groupColumn(index);
    const own = outputColumn(`d${index + 1}`);
    return { column, expr: dimensions.includes(name) ? own : missing(column) };
  });
  const known = new Map(valuesOf(groups).map(({ name, expr }) => [name, expr]));
  const hidden = groups.order.flatMap(({ by }) => ('expr' in by ? [by.expr] : []));
  const values = valueColumns(result.names.length + result.hiddenCount).map((column, index) => {
    const name = result.names[index];
    const own = name === undefined ? hidden[index - result.names.length] : known.get(name);
    return { column, expr: own ?? missing(column) };
  });
  const rows: Select = {
    kind: 'select',
    columns: [
      ...all,
      ...values,
      ...(result.isTop.length === 0 ? [] : [{ column: rankColumn, expr: missing(rankColumn) }]),
      { column: kindColumn, expr: { kind: 'literal', value: kind } },
      { column: levelColumn, expr: { kind: 'literal', value: level } },
    ],
    from: { alias: 'ktx', relation: { kind: 'common', name: tables.at(-1)?.name ?? '' } },
    joins: [],
    where: [],
  };
  return { rows, tables, isRecursive: groups.isRecursive };
}

/** The numbers that the dimensions have in the whole query, by those that they have here. */
function columnsOfAll(
  all: readonly string[],
  some: readonly string[],
): ReadonlyMap<string, string> {
  return new Map(some.map((name, index) => [`d${index + 1}`, `d${all.indexOf(name) + 1}`]));
}

/**
 * Without what has no meaning there: a share of groups that are not shown, and a comparison where
 * nothing says which period it is.
 */
function planCoarserGroups(
  input: GroupsInput,
  dimensions: readonly string[],
  columns: readonly string[],
): PlannedGroups {
  const { query, stage } = input;
  const isColumn = (name: string) => query.dimensions.includes(name) || columns.includes(name);
  const isKept = (name: string) => dimensions.includes(name);
  const coarser: GroupsInput = {
    ...input,
    notes: new Set(),
    query: {
      ...query,
      dimensions: [...dimensions],
      having: [],
      order_by: query.order_by.filter(({ field }) => !isColumn(field)),
      include_empty: query.include_empty && dimensions.length > 0 && input.condition === undefined,
      fill_time: query.fill_time && input.condition === undefined && dimensions.some(isPeriod),
    },
    stage: {
      ...stage,
      shareOf: stage.shareOf?.every(isKept) === true ? stage.shareOf : undefined,
      overRows: [],
    },
  };
  const groups = planGroups(coarser);
  const isUnshifted = groups.factQueries.some(
    ({ usesTime, aggregates: [first] }) => !usesTime && (first?.shift.length ?? 0) > 0,
  );
  return isUnshifted && stage.compareTo !== undefined
    ? planGroups({ ...coarser, stage: { ...coarser.stage, compareTo: undefined } })
    : groups;
}

function isPeriod(dimension: string): boolean {
  return grains.some((grain) => dimension.endsWith(`.${grain}`));
}

/** Runs `run`. An error then says for which rows the query cannot be computed. */
function withContext<Result>(about: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { code, message, hint, exitCode, details } = error;
    throw new UserError(code, `There is no row for ${about}: ${message}`, {
      hint,
      exitCode,
      details,
    });
  }
}
