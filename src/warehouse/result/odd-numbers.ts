import { formatCount } from '../../lib/format-count.ts';
import type { Cell } from '../warehouse.ts';

interface ResultNumbers {
  readonly name: string;
  readonly type: string;
  /** `metric` for what is computed from many rows. */
  readonly kind: string;
}

/** A warning for each metric with values that are infinite or no number at all. */
export function warnOfOddNumbers(
  columns: readonly ResultNumbers[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  return columns.flatMap(({ name, type, kind }, index) => {
    if (kind !== 'metric' || (type !== 'decimal' && type !== 'integer')) return [];
    const odd = rows.filter((row) => isOdd(row[index]));
    if (odd.length === 0) return [];
    const [first] = odd;
    const count = formatCount(odd.length, 'row');
    return [
      `${name} is ${String(first?.[index])} in ${count}: one such value in the data makes all of a sum or an average so. Filter it out.`,
    ];
  });
}

/** Drivers write them as text, because JSON has no numbers for them. */
function isOdd(cell: Cell | undefined): boolean {
  return cell === 'NaN' || cell === 'Infinity' || cell === '-Infinity';
}
