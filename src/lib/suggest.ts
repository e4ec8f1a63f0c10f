/**
 * The candidates most similar to `name`, best first, at most `limit`; empty if none is similar
 * enough.
 */
export function nearest(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = name.toLowerCase();
  const allowed = Math.max(2, Math.floor(wanted.length / 3));
  return [...new Set(candidates)]
    .map((candidate) => ({ candidate, distance: nameDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** A hint with the most similar candidates; undefined if none is similar enough. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const near = nearest(name, candidates);
  return near.length === 0 ? undefined : `Did you mean ${near.join(', ')}?`;
}

/** A hint with all names. */
export function oneOf(names: readonly string[]): string {
  return names.length === 1 ? `use ${names.join('')}` : `one of ${names.join(', ')}`;
}

function nameDistance(wanted: string, candidate: string): number {
  if (candidate.startsWith(wanted) && wanted.length >= 3) return 1;
  return editDistance(wanted, candidate);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution));
    }
    previous = current;
  }
  return previous[b.length] ?? a.length;
}
