export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** 95 %, two-sided. */
const z = 1.959964;

/** Wilson, E. B. (1927): the score interval, which holds at 0, at 1, and for few trials; undefined without any. */
export function wilsonInterval(passed: number, of: number): Interval | undefined {
  if (of === 0) return undefined;
  const rate = passed / of;
  const center = rate + z ** 2 / (2 * of);
  const half = z * Math.sqrt((rate * (1 - rate)) / of + z ** 2 / (4 * of ** 2));
  const scale = 1 + z ** 2 / of;
  return {
    value: rate,
    low: Math.max(0, (center - half) / scale),
    high: Math.min(1, (center + half) / scale),
  };
}

/** Mean with its normal interval; the value alone where there is one, undefined without any. */
export function meanInterval(values: readonly number[]): Interval | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const value = values.reduce((sum, each) => sum + each, 0) / count;
  const variance =
    count === 1 ? 0 : values.reduce((sum, each) => sum + (each - value) ** 2, 0) / (count - 1);
  const half = z * Math.sqrt(variance / count);
  return { value, low: Math.max(0, value - half), high: value + half };
}
