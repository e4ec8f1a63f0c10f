/**
 * The `k` smallest distinct hashes (12 hex digits, sorted) of a column's values, one after the other in one text: a warehouse has
 * hundreds of thousands of columns, and lists of small texts would take five times the memory. With fewer than `k` it is the whole set.
 */
export type Sketch = string;

export const sketchSize = 512;
const hashSpace = 2 ** 48;
const digits = 12;

/** The smallest ones, at most so many. */
export function sketchHashes(sketch: Sketch, most: number = sketchSize): string[] {
  const size = Math.min(most, sizeOf(sketch));
  return Array.from({ length: size }, (_, index) =>
    sketch.slice(index * digits, (index + 1) * digits),
  );
}

export const largestHash = (sketch: Sketch): string | undefined =>
  sketch === '' ? undefined : sketch.slice(-digits);
const sizeOf = (sketch: Sketch): number => sketch.length / digits;

/** Does the sketch hold every value? */
export const isWhole = (sketch: Sketch): boolean => sizeOf(sketch) < sketchSize;

/** Number of distinct values; an estimate where the sketch is not whole. */
export function estimateDistinct(sketch: Sketch): number {
  const last = largestHash(sketch);
  if (last === undefined || isWhole(sketch)) return sizeOf(sketch);
  return Math.round(((sizeOf(sketch) - 1) * hashSpace) / Number.parseInt(last, 16));
}

/** Values compared at most: enough to tell candidates; what counts is measured exactly. */
export const maxCompared = 128;

/**
 * Containment of child, by its first hashes, in parent over the part of the hash space that both sketches cover in full: how many values could be
 * compared (0 means that nothing is known), and the share of them that the parent has.
 */
export function inclusion(
  first: readonly string[],
  parent: ReadonlySet<string>,
  parentLast: string | undefined,
) {
  const end = parent.size < sketchSize ? undefined : parentLast;
  const compared = end === undefined ? first : first.filter((hash) => hash <= end);
  const share =
    compared.length === 0
      ? 1
      : compared.filter((hash) => parent.has(hash)).length / compared.length;
  return { share, compared: compared.length };
}
