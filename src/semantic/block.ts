import { UserError } from '../lib/error.ts';
import type { Conditions, RowCondition } from './conditions.ts';
import { refused, unknownName } from './errors.ts';
import { type AggregateExpr, type Expr, wholeOf } from './expr.ts';
import { isToOne } from './links.ts';
import { type Members, membersOf } from './members.ts';
import type { ModelDataset, SemanticModel } from './model.ts';
import { datasetNamed, dottedPlace, type Place, placeInQuery } from './place.ts';
import type { SemanticQuery } from './query.ts';
import type { Leaf } from './resolve.ts';
import { conditionExpr, ownExpr, placeExpr, plainJoin, rowExpr, type Scope, type ScopeJoin } from './scope.ts';
import type { ColumnOf, Select } from './select.ts';

/** The rows of one owner, joined, filtered and grouped, each row once a group. */
export interface Block {
  readonly owner: string;
  readonly leaves: readonly Leaf[];
  readonly select: Select;
  readonly places: readonly Place[];
  readonly joins: readonly ScopeJoin[];
  /** Conditions of the query that it applies, as written. */
  readonly filters: readonly string[];
  /** Dimensions across one to many: its values do not add up over those. */
  readonly fanned: readonly string[];
  readonly members: readonly Members[];
}

export interface Asked {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly conditions: Conditions;
  readonly notes: Set<string>;
}

/** `metric`: what to call the block in an error. */
export function blockOf(asked: Asked, leaves: readonly Leaf[], { owner, metric }: { owner: ModelDataset; metric: string }): Block {
  const { model, query, conditions, notes } = asked;
  const scope: Scope = { model, owner, query, reach: 'many', joins: new Map(), inner: undefined, notes };
  const places = query.dimensions.map((name) => attributed(`dimension ${name}`, metric, () => placeInQuery(scope, name.split('.'))));
  const dimensions = places.map((place, index) => ({ column: `d${index + 1}`, expr: placeExpr(scope, place) }));
  const own = conditions.rows.filter(({ on }) => on === undefined || on === owner.name);
  const rows = own.map((condition) => rowCondition(scope, condition, metric));
  const where = [...rows, ...segmentsOf(scope, query)];
  const values = leaves.map((leaf) => ({ leaf, expr: valueOf(scope, leaf) }));
  const joins = [...scope.joins.values()];
  const fanned = places.filter(({ path }) => !path.every(isToOne)).map(dottedPlace);
  const from = { alias: owner.name, relation: owner.relation };
  const base: Select = { kind: 'select', columns: dimensions, from, joins: joins.map(plainJoin), where };
  const isStaged =
    fanned.length > 0 || values.some(({ expr }) => expr?.kind === 'when' && expr.where.some(({ kind }) => kind === 'exists'));
  const select = isStaged ? staged(base, values, fanned.length > 0 ? keyOf(scope, fanned) : []) : grouped(base, values);
  const filters = [
    ...own.map(({ text }) => text),
    ...query.segments.filter((name) => name.startsWith(`${owner.name}.`)).map((name) => `segment ${name}`),
  ];
  const members = query.include_empty ? membersOf(base, { places, joins }) : [];
  return { owner: owner.name, leaves, select, places, joins, filters, fanned, members };
}

interface Value {
  readonly leaf: Leaf;
  readonly expr: Expr | undefined;
}

function grouped(base: Select, values: readonly Value[]): Select {
  const aggregates = values.map(({ leaf, expr }) => ({ column: leaf.column, expr: aggregateOf(leaf, expr) }));
  return { ...base, columns: [...base.columns, ...aggregates], groups: base.columns.length };
}

