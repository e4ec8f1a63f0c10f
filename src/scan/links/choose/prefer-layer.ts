import { stepOf, withoutStep } from '../../../sql/names/table-layer.ts';
import { type ColumnFacts, isOfView } from '../../facts/table-facts.ts';
import { singular } from '../../names/split-words.ts';
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

/**
 * True if the two parents hold as many keys, and the child as many of them; or if they hold the
 * same things, and the column's own layer has all that it refers to.
 */
function hasSameKeys(candidate: RankedCandidate, best: RankedCandidate): boolean {
  const [own, other] = [candidate.values, best.values];
  const [column, bestColumn] = [candidate.parent.column, best.parent.column];
  const isEqual =
    column.profile.distinct === bestColumn.profile.distinct &&
    own.containment === other.containment &&
    own.coverage === other.coverage &&
    own.orphans === other.orphans;
  const hasAll =
    own.containment === 1 && candidate.parent.primary && thingOf(column) === thingOf(bestColumn);
  return (isEqual || hasAll) && candidate.names.best >= best.names.best - 0.1;
}

/** What a table holds, whatever its layer: `order` for `raw_orders` and `fct_orders`. */
const thingOf = ({ table }: ColumnFacts): string =>
  withoutStep(table.ref.table)
    .split(/[^\p{L}\d]+/u)
    .map(singular)
    .join(' ');

/**
 * True if a column has the same values as one in another layer: both are the key of the same rows,
 * or the same attribute, such as an address or an amount that happens to be unique.
 */
export function repeatsColumn({ child, parent, values, isOwnKey }: RankedCandidate): boolean {
  const isOtherLayer = [child, parent.column].some(isOfView) || !isSameLayer({ child, parent });
  if (isOtherLayer && isCopyOfKey({ child, parent, values, isOwnKey })) return true;
  // Distinct counts of large tables are estimates; the rows of two keys are counted.
  const isWholeKey = isOwnKey && child.table.rows === parent.column.table.rows;
  const isWhole = values.containment === 1 && (values.coverage === 1 || isWholeKey);
  const isUnique = isOwnKey || child.profile.distinct >= child.present * 0.98;
  return isOtherLayer && isWhole && isUnique && (isOwnKey || !child.parts.keyed);
}

/** Of a copy that was filtered, or that is older, this share of the values is in both. */
const mostValues = 0.5;

/**
 * True for two keys that tell the rows of one thing apart, in tables of different layers: a mart
 * that has most customers of the raw table, and no others to speak of. One of them refers to the
 * other no more than the raw table does to itself.
 */
function isCopyOfKey({ child, parent, values, isOwnKey }: KeyPair): boolean {
  const { column } = parent;
  const isUnique = child.present > 0 && child.profile.distinct >= child.present * 0.98;
  if (!(isOwnKey || isUnique) || !parent.primary) return false;
  const [own, other] = [thingOf(child), thingOf(column)];
  const isNearlyAll = values.containment >= 0.9 && values.coverage >= 0.9;
  // `raw_shop_orders` names the source as well.
  const isSameThing = own === other || own.endsWith(` ${other}`) || other.endsWith(` ${own}`);
  const shares = Math.max(values.containment, values.coverage);
  return isNearlyAll ? isSameThing || child.home >= 0.8 : own === other && shares >= mostValues;
}

type KeyPair = Pick<RankedCandidate, 'child' | 'parent' | 'values' | 'isOwnKey'>;

export function isSameLayer({ child, parent }: Pick<RankedCandidate, 'child' | 'parent'>): boolean {
  return layerOf(child) === layerOf(parent.column);
}

function layerOf({ table: { schema } }: ColumnFacts): string {
  return `${schema.schema}.${stepOf(schema.table)}`;
}
