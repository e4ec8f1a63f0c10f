import { formatByteSize } from '../../../lib/byte-size.ts';
import { formatCount } from '../../../lib/format-count.ts';
import type { PlannedReads } from '../../../scan/profile/budget.ts';

/** `reads about 6.2 GB of 9 tables, about $0.04; 3 tables left for the next scan` */
export function plannedReadsText({ tables, ...plan }: PlannedReads): string {
  const size = formatByteSize(plan.reads);
  return `reads about ${size} of ${formatCount(tables, 'table')}${readsSuffix(plan)}`;
}

/** The price of what a scan reads, where it has one, and what it leaves to the next. */
export function readsSuffix({
  usd,
  left,
}: {
  readonly usd: number | undefined;
  readonly left: number;
}): string {
  const price = usd !== undefined && usd < 0.01 ? 'less than $0.01' : `about $${usd?.toFixed(2)}`;
  const cost = usd === undefined ? '' : `, ${price}`;
  return left === 0 ? cost : `${cost}; ${formatCount(left, 'table')} left for the next scan`;
}
