/** `1,234.5`; empty without a value. */
export function chartNumber(value: number | undefined): string {
  if (value === undefined) return '';
  const digits = Math.abs(value) >= 1000 ? 0 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

/** That an axis of lines does not begin at zero, where it does not; empty where it does. */
export function axisNote({ low, high }: { readonly low: number; readonly high: number }): string {
  if (low <= 0 && high >= 0) return '';
  const end = low > 0 ? `begins at ${chartNumber(low)}` : `ends at ${chartNumber(high)}`;
  return ` (the axis ${end}, not at 0)`;
}

/** The range of an axis. It begins at zero unless the values are far from it. */
export function chartRange(values: readonly (number | undefined)[]): {
  readonly low: number;
  readonly high: number;
} {
  const numbers = values.filter((value) => value !== undefined);
  const low = numbers.reduce((least, value) => Math.min(least, value), Infinity);
  const high = numbers.reduce((most, value) => Math.max(most, value), -Infinity);
  if (numbers.length === 0) return { low: 0, high: 1 };
  if (low === high) return { low: Math.min(0, low), high: Math.max(0, high) || 1 };
  return low > 0 && low < high / 2 ? { low: 0, high } : { low, high };
}
