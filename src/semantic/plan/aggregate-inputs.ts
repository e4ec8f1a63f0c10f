import { converted } from './conversion.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type { Expr, Select } from '../relational/query-tree.ts';
import { isToOne } from '../model/join-graph.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import type { AggregateNode } from '../resolve/aggregate-node.ts';
import { ownFieldExpr, type JoinScope } from '../resolve/join-scope.ts';
import { filterExpr, rowExpr } from '../resolve/row-expr.ts';
import { balanced, grouped, staged, type Value } from './dedup-select.ts';

/** What the leaves aggregate, over rows with their dimensions as columns. */
export function grouping(
  scope: JoinScope,
  base: Select,
  { leaves, fanned }: { leaves: readonly AggregateNode[]; fanned: readonly string[] },
): Select {
  const values = leaves.map((leaf) => ({ leaf, expr: valueOf(scope, leaf) }));
  const isAsking = ({ expr }: Value) =>
    expr?.kind === 'when' && expr.where.some(({ kind }) => kind === 'exists');
  if (fanned.length > 0) return staged(base, values, keyOf(scope, fanned));
  return values.some(isAsking) ? staged(base, values, []) : grouped(base, values);
}

export function balanceOf(
  scope: JoinScope,
  base: Select,
  rest: {
    leaves: readonly AggregateNode[];
    places: readonly ResolvedField[];
    fanned: readonly string[];
  },
): Select {
  const { leaves, places, fanned } = rest;
  const [first] = leaves;
  const balance = first?.balance;
  if (balance === undefined || fanned.length > 0) {
    throw notSupportedError(
      'a semi-additive metric by a dimension to many',
      `${fanned.join(' and ')} has several values for one row`,
    );
  }
  const { over, take, per = [] } = balance;
  const values = leaves.map((leaf) => ({
    leaf,
    expr: valueOf(scope, { ...leaf, where: [] }) ?? one,
  }));
  const conditions = first?.where.map((row) => filterExpr(scope, row)) ?? [];
  const periods = base.columns
    .filter((_, index) => places[index]?.path.length === 0 && places[index]?.name === over)
    .map(({ expr }) => expr);
  scope.notes.add(
    `Of the values at each ${scope.owner.name}.${over}, the ${take} counts${per.length === 0 ? '' : ` for each ${per.join(' and ')}`}`,
  );
  const time = ownFieldExpr(scope, over);
  const isTime = scope.owner.fields.get(over)?.type?.startsWith('date') === true;
  const at = {
    entity: per.map((name) => ownFieldExpr(scope, name)),
    time: isTime ? { kind: 'time' as const, of: time } : time,
    periods,
    take,
    where: conditions,
  };
  return balanced(base, values, at);
}

const one: Expr = { kind: 'text', parts: ['1'] };

/** What is aggregated; undefined for rows as such. Its own conditions ask about the owner's row, whatever the dimensions join. */
function valueOf(scope: JoinScope, leaf: AggregateNode): Expr | undefined {
  if (leaf.conversion !== undefined) return converted;
  const safe = new Map([...scope.joins].filter(([, { path }]) => path.every(isToOne)));
  const inside: JoinScope = { ...scope, joins: safe };
  const of = leaf.of && rowExpr({ ...inside, reach: 'one' }, leaf.of);
  const where = leaf.where.map((row) => filterExpr(inside, row));
  for (const [alias, join] of safe) scope.joins.set(alias, join);
  return where.length === 0 ? of : { kind: 'when', where, value: of ?? one };
}

function keyOf({ model, owner }: JoinScope, fanned: readonly string[]): readonly Expr[] {
  if (owner.primaryKey !== undefined)
    return owner.primaryKey.map((name) => ownFieldExpr({ model, owner }, name));
  const message = `${fanned.join(' and ')} has many rows for one of ${owner.name}, which has no key to count each row once`;
  throw queryError(
    'no_key',
    message,
    `Declare primary_key in ${owner.file}, or leave the dimension out.`,
  );
}
