/** The `k` smallest distinct hashes (12 hex digits, sorted) of a column's values; with fewer than `k` it is the whole set. */
export type Sketch = readonly string[];

export const sketchSize = 512;
const hashSpace = 2 ** 48;

export function distinctOf(sketch: Sketch): { readonly distinct: number; readonly exact: boolean } {
  const last = sketch.at(-1);
  if (last === undefined || sketch.length < sketchSize) return { distinct: sketch.length, exact: true };
  return { distinct: Math.round(((sketch.length - 1) * hashSpace) / Number.parseInt(last, 16)), exact: false };
}

export interface Inclusion {
  /** Share of the child's distinct values that the parent has; of those that can be compared. */
  readonly share: number;
  /** How many values could be compared; 0 means nothing is known. */
  readonly compared: number;
}

/** Containment of child in parent, over the part of the hash space that both sketches cover in full. */
export function inclusion(child: Sketch, parent: ReadonlySet<string>, parentLast: string | undefined): Inclusion {
  const comparable = parentLast === undefined || parent.size < sketchSize ? child : child.filter((hash) => hash <= parentLast);
  if (comparable.length === 0) return { share: 1, compared: 0 };
  const found = comparable.filter((hash) => parent.has(hash)).length;
  return { share: found / comparable.length, compared: comparable.length };
}
