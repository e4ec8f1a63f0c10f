import { notSupported } from './errors.ts';
import type { Expr } from './expr.ts';
import type { Block } from './plan.ts';
import type { Place } from './scope.ts';

/** Combinations of dimension values to be shown even where no row of the fact has them. */
export type Members =
  /** Rows of one dataset beside the fact, joined and filtered like those of the fact. */
  | { readonly kind: 'dataset'; readonly block: Block }
  /** What the fact itself has: the other dimensions are combined with these. */
  | { readonly kind: 'fact'; readonly columns: readonly string[] };

/**
 * The members of a block's dimensions: one set for each relationship of the owner that leads to some, and one for the owner's
 * own; their combinations are added to the result. Conditions on nothing but a set's own rows apply to it.
 */
export function membersOf(block: Block, query: { places: readonly Place[]; rows: readonly Expr[] }): readonly Members[] {
  const groups = [...Map.groupBy(query.places.keys(), (index) => query.places[index]?.path[0])].map(([first, indexes]) => {
    const joins = block.joins.filter((join) => first !== undefined && join.path[0] === first);
    const aliases = new Set(first === undefined ? [block.alias] : joins.map((join) => join.alias));
    return { first, joins, aliases, dimensions: indexes.flatMap((index) => block.dimensions[index] ?? []) };
  });
  if (groups.every(({ first }) => first === undefined)) return [];
  const conditions = query.rows.map((expr) => ({ expr, used: aliasesIn(expr) }));
  if (conditions.some(({ used }) => groups.filter(({ aliases }) => [...used].some((alias) => aliases.has(alias))).length > 1)) {
    throw notSupported('include_empty with a condition across dimensions', 'It is not clear which combinations of members it allows');
  }
  return groups.map(({ first, joins: [root, ...joins], aliases, dimensions }): Members => {
    if (first === undefined || root === undefined) return { kind: 'fact', columns: dimensions.map((dimension) => dimension.column) };
    const where = conditions.filter(({ used }) => used.size > 0 && [...used].every((name) => aliases.has(name))).map(({ expr }) => expr);
    const { alias, relation } = root;
    return { kind: 'dataset', block: { owner: first.to, alias, relation, joins, where, dimensions, aggregates: [] } };
  });
}

function aliasesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) return;
    if ('alias' in inner && typeof inner.alias === 'string') found.add(inner.alias);
    for (const child of Object.values(inner)) visit(child);
  };
  visit(value);
  return found;
}
