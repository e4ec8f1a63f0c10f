import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { changeHeader, nearness } from '../fits.ts';
import { changeWords, downWords, restWords, upWords } from '../numbers/number-words.ts';
import type { BoundClaim } from '../through-claims.ts';
import { numberOf } from '../values.ts';

/** Of more rows, something equals nearly any share. */
const mostRows = 60;

/**
 * The claims that stand in brackets right behind an amount (`$633,339 (26%)`) and that are no share
 * of it: the amount has no such part of any cell, sum or number of the answer. Rows that the
 * statement is not about could give nearly any short number.
 */
export function strangeShares(
  bounds: readonly BoundClaim[],
  text: string,
  evidence: readonly QueryEvidence[],
): ReadonlySet<BoundClaim> {
  const candidates = bounds.flatMap((bound, index) => {
    const amount = bounds[index - 1];
    return amount !== undefined && isBracketed(amount, bound, text) ? [{ bound, amount }] : [];
  });
  if (candidates.length === 0 || evidence.some(({ rows }) => rows.length > mostRows))
    return new Set();
  const wholes = [...new Set([...cellsAndSums(evidence), ...bounds.flatMap(amountIn)])];
  return new Set(
    candidates
      .filter(({ bound, amount }) => !isPartOf(bound, amount.known?.value ?? 0, wholes))
      .map(({ bound }) => bound),
  );
}

function isBracketed(amount: BoundClaim, share: BoundClaim, text: string): boolean {
  const { number, claim, statement } = share;
  const { known } = amount;
  const isAmount = known !== undefined && known.kind !== 'share' && Math.abs(known.value) >= 1;
  return (
    isAmount &&
    claim.status === 'derived' &&
    number.isPercent &&
    number.sign === undefined &&
    amount.claim.derivation === undefined &&
    amount.statement === statement &&
    /^[^\d()|;:]{0,24}\($/u.test(text.slice(amount.number.end, number.start)) &&
    partBehind.test(text.slice(number.end, number.end + 12))
  );
}

const partBehind = /^\s?\)|^\s(?:of|des|der|vom|von|del|de|du|do|da|van|av)(?!\p{L})/iu;

function isPartOf(
  { number, said }: BoundClaim,
  amount: number,
  wholes: readonly number[],
): boolean {
  const near = nearness(number, false);
  const words = [upWords, downWords, changeWords, restWords, changeHeader];
  const isChange = words.some((own) => own.test(said));
  const isSaid = (share: number): boolean =>
    Number.isFinite(share) &&
    number.readings.some((reading) => near(Math.abs(share) * 100, reading));
  return wholes.some(
    (whole) =>
      isSaid(amount / whole) ||
      isSaid(whole / amount) ||
      (isChange && [amount / whole - 1, whole / amount - 1].some(isSaid)),
  );
}

const amountIn = ({ known }: BoundClaim): readonly number[] =>
  known === undefined || known.kind === 'share' ? [] : [known.value];

/** The numbers of all rows, and the sums of each column: of all rows, and of those of each name. */
function cellsAndSums(evidence: readonly QueryEvidence[]): readonly number[] {
  return evidence.flatMap((query) => {
    const { rows, columns } = query;
    const kinds = columnKinds(query);
    return columns.flatMap((_, column) => {
      if (isLabel(kinds[column])) return [];
      const sums = new Map<string, number>();
      const cells = rows.flatMap((row) => {
        const value = numberOf(row[column]);
        if (value === undefined) return [];
        const names = row.flatMap((cell, index) =>
          index === column ? [] : [`${index} ${String(cell)}`],
        );
        for (const name of ['', ...names]) sums.set(name, (sums.get(name) ?? 0) + value);
        return [value];
      });
      return [...cells, ...sums.values()];
    });
  });
}
