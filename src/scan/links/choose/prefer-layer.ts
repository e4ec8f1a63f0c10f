import { stepOf } from '../../../context/catalog/table-layer.ts';
import { type ColumnFacts, isOfView } from '../../facts/table-facts.ts';
import type { RankedCandidate } from '../rank-candidates.ts';

/**
 * Raw tables, the staging views over them and the marts built on those repeat each other's keys,
 * and names alone do not say which of them a column means. Of parents with the same keys, the one
 * in the column's own layer comes first, with the better probability of the two.
 */
export function preferOwnLayer(ranked: readonly RankedCandidate[]): readonly RankedCandidate[] {
  const [best] = ranked;
  if (best === undefined || best.typeColumn !== undefined) return ranked;
  const nearest = ranked.find(
    (candidate) => isSameLayer(candidate) && hasSameKeys(candidate, best),
  );
  if (nearest === undefined || isSameLayer(best)) return ranked;
  const others = ranked.filter((candidate) => candidate !== nearest && candidate !== best);
  const probability = Math.max(nearest.probability, best.probability);
  return [{ ...nearest, probability }, best, ...others];
}

/** True if the two parents hold as many keys, and the child as many of them. */
function hasSameKeys(candidate: RankedCandidate, best: RankedCandidate): boolean {
  const [own, other] = [candidate.values, best.values];
  return (
    candidate.parent.column.profile.distinct === best.parent.column.profile.distinct &&
    own.containment === other.containment &&
    own.coverage === other.coverage &&
    own.orphans === other.orphans &&
    candidate.names.best >= best.names.best - 0.1
  );
}

/**
 * True if a column has the same values as one in another layer: both are the key of the same rows,
 * or the same attribute, such as an address or an amount that happens to be unique.
 */
export function repeatsColumn({ child, parent, values, isOwnKey }: RankedCandidate): boolean {
  const isOtherLayer = [child, parent.column].some(isOfView) || !isSameLayer({ child, parent });
  // Distinct counts of large tables are estimates; the rows of two keys are counted.
  const isWholeKey = isOwnKey && child.table.rows === parent.column.table.rows;
  const isWhole = values.containment === 1 && (values.coverage === 1 || isWholeKey);
  const isUnique = isOwnKey || child.profile.distinct >= child.present * 0.98;
  return isOtherLayer && isWhole && isUnique && (isOwnKey || !child.parts.keyed);
}

export function isSameLayer({ child, parent }: Pick<RankedCandidate, 'child' | 'parent'>): boolean {
  return layerOf(child) === layerOf(parent.column);
}

function layerOf({ table: { schema } }: ColumnFacts): string {
  return `${schema.schema}.${stepOf(schema.table)}`;
}
