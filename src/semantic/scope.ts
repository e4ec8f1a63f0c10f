import { shortHash } from '../lib/hash.ts';
import { type Dialect, type TimeGrain, timeGrains, type TruncateOptions } from '../sql/dialect.ts';
import type { Reference } from '../sql/expression.ts';
import { refused, unknownDataset, unknownName } from './errors.ts';
import { type Expr, type Part, type Piece, textOf, wholeOf } from './expr.ts';
import {
  fieldNamed,
  isExact,
  type ModelDataset,
  type ModelField,
  ownerInCondition,
  type Relation,
  type SemanticModel,
  type Step,
} from './model.ts'; // prettier-ignore
import { checkFan, checkTypes, dottedPath, type Path, pathByNames, uniquePath } from './paths.ts';
import type { SemanticQuery } from './query.ts';

/** The rows of one dataset, the to-one joins that its expressions need so far, and what is to be said about its times. */
export interface Scope {
  readonly model: SemanticModel;
  readonly owner: ModelDataset;
  readonly query: Pick<SemanticQuery, 'timezone' | 'week_start'>;
  readonly joins: Map<string, Join>;
  readonly notes: Set<string>;
}

export interface Join {
  readonly alias: string;
  readonly relation: Relation;
  readonly on: Expr;
  readonly path: Path;
}

/** A piece of SQL over rows. `home`: the dataset whose file it stands in; undefined for that of a query. */
export interface RowText extends Piece {
  readonly home: string | undefined;
}

/** Where a name leads from an owner; `field` is undefined for a physical column of model text. */
export interface Place {
  readonly path: Path;
  readonly dataset: ModelDataset;
  readonly name: string;
  readonly field: ModelField | undefined;
  readonly grain: TimeGrain | undefined;
}

/** Long paths are shortened: engines cut identifiers at 63 bytes, which could make two aliases one. */
function aliasOf(owner: string, path: Path): string {
  const full = path.length === 0 ? owner : dottedPath(path);
  return full.length <= 60 ? full : `${full.slice(0, 40)}.${shortHash(full)}`;
}

type Start = Pick<Scope, 'model' | 'owner'>;

/** Resolves `dataset.field`, `dataset.role.field`, `role.field`, `metric_time`, each with a grain or without. Hidden fields do not exist. */
export function placeInQuery(start: Start, asked: readonly string[]): Place {
  const { owner } = start;
  const [first] = asked;
  const parts = first === 'metric_time' ? [owner.name, defaultTime(owner), ...asked.slice(1)] : asked;
  const form = `${owner.name}.${first}`;
  if (parts.length < 2) throw refused('unknown_name', `The name ${first} is unknown on its own`, `Write its dataset too, like ${form}.`);
  const grain = parts.length < 3 ? undefined : timeGrains.find((candidate) => candidate === parts.at(-1));
  const timed = grain === undefined ? undefined : placeAt(start, parts.slice(0, -1));
  if (timed?.field !== undefined) return checkGrain({ ...timed, grain });
  const place = placeAt(start, parts);
  if (place.field !== undefined) return place;
  const { dataset, name } = place;
  const candidates = [...dataset.fields.values()].filter((field) => !field.hidden).map((field) => field.name);
  const note = dataset.metrics.has(name) ? ' (there is a metric of that name)' : '';
  throw unknownName({ what: `field of ${dataset.name}`, name, candidates, note });
}

/** Where dataset or role, further roles, and a name lead. */
function placeAt({ model, owner }: Start, parts: readonly string[]): Place {
  const [first = '', ...rest] = parts.slice(0, -1);
  const name = parts.at(-1) ?? '';
  const start = uniquePath(model, owner.name, { name: first, field: [...rest, name].join('.') });
  const path = [...start, ...pathByNames(model, start.at(-1)?.to ?? owner.name, [...rest, name])];
  const dataset = datasetNamed(model, path.at(-1)?.to ?? owner.name);
  return { path, dataset, name, field: visibleField(dataset, name), grain: undefined };
}

/** As it can be written in any query of its owner. */
export function dottedPlace({ path, name, grain }: Place): string {
  return [dottedPath(path), name, ...(grain === undefined ? [] : [grain])].join('.');
}

function checkGrain(place: Place): Place {
  if (timeType(place) !== undefined) return place;
  const { dataset, name, field, grain } = place;
  const message = `${dataset.name}.${name} has no ${grain}: it is not a time field (${field?.type ?? 'no type'})`;
  throw refused('not_a_time', message, `Declare type: date, datetime or datetime_tz for it in ${dataset.file}, or leave the grain out.`);
}

function timeType({ field }: Place): TruncateOptions['type'] | undefined {
  const type = field?.type;
  return type === 'date' || type === 'datetime' || type === 'datetime_tz' ? type : undefined;
}

function defaultTime({ name, file, defaultTime: field }: ModelDataset): string {
  if (field !== undefined) return field;
  const message = `${name} has no default_time, so metric_time means nothing for its metrics`;
  throw refused('no_default_time', message, `Declare default_time in ${file}, or name a time field.`);
}

