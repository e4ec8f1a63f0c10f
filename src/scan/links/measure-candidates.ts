import { containmentQuery, measureAll } from '../facts/measure.ts';
import type { ScanContext } from '../scan-context.ts';
import { type LinkCandidate, measuredEvidence } from './link-candidate.ts';

/**
 * Replaces the estimates of the values with exact counts, unless the profiles prove them already.
 */
export async function measureCandidates(
  candidates: readonly LinkCandidate[],
  context: ScanContext,
): Promise<LinkCandidate[]> {
  const unproven = candidates.filter(
    ({ child, parent: { column }, values, isOpen }) =>
      isOpen !== true && values.orphans === undefined && child.present > 0 && column.table.rows > 0,
  );
  const queries = unproven.map(({ child, parent }) =>
    containmentQuery({ from: [child], to: [parent.column] }, context.warehouse.dialect),
  );
  const results = await measureAll(queries, context);
  const resultOf = new Map(unproven.map((candidate, index) => [candidate, results[index]]));
  return candidates.map((candidate): LinkCandidate => {
    const result = resultOf.get(candidate);
    return result
      ? { ...candidate, values: measuredEvidence(result, candidate.parent) }
      : candidate;
  });
}
