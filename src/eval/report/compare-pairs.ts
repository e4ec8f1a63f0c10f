import { formatCount } from '../../lib/format-count.ts';
import type { CaseResult } from '../run/run-schema.ts';
import { differenceInterval, signTest, type RateInterval } from './statistics.ts';
import { passShare } from './summary.ts';

/** The same cases, answered twice. Pairs show much smaller differences than two rates do. */
export interface PairedComparison {
  /** Cases that both sides decided. */
  readonly pairs: number;
  readonly better: number;
  readonly worse: number;
  /** Mean difference of the shares of right attempts, second less first, from -1 to 1. */
  readonly difference: RateInterval;
  /** How often chance alone makes so many cases better or worse: the exact sign test. */
  readonly p_value: number;
}

export function comparePairs(
  before: readonly CaseResult[],
  after: readonly CaseResult[],
): PairedComparison | undefined {
  const shares = new Map(before.map((result) => [result.id, passShare(result)]));
  const differences = after.flatMap((result) => {
    const [was, is] = [shares.get(result.id), passShare(result)];
    return was === undefined || is === undefined ? [] : [is - was];
  });
  const difference = differenceInterval(differences);
  if (difference === undefined) return undefined;
  const better = differences.filter((change) => change > 0).length;
  const worse = differences.filter((change) => change < 0).length;
  const pairs = differences.length;
  return { pairs, better, worse, difference, p_value: signTest(better, worse) };
}

/** `12 points (3 to 21) on 40 shared cases: 7 better, 2 worse (p = 0.18)` */
export function describePairs({
  pairs,
  better,
  worse,
  difference: { value, low, high },
  p_value: p,
}: PairedComparison): string {
  const points = (share: number) => String(Math.round(share * 100));
  const chance = p < 0.001 ? 'p < 0.001' : `p = ${p.toPrecision(2)}`;
  const cases = formatCount(pairs, 'shared case');
  return `${points(value)} points (${points(low)} to ${points(high)}) on ${cases}: ${better} better, ${worse} worse (${chance})`;
}
