import { isWithin } from '../../sql/analyzer.ts';
import type { Period, TruncateOptions } from '../../sql/dialect.ts';
import { splitConjuncts, splitDisjuncts } from '../../sql/boolean-operands.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import type { FieldType } from '../../sql/field-type.ts';
import { isWithinDay, periodStart, yearStartFor } from '../model/grains.ts';
import type { ModelField } from '../model/model.ts';
import { queryError } from '../query/errors.ts';
import { disjunctionOf, type Expr } from '../relational/query-tree.ts';
import { pieceText, rowTextExpr, type SqlPiece, type SqlSplice } from '../relational/sql-piece.ts';
import {
  type ResolvedField,
  resolveModelField,
  resolveQueryField,
  timeTypeOf,
} from './field-path.ts';
import { formatPath } from './join-paths.ts';
import { derivedExpr, spinePeriodExpr } from './periods/period-expr.ts';
import { keepComparedText } from './literals/compared-text.ts';
import { noteDayBounds } from './literals/day-bounds.ts';
import { findLiteralComparisons } from './literals/literal-comparisons.ts';
import { noteNullInList } from './literals/null-in-list.ts';
import { type LiteralTarget, typedLiteral } from './literals/typed-literal.ts';
import {
  addPathJoins,
  aliasFor,
  columnExpr,
  conjunctionOfParts,
  equalityParts,
  type JoinScope,
  type JoinSide,
  type PlannedJoin,
  toJoin,
} from './join-scope.ts';

/** Row-level SQL. `home` is the dataset whose file has it; undefined for SQL of the query. */
export interface RowSql extends SqlPiece {
  readonly home: string | undefined;
}

/**
 * Row-level SQL as an expression. Resolves its names from the owner of the scope, and adds the
 * joins that they need.
 */
export function rowExpr(scope: JoinScope, row: RowSql): Expr {
  const { home } = row;
  noteNullInList(scope.notes, row);
  if (home === undefined) return queryRowExpr(scope, row);
  const resolve = (reference: ColumnReference): Expr => {
    const { written } = reference;
    const resolved = resolveModelField(scope, home, reference);
    return resolved.field === undefined
      ? { kind: 'raw_column', alias: addPathJoins(scope, resolved.path), text: written }
      : fieldExpr({ ...scope, shift: [], usedFields: new Set() }, resolved);
  };
  return rowTextExpr(row, resolve, metricSplices(scope, row, resolve));
}

/**
 * Values of the metrics that SQL reads by fields of the row, each from a join that this adds to the
 * scope.
 */
function metricSplices(
  scope: JoinScope,
  { fragment, span, home }: RowSql,
  resolve: (reference: ColumnReference) => Expr,
): readonly SqlSplice[] {
  const calls = (fragment.metricCalls ?? []).filter((call) => isWithin(call, span));
  return calls.map(({ metric, by, ...call }) => {
    const groups = by.map((reference) => {
      const [name = '', ...more] = reference.parts;
      const isField =
        home !== undefined && scope.model.datasets.get(home)?.fields.has(name) === true;
      if (more.length > 0 || isField)
        return {
          name: [...(more.length > 0 ? [] : [home]), ...reference.parts].join('.'),
          expr: resolve(reference),
        };
      return { name, expr: fieldExpr(scope, resolveQueryField(scope, [name])) };
    });
    const names = groups.map((group) => group.name);
    const { table, value } = scope.groupValues({ metric, home, by: names });
    const exprs = groups.map(({ expr }) => expr);
    const outer = new Set(exprs.flatMap((expr) => [...aliasesIn(expr)]));
    const { existsJoins, owner } = scope;
    const isInside =
      existsJoins !== undefined && [...outer].some((alias) => existsJoins.has(alias));
    const joins = isInside ? existsJoins : scope.joins;
    const [leftAlias = owner.name] = outer;
    const path = joins.get(leftAlias)?.path ?? [];
    const alias = `${owner.name} ${table}`;
    const isSame = exprs.map((expr, index) =>
      equalityParts(expr, { kind: 'column', alias, name: `d${index + 1}` }),
    );
    joins.set(alias, {
      alias,
      relation: { kind: 'common', name: table },
      on: conjunctionOfParts(isSame),
      path,
      leftAlias,
      kind: 'left',
      isToMany: false,
    });
    return { start: call.start, end: call.end, parts: [value(alias)] };
  });
}

