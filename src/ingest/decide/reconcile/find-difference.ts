import { canonicalJson } from '../../../lib/json.ts';
import type { ModelNumber } from './compare-for-model.ts';
import type { OpenConflict } from './open-conflicts.ts';

/** The number of each version of a metric, by the id of the version. */
export type CompareVersions = (conflict: OpenConflict) => Promise<ReadonlyMap<string, ModelNumber>>;

/**
 * A difference between versions that code can see, for a model that must not call them the same;
 * undefined without one. Metrics differ unless their numbers prove that they are the same.
 */
export async function findDifference(
  conflict: OpenConflict,
  ids: readonly string[],
  compare: CompareVersions,
): Promise<string | undefined> {
  if (['type', 'primary_key', 'relationship'].includes(conflict.kind))
    return `Code compares a ${conflict.kind} exactly, and these differ: mark the contradiction.`;
  if (conflict.kind === 'metric') return findNumberDifference(ids, await compare(conflict));
  const figures = conflict.variants
    .filter(({ id }) => ids.includes(id))
    .map(({ says }) => figuresIn(typeof says === 'string' ? says : canonicalJson(says)));
  return new Set(figures).size > 1
    ? 'They name different figures: mark the contradiction.'
    : undefined;
}

function findNumberDifference(
  ids: readonly string[],
  numbers: ReadonlyMap<string, ModelNumber>,
): string | undefined {
  const first = numbers.get(ids[0] ?? '')?.value;
  const isProven =
    first !== undefined &&
    first !== null &&
    ids.every((id) => isClose(numbers.get(id)?.value, first));
  if (isProven) return undefined;
  return 'Their numbers do not prove that they are the same: mark the contradiction.';
}

/** Sums in another order differ in their last digits. */
function isClose(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const [x, y] = [Number(a), Number(b)];
  return Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
}

/** The numbers of a text, sorted, each once. */
function figuresIn(text: string): string {
  return [...new Set(text.match(/\d+(?:[.,]\d+)*/g))].sort().join(' ');
}
