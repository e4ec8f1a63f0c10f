import type { ScanContext } from '../scan-context.ts';
import { addRivals, type LinkCandidate } from './link-candidate.ts';
import { measureCandidates } from './measure-candidates.ts';
import { groupByChild, selectForMeasurement } from './rank-candidates.ts';

/**
 * Measures the best candidates of each column exactly, and also unlikely ones that people join it
 * with. Drops the others. Candidates of polymorphic columns stay unmeasured: only a part of the
 * values is meant for each parent, so the share of all values says nothing.
 */
export async function confirmCandidates(
  candidates: readonly LinkCandidate[],
  context: ScanContext,
): Promise<LinkCandidate[]> {
  const single = candidates.filter((candidate) => !isPolymorphic(candidate));
  const likely = selectForMeasurement(single);
  const chosen = new Set(likely.map(pairKey));
  const joined = single.filter((pair) => pair.seen > 0 && !chosen.has(pairKey(pair)));
  const measured = await measureCandidates([...likely, ...joined], context);
  return [
    ...candidates.filter(isPolymorphic),
    ...groupByChild(measured).flatMap((group) => addRivals(group)),
  ];
}

const isPolymorphic = ({ typeColumn }: LinkCandidate): boolean =>
  (typeColumn?.tables.length ?? 0) > 0;

const pairKey = ({ child, parent }: Pick<LinkCandidate, 'child' | 'parent'>): string =>
  `${child.id}>${parent.column.id}`;
