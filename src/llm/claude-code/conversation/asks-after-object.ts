const endsAtObject = [2, 1, 325];

/** Older releases call the model once more after an accepted object. */
export function asksAfterObject(version: readonly number[] = []): boolean {
  const index = endsAtObject.findIndex((part, at) => (version[at] ?? 0) !== part);
  return index >= 0 && (version[index] ?? 0) < (endsAtObject[index] ?? 0);
}