/** Each row of the owner once a group, whatever its joins repeat, then aggregated. */
function staged(base: Select, values: readonly Value[], key: readonly Expr[]): Select {
  const keys = key.map((expr, index) => ({ column: `k${index + 1}`, expr }));
  const given = values.flatMap(({ expr }, index) => (expr === undefined ? [] : [{ column: `v${index + 1}`, expr }]));
  const rows: Select = { ...base, distinct: keys.length > 0, columns: [...base.columns, ...keys, ...given] };
  const alias = 'ktx rows';
  const named = (column: string): Expr => ({ kind: 'column', alias, name: column });
  const columns: readonly ColumnOf<Expr>[] = [
    ...base.columns.map(({ column }) => ({ column, expr: named(column) })),
    ...values.map(({ leaf, expr }, index) => ({ column: leaf.column, expr: aggregateOf(leaf, expr && named(`v${index + 1}`)) })),
  ];
  return {
    kind: 'select',
    columns,
    from: { alias, relation: { kind: 'select', select: rows } },
    joins: [],
    where: [],
    groups: base.columns.length,
  };
}

function aggregateOf({ function: name, fraction }: Leaf, of: Expr | undefined): AggregateExpr {
  return { kind: 'aggregate', function: name, of, fraction };
}

/** What is aggregated; undefined for rows as such. Its own conditions ask about the owner's row, whatever the dimensions join. */
function valueOf(scope: Scope, leaf: Leaf): Expr | undefined {
  const safe = new Map([...scope.joins].filter(([, { path }]) => path.every(isToOne)));
  const inside: Scope = { ...scope, joins: safe };
  const of = leaf.of && rowExpr({ ...inside, reach: 'one' }, leaf.of);
  const where = leaf.where.map((row) => {
    const { text } = row.fragment;
    return conditionExpr(inside, text.slice(row.span.start, row.span.end), (start) => rowExpr(start, row));
  });
  for (const [alias, join] of safe) scope.joins.set(alias, join);
  return where.length === 0 ? of : { kind: 'when', where, value: of ?? { kind: 'text', parts: ['1'] } };
}

function keyOf({ model, owner }: Scope, fanned: readonly string[]): readonly Expr[] {
  if (owner.primaryKey !== undefined) return owner.primaryKey.map((name) => ownExpr({ model, owner }, name));
  const message = `${fanned.join(' and ')} has many rows for one of ${owner.name}, which has no key to count each row once`;
  throw refused('no_key', message, `Declare primary_key in ${owner.file}, or leave the dimension out.`);
}

function rowCondition(scope: Scope, condition: RowCondition, metric: string): Expr {
  const { text } = condition;
  return attributed(`condition ${JSON.stringify(text)}`, metric, () => conditionExpr(scope, text, (start) => condition.build(start)));
}

/** Says which metric cannot be asked so. */
function attributed<Result>(what: string, metric: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof UserError) || !['no_path', 'no_default_time'].includes(error.code) || metric === '') throw error;
    const scoped = what.startsWith('condition') ? ' Or scope the condition to the metrics that it is about: {on: dataset, where: …}.' : '';
    const { code, message, details } = error;
    throw new UserError(code, `The ${what} cannot be applied to ${metric}: ${message}`, {
      hint: `${error.hint ?? ''}${scoped}`,
      exitCode: 2,
      details,
    });
  }
}

/** A segment restricts its own dataset's metrics only. */
function segmentsOf(scope: Scope, { segments }: SemanticQuery): readonly Expr[] {
  const home = scope.owner.name;
  return segments.flatMap((asked) => {
    const fragment = asked.startsWith(`${home}.`) ? scope.owner.segments.get(asked.slice(home.length + 1)) : undefined;
    return fragment === undefined ? [] : [conditionExpr(scope, fragment.text, (start) => rowExpr(start, { ...wholeOf(fragment), home }))];
  });
}

/** Which owner's rows a segment is of; refuses one that restricts nothing. */
export function checkSegments(model: SemanticModel, { segments }: SemanticQuery, owners: readonly string[]): void {
  for (const asked of segments) {
    const [home = '', ...rest] = asked.split('.');
    const known = datasetNamed(model, home).segments;
    const fragment = known.get(rest.join('.'));
    if (fragment === undefined) throw unknownName({ what: `segment of ${home}`, name: rest.join('.'), candidates: known.keys() });
    if (owners.includes(home)) continue;
    const message = `The segment ${asked} restricts metrics of ${home} only, and the query has none`;
    throw refused('unused_segment', message, `Write it as a condition in where: ${fragment.text}`);
  }
}
