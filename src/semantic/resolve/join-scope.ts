import { shortHash } from '../../lib/hash.ts';
import { isCondition } from '../../sql/boolean-operands.ts';
import type { Dialect, Period } from '../../sql/dialect.ts';
import { assumeKey, type PlannedKeys } from '../keys/key-assumption.ts';
import { keyOfJoin } from '../keys/key-of-join.ts';
import { endBeforeNext, oneRowPerKey } from '../keys/one-row-per-key.ts';
import {
  conditionSide,
  findField,
  isCaseExact,
  type Leg,
  type ModelDataset,
  type ModelField,
  type ModelRelationship,
  requireReadableRows,
  type Step,
  type Within,
} from '../model/model.ts';
import { notSupportedError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import {
  conjunctionOf,
  type Expr,
  type ExprPart,
  type JoinClause,
  type Select,
} from '../relational/query-tree.ts';
import { rowTextExpr, wholePiece } from '../relational/sql-piece.ts';
import { type PathStart, requireDataset, type ResolvedField } from './field-path.ts';
import type { JoinPath } from './join-paths.ts';
import type { ComparedTexts } from './literals/compared-text.ts';
import { checkFanOut, checkJoinTypes } from './join-checks.ts';

/**
 * The FROM clause of one fact query while it is built: it starts from the rows of `owner`, and each
 * expression that is resolved adds the joins that it needs. The maps and sets are filled in place.
 */
export interface JoinScope extends PathStart {
  readonly query: Pick<SemanticQuery, 'timezone' | 'week_start'>;
  /** By alias, in join order. */
  readonly joins: Map<string, PlannedJoin>;
  /**
   * The joins of an EXISTS. If set, to-many joins and the joins behind them are added here instead
   * of to `joins`.
   */
  readonly existsJoins: Map<string, PlannedJoin> | undefined;
  /** Notes for the receipt. */
  readonly notes: Set<string>;
  /** The texts that conditions of the query compare fields with. */
  readonly compared: ComparedTexts;
  /** The keys that its joins rely on. */
  readonly keys: PlannedKeys;
  /**
   * By how much the owner's default time is moved forward wherever the query names it. Empty: not
   * moved.
   */
  readonly shift: readonly Period[];
  /**
   * What the default time stands for wherever the query names it: a column of the time spine.
   * Undefined: the time of the rows.
   */
  readonly spinePeriod?:
    | {
        readonly expr: Expr;
        readonly type: 'date' | 'datetime';
        /** Where joins of custom periods are added. */
        readonly joins: Map<string, PlannedJoin>;
      }
    | undefined;
  /** True if text in a column of numbers is an error, on engines that allow it. */
  readonly checksNumbers?: boolean | undefined;
  /** Hears of every field that is read. */
  readonly onField?: ((field: ResolvedField) => void) | undefined;
  /** Plans the values of a row metric. */
  readonly rowMetricValues: (dataset: ModelDataset, field: ModelField) => RowMetricValues;
  /** Plans the values of a metric for each combination of fields. */
  readonly groupValues: (call: GroupedMetric) => GroupValues;
  /**
   * Which kinds of fields the query itself has named so far: the owner's default time, or others.
   */
  readonly usedFields: Set<'time' | 'other'>;
}

/** A row metric as a query: one row per key of its dataset, with the key in columns `d1`, `d2`… */
export interface RowMetricValues {
  readonly select: Select;
  /** The metric as an expression; `alias` is that of the joined query. */
  readonly value: (alias: string) => Expr;
}

/** A metric by fields, as SQL of the query or of the dataset file of `home` names them. */
export interface GroupedMetric {
  readonly metric: readonly string[];
  readonly home: string | undefined;
  /** As dimensions of a query. */
  readonly by: readonly string[];
}

/** A metric by fields as a common table: the fields are its columns `d1`, `d2`… */
export interface GroupValues {
  readonly table: string;
  readonly value: (alias: string) => Expr;
}

export interface PlannedJoin extends JoinClause {
  readonly path: JoinPath;
  /** The alias that it is joined to. */
  readonly leftAlias: string;
  /** True if it can multiply rows. */
  readonly isToMany: boolean;
}

/** The join without the properties that only planning needs. */
export function toJoin({ alias, relation, on, kind }: PlannedJoin): JoinClause {
  return { alias, relation, on, kind };
}

/** One side of a join condition: a dataset under its alias. */
export interface JoinSide {
  readonly dialect: Dialect;
  readonly dataset: ModelDataset;
  readonly alias: string;
}

/** A field of the owner, which needs no join. */
export function ownFieldExpr(
  { model, owner }: Pick<JoinScope, 'model' | 'owner'>,
  name: string,
): Expr {
  return columnExpr({ dialect: model.dialect, dataset: owner, alias: owner.name }, name);
}

/**
 * A field as an expression over physical columns. A name that is not a field is taken as a physical
 * column. `written` is the name as the SQL of the model writes it, with its quotes. Throws
 * `not_supported` for a row metric.
 */
export function columnExpr(side: JoinSide, name: string, written?: string): Expr {
  const { dialect, dataset } = side;
  const expr = anyColumnExpr(side, name, written);
  const field = findField(dataset, name, isCaseExact(dialect, written));
  if (field?.type !== 'boolean' || expr.kind === 'boolean') return expr;
  return { kind: 'boolean', of: expr, isCondition: isCondition(field.expr?.tokens ?? []) };
}

function anyColumnExpr(side: JoinSide, name: string, written?: string): Expr {
  const { dialect, dataset, alias } = side;
  const find = (fieldName: string, text: string | undefined) =>
    findField(dataset, fieldName, isCaseExact(dialect, text));
  const field = find(name, written);
  if (field?.expr !== undefined) {
    return rowTextExpr(wholePiece(field.expr), ({ parts, written: text }) => {
      const inner = parts.at(-1) ?? '';
      // Inside its own expression, a field's name is the physical column.
      const isSelf = find(inner, text) === field;
      return isSelf ? { kind: 'raw_column', alias, text } : columnExpr(side, inner, text);
    });
  }
  if (field?.rowMetric !== undefined) {
    throw notSupportedError(
      'a row metric inside another field or a join',
      `${dataset.name}.${field.name} is one`,
    );
  }
  if (field === undefined && written !== undefined)
    return { kind: 'raw_column', alias, text: written };
  return { kind: 'column', alias, name: field?.name ?? name };
}

/**
 * The alias of the dataset at the end of a path. Long aliases are shortened, because engines cut
 * identifiers at 63 bytes.
 */
export function aliasFor(owner: string, path: JoinPath): string {
  const start = path[0]?.from ?? owner;
  const full = [start, ...path.map(stepAlias)].join('.');
  return full.length <= 56 ? full : `${full.slice(0, 40)}.${shortHash(full)}`;
}

/** Steps of a shared role differ by their targets. */
function stepAlias({ name, to, legs: [leg] }: Step): string {
  return leg?.relationship.isShared === true ? `${name}:${to}` : name;
}

/** Adds the joins of a path that the scope does not have yet. Returns the alias of its end. */
export function addPathJoins(scope: JoinScope, path: JoinPath): string {
  let alias = aliasFor(scope.owner.name, []);
  for (const [index, step] of path.entries()) {
    const prefix = path.slice(0, index + 1);
    const endAlias = aliasFor(scope.owner.name, prefix);
    for (const [position, leg] of step.legs.entries()) {
      const isLast = position === step.legs.length - 1;
      const legAlias = isLast ? endAlias : bridgeAlias(endAlias);
      addJoin(scope, { leg, alias: legAlias, leftAlias: alias, path: prefix });
      alias = legAlias;
    }
  }
  return alias;
}

const bridgeSuffix = ' via';

function bridgeAlias(endAlias: string): string {
  return `${endAlias}${bridgeSuffix}`;
}

/** True for the alias of a bridge dataset, which is in the middle of a step. */
export function isBridgeAlias(alias: string): boolean {
  return alias.endsWith(bridgeSuffix);
}

function addJoin(
  scope: JoinScope,
  { leg, alias, leftAlias, path }: { leg: Leg; alias: string; leftAlias: string; path: JoinPath },
): void {
  const { model, joins, existsJoins } = scope;
  if (joins.has(alias) || existsJoins?.has(alias)) return;
  const target = requireDataset(model, leg.to);
  const source = {
    dialect: model.dialect,
    dataset: requireDataset(model, leg.from),
    alias: leftAlias,
  };
  if (!leg.isToMany) checkFanOut(leg, target);
  checkJoinTypes(leg, source.dataset, target);
  const joined = { dialect: model.dialect, dataset: target, alias };
  const partitions = samePartition(scope, path, joined);
  const relation = requireReadableRows(target);
  const rows = leg.isToMany
    ? { relation, conditions: [] }
    : rowsByKey(scope, leg, { source, joined, relation, isPartitioned: partitions.length > 0 });
  const on = conjunctionOf([joinCondition(leg, source, joined), ...partitions, ...rows.conditions]);
  const isBehindExists = existsJoins?.has(leftAlias) === true;
  const isInExists = existsJoins !== undefined && (leg.isToMany || isBehindExists);
  // A row without rows on the many side is in no group of theirs. Within EXISTS, the first join
  // alone decides whether there are such rows.
  const kind = leg.isToMany && !isBehindExists ? 'inner' : 'left';
  const targetJoins = isInExists ? existsJoins : joins;
  targetJoins.set(alias, {
    alias,
    relation: rows.relation,
    path,
    on,
    leftAlias,
    kind,
    isToMany: leg.isToMany,
  });
}

interface KeyedJoin {
  readonly source: JoinSide;
  readonly joined: JoinSide;
  readonly relation: JoinClause['relation'];
  /** True if rows of the joined dataset are also joined by its partition. */
  readonly isPartitioned: boolean;
}

/**
 * What a join to one row reads: the rows of its target, whose key the plan assumes; one row per key
 * if the data contradict it. `conditions` then end each validity range where the next one starts.
 */
function rowsByKey(
  { keys }: JoinScope,
  leg: Leg,
  { source, joined, relation, isPartitioned }: KeyedJoin,
): { relation: JoinClause['relation']; conditions: readonly Expr[] } {
  const { dataset, alias } = joined;
  const key = assumeKey(keys, keyOfJoin(leg, isPartitioned ? dataset.partition : undefined));
  if (!keys.contradicted.has(key.name)) return { relation, conditions: [] };
  const column = (name: string) => columnExpr({ ...joined, alias: dataset.name }, name);
  const rows = oneRowPerKey({ dataset, column }, key);
  const { within } = leg.relationship;
  if (key.range === undefined || within === undefined) return { relation: rows, conditions: [] };
  const value = comparedValue({ field: within.field, bound: within.from }, source, joined);
  return { relation: rows, conditions: [endBeforeNext(alias, value)] };
}

/** The joined rows are those of the partition of the last dataset before them that has one. */
function samePartition(scope: JoinScope, path: JoinPath, joined: JoinSide): readonly Expr[] {
  const { partition } = joined.dataset;
  if (partition === undefined) return [];
  const before = path.map((_, index) => path.slice(0, index)).toReversed();
  const sides = before.map((prefix): JoinSide => {
    const dataset = requireDataset(scope.model, prefix.at(-1)?.to ?? scope.owner.name);
    return { ...joined, dataset, alias: aliasFor(scope.owner.name, prefix) };
  });
  const side = sides.find(({ dataset }) => dataset.partition !== undefined);
  if (side?.dataset.partition === undefined) return [];
  const parts = equalityParts(
    columnExpr(side, side.dataset.partition),
    columnExpr(joined, partition),
  );
  return [{ kind: 'text', parts }];
}

function joinCondition({ relationship, reversed }: Leg, source: JoinSide, joined: JoinSide): Expr {
  const [own, target] = reversed ? [joined, source] : [source, joined];
  const { within, condition, equal } = relationship;
  const ranges = within === undefined ? [] : rangeConditions(within, own, target);
  if (condition !== undefined) {
    const named: { readonly side: JoinSide; readonly column: Expr }[] = [];
    const on = rowTextExpr(wholePiece(condition), ({ parts, written }) => {
      const side = conditionSide(relationship, parts) === 'target' ? target : own;
      const column = columnExpr(side, parts.at(-1) ?? '', written);
      named.push({ side, column });
      return column;
    });
    if (isOnlyPairs(relationship))
      return conjunctionOf([pairsOf(named.map(({ column }) => column)), ...ranges]);
    const columnFrom = (wanted: JoinSide) => named.findLast(({ side }) => side === wanted)?.column;
    const equation = equationForAll(own.dialect, columnFrom(own), columnFrom(target));
    return conjunctionOf([...equation, on, ...ranges]);
  }
  const equalities = equal.map((pair) =>
    equalityParts(columnExpr(own, pair.own ?? ''), columnExpr(target, pair.target ?? '')),
  );
  const equation =
    within === undefined || equal.length > 0
      ? []
      : equationForAll(own.dialect, columnExpr(own, within.field), columnExpr(target, within.from));
  return conjunctionOfParts([...equalities, ...[...equation, ...ranges].map((part) => [part])]);
}

/** Whether a condition that is written as SQL says no more than a mapping of columns would. */
function isOnlyPairs({ condition, equal }: ModelRelationship): boolean {
  return (
    equal.length === condition?.conjuncts.length &&
    equal.every(({ own, target }) => own !== undefined && target !== undefined)
  );
}

function pairsOf(columns: readonly Expr[]): Expr {
  const pairs = columns.flatMap((column, index) => {
    const right = columns[index + 1];
    return index % 2 === 0 && right !== undefined ? [equalityParts(column, right)] : [];
  });
  return conjunctionOfParts(pairs);
}

/** An equation that holds for every pair of rows, for engines that join by equations only. */
function equationForAll(
  { constantOf }: Dialect,
  left: Expr | undefined,
  right: Expr | undefined,
): readonly Expr[] {
  if (constantOf === undefined || left === undefined || right === undefined) return [];
  return [{ kind: 'text', parts: [`${constantOf}(`, left, `) = ${constantOf}(`, right, ')'] }];
}

export function equalityParts(left: Expr, right: Expr): readonly ExprPart[] {
  return [left, ' = ', right];
}

/** Joins conditions by AND. The caller puts parentheses around a condition that needs them. */
export function conjunctionOfParts(conditions: readonly (readonly ExprPart[])[]): Expr {
  const parts = conditions.flatMap((condition, index) =>
    index === 0 ? condition : [' AND ', ...condition],
  );
  return { kind: 'text', parts };
}

/**
 * The conditions of `within`. A bound that is NULL is no limit. If a bound is a date, only the day
 * of the value counts.
 */
function rangeConditions(
  { field, from, to, includesEnd }: Within,
  own: JoinSide,
  target: JoinSide,
): readonly Expr[] {
  const boundCondition = (boundName: string, operator: string): Expr => {
    const bound = columnExpr(target, boundName);
    const value = comparedValue({ field, bound: boundName }, own, target);
    return { kind: 'text', parts: [bound, ' IS NULL OR ', value, operator, bound] };
  };
  const isKnown: Expr = { kind: 'text', parts: [columnExpr(own, field), ' IS NOT NULL'] };
  return [isKnown, boundCondition(from, ' >= '), boundCondition(to, includesEnd ? ' <= ' : ' < ')];
}

/** The value that is compared with a bound of a validity range: its day if the bound is a date. */
function comparedValue(
  { field, bound }: { readonly field: string; readonly bound: string },
  own: JoinSide,
  target: JoinSide,
): Expr {
  const type = findField(own.dataset, field)?.type;
  const boundType = findField(target.dataset, bound)?.type;
  const stored = columnExpr(own, field);
  return boundType === 'date' && (type === 'datetime' || type === 'datetime_tz')
    ? { kind: 'truncate', grain: 'day', of: stored, options: { type, weekStart: 'monday' } }
    : stored;
}
