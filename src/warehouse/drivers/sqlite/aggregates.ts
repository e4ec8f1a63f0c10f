import { hash } from 'node:crypto';
import type { AggregateOptions, DatabaseSync, SQLOutputValue } from 'node:sqlite';

/** `ktx_md5(value)`, and the aggregates `ktx_percentile(value, fraction)` (continuous) and `ktx_sketch(text, size)` (bottom-k, as JSON). */
export function registerFunctions(db: DatabaseSync): void {
  db.function('ktx_md5', { deterministic: true }, (value) => (isAbsent(value) ? null : hash('md5', textOf(value))));
  aggregate<{ readonly values: number[]; fraction: number }>(db, 'ktx_percentile', {
    start: () => ({ values: [], fraction: 0.5 }),
    step: (state, value, fraction) => {
      if (!isAbsent(value)) state.values.push(Number(value));
      state.fraction = Number(fraction);
      return state;
    },
    result: (state) => percentile(state.values, state.fraction),
  });
  aggregate<Sketch>(db, 'ktx_sketch', {
    start: () => ({ kept: new Set(), size: 0, limit: undefined }),
    step: (state, value, size) => {
      state.size = Number(size);
      if (!isAbsent(value)) addToSketch(state, hash('md5', textOf(value)).slice(0, 12));
      return state;
    },
    result: (state) => JSON.stringify(smallest(state)),
  });
}

interface Aggregate<State> {
  readonly start: () => State;
  readonly step: (state: State, value: SQLOutputValue, option: SQLOutputValue) => State;
  readonly result: (state: State) => string | number | null;
}

/** The library's types want a SQL value as state; it keeps any object. */
function aggregate<State>(db: DatabaseSync, name: string, definition: Aggregate<State>): void {
  db.aggregate(name, definition as unknown as AggregateOptions);
}

function isAbsent(value: SQLOutputValue | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function textOf(value: SQLOutputValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value);
}

/** Interpolates between the two nearest values. */
function percentile(values: number[], fraction: number): number | null {
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  const position = (values.length - 1) * fraction;
  const low = values[Math.floor(position)] ?? 0;
  const high = values[Math.ceil(position)] ?? 0;
  return low + (high - low) * (position - Math.floor(position));
}

interface Sketch {
  kept: Set<string>;
  size: number;
  /** Digests at or above it cannot be among the smallest. */
  limit: string | undefined;
}

function addToSketch(sketch: Sketch, digest: string): void {
  if (sketch.limit !== undefined && digest >= sketch.limit) return;
  sketch.kept.add(digest);
  if (sketch.kept.size < sketch.size * 4) return;
  const kept = smallest(sketch);
  sketch.kept = new Set(kept);
  sketch.limit = kept.at(-1);
}

function smallest({ kept, size }: Sketch): string[] {
  return [...kept].sort((a, b) => (a < b ? -1 : 1)).slice(0, size);
}
