/** The `[index, item]` pairs of a list that was set aside; anything else in it is skipped. */
export function indexedItems(list: unknown): readonly (readonly [index: number, item: unknown])[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((pair: unknown): [number, unknown][] =>
    Array.isArray(pair) && typeof pair[0] === 'number' ? [[pair[0], pair[1]]] : [],
  );
}