/** SQL of the query. Literals that a field is compared with get the type of the field. */
function queryRowExpr(scope: JoinScope, piece: SqlPiece): Expr {
  const comparisons = findLiteralComparisons(piece).map((comparison) => {
    const { reference } = comparison;
    const resolved = resolveQueryField(scope, reference.parts);
    const name = reference.parts.join('.');
    for (const { kind, value } of comparison.isEquality ? comparison.literals : [])
      if (kind === 'text') keepComparedText(scope.compared, resolved, { name, value });
    const compared = comparedField(scope, resolved, name);
    const bounds = comparison.bounds.map(({ value }) => value);
    noteDayBounds(scope.notes, compared.target, bounds);
    return { ...comparison, ...compared };
  });
  const literals = comparisons.flatMap((comparison) =>
    comparison.literals.flatMap((literal) => {
      const typed = typedLiteral(literal, comparison.target, comparison);
      return typed === undefined
        ? []
        : [{ start: literal.start, end: literal.end, parts: [typed] }];
    }),
  );
  const resolve = (reference: ColumnReference): Expr =>
    comparisons.find((comparison) => comparison.reference === reference)?.expr ??
    fieldExpr(scope, resolveQueryField(scope, reference.parts));
  const metrics = metricSplices(scope, { ...piece, home: undefined }, resolve);
  return rowTextExpr(piece, resolve, [...literals, ...metrics]);
}

/** A field that is compared with literals, and the type that they must have. */
export function comparedField(
  scope: JoinScope,
  resolved: ResolvedField,
  name: string,
): { readonly expr: Expr; readonly target: LiteralTarget } {
  const { expr, type } = typedFieldExpr(scope, resolved);
  const { grain } = resolved;
  const isStoredTime = (type === 'datetime' || type === 'datetime_tz') && expr.kind === 'column';
  return {
    expr: isStoredTime ? { kind: 'time', of: expr } : expr,
    target: { name, type, grain, timezone: scope.query.timezone },
  };
}

/**
 * A resolved field as an expression, truncated to its grain and shifted if the scope says so. Adds
 * the joins it needs.
 */
export function fieldExpr(scope: JoinScope, resolved: ResolvedField): Expr {
  notePeriods(scope, resolved);
  return typedFieldExpr(scope, resolved).expr;
}

/** The expression of `fieldExpr`, with its type. */
function typedFieldExpr(
  scope: JoinScope,
  resolved: ResolvedField,
): { readonly expr: Expr; readonly type: FieldType | undefined } {
  const { query, model, shift } = scope;
  const { dataset, field, grain, name, path } = resolved;
  const type = timeTypeOf(resolved);
  const isOwnTime = isDefaultTime(scope, resolved);
  scope.usedFields.add(isOwnTime ? 'time' : 'other');
  scope.onField?.(resolved);
  if (isOwnTime && scope.spinePeriod !== undefined)
    return spinePeriodExpr(scope, resolved, scope.spinePeriod);
  const side = { dialect: model.dialect, dataset, alias: addPathJoins(scope, path) };
  const stored =
    field?.rowMetric === undefined
      ? numberExpr(scope, field, columnExpr(side, name))
      : rowMetricExpr(scope, { path, field, side });
  const truncation = { weekStart: query.week_start, timezone: query.timezone };
  const isShifted = type !== undefined && shift.length > 0 && isOwnTime;
  const value = isShifted
    ? shiftTime(stored, { ...truncation, type }, shift)
    : { of: stored, type };
  if (grain === undefined || value.type === undefined)
    return { expr: value.of, type: value.type ?? field?.type };
  const yearStart = yearStartFor(dataset, [grain]);
  const period = periodStart(value.of, grain, { ...truncation, type: value.type, yearStart });
  const source = { joins: joinsOf(scope, side.alias), leftAlias: side.alias, path, name };
  return derivedExpr(scope, resolved, { period, grain, source });
}

/** A column of numbers as a checked one, where the scope asks for it. */
function numberExpr(
  { checksNumbers, model }: Pick<JoinScope, 'checksNumbers' | 'model'>,
  field: ModelField | undefined,
  of: Expr,
): Expr {
  const isChecked = checksNumbers === true && model.dialect.checkedNumber !== undefined;
  const isNumber = field?.type === 'integer' || field?.type === 'decimal';
  const isColumn = of.kind === 'column' || of.kind === 'raw_column';
  return isChecked && isNumber && isColumn ? { kind: 'number', of } : of;
}

