/** A value with its 95 % confidence interval. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** The normal quantile for a two-sided interval of 95 %. */
const z = 1.959964;

/**
 * The Wilson score interval of a rate (E. B. Wilson, 1927), which also holds at 0, at 1 and for few
 * trials. Undefined for no trials.
 */
export function wilsonInterval(passed: number, trials: number): Interval | undefined {
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

/**
 * The mean with its normal interval, whose width is 0 for a single value. Undefined for no values.
 */
export function meanInterval(values: readonly number[]): Interval | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squaredErrors = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const variance = count === 1 ? 0 : squaredErrors / (count - 1);
  const half = z * Math.sqrt(variance / count);
  return { value: mean, low: Math.max(0, mean - half), high: mean + half };
}
