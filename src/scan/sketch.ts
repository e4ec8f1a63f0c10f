/** The `k` smallest distinct hashes (12 hex digits, sorted) of a column's values; with fewer than `k` it is the whole set. */
export type Sketch = readonly string[];

export const sketchSize = 512;
const hashSpace = 2 ** 48;

/** Does the sketch hold every value? */
export const isWhole = (sketch: Sketch): boolean => sketch.length < sketchSize;

/** Number of distinct values; an estimate where the sketch is not whole. */
export function distinctOf(sketch: Sketch): number {
  const last = sketch.at(-1);
  if (last === undefined || isWhole(sketch)) return sketch.length;
  return Math.round(((sketch.length - 1) * hashSpace) / Number.parseInt(last, 16));
}

/** Values compared at most: enough to tell candidates; what counts is measured exactly. */
const comparedAtMost = 128;

/**
 * Containment of child in parent over the part of the hash space that both sketches cover in full: how many values could be
 * compared (0 means that nothing is known), and the share of them that the parent has.
 */
export function inclusion(child: Sketch, parent: ReadonlySet<string>, parentLast: string | undefined) {
  const end = parent.size < sketchSize ? undefined : parentLast;
  const first = child.slice(0, comparedAtMost);
  const compared = end === undefined ? first : first.filter((hash) => hash <= end);
  const share = compared.length === 0 ? 1 : compared.filter((hash) => parent.has(hash)).length / compared.length;
  return { share, compared: compared.length };
}
