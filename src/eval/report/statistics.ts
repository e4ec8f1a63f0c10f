/** A value with its 95 % confidence interval, which no single value has. */
export interface Interval {
  readonly value: number;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
}

/** A rate always has an interval. */
export type RateInterval = Readonly<Record<keyof Interval, number>>;

/** The normal quantile for a two-sided interval of 95 %. */
const z = 1.959964;

/**
 * The Wilson score interval of a rate (E. B. Wilson, 1927), which also holds at 0, at 1 and for few
 * trials. `passed` may be a fraction: a case that passes half of its attempts counts one half.
 * Undefined for no trials.
 */
export function wilsonInterval(passed: number, trials: number): RateInterval | undefined {
  if (trials === 0) return undefined;
  const rate = passed / trials;
  const center = rate + z ** 2 / (2 * trials);
  const half = z * Math.sqrt((rate * (1 - rate)) / trials + z ** 2 / (4 * trials ** 2));
  const scale = 1 + z ** 2 / trials;
  return {
    value: rate,
    low: Math.max(0, (center - half) / scale),
    high: Math.min(1, (center + half) / scale),
  };
}

/** Quantiles of Student's t for a two-sided interval of 95 %, by degrees of freedom from 1. */
const tQuantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];

/** Beyond the table, the first three terms of the expansion of Cornish and Fisher. */
function tQuantile(freedom: number): number {
  return (
    tQuantiles[freedom - 1] ??
    z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
  );
}

/** The mean with Student's interval. Without an interval for one value; undefined for none. */
export function meanInterval(values: readonly number[]): Interval | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count === 1) return { value: mean };
  const squaredErrors = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = tQuantile(count - 1) * Math.sqrt(squaredErrors / (count - 1) / count);
  return { value: mean, low: mean - half, high: mean + half };
}

/**
 * The mean of paired differences from -1 to 1 with its interval: that of D. G. Bonett and R. M.
 * Price (2012), which adds a pair that gains and one that loses, here with Student's quantile.
 * Unlike the plain interval, it does not shrink to a point where no pair differs, or all do so
 * alike.
 */
export function differenceInterval(differences: readonly number[]): RateInterval | undefined {
  const count = differences.length;
  if (count === 0) return undefined;
  const sum = differences.reduce((total, difference) => total + difference, 0);
  const squares = differences.reduce((total, difference) => total + difference ** 2, 2);
  const center = sum / (count + 2);
  const variance = squares / (count + 2) - center ** 2;
  const half = tQuantile(count + 1) * Math.sqrt(variance / (count + 2));
  return {
    value: sum / count,
    low: Math.max(-1, center - half),
    high: Math.min(1, center + half),
  };
}

/**
 * The exact two-sided sign test: how often chance alone makes two sides of equal strength differ at
 * least this much. For pairs that pass or fail it is the exact test of McNemar (1947). 1 if no pair
 * differs.
 */
export function signTest(better: number, worse: number): number {
  const pairs = better + worse;
  const fewer = Math.min(better, worse);
  // Of a thousand pairs, the numbers of ways are too large for a double; their shares are not.
  let logShare = -pairs * Math.LN2;
  let tail = 0;
  for (let count = 0; count <= fewer; count += 1) {
    tail += Math.exp(logShare);
    logShare += Math.log((pairs - count) / (count + 1));
  }
  return Math.min(1, 2 * tail);
}
