import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { cellCandidates } from '../candidates.ts';
import { nearness } from '../fits.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';

/** A cell of another place is more likely to be meant than what could be computed. */
export function standsElsewhere(
  number: WrittenNumber,
  evidence: readonly QueryEvidence[],
): boolean {
  const near = nearness(number, false);
  return cellCandidates(evidence, () => true).some(({ value, kind }) =>
    number.readings.some(
      (reading) =>
        near(value, reading) ||
        (number.isPercent && kind === 'share' && near(value * 100, reading)),
    ),
  );
}
