import { exactEvidence, type Candidate } from './features.ts';
import { containmentQuery, measureAll } from '../facts/measure.ts';
import type { ScanContext } from '../profile/profile-table.ts';

/** Each with what its values say exactly, as far as the engine can tell. */
export async function measured(
  candidates: readonly Candidate[],
  context: ScanContext,
): Promise<Candidate[]> {
  const unproven = candidates.filter(({ child, parent: { column }, values, isOpen }) => {
    return (
      isOpen !== true && values.orphans === undefined && child.present > 0 && column.table.rows > 0
    );
  });
  const statements = unproven.map(({ child, parent }) =>
    containmentQuery({ from: [child], to: [parent.column] }, context.warehouse.dialect),
  );
  const results = await measureAll(statements, context);
  const byCandidate = new Map(unproven.map((candidate, index) => [candidate, results[index]]));
  return candidates.map((candidate): Candidate => {
    const result = byCandidate.get(candidate);
    return result ? { ...candidate, values: exactEvidence(result, candidate.parent) } : candidate;
  });
}
