import { shortHash } from '../../lib/hash.ts';
import type { Dialect, Period, TruncateOptions } from '../../sql/dialect.ts';
import { notSupported, refused } from '../query/errors.ts';
import { conjunctsOf, disjunctsOf } from '../../sql/expression.ts';
import { type Expr, type Part, type Piece, textOf, wholeOf, within } from '../sql/expr.ts';
import { periodStart, yearStartFor } from '../model/fiscal.ts';
import {
  fieldNamed,
  isExact,
  type Leg,
  type ModelDataset,
  type ModelField,
  ownerInCondition,
  rowsOf,
  type Within,
} from '../model/model.ts';
import { checkFan, checkTypes, dottedPath, type Path } from './join-paths.ts';
import {
  datasetNamed,
  type ResolvedField,
  placeInModel,
  placeInQuery,
  type Start,
  timeType,
} from './field-path.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { Join, Select } from '../sql/select.ts';

/** The rows of one dataset, the joins that its expressions need so far, and what is to be said about its times. */
export interface Scope extends Start {
  readonly query: Pick<SemanticQuery, 'timezone' | 'week_start'>;
  readonly joins: Map<string, ScopeJoin>;
  /** Where joins go that could multiply rows, and those behind them; undefined puts them among the others. */
  readonly inner: Map<string, ScopeJoin> | undefined;
  readonly notes: Set<string>;
  /** How far the owner's default time is moved on where the query names it. */
  readonly shift: readonly Period[];
  /** The values of a field that is a metric of each row. */
  readonly measured: (dataset: ModelDataset, field: ModelField) => Measured;
  /** What the names of a query have meant so far: the owner's default time, or anything else. */
  readonly visited: Set<'time' | 'other'>;
}

/** One row for each key of a dataset: its keys are `d1`, `d2` and so on. */
export interface Measured {
  readonly select: Select;
  readonly value: (alias: string) => Expr;
}

export interface ScopeJoin extends Join {
  readonly path: Path;
  /** The alias that its condition starts from. */
  readonly base: string;
  readonly many: boolean;
}

/** A piece of SQL over rows. `home`: the dataset whose file it stands in; undefined for that of a query. */
export interface RowText extends Piece {
  readonly home: string | undefined;
}

/** Long paths are shortened: engines cut identifiers at 63 bytes, which could make two aliases one. */
function aliasOf(owner: string, path: Path): string {
  const full = path.length === 0 ? owner : dottedPath(path);
  return full.length <= 56 ? full : `${full.slice(0, 40)}.${shortHash(full)}`;
}

/** A condition as a person wrote it. */
export interface RowTest {
  readonly text: string;
  /** Its SQL, where it is SQL. */
  readonly row?: RowText;
  readonly build: (scope: Scope) => Expr;
}

export function testOf(row: RowText): RowTest {
  return {
    text: row.fragment.text.slice(row.span.start, row.span.end),
    row,
    build: (scope) => rowExpr(scope, row),
  };
}

/** A condition on rows; one across a to-many path asks for any such row, each side of an OR for one of its own. */
export function conditionExpr(scope: Scope, { text, row, build }: RowTest): Expr {
  const inner = new Map<string, ScopeJoin>();
  const where = build({ ...scope, inner });
  const joins = [...inner.values()];
  if (joins.length === 0) return where;
  const outside = [...aliasesIn(where)].filter((alias) => !inner.has(alias));
  const isMixed = outside.length > 0 && row !== undefined && mayHoldWithout(scope, row);
  if (isMixed || joins.filter(({ base }) => !inner.has(base)).length > 1) {
    const sides =
      row === undefined
        ? []
        : disjunctsOf(row.fragment.tokens.filter((token) => within(token, row.span)));
    if (row !== undefined && sides.length > 1) {
      const parts = sides.map((span) => conditionExpr(scope, testOf({ ...row, span })));
      return {
        kind: 'text',
        parts: parts.flatMap((part, index) => (index === 0 ? [part] : [' OR ', part])),
      };
    }
    const ways = joins.filter(({ many }) => many).map(({ path }) => dottedPath(path));
    const message = `The condition ${JSON.stringify(text)} mixes rows of ${[...new Set(ways)].join(' and ')} with others`;
    throw refused(
      'mixed_condition',
      message,
      'A condition across one to many asks whether any such row fits: give each its own condition.',
    );
  }
  return { kind: 'exists', joins: joins.map(plainJoin), where };
}