/** Where to add joins to an alias: to the EXISTS that has the alias, or to the query. */
function joinsOf({ joins, existsJoins }: JoinScope, alias: string): Map<string, PlannedJoin> {
  return existsJoins?.has(alias) === true ? existsJoins : joins;
}

/** True for the field that `metric_time` stands for. */
export function isDefaultTime(
  { owner, time = owner.defaultTime }: Pick<JoinScope, 'owner' | 'time'>,
  { path, name }: ResolvedField,
): boolean {
  return path.length === 0 && name === time;
}

/** Adds notes about the time zone of periods, and where a grain or the zone does not apply. */
function notePeriods({ query, notes }: JoinScope, resolved: ResolvedField): void {
  const type = timeTypeOf(resolved);
  const name = `${resolved.dataset.name}.${resolved.name}`;
  if (type === 'date' && resolved.grain !== undefined && isWithinDay(resolved.grain))
    notes.add(`${name} is a date, which has no ${resolved.grain}: all of a day counts at 00:00`);
  const isPeriod = resolved.grain !== undefined;
  if (type === 'datetime_tz' && isPeriod)
    notes.add(`Periods of ${name} are cut in ${query.timezone ?? 'UTC'}`);
  if (query.timezone === undefined || type === undefined) return;
  if (type === 'datetime_tz' && !isPeriod) {
    notes.add(
      `Values of ${name} are shown in UTC; ${query.timezone} applies to its periods and to times it is compared with`,
    );
  }
  if (type !== 'datetime_tz' && isPeriod)
    notes.add(`${name} has no time zone, so ${query.timezone} does not apply to its periods`);
}

/** Joins the query of a row metric and reads its value. */
function rowMetricExpr(
  scope: JoinScope,
  { path, field, side }: Pick<ResolvedField, 'path'> & { field: ModelField; side: JoinSide },
): Expr {
  const { dataset, alias: leftAlias } = side;
  const { name } = field;
  const metricPath = [
    ...path,
    { name, from: dataset.name, to: dataset.name, legs: [], direction: 'same' as const },
  ];
  const alias = `${aliasFor(scope.owner.name, metricPath)} of`;
  const { select, value } = scope.rowMetricValues(dataset, field);
  const primaryKey = dataset.primaryKey ?? [];
  const on = conjunctionOfParts(
    primaryKey.map((key, index) =>
      equalityParts(columnExpr(side, key), { kind: 'column', alias, name: `d${index + 1}` }),
    ),
  );
  joinsOf(scope, leftAlias).set(alias, {
    alias,
    relation: { kind: 'select', select },
    on,
    path: metricPath,
    leftAlias,
    kind: 'left',
    isToMany: false,
  });
  if (path.length === 0) return value(alias);
  // For a row that the left join did not find, a count is NULL and not 0.
  const [key = ''] = primaryKey;
  const rowExists: Expr = { kind: 'text', parts: [columnExpr(side, key), ' IS NOT NULL'] };
  return { kind: 'conditional', where: [rowExists], value: value(alias) };
}

/**
 * Shifts a time by the local clock of the query's time zone: one month later is the same hour of
 * the day.
 */
function shiftTime(
  of: Expr,
  options: TruncateOptions,
  shift: readonly Period[],
): { readonly of: Expr; readonly type: TruncateOptions['type'] } {
  const isInstant = options.type === 'datetime_tz';
  const type = isInstant ? 'datetime' : options.type;
  const localTime: Expr = isInstant
    ? { kind: 'truncate', grain: 'second', of, options }
    : { kind: 'time', of };
  const shifted = shift.reduce<Expr>(
    (time, period) => ({ kind: 'add', of: time, period, type }),
    localTime,
  );
  return { type, of: shifted };
}

/** A condition on rows. */
export interface RowPredicate {
  /** As the query or the dataset file has it, for messages. */
  readonly text: string;
  /** Set for SQL text; undefined for {field, op, value} conditions. */
  readonly row?: RowSql;
  readonly build: (scope: JoinScope) => Expr;
}

export function sqlPredicate(row: RowSql): RowPredicate {
  return { text: pieceText(row), row, build: (scope) => rowExpr(scope, row) };
}

/** A metric's row filter. */
export function filterExpr(scope: JoinScope, row: RowSql): Expr {
  return predicateExpr(scope, sqlPredicate(row));
}

