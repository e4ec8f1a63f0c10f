/** The short hash of a value or of a section; null where there is nothing. */
export type ContentHash = string | null;

/**
 * The base of the three-way merge: by path, such as `fields.status.description`, the hashes of what
 * ktx may have left there. Normally that is one hash. Before a run changes an artifact it records
 * the hashes from before and after the change (`uniteBases`), so that whichever of the two a killed
 * run leaves is recognized as ktx's. For a path that is not listed, ktx left nothing.
 */
export type MergeBase = ReadonlyMap<string, readonly ContentHash[]>;

/** True if ktx left this content, or this absence of content, at the path. */
export function isUnedited(base: MergeBase, path: string, content: ContentHash): boolean {
  return (base.get(path) ?? [null]).includes(content);
}

/**
 * The base that accepts the hashes of both. It is recorded before an artifact is written; once the
 * artifact is written, `after` replaces it.
 */
export function uniteBases(before: MergeBase, after: MergeBase): MergeBase {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return new Map(
    [...paths].map((path) => [
      path,
      uniteHashes(before.get(path) ?? [null], after.get(path) ?? [null]),
    ]),
  );
}

export function uniteHashes(
  a: readonly ContentHash[],
  b: readonly ContentHash[],
): readonly ContentHash[] {
  return [...new Set([...a, ...b])].sort((x, y) => (x ?? '').localeCompare(y ?? ''));
}