export function datasetNamed(model: SemanticModel, name: string): ModelDataset {
  const dataset = model.datasets.get(name);
  if (dataset === undefined) throw unknownDataset(model, name);
  return dataset;
}

export function visibleField(dataset: ModelDataset, name: string): ModelField | undefined {
  const field = fieldNamed(dataset, name);
  return field?.hidden === true ? undefined : field;
}

/** What stands at a place, cut to its period, with the joins that it needs. */
export function placeExpr(scope: Scope, place: Place): Expr {
  const { query, notes } = scope;
  const type = timeType(place);
  const of = memberExpr({ dialect: scope.model.dialect, dataset: place.dataset, alias: joinPath(scope, place.path) }, place.name);
  if (query.timezone !== undefined && (type === 'datetime_tz') !== (place.grain !== undefined)) {
    const name = `${place.dataset.name}.${place.name}`;
    if (type === 'datetime_tz') notes.add(`${name} itself is compared and shown in UTC; only its periods are cut in ${query.timezone}`);
    else if (type !== undefined) notes.add(`${name} has no time zone of its own: its periods are cut as the values stand`);
  }
  if (place.grain === undefined || type === undefined) return of;
  return { kind: 'truncate', grain: place.grain, of, options: { type, weekStart: query.week_start, timezone: query.timezone } };
}

/** SQL over rows, its names resolved from the owner of the scope. */
export function rowExpr(scope: Scope, row: RowText): Expr {
  return textOf(row, (reference) => {
    const { parts, written } = reference;
    if (row.home === undefined) return placeExpr(scope, placeInQuery(scope, parts));
    const place = placeInModel(scope, row.home, reference);
    return place.field === undefined ? { kind: 'written', alias: joinPath(scope, place.path), text: written } : placeExpr(scope, place);
  });
}

/** As `placeInQuery`; model text also knows bare names, hidden fields and physical columns. */
function placeInModel({ model, owner }: Scope, home: string, { parts, written }: Reference): Place {
  const name = parts.at(-1) ?? '';
  const isOwn = parts.length === 1 || (parts.length === 2 && parts[0] === home);
  const isOwners = parts.length === 2 && parts[0] === owner.name;
  const base = isOwners ? [] : uniquePath(model, owner.name, { name: home, field: name });
  const inner = isOwn || isOwners ? [] : placeAt({ model, owner: datasetNamed(model, home) }, parts).path;
  const path = [...base, ...inner];
  const dataset = datasetNamed(model, path.at(-1)?.to ?? owner.name);
  return { path, dataset, name, field: fieldNamed(dataset, name, isExact(model.dialect, written)), grain: undefined };
}

interface Side {
  readonly dialect: Dialect;
  readonly dataset: ModelDataset;
  readonly alias: string;
}

/** A field over its physical columns, or the column of that name. */
function memberExpr(side: Side, name: string, written?: string): Expr {
  const named = (one: string, text: string | undefined) => fieldNamed(side.dataset, one, isExact(side.dialect, text));
  const field = named(name, written);
  if (field?.expr !== undefined) {
    // A name inside is another field, or a column; its own name is the column.
    return textOf(wholeOf(field.expr), ({ parts, written: text }) => {
      const inner = parts.at(-1) ?? '';
      return named(inner, text) === field ? { kind: 'written', alias: side.alias, text } : memberExpr(side, inner, text);
    });
  }
  if (field === undefined && written !== undefined) return { kind: 'written', alias: side.alias, text: written };
  return { kind: 'column', alias: side.alias, name: field?.name ?? name };
}

/** Joins what is missing of the path, and gives the alias of its end. */
function joinPath({ model, owner, joins }: Scope, path: Path): string {
  let alias = aliasOf(owner.name, []);
  for (const [index, step] of path.entries()) {
    const prefix = path.slice(0, index + 1);
    const next = aliasOf(owner.name, prefix);
    if (!joins.has(next)) {
      const target = datasetNamed(model, step.to);
      checkFan(step, target);
      const source = { dialect: model.dialect, dataset: datasetNamed(model, step.from), alias };
      checkTypes(step, source.dataset, target);
      const on = joinCondition(step, source, { dialect: model.dialect, dataset: target, alias: next });
      joins.set(next, { alias: next, relation: target.relation, path: prefix, on });
    }
    alias = next;
  }
  return alias;
}

function joinCondition({ relationship, reversed }: Step, source: Side, joined: Side): Expr {
  const [own, target] = reversed ? [joined, source] : [source, joined];
  if (relationship.condition !== undefined) {
    return textOf(wholeOf(relationship.condition), ({ parts, written }) => {
      const side = ownerInCondition(relationship, parts) === 'target' ? target : own;
      return memberExpr(side, parts.at(-1) ?? '', written);
    });
  }
  const parts = relationship.equal.flatMap((pair, index): readonly Part[] => {
    const equality: readonly Part[] = [memberExpr(own, pair.own ?? ''), ' = ', memberExpr(target, pair.target ?? '')];
    return index === 0 ? equality : [' AND ', ...equality];
  });
  return { kind: 'text', parts };
}
