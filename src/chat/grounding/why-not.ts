import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { cellCandidates, type Derivable } from './candidates.ts';

/** Why a number is ungrounded: where else it stands, if anywhere. */
export function whyNot(
  fits: (candidate: Derivable) => boolean,
  tables: readonly QueryEvidence[],
  evidence: readonly QueryEvidence[],
): string {
  if (evidence.length === 0) return 'no query was run';
  const everywhere = (): boolean => true;
  const elsewhere = cellCandidates(tables, everywhere).find(fits)?.cells[0];
  if (elsewhere?.row !== undefined)
    return `it stands in another place: ${elsewhere.query}, row ${elsewhere.row + 1}, ${elsewhere.column}`;
  const other = cellCandidates(evidence, everywhere).find(fits)?.cells[0];
  return other === undefined
    ? `nothing in ${tables.map(({ id }) => id).join(', ')} gives it`
    : `it stands in ${other.query}, which is not cited for it`;
}
