import type { ScanContext } from '../scan-context.ts';
import { addRivals, type LinkCandidate } from './link-candidate.ts';
import { measureCandidates } from './measure-candidates.ts';
import { groupByChild, selectForMeasurement } from './rank-candidates.ts';

/**
 * Measures the best candidates of each column exactly and drops the others. Candidates of
 * polymorphic columns stay unmeasured: only a part of the values is meant for each parent, so the
 * share of all values says nothing.
 */
export async function confirmCandidates(
  candidates: readonly LinkCandidate[],
  context: ScanContext,
): Promise<LinkCandidate[]> {
  const selected = selectForMeasurement(
    candidates.filter((candidate) => !isPolymorphic(candidate)),
  );
  const measured = await measureCandidates(selected, context);
  return [
    ...candidates.filter(isPolymorphic),
    ...groupByChild(measured).flatMap((group) => addRivals(group)),
  ];
}

const isPolymorphic = ({ typeColumn }: LinkCandidate): boolean =>
  (typeColumn?.tables.length ?? 0) > 0;
