import { shortHash } from '../../lib/hash.ts';
import type { Dialect, Period, TruncateOptions } from '../../sql/dialect.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import { splitConjuncts, splitDisjuncts } from '../../sql/fragment.ts';
import type { Expr, ExprPart, JoinClause, Select } from '../relational/query-tree.ts';
import { type SqlPiece, rowTextExpr, wholePiece } from '../relational/sql-piece.ts';
import { isWithin } from '../../sql/analyzer.ts';
import { periodStart, yearStartFor } from '../model/grains.ts';
import {
  findField,
  isCaseExact,
  type Leg,
  type ModelDataset,
  type ModelField,
  conditionSide,
  readableRows,
  type Within,
} from '../model/model.ts';
import { checkFanOut, checkJoinTypes, formatPath, type JoinPath } from './join-paths.ts';
import {
  requireDataset,
  type ResolvedField,
  resolveModelField,
  resolveQueryField,
  type PathStart,
  timeTypeOf,
} from './field-path.ts';
import type { SemanticQuery } from '../query/query.ts';

/** The rows of one dataset, the joins that its expressions need so far, and what is to be said about its times. */
export interface JoinScope extends PathStart {
  readonly query: Pick<SemanticQuery, 'timezone' | 'week_start'>;
  readonly joins: Map<string, PlannedJoin>;
  /** Where joins go that could multiply rows, and those behind them; undefined puts them among the others. */
  readonly existsJoins: Map<string, PlannedJoin> | undefined;
  readonly notes: Set<string>;
  /** How far the owner's default time is moved on where the query names it. */
  readonly shift: readonly Period[];
  /** The values of a field that is a metric of each row. */
  readonly rowMetricValues: (dataset: ModelDataset, field: ModelField) => RowMetricValues;
  /** What the names of a query have meant so far: the owner's default time, or anything else. */
  readonly timeUses: Set<'time' | 'other'>;
}

/** One row for each key of a dataset: its keys are `d1`, `d2` and so on. */
export interface RowMetricValues {
  readonly select: Select;
  readonly value: (alias: string) => Expr;
}

export interface PlannedJoin extends JoinClause {
  readonly path: JoinPath;
  /** The alias that its condition starts from. */
  readonly base: string;
  readonly many: boolean;
}

/** A piece of SQL over rows. `home`: the dataset whose file it stands in; undefined for that of a query. */
export interface RowSql extends SqlPiece {
  readonly home: string | undefined;
}

/** Long paths are shortened: engines cut identifiers at 63 bytes, which could make two aliases one. */
function aliasFor(owner: string, path: JoinPath): string {
  const full = path.length === 0 ? owner : formatPath(path);
  return full.length <= 56 ? full : `${full.slice(0, 40)}.${shortHash(full)}`;
}

/** A condition as a person wrote it. */
export interface RowPredicate {
  readonly text: string;
  /** Its SQL, where it is SQL. */
  readonly row?: RowSql;
  readonly build: (scope: JoinScope) => Expr;
}

export function sqlPredicate(row: RowSql): RowPredicate {
  return {
    text: row.fragment.text.slice(row.span.start, row.span.end),
    row,
    build: (scope) => rowExpr(scope, row),
  };
}

/** A condition on rows; one across a to-many path asks for any such row, each side of an OR for one of its own. */
export function predicateExpr(scope: JoinScope, { text, row, build }: RowPredicate): Expr {
  const inner = new Map<string, PlannedJoin>();
  const where = build({ ...scope, existsJoins: inner });
  const joins = [...inner.values()];
  if (joins.length === 0) return where;
  const outside = [...aliasesIn(where)].filter((alias) => !inner.has(alias));
  const isMixed = outside.length > 0 && row !== undefined && mayHoldWithoutRows(scope, row);
  if (isMixed || joins.filter(({ base }) => !inner.has(base)).length > 1) {
    const sides =
      row === undefined
        ? []
        : splitDisjuncts(row.fragment.tokens.filter((token) => isWithin(token, row.span)));
    if (row !== undefined && sides.length > 1) {
      const parts = sides.map((span) => predicateExpr(scope, sqlPredicate({ ...row, span })));
      return {
        kind: 'text',
        parts: parts.flatMap((part, index) => (index === 0 ? [part] : [' OR ', part])),
      };
    }
    const ways = joins.filter(({ many }) => many).map(({ path }) => formatPath(path));
    const message = `The condition ${JSON.stringify(text)} mixes rows of ${[...new Set(ways)].join(' and ')} with others`;
    throw queryError(
      'mixed_condition',
      message,
      'A condition across one to many asks whether any such row fits: give each its own condition.',
    );
  }
  return { kind: 'exists', joins: joins.map(toJoin), where };
}

