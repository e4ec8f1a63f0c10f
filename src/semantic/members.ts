import type { Expr } from './expr.ts';
import type { SemanticModel } from './model.ts';
import type { Block, ColumnOf } from './plan.ts';
import { aliasOf, datasetNamed, type Place } from './scope.ts';

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
export function membersOf(
  model: SemanticModel,
  block: Block,
  query: { places: readonly Place[]; rows: readonly Expr[] },
): readonly Members[] {
  const groups = new Map<string, { place: Place; dimensions: ColumnOf<Expr>[] }>();
  for (const [index, place] of query.places.entries()) {
    const dimension = block.dimensions[index];
    const root = aliasOf(block.owner, place.path.slice(0, 1));
    const group = groups.get(root) ?? { place, dimensions: [] };
    if (dimension !== undefined) groups.set(root, { place, dimensions: [...group.dimensions, dimension] });
  }
  const all = [...groups.values()];
  if (all.every(({ place }) => place.path.length === 0)) return [];
  return all.map(({ place, dimensions }): Members => {
    const [first] = place.path;
    if (first === undefined) return { kind: 'fact', columns: dimensions.map((dimension) => dimension.column) };
    const alias = aliasOf(block.owner, [first]);
    const joins = block.joins.filter((join) => join.path.length > 1 && join.path[0] === first);
    const own = new Set([alias, ...joins.map((join) => join.alias)]);
    const where = query.rows.filter((row) => {
      const used = aliasesIn(row);
      return used.size > 0 && [...used].every((name) => own.has(name));
    });
    const { relation, name } = datasetNamed(model, first.to);
    return { kind: 'dataset', block: { owner: name, alias, relation, joins, where, dimensions, aggregates: [] } };
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
