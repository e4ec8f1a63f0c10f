import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { cellCandidates, type Derivable } from '../candidates.ts';
import { namedRows } from '../context.ts';
import { nearness } from '../fits.ts';
import type { BoundClaim } from '../through-claims.ts';

/** Fewer digits than these may stand in any row. */
const leastDigits = 3;

/**
 * The cell of a row that the statement does not name, in a column whose number of each named row
 * was said before: `5.0 % in the first quarter (896 of 17,994) and 4.3 % in the second (805 of
 * 18,963)`. What is said of one row once is of another row the second time.
 */
export function cellOfOtherRow(
  bound: BoundClaim,
  bounds: readonly BoundClaim[],
  evidence: readonly QueryEvidence[],
): Derivable | undefined {
  const { number, statement } = bound;
  const digits = number.text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
  if (number.sign !== undefined || statement.isEntry || digits < leastDigits) return undefined;
  const near = nearness(number, false);
  const fitting = cellCandidates(evidence, () => true).filter(({ value, kind }) =>
    number.readings.some(
      (reading) =>
        (kind === 'share' || !number.isPercent) &&
        [1, number.isPercent ? 100 : 1].some((scale) => near(value * scale, reading)),
    ),
  );
  const [found, ...others] = fitting;
  const [cell] = found?.cells ?? [];
  if (found === undefined || cell === undefined || others.length > 0) return undefined;
  const query = evidence.find(({ id }) => id === cell.query);
  const named = query && namedRows(query, statement.text);
  const said = bounds
    .filter((own) => own.statement === statement && own.number.start < number.start)
    .flatMap(({ claim }) => (claim.status === 'cell' ? claim.evidence : []))
    .filter(({ query: id, column }) => id === cell.query && column === cell.column)
    .map(({ row }) => row);
  const isSaid = named !== undefined && [...named].every((row) => said.includes(row));
  return isSaid && said.length > 0 && !said.includes(cell.row) ? found : undefined;
}

/** The claim of the same statement that rests on as many rows as a number counts. */
export function claimOfSoMany(
  { number, statement }: BoundClaim,
  bounds: readonly BoundClaim[],
): BoundClaim | undefined {
  const [count = 0] = number.readings.map(({ value }) => value);
  if (number.isPercent || number.isMoney || number.sign !== undefined || count < 2)
    return undefined;
  return bounds.find(({ claim, statement: place }) => {
    const rows = new Set(claim.evidence.flatMap(({ row }) => row ?? []));
    return place === statement && claim.status === 'derived' && rows.size === count;
  });
}