/** What can be true of a NULL, or makes true what is not. */
const wordsThatAcceptNull =
  /^(or|not|in|is|if|iif|case|coalesce|ifnull|nvl2?|decode|nullif|greatest|least|concat|concat_ws)$/;

/** Whether a part of it could hold where there is no row to many, by what the owner has alone: `or`, and what says the same otherwise. */
function mayHoldWithoutRows(scope: JoinScope, row: RowSql): boolean {
  const tokens = row.fragment.tokens.filter((token) => isWithin(token, row.span));
  return splitConjuncts(tokens, row.span).some((span) => {
    const inside = tokens.filter((token) => isWithin(token, span));
    if (!inside.some(({ kind, text }) => kind === 'word' && wordsThatAcceptNull.test(text)))
      return false;
    const inner = new Map<string, PlannedJoin>();
    const aliases = [...aliasesIn(rowExpr({ ...scope, existsJoins: inner }, { ...row, span }))];
    return inner.size > 0 && aliases.some((alias) => !inner.has(alias));
  });
}

/** A filter of a metric. */
export function filterExpr(scope: JoinScope, row: RowSql): Expr {
  return predicateExpr(scope, sqlPredicate(row));
}

/** Without what only planning needs. */
export function toJoin({ alias, relation, on, kind }: PlannedJoin): JoinClause {
  return { alias, relation, on, kind };
}

export function aliasesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) return;
    if ('alias' in inner && typeof inner.alias === 'string') found.add(inner.alias);
    // What a row rule joins inside is no matter of the query around it.
    for (const [key, child] of Object.entries(inner)) if (key !== 'relation') visit(child);
  };
  visit(value);
  return found;
}

/** What stands at a place, cut to its period, with the joins that it needs. */
export function fieldExpr(scope: JoinScope, place: ResolvedField): Expr {
  const { query, notes } = scope;
  const type = timeTypeOf(place);
  scope.timeUses.add(isDefaultTime(scope, place) ? 'time' : 'other');
  const side = {
    dialect: scope.model.dialect,
    dataset: place.dataset,
    alias: addPathJoins(scope, place.path),
  };
  const member =
    place.field?.measure === undefined
      ? columnExpr(side, place.name)
      : rowMetricExpr(scope, { ...place, field: place.field, side });
  const cut = {
    weekStart: query.week_start,
    timezone: place.grain === undefined ? undefined : query.timezone,
  };
  const isMoved = type !== undefined && scope.shift.length > 0 && isDefaultTime(scope, place);
  const moved = isMoved ? shiftTime(member, { ...cut, type }, scope.shift) : { of: member, type };
  if (query.timezone !== undefined && (type === 'datetime_tz') !== (place.grain !== undefined)) {
    const name = `${place.dataset.name}.${place.name}`;
    if (type === 'datetime_tz')
      notes.add(
        `${name} itself is compared and shown in UTC; only its periods are cut in ${query.timezone}`,
      );
    else if (type !== undefined)
      notes.add(`${name} has no time zone of its own: its periods are cut as the values stand`);
  }
  if (place.grain === undefined || moved.type === undefined) return moved.of;
  return periodStart(moved.of, place.grain, {
    ...cut,
    type: moved.type,
    yearStart: yearStartFor(place.dataset, [place.grain]),
  });
}

