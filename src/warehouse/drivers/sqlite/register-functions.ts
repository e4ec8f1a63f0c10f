import { hash } from 'node:crypto';
import { localTimeToUtc, utcToLocalTime } from '../../../lib/time/time-zone.ts';
import type { AggregateOptions, DatabaseSync, SQLOutputValue } from 'node:sqlite';

interface CustomAggregate<Accumulator> {
  readonly start: () => Accumulator;
  /** Not called for NULL. */
  readonly add: (accumulator: Accumulator, value: SQLOutputValue, option: number) => void;
  readonly result: (accumulator: Accumulator) => string | number | bigint | null;
}

/**
 * Adds the functions that SQLite lacks: the aggregates `ktx_percentile(value, fraction)`
 * (continuous), `ktx_percentile_disc(value, fraction)` (discrete) and `ktx_sketch(text, size)` (the
 * smallest hashes, as JSON), `ktx_local_time(utc, zone)` (what the clocks of a time zone show),
 * `ktx_is_shown(local, zone)` (whether they show a time that summer time may skip), and
 * `ktx_no_time(value)`, which raises an error, and `ktx_number(value)` (a text as the number that
 * it spells; empty text is NULL, anything else raises an error).
 */
export function registerFunctions(db: DatabaseSync): void {
  db.function('ktx_no_time', { useBigIntArguments: true }, (value) => {
    throw new Error(`${shownValue(value)} is not an ISO-8601 date or time`);
  });
  db.function('ktx_number', { useBigIntArguments: true }, (value) => {
    const number = numberIn(value);
    if (number === undefined) throw new Error(noNumber(value));
    return number;
  });
  db.function('ktx_local_time', { deterministic: true }, (utc, zone) =>
    utc === null ? null : utcToLocalTime(String(utc), String(zone)),
  );
  db.function('ktx_is_shown', { deterministic: true }, (local, zone) => {
    if (local === null) return null;
    const [time, timezone] = [String(local), String(zone)];
    return utcToLocalTime(localTimeToUtc(time, timezone), timezone) === time ? 1 : 0;
  });
  registerAggregate(db, 'ktx_percentile', {
    start: () => ({ values: [] as number[], fraction: 0, fault: undefined as string | undefined }),
    add: (state, value, fraction) => {
      const number = numberIn(value);
      // Node loses an error that is thrown before the result.
      if (number === undefined) state.fault ??= noNumber(value);
      else if (number !== null) state.values.push(Number(number));
      state.fraction = fraction;
    },
    result: ({ fault, ...state }) => {
      if (fault !== undefined) throw new Error(fault);
      return percentileOf(state);
    },
  });
  registerAggregate(db, 'ktx_percentile_disc', {
    start: () => ({
      values: [] as (number | bigint)[],
      fraction: 0,
      fault: undefined as string | undefined,
    }),
    add: (state, value, fraction) => {
      const number = numberIn(value);
      if (number === undefined) state.fault ??= noNumber(value);
      // Whole numbers stay exact: the result is one of the values.
      else if (number !== null) state.values.push(number);
      state.fraction = fraction;
    },
    result: ({ fault, ...state }) => {
      if (fault !== undefined) throw new Error(fault);
      return discretePercentileOf(state);
    },
  });
  registerAggregate(db, 'ktx_sketch', {
    // No digest at or above the limit can be among the smallest. `~` is greater than every digest.
    start: () => ({ digests: new Set<string>(), size: 0, limit: '~' }),
    add: (state, value, size) => {
      const text =
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
      const digest = hash('md5', text).slice(0, 12);
      state.size = size;
      if (digest < state.limit) state.digests.add(digest);
      if (state.digests.size < size * 4) return;
      const smallest = smallestDigests(state);
      state.digests = new Set(smallest);
      state.limit = smallest.at(-1) ?? '~';
    },
    result: (state) => JSON.stringify(smallestDigests(state)),
  });
}

/** The number that a value is or spells. NULL for empty text, undefined for what is none. */
function numberIn(value: SQLOutputValue): number | bigint | null | undefined {
  if (typeof value !== 'string') return value instanceof Uint8Array ? undefined : value;
  if (value === '') return null;
  const isNumber = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(value);
  return isNumber ? Number(value) : undefined;
}

function noNumber(value: SQLOutputValue): string {
  return `${shownValue(value)} in a column of numbers is not a number`;
}

function shownValue(value: SQLOutputValue): string {
  if (value instanceof Uint8Array) return 'A blob';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value);
}

function registerAggregate<Accumulator>(
  db: DatabaseSync,
  name: string,
  { start, add, result }: CustomAggregate<Accumulator>,
): void {
  const step = (
    accumulator: Accumulator,
    value: SQLOutputValue,
    option: SQLOutputValue,
  ): Accumulator => {
    if (value !== null) add(accumulator, value, Number(option));
    return accumulator;
  };
  // The library's types expect a SQL value as accumulator; any object works.
  db.aggregate(name, {
    start,
    step,
    result,
    useBigIntArguments: true,
  } as unknown as AggregateOptions);
}

/** Interpolates linearly between the two nearest values; NULL without values. */
function percentileOf({
  values,
  fraction,
}: {
  readonly values: number[];
  readonly fraction: number;
}): number | null {
  values.sort((a, b) => a - b);
  const position = (values.length - 1) * fraction;
  const [low, high] = [values[Math.floor(position)], values[Math.ceil(position)]];
  return low === undefined || high === undefined
    ? null
    : low + (high - low) * (position - Math.floor(position));
}

/** The smallest value that is at least as great as the share of all values; NULL without values. */
function discretePercentileOf({
  values,
  fraction,
}: {
  readonly values: (number | bigint)[];
  readonly fraction: number;
}): number | bigint | null {
  values.sort((a, b) => (a < b ? -1 : Number(a > b)));
  // 0.07 * 100 is more than 7 in floating point.
  const position = Math.ceil((fraction - 1e-15) * values.length);
  return values[Math.max(position, 1) - 1] ?? null;
}

function smallestDigests({
  digests,
  size,
}: {
  readonly digests: ReadonlySet<string>;
  readonly size: number;
}): string[] {
  return [...digests].sort((a, b) => (a < b ? -1 : 1)).slice(0, size);
}