/**
 * The condition as an expression. Across a to-many path it becomes EXISTS: true if any row there
 * fits. Each side of an OR gets its own EXISTS. Throws `mixed_condition` if one comparison mixes
 * to-many rows with others.
 */
export function predicateExpr(scope: JoinScope, predicate: RowPredicate): Expr {
  const { text, row } = predicate;
  const existsJoins = new Map<string, PlannedJoin>();
  const where = predicate.build({ ...scope, existsJoins });
  const joins = [...existsJoins.values()];
  if (joins.length === 0) return where;
  const usesOuterRows = [...aliasesIn(where)].some((alias) => !existsJoins.has(alias));
  const isMixed = usesOuterRows && row !== undefined && mayHoldWithoutRows(scope, row);
  const startsFromOuter = joins.filter(({ leftAlias }) => !existsJoins.has(leftAlias));
  if (!isMixed && startsFromOuter.length <= 1)
    return {
      kind: 'exists',
      joins: joins.map(toJoin),
      where,
      equal: findOnlyEquality(joins, where),
    };
  const sides = row === undefined ? [] : splitDisjuncts(tokensWithin(row));
  if (row !== undefined && sides.length > 1)
    return disjunctionOf(sides.map((span) => filterExpr(scope, { ...row, span })));
  const paths = joins.filter(({ isToMany }) => isToMany).map(({ path }) => formatPath(path));
  throw queryError(
    'mixed_condition',
    `The condition ${JSON.stringify(text)} mixes rows of ${[...new Set(paths)].join(' and ')} with others`,
    'A condition across one_to_many is true if any row there fits. Write a separate condition for each.',
  );
}

/**
 * The two sides of the first join's condition, if it is one equality and nothing else reads rows of
 * the outer query.
 */
function findOnlyEquality(
  [first, ...others]: readonly PlannedJoin[],
  where: Expr,
): { readonly outer: Expr; readonly inner: Expr } | undefined {
  if (first?.on.kind !== 'text' || first.on.parts.length !== 3) return undefined;
  const [left, operator, right] = first.on.parts;
  if (typeof left !== 'object' || typeof right !== 'object' || operator !== ' = ') return undefined;
  const inside = new Set([first, ...others].map(({ alias }) => alias));
  const rest = [where, ...others.map(({ on }) => on)];
  if (rest.some((expr) => [...aliasesIn(expr)].some((alias) => !inside.has(alias))))
    return undefined;
  if (left.kind === 'division' || right.kind === 'division') return undefined;
  const isInner = (expr: Expr) => [...aliasesIn(expr)].every((alias) => alias === first.alias);
  const isOuter = (expr: Expr) => [...aliasesIn(expr)].every((alias) => !inside.has(alias));
  if (isOuter(left) && isInner(right)) return { outer: left, inner: right };
  return isInner(left) && isOuter(right) ? { outer: right, inner: left } : undefined;
}

function tokensWithin({ fragment, span }: SqlPiece) {
  return fragment.tokens.filter((token) => isWithin(token, span));
}

/** Words that can make a condition true although one of its operands is NULL. */
export const wordsThatAcceptNull =
  /^(or|not|in|is|if|iif|case|coalesce|ifnull|nvl2?|decode|nullif|greatest|least|concat|concat_ws)$/;

/**
 * True if one of the ANDed parts can be true for a row without to-many partners. EXISTS would then
 * drop that row.
 */
function mayHoldWithoutRows(scope: JoinScope, row: RowSql): boolean {
  const tokens = tokensWithin(row);
  return splitConjuncts(tokens, row.span).some((span) => {
    const acceptsNull = tokens.some(
      (token) =>
        isWithin(token, span) && token.kind === 'word' && wordsThatAcceptNull.test(token.text),
    );
    if (!acceptsNull) return false;
    const existsJoins = new Map<string, PlannedJoin>();
    const aliases = [...aliasesIn(rowExpr({ ...scope, existsJoins }, { ...row, span }))];
    return existsJoins.size > 0 && aliases.some((alias) => !existsJoins.has(alias));
  });
}

/** The aliases whose columns an expression reads. */
export function aliasesIn(expr: unknown): ReadonlySet<string> {
  const aliases = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('alias' in node && typeof node.alias === 'string') aliases.add(node.alias);
    // The joins inside a row rule are not joins of the query around it.
    for (const [key, child] of Object.entries(node)) if (key !== 'relation') visit(child);
  };
  visit(expr);
  return aliases;
}