/** Joins what is computed for each row of a dataset. */
function rowMetricExpr(
  scope: JoinScope,
  at: Pick<ResolvedField, 'path'> & { readonly field: ModelField; readonly side: JoinSide },
): Expr {
  const { side, field } = at;
  const { dataset, alias: base } = side;
  const path = [
    ...at.path,
    {
      name: field.name,
      from: dataset.name,
      to: dataset.name,
      legs: [],
      direction: 'same' as const,
    },
  ];
  const alias = `${aliasFor(scope.owner.name, path)} of`;
  const { select, value } = scope.rowMetricValues(dataset, field);
  const on: Expr = {
    kind: 'text',
    parts: (dataset.primaryKey ?? []).flatMap((key, index): readonly ExprPart[] => {
      const equality: readonly ExprPart[] = [
        columnExpr(side, key),
        ' = ',
        { kind: 'column', alias, name: `d${index + 1}` },
      ];
      return index === 0 ? equality : [' AND ', ...equality];
    }),
  };
  const joins = scope.existsJoins?.has(base) === true ? scope.existsJoins : scope.joins;
  joins.set(alias, {
    alias,
    relation: { kind: 'select', select },
    on,
    path,
    base,
    kind: 'left',
    many: false,
  });
  const [key = ''] = dataset.primaryKey ?? [];
  // Of a row that is missing, a count is not 0.
  const isThere: Expr = { kind: 'text', parts: [columnExpr(side, key), ' IS NOT NULL'] };
  return at.path.length === 0
    ? value(alias)
    : { kind: 'when', where: [isThere], value: value(alias) };
}

/** The time that `metric_time` means. */
export function isDefaultTime(
  { owner }: Pick<JoinScope, 'owner'>,
  { path, name }: ResolvedField,
): boolean {
  return path.length === 0 && name === owner.defaultTime;
}

/** Moved as the clock of the zone shows it: a month later is the same hour of the day. */
function shiftTime(
  of: Expr,
  options: TruncateOptions,
  shift: readonly Period[],
): { readonly of: Expr; readonly type: TruncateOptions['type'] } {
  const isInstant = options.type === 'datetime_tz';
  const type = isInstant ? 'datetime' : options.type;
  const local: Expr = isInstant
    ? { kind: 'truncate', grain: 'second', of, options }
    : { kind: 'time', of };
  return {
    type,
    of: shift.reduce<Expr>((moved, period) => ({ kind: 'add', of: moved, period, type }), local),
  };
}

/** SQL over rows, its names resolved from the owner of the scope. */
export function rowExpr(scope: JoinScope, row: RowSql): Expr {
  return rowTextExpr(row, (reference) => {
    const { parts, written } = reference;
    if (row.home === undefined) return fieldExpr(scope, resolveQueryField(scope, parts));
    const place = resolveModelField(scope, row.home, reference);
    return place.field === undefined
      ? { kind: 'written', alias: addPathJoins(scope, place.path), text: written }
      : fieldExpr({ ...scope, shift: [] }, place);
  });
}

/** A row of a join, as its condition sees it. */
interface JoinSide {
  readonly dialect: Dialect;
  readonly dataset: ModelDataset;
  readonly alias: string;
}

/** A field over its physical columns, or the column of that name. */
function columnExpr(side: JoinSide, name: string, written?: string): Expr {
  const named = (one: string, text: string | undefined) =>
    findField(side.dataset, one, isCaseExact(side.dialect, text));
  const field = named(name, written);
  if (field?.expr !== undefined) {
    // A name inside is another field, or a column; its own name is the column.
    return rowTextExpr(wholePiece(field.expr), ({ parts, written: text }) => {
      const inner = parts.at(-1) ?? '';
      return named(inner, text) === field
        ? { kind: 'written', alias: side.alias, text }
        : columnExpr(side, inner, text);
    });
  }
  if (field?.measure !== undefined)
    throw notSupportedError(
      'a metric of the row inside another field or a join',
      `${side.dataset.name}.${field.name} is one`,
    );
  if (field === undefined && written !== undefined)
    return { kind: 'written', alias: side.alias, text: written };
  return { kind: 'column', alias: side.alias, name: field?.name ?? name };
}

