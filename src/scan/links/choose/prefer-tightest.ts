import { tightness } from '../link-candidate.ts';
import type { RankedCandidate } from '../rank-candidates.ts';

/**
 * Salespersons are employees, and employees are people: one key's values are in three tables, and
 * names do not say which of them a column means. The one with the fewest keys comes first, where
 * the column would hardly keep to those keys by chance.
 */
export function preferTightest(ranked: readonly RankedCandidate[]): readonly RankedCandidate[] {
  const [best] = ranked;
  if (best === undefined || best.typeColumn !== undefined) return ranked;
  const tighter = ranked.filter(
    (candidate) =>
      candidate.parent.primary && candidate.values.orphans === 0 && tightness(best, candidate) >= 1,
  );
  const tightest = tighter.toSorted(
    (a, b) => a.parent.column.profile.distinct - b.parent.column.profile.distinct,
  )[0];
  if (tightest === undefined) return ranked;
  const probability = Math.max(tightest.probability, best.probability);
  return [{ ...tightest, probability }, ...ranked.filter((candidate) => candidate !== tightest)];
}
