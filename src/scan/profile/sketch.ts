/**
 * A bottom-k sketch: the smallest distinct hashes of a column's values (12 hex digits each,
 * sorted), joined into one text. A column with fewer than `sketchSize` distinct values has all its
 * hashes in it. One text instead of a list of texts takes a fifth of the memory, which counts with
 * hundreds of thousands of columns.
 */
export type Sketch = string;

export const sketchSize = 512;
const hashSpace = 2 ** 48;
const digitsPerHash = 12;

/** The smallest hashes, at most `limit`. */
export function sketchHashes(sketch: Sketch, limit: number = sketchSize): string[] {
  const size = Math.min(limit, sizeOf(sketch));
  return Array.from({ length: size }, (_, index) =>
    sketch.slice(index * digitsPerHash, (index + 1) * digitsPerHash),
  );
}

export const largestHash = (sketch: Sketch): string | undefined =>
  sketch === '' ? undefined : sketch.slice(-digitsPerHash);

const sizeOf = (sketch: Sketch): number => sketch.length / digitsPerHash;

/** True if the sketch has the hash of every value of the column. */
export const isCompleteSketch = (sketch: Sketch): boolean => sizeOf(sketch) < sketchSize;

/** The number of distinct values; an estimate if the sketch is not complete. */
export function estimateDistinct(sketch: Sketch): number {
  const largest = largestHash(sketch);
  if (largest === undefined || isCompleteSketch(sketch)) return sizeOf(sketch);
  return Math.round(((sizeOf(sketch) - 1) * hashSpace) / Number.parseInt(largest, 16));
}

/**
 * The most hashes to compare per column: enough to tell candidates apart. The exact share is
 * measured later.
 */
export const maxCompared = 128;

/**
 * Estimates the share of the child's values that the parent has. Only the part of the hash space
 * that both sketches cover is compared. `compared` is the number of hashes compared; 0 means that
 * nothing is known, and `share` is then 1.
 */
export function estimateContainment(
  childHashes: readonly string[],
  parent: ReadonlySet<string>,
  parentLargest: string | undefined,
) {
  const limit = parent.size < sketchSize ? undefined : parentLargest;
  const compared = limit === undefined ? childHashes : childHashes.filter((hash) => hash <= limit);
  const found = compared.filter((hash) => parent.has(hash)).length;
  return { share: compared.length === 0 ? 1 : found / compared.length, compared: compared.length };
}
