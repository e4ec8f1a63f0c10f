import { shortHash } from '../lib/hash.ts';
import type { Span } from '../sql/analyzer.ts';
import { type TimeGrain, timeGrains } from '../sql/dialect.ts';
import type { Fragment } from '../sql/expression.ts';
import { unknownName } from './errors.ts';
import { type Expr, textOf, wholeSpan } from './expr.ts';
import type { ModelDataset, ModelField, Relation, SemanticModel } from './model.ts';
import { checkFan, dottedPath, ownerInCondition, type Path, pathByNames, pathToRole, type Step, uniquePath } from './paths.ts';
import { UserError } from '../lib/error.ts';

/** The rows of one dataset, and the to-one joins that its expressions need so far. */
export interface Scope {
  readonly model: SemanticModel;
  readonly owner: ModelDataset;
  readonly joins: Map<string, Join>;
}

export interface Join {
  readonly alias: string;
  readonly relation: Relation;
  readonly on: Expr;
  readonly path: Path;
}

/** A piece of SQL over rows. `home`: the dataset whose file it stands in; undefined for that of a query. */
export interface RowText {
  readonly fragment: Fragment;
  readonly span: Span;
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

export function openScope(model: SemanticModel, owner: ModelDataset): Scope {
  return { model, owner, joins: new Map() };
}

/** Long paths are shortened: engines cut identifiers at 63 bytes, which could make two aliases one. */
export function aliasOf(owner: string, path: Path): string {
  const full = path.length === 0 ? owner : dottedPath(path);
  return full.length <= 60 ? full : `${full.slice(0, 40)}.${shortHash(full)}`;
}

/** Resolves `dataset.field`, `dataset.role.field`, `role.field`, each with a grain or without. Hidden fields do not exist. */
export function placeInQuery(model: SemanticModel, owner: ModelDataset, parts: readonly string[]): Place {
  const grain = timeGrains.find((candidate) => candidate === parts.at(-1));
  if (grain !== undefined && parts.length >= 3) {
    const inner = parts.slice(0, -1);
    const { path, dataset } = datasetAt(model, owner, inner);
    const field = visibleField(dataset, inner.at(-1) ?? '');
    if (field !== undefined) return { path, dataset, name: field.name, field, grain };
  }
  if (parts.length < 2) throw bareName(owner, parts[0] ?? '');
  const { path, dataset } = datasetAt(model, owner, parts);
  const name = parts.at(-1) ?? '';
  const field = visibleField(dataset, name);
  if (field === undefined) throw unknownField(dataset, name);
  return { path, dataset, name, field, grain: undefined };
}

/** The dataset that the names before the last one lead to. */
function datasetAt(model: SemanticModel, owner: ModelDataset, parts: readonly string[]): { path: Path; dataset: ModelDataset } {
  const [first = '', ...rest] = parts.slice(0, -1);
  const field = [...rest, parts.at(-1)].join('.');
  const start = model.datasets.has(first)
    ? uniquePath(model, owner.name, { dataset: first, field })
    : pathToRole(model, owner.name, { name: first, field });
  if (start === undefined) throw unknownDataset(model, first);
  const path = [...start, ...pathByNames(model, start.at(-1)?.to ?? owner.name, rest)];
  return { path, dataset: datasetNamed(model, path.at(-1)?.to ?? owner.name) };
}

export function datasetNamed(model: SemanticModel, name: string): ModelDataset {
  const dataset = model.datasets.get(name);
  if (dataset === undefined) throw unknownDataset(model, name);
  return dataset;
}

function unknownDataset(model: SemanticModel, name: string): UserError {
  const note = model.excluded.has(name) ? ' that is valid: its file has errors' : '';
  return unknownName({ what: 'dataset or role', name, candidates: model.datasets.keys(), note });
}

export function visibleField(dataset: ModelDataset, name: string): ModelField | undefined {
  const field = dataset.fields.get(name);
  return field?.hidden === true ? undefined : field;
}

function unknownField(dataset: ModelDataset, name: string): UserError {
  const visible = [...dataset.fields.values()].filter((field) => !field.hidden).map((field) => field.name);
  const note = dataset.metrics.has(name) ? ' (there is a metric of that name)' : '';
  return unknownName({ what: `field of ${dataset.name}`, name, candidates: visible, note });
}

function bareName(owner: ModelDataset, name: string): UserError {
  const own = visibleField(owner, name) === undefined ? '' : `, like ${owner.name}.${name}`;
  return new UserError('unknown_name', `The name ${name} is unknown on its own`, {
    hint: `Write a field with its dataset${own || ', as dataset.field'}.`,
    exitCode: 2,
  });
}

export function fieldExpr(scope: Scope, place: Place): Expr {
  const alias = joinPath(scope, place.path);
  return place.field === undefined ? { kind: 'column', alias, name: place.name } : expandField(place.dataset, place.field, alias);
}

/** SQL over rows, its names resolved from the owner of the scope. */
export function rowExpr(scope: Scope, row: RowText, cut: (place: Place, expr: Expr) => Expr): Expr {
  return textOf(row.fragment, row.span, (parts, written) => {
    const place = placeOf(scope.model, scope.owner, { parts, written, home: row.home });
    if (place.field !== undefined || row.home === undefined) return cut(place, fieldExpr(scope, place));
    return { kind: 'written', alias: joinPath(scope, place.path), text: written };
  });
}

/** As `placeInQuery`; model text also knows bare names, hidden fields and physical columns. */
function placeOf(
  model: SemanticModel,
  owner: ModelDataset,
  name: { parts: readonly string[]; written: string; home: string | undefined },
): Place {
  const { parts, home } = name;
  if (home === undefined) return placeInQuery(model, owner, parts);
  const last = parts.at(-1) ?? '';
  const isOwn = parts.length === 1 || (parts.length === 2 && parts[0] === home);
  const isOwners = parts.length === 2 && parts[0] === owner.name;
  const base = isOwners ? [] : uniquePath(model, owner.name, { dataset: home, field: last });
  const inner = isOwn || isOwners ? [] : datasetAt(model, datasetNamed(model, home), parts).path;
  const path = [...base, ...inner];
  const dataset = datasetNamed(model, path.at(-1)?.to ?? owner.name);
  return { path, dataset, name: last, field: dataset.fields.get(last), grain: undefined };
}

/** A field over its physical columns. A name inside is another field, or a column; its own name is the column. */
export function expandField(dataset: ModelDataset, field: ModelField, alias: string): Expr {
  const { expr } = field;
  if (expr === undefined) return { kind: 'column', alias, name: field.name };
  return textOf(expr, wholeSpan(expr), (parts, written) => {
    const name = parts.at(-1) ?? '';
    const other = name === field.name ? undefined : dataset.fields.get(name);
    return other === undefined ? { kind: 'written', alias, text: written } : expandField(dataset, other, alias);
  });
}

/** Joins what is missing of the path, and gives the alias of its end. */
export function joinPath(scope: Scope, path: Path): string {
  let alias = aliasOf(scope.owner.name, []);
  for (const [index, step] of path.entries()) {
    const prefix = path.slice(0, index + 1);
    const next = aliasOf(scope.owner.name, prefix);
    if (!scope.joins.has(next)) {
      checkFan(scope.model, step);
      const { relation } = datasetNamed(scope.model, step.to);
      scope.joins.set(next, {
        alias: next,
        relation,
        path: prefix,
        on: joinCondition(scope.model, step, { from: alias, to: next }),
      });
    }
    alias = next;
  }
  return alias;
}

function joinCondition(model: SemanticModel, step: Step, aliases: { from: string; to: string }): Expr {
  const { relationship, reversed } = step;
  const own = { dataset: datasetNamed(model, relationship.from), alias: reversed ? aliases.to : aliases.from };
  const target = { dataset: datasetNamed(model, relationship.to), alias: reversed ? aliases.from : aliases.to };
  const { on } = relationship;
  if (on.kind === 'condition') {
    return textOf(on.fragment, wholeSpan(on.fragment), (parts, written) => {
      const side = ownerInCondition(relationship, parts) === 'target' ? target : own;
      const field = side.dataset.fields.get(parts.at(-1) ?? '');
      return field === undefined ? { kind: 'written', alias: side.alias, text: written } : expandField(side.dataset, field, side.alias);
    });
  }
  const equalities = on.pairs.map((pair): Expr => ({
    kind: 'equal',
    left: columnExpr(own, pair.own),
    right: columnExpr(target, pair.target),
  }));
  return {
    kind: 'text',
    parts: equalities.flatMap((equality, index) => (index === 0 ? [equality] : [' AND ', equality])),
  };
}

function columnExpr(side: { dataset: ModelDataset; alias: string }, name: string): Expr {
  const field = side.dataset.fields.get(name);
  return field === undefined ? { kind: 'column', alias: side.alias, name } : expandField(side.dataset, field, side.alias);
}