/** What can be true of a NULL, or makes true what is not. */
const choices =
  /^(or|not|in|is|if|iif|case|coalesce|ifnull|nvl2?|decode|nullif|greatest|least|concat|concat_ws)$/;

/** Whether a part of it could hold where there is no row to many, by what the owner has alone: `or`, and what says the same otherwise. */
function mayHoldWithout(scope: Scope, row: RowText): boolean {
  const tokens = row.fragment.tokens.filter((token) => within(token, row.span));
  return conjunctsOf(tokens, row.span).some((span) => {
    const inside = tokens.filter((token) => within(token, span));
    if (!inside.some(({ kind, text }) => kind === 'word' && choices.test(text))) return false;
    const inner = new Map<string, ScopeJoin>();
    const aliases = [...aliasesIn(rowExpr({ ...scope, inner }, { ...row, span }))];
    return inner.size > 0 && aliases.some((alias) => !inner.has(alias));
  });
}

/** A filter of a metric. */
export function leafCondition(scope: Scope, row: RowText): Expr {
  return conditionExpr(scope, testOf(row));
}

/** Without what only planning needs. */
export function plainJoin({ alias, relation, on, kind }: ScopeJoin): Join {
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
export function placeExpr(scope: Scope, place: ResolvedField): Expr {
  const { query, notes } = scope;
  const type = timeType(place);
  scope.visited.add(isOwnTime(scope, place) ? 'time' : 'other');
  const side = {
    dialect: scope.model.dialect,
    dataset: place.dataset,
    alias: joinPath(scope, place.path),
  };
  const member =
    place.field?.measure === undefined
      ? memberExpr(side, place.name)
      : measuredExpr(scope, { ...place, field: place.field, side });
  const cut = {
    weekStart: query.week_start,
    timezone: place.grain === undefined ? undefined : query.timezone,
  };
  const isMoved = type !== undefined && scope.shift.length > 0 && isOwnTime(scope, place);
  const moved = isMoved ? shifted(member, { ...cut, type }, scope.shift) : { of: member, type };
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
function measuredExpr(
  scope: Scope,
  at: Pick<ResolvedField, 'path'> & { readonly field: ModelField; readonly side: Side },
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
  const alias = `${aliasOf(scope.owner.name, path)} of`;
  const { select, value } = scope.measured(dataset, field);
  const on: Expr = {
    kind: 'text',
    parts: (dataset.primaryKey ?? []).flatMap((key, index): readonly Part[] => {
      const equality: readonly Part[] = [
        memberExpr(side, key),
        ' = ',
        { kind: 'column', alias, name: `d${index + 1}` },
      ];
      return index === 0 ? equality : [' AND ', ...equality];
    }),
  };
  const joins = scope.inner?.has(base) === true ? scope.inner : scope.joins;
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
  const isThere: Expr = { kind: 'text', parts: [memberExpr(side, key), ' IS NOT NULL'] };
  return at.path.length === 0
    ? value(alias)
    : { kind: 'when', where: [isThere], value: value(alias) };
}

/** The time that `metric_time` means. */
export function isOwnTime({ owner }: Pick<Scope, 'owner'>, { path, name }: ResolvedField): boolean {
  return path.length === 0 && name === owner.defaultTime;
}

/** Moved as the clock of the zone shows it: a month later is the same hour of the day. */
function shifted(
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
export function rowExpr(scope: Scope, row: RowText): Expr {
  return textOf(row, (reference) => {
    const { parts, written } = reference;
    if (row.home === undefined) return placeExpr(scope, placeInQuery(scope, parts));
    const place = placeInModel(scope, row.home, reference);
    return place.field === undefined
      ? { kind: 'written', alias: joinPath(scope, place.path), text: written }
      : placeExpr({ ...scope, shift: [] }, place);
  });
}

/** A row of a join, as its condition sees it. */
interface Side {
  readonly dialect: Dialect;
  readonly dataset: ModelDataset;
  readonly alias: string;
}

/** A field over its physical columns, or the column of that name. */
function memberExpr(side: Side, name: string, written?: string): Expr {
  const named = (one: string, text: string | undefined) =>
    fieldNamed(side.dataset, one, isExact(side.dialect, text));
  const field = named(name, written);
  if (field?.expr !== undefined) {
    // A name inside is another field, or a column; its own name is the column.
    return textOf(wholeOf(field.expr), ({ parts, written: text }) => {
      const inner = parts.at(-1) ?? '';
      return named(inner, text) === field
        ? { kind: 'written', alias: side.alias, text }
        : memberExpr(side, inner, text);
    });
  }
  if (field?.measure !== undefined)
    throw notSupported(
      'a metric of the row inside another field or a join',
      `${side.dataset.name}.${field.name} is one`,
    );
  if (field === undefined && written !== undefined)
    return { kind: 'written', alias: side.alias, text: written };
  return { kind: 'column', alias: side.alias, name: field?.name ?? name };
}

/** A field of the owner itself. */
export function ownExpr({ model, owner }: Pick<Scope, 'model' | 'owner'>, name: string): Expr {
  return memberExpr({ dialect: model.dialect, dataset: owner, alias: owner.name }, name);
}

/** Joins what is missing of the path, and gives the alias of its end. */
function joinPath(scope: Scope, path: Path): string {
  let alias = aliasOf(scope.owner.name, []);
  for (const [index, step] of path.entries()) {
    const prefix = path.slice(0, index + 1);
    const next = aliasOf(scope.owner.name, prefix);
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
  scope: Scope,
  { leg, alias, base, path }: { leg: Leg; alias: string; base: string; path: Path },
): void {
  const { model, joins, inner } = scope;
  if (joins.has(alias) || inner?.has(alias)) return;
  const target = datasetNamed(model, leg.to);
  const source = { dialect: model.dialect, dataset: datasetNamed(model, leg.from), alias: base };
  if (!leg.many) checkFan(leg, target);
  checkTypes(leg, source.dataset, target);
  const on = joinCondition(leg, source, { dialect: model.dialect, dataset: target, alias });
  const isInner = inner !== undefined && (leg.many || inner.has(base));
  const kind = leg.many && (!isInner || !inner.has(base)) ? 'inner' : 'left';
  (isInner ? inner : joins).set(alias, {
    alias,
    relation: rowsOf(target),
    path,
    on,
    base,
    kind,
    many: leg.many,
  });
}

function joinCondition({ relationship, reversed }: Leg, source: Side, joined: Side): Expr {
  const [own, target] = reversed ? [joined, source] : [source, joined];
  const range = relationship.within === undefined ? [] : inRange(relationship.within, own, target);
  if (relationship.condition !== undefined) {
    const on = textOf(wholeOf(relationship.condition), ({ parts, written }) => {
      const side = ownerInCondition(relationship, parts) === 'target' ? target : own;
      return memberExpr(side, parts.at(-1) ?? '', written);
    });
    return allOf([on, ...range]);
  }
  const equalities = relationship.equal.map((pair): readonly Part[] => {
    return [memberExpr(own, pair.own ?? ''), ' = ', memberExpr(target, pair.target ?? '')];
  });
  return {
    kind: 'text',
    parts: [...equalities, ...range.map((one) => [one])].flatMap((one, index) =>
      index === 0 ? one : [' AND ', ...one],
    ),
  };
}

function allOf(conditions: readonly Expr[]): Expr {
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  return {
    kind: 'text',
    parts: conditions.flatMap((one, index): readonly Part[] =>
      index === 0 ? [one] : [' AND ', one],
    ),
  };
}

/** A bound that is NULL is none. A time is cut to its day where the bound is a date. */
function inRange(
  { field, from, to, includesEnd }: Within,
  own: Side,
  target: Side,
): readonly Expr[] {
  const typeOf = (side: Side, name: string) => fieldNamed(side.dataset, name)?.type;
  const type = typeOf(own, field);
  const bounded = (name: string, op: string): Expr => {
    const isCut =
      typeOf(target, name) === 'date' && (type === 'datetime' || type === 'datetime_tz');
    const whole = memberExpr(own, field);
    const value: Expr = isCut
      ? { kind: 'truncate', grain: 'day', of: whole, options: { type, weekStart: 'monday' } }
      : whole;
    const bound = memberExpr(target, name);
    return { kind: 'text', parts: [bound, ' IS NULL OR ', value, op, bound] };
  };
  const isKnown: Expr = { kind: 'text', parts: [memberExpr(own, field), ' IS NOT NULL'] };
  return [isKnown, bounded(from, ' >= '), bounded(to, includesEnd ? ' <= ' : ' < ')];
}