/** A field of the owner itself. */
export function ownFieldExpr(
  { model, owner }: Pick<JoinScope, 'model' | 'owner'>,
  name: string,
): Expr {
  return columnExpr({ dialect: model.dialect, dataset: owner, alias: owner.name }, name);
}

/** Joins what is missing of the path, and gives the alias of its end. */
function addPathJoins(scope: JoinScope, path: JoinPath): string {
  let alias = aliasFor(scope.owner.name, []);
  for (const [index, step] of path.entries()) {
    const prefix = path.slice(0, index + 1);
    const next = aliasFor(scope.owner.name, prefix);
    for (const [position, leg] of step.legs.entries()) {
      const isEnd = position === step.legs.length - 1;
      const name = isEnd ? next : `${next} via`;
      addJoin(scope, { leg, alias: name, base: alias, path: prefix });
      alias = name;
    }
  }
  return alias;
}

function addJoin(
  scope: JoinScope,
  { leg, alias, base, path }: { leg: Leg; alias: string; base: string; path: JoinPath },
): void {
  const { model, joins, existsJoins: inner } = scope;
  if (joins.has(alias) || inner?.has(alias)) return;
  const target = requireDataset(model, leg.to);
  const source = { dialect: model.dialect, dataset: requireDataset(model, leg.from), alias: base };
  if (!leg.many) checkFanOut(leg, target);
  checkJoinTypes(leg, source.dataset, target);
  const on = joinCondition(leg, source, { dialect: model.dialect, dataset: target, alias });
  const isInner = inner !== undefined && (leg.many || inner.has(base));
  const kind = leg.many && (!isInner || !inner.has(base)) ? 'inner' : 'left';
  (isInner ? inner : joins).set(alias, {
    alias,
    relation: readableRows(target),
    path,
    on,
    base,
    kind,
    many: leg.many,
  });
}

function joinCondition({ relationship, reversed }: Leg, source: JoinSide, joined: JoinSide): Expr {
  const [own, target] = reversed ? [joined, source] : [source, joined];
  const range =
    relationship.within === undefined ? [] : rangeConditions(relationship.within, own, target);
  if (relationship.condition !== undefined) {
    const on = rowTextExpr(wholePiece(relationship.condition), ({ parts, written }) => {
      const side = conditionSide(relationship, parts) === 'target' ? target : own;
      return columnExpr(side, parts.at(-1) ?? '', written);
    });
    return conjunctionOf([on, ...range]);
  }
  const equalities = relationship.equal.map((pair): readonly ExprPart[] => {
    return [columnExpr(own, pair.own ?? ''), ' = ', columnExpr(target, pair.target ?? '')];
  });
  return {
    kind: 'text',
    parts: [...equalities, ...range.map((one) => [one])].flatMap((one, index) =>
      index === 0 ? one : [' AND ', ...one],
    ),
  };
}

function conjunctionOf(conditions: readonly Expr[]): Expr {
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  return {
    kind: 'text',
    parts: conditions.flatMap((one, index): readonly ExprPart[] =>
      index === 0 ? [one] : [' AND ', one],
    ),
  };
}

/** A bound that is NULL is none. A time is cut to its day where the bound is a date. */
function rangeConditions(
  { field, from, to, includesEnd }: Within,
  own: JoinSide,
  target: JoinSide,
): readonly Expr[] {
  const typeOf = (side: JoinSide, name: string) => findField(side.dataset, name)?.type;
  const type = typeOf(own, field);
  const bounded = (name: string, op: string): Expr => {
    const isCut =
      typeOf(target, name) === 'date' && (type === 'datetime' || type === 'datetime_tz');
    const whole = columnExpr(own, field);
    const value: Expr = isCut
      ? { kind: 'truncate', grain: 'day', of: whole, options: { type, weekStart: 'monday' } }
      : whole;
    const bound = columnExpr(target, name);
    return { kind: 'text', parts: [bound, ' IS NULL OR ', value, op, bound] };
  };
  const isKnown: Expr = { kind: 'text', parts: [columnExpr(own, field), ' IS NOT NULL'] };
  return [isKnown, bounded(from, ' >= '), bounded(to, includesEnd ? ' <= ' : ' < ')];
}
