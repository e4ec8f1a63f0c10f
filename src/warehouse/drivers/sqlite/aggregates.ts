import { hash } from 'node:crypto';
import type { AggregateOptions, DatabaseSync, SQLOutputValue } from 'node:sqlite';

interface Aggregate<State> {
  readonly start: () => State;
  /** Not called with NULL. */
  readonly add: (state: State, value: SQLOutputValue, option: number) => void;
  readonly result: (state: State) => string | number | null;
}

/**
 * The aggregates `ktx_percentile(value, fraction)` (continuous) and `ktx_sketch(text, size)` (bottom-k, as JSON), and
 * `ktx_no_time(value)`, which fails.
 */
export function registerFunctions(db: DatabaseSync): void {
  db.function('ktx_no_time', { useBigIntArguments: true }, (value) => {
    const text =
      typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : String(value).slice(0, 40);
    throw new Error(`${text} is no ISO-8601 date or time`);
  });
  register(db, 'ktx_percentile', {
    start: () => ({ values: [] as number[], fraction: 0 }),
    add: (state, value, fraction) => {
      state.values.push(Number(value));
      state.fraction = fraction;
    },
    result: percentile,
  });
  register(db, 'ktx_sketch', {
    // No digest at or above the limit can be among the smallest; `~` stands above all.
    start: () => ({ kept: new Set<string>(), size: 0, limit: '~' }),
    add: (state, value, size) => {
      const text =
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
      const digest = hash('md5', text).slice(0, 12);
      state.size = size;
      if (digest < state.limit) state.kept.add(digest);
      if (state.kept.size < size * 4) return;
      const kept = smallest(state);
      state.kept = new Set(kept);
      state.limit = kept.at(-1) ?? '~';
    },
    result: (state) => JSON.stringify(smallest(state)),
  });
}

function register<State>(
  db: DatabaseSync,
  name: string,
  { start, add, result }: Aggregate<State>,
): void {
  const step = (state: State, value: SQLOutputValue, option: SQLOutputValue): State => {
    if (value !== null) add(state, value, Number(option));
    return state;
  };
  // The library's types want a SQL value as state; it keeps any object.
  db.aggregate(name, {
    start,
    step,
    result,
    useBigIntArguments: true,
  } as unknown as AggregateOptions);
}

/** Interpolates between the two nearest values. */
function percentile({
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

function smallest({
  kept,
  size,
}: {
  readonly kept: ReadonlySet<string>;
  readonly size: number;
}): string[] {
  return [...kept].sort((a, b) => (a < b ? -1 : 1)).slice(0, size);
}
