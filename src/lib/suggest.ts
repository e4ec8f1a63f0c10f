/**
 * The candidates most similar to `name`, best first, at most `limit`; empty if none is similar
 * enough.
 */
export function nearest(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = name.toLowerCase();
  const distanceTo = distancesFrom(wanted);
  const best: { readonly candidate: string; readonly distance: number }[] = [];
  let allowed = Math.max(2, Math.floor(wanted.length / 3));
  for (const candidate of candidates) {
    const folded = candidate.toLowerCase();
    const isStart = wanted.length >= 3 && folded.startsWith(wanted);
    const distance = isStart ? 1 : distanceTo(folded, allowed);
    if (distance > allowed || best.some((found) => found.candidate === candidate)) continue;
    const place = best.findIndex(
      (found) =>
        distance < found.distance || (distance === found.distance && candidate < found.candidate),
    );
    best.splice(place === -1 ? best.length : place, 0, { candidate, distance });
    best.length = Math.min(best.length, limit);
    // From here on, only what is as good as the worst of them can be among them.
    if (best.length === limit) allowed = best.at(-1)?.distance ?? allowed;
  }
  return best.map(({ candidate }) => candidate);
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

type DistanceTo = (candidate: string, allowed: number) => number;

/**
 * Edit distances from one name. They are Infinity as soon as they are known to exceed `allowed`, so
 * that most of ten thousand candidates cost almost nothing.
 */
function distancesFrom(wanted: string): DistanceTo {
  const letters = lettersOf(wanted);
  const distanceTo = wanted.length > 32 ? byRows(wanted) : byBits(wanted);
  return (candidate, allowed) => {
    if (Math.abs(wanted.length - candidate.length) > allowed) return Infinity;
    // One edit removes at most one kind of letter and adds one.
    if (countBits(letters ^ lettersOf(candidate)) > 2 * allowed) return Infinity;
    return distanceTo(candidate, allowed);
  };
}

/** The letters of a name as bits. Letters share one of 32 places. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let index = 0; index < name.length; index += 1)
    letters |= 1 << (name.charCodeAt(index) & 31);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; count += 1) rest &= rest - 1;
  return count;
}

/**
 * For names of at most 32 letters: a column of the table of distances is two words, whose bits say
 * where it grows and where it shrinks (Myers 1999, "A fast bit-vector algorithm for approximate
 * string matching").
 */
function byBits(wanted: string): DistanceTo {
  const places: number[] = Array.from({ length: 128 }, () => 0);
  for (let index = 0; index < wanted.length; index += 1) {
    const code = wanted.charCodeAt(index);
    places[code] = (places[code] ?? 0) | (1 << index);
  }
  const last = 1 << (wanted.length - 1);
  return (candidate) => {
    if (wanted === '') return candidate.length;
    let [grows, shrinks, distance] = [-1, 0, wanted.length];
    for (let index = 0; index < candidate.length; index += 1) {
      const equal = places[candidate.charCodeAt(index)] ?? 0;
      const across = equal | shrinks;
      const diagonal = (((equal & grows) + grows) ^ grows) | equal;
      let growsAcross = shrinks | ~(diagonal | grows);
      const shrinksAcross = grows & diagonal;
      if ((growsAcross & last) !== 0) distance += 1;
      if ((shrinksAcross & last) !== 0) distance -= 1;
      growsAcross = (growsAcross << 1) | 1;
      grows = (shrinksAcross << 1) | ~(across | growsAcross);
      shrinks = growsAcross & across;
    }
    return distance;
  };
}

/** For longer names: row by row, until no cell of a row is small enough. */
function byRows(wanted: string): DistanceTo {
  return (candidate, allowed) => {
    let previous = Array.from({ length: candidate.length + 1 }, (_, index) => index);
    for (let i = 1; i <= wanted.length; i += 1) {
      const current = [i];
      for (let j = 1; j <= candidate.length; j += 1) {
        const substitution = (previous[j - 1] ?? 0) + (wanted[i - 1] === candidate[j - 1] ? 0 : 1);
        current.push(Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, substitution));
      }
      if (Math.min(...current) > allowed) return Infinity;
      previous = current;
    }
    return previous[candidate.length] ?? wanted.length;
  };
}
