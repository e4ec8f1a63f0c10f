import { addRivals } from './find-candidates.ts';
import type { Candidate } from './features.ts';
import { measured } from './measure-candidates.ts';
import type { ScanContext } from '../profile/profile-table.ts';
import { groupByChild, selectForMeasurement } from './rank-candidates.ts';

/**
 * Measures the best pairs of each column exactly, where the profiles do not prove them already; but not those of a column that
 * more keys fit equally well than could be told apart.
 */
export async function confirm(
  candidates: readonly Candidate[],
  context: ScanContext,
): Promise<Candidate[]> {
  const kept = selectForMeasurement(candidates.filter((candidate) => !isMeant(candidate)));
  return [
    ...candidates.filter(isMeant),
    ...groupByChild(await measured(kept, context)).flatMap(addRivals),
  ];
}

/** A part of the values is meant for this parent: how many it holds of all says nothing. */
const isMeant = ({ typeColumn }: Candidate): boolean => (typeColumn?.tables.length ?? 0) > 0;
