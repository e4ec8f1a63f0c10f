import { withRivals } from './candidates.ts';
import type { Candidate } from './features.ts';
import { measured } from './measured-pairs.ts';
import type { ScanContext } from '../profile/profile.ts';
import { byChild, worthMeasuring } from './rank.ts';

/**
 * Measures the best pairs of each column exactly, where the profiles do not prove them already; but not those of a column that
 * more keys fit equally well than could be told apart.
 */
export async function confirm(
  candidates: readonly Candidate[],
  context: ScanContext,
): Promise<Candidate[]> {
  const kept = worthMeasuring(candidates.filter((candidate) => !isMeant(candidate)));
  return [
    ...candidates.filter(isMeant),
    ...byChild(await measured(kept, context)).flatMap(withRivals),
  ];
}

/** A part of the values is meant for this parent: how many it holds of all says nothing. */
const isMeant = ({ typeColumn }: Candidate): boolean => (typeColumn?.tables.length ?? 0) > 0;
