import { canonicalJson } from '../lib/json.ts';

/** Sorts by the JSON text of a key. */
export function sortByKey<T>(values: readonly T[], keyOf: (value: T) => unknown): T[] {
  const keyed = values.map((value) => ({ value, key: canonicalJson(keyOf(value)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ value }) => value);
}
