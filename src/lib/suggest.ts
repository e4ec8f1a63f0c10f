/**
 * The candidates most similar to `name`, best first, at most `limit`; empty if none is similar
 * enough. A long array is prepared once: after that it may grow, but not change.
 */
export function nearest(name: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = name.toLowerCase();
  const known = foldedNames(Array.isArray(candidates) ? candidates : [...candidates]);
  const find = finderFor(wanted, known);
  const most = Math.max(2, Math.floor(wanted.length / 3));
  // Most candidates are ruled out before their distance is computed, if few edits are allowed.
  for (let allowed = 1; ; allowed = Math.min(2 * allowed, most)) {
    const found = find(allowed);
    if (found.size < limit && allowed < most) continue;
    const sorted = [...found].toSorted(
      ([first, near], [second, far]) => near - far || (first < second ? -1 : 1),
    );
    return sorted.slice(0, limit).map(([candidate]) => candidate);
  }
}

interface FoldedNames {
  readonly names: readonly string[];
  readonly folded: readonly string[];
  readonly lengths: Int32Array;
  /** Of each name, as `lettersOf` gives them. */
  readonly letters: Int32Array;
}

const keptFrom = 500;
const foldedLists = new WeakMap<readonly string[], FoldedNames>();

function foldedNames(names: readonly string[]): FoldedNames {
  const kept = foldedLists.get(names);
  if (kept?.folded.length === names.length) return kept;
  const folded = names.map((name) => name.toLowerCase());
  const lengths = Int32Array.from(folded, ({ length }) => length);
  const known = { names, folded, lengths, letters: Int32Array.from(folded, lettersOf) };
  if (names.length >= keptFrom) foldedLists.set(names, known);
  return known;
}

/** Finds the names within a distance of `wanted`, with their distances. */
function finderFor(
  wanted: string,
  { names, folded, lengths, letters }: FoldedNames,
): (allowed: number) => ReadonlyMap<string, number> {
  const distanceTo = wanted.length > 32 ? byRows(wanted) : byBits(wanted);
  const wantedLetters = lettersOf(wanted);
  return (allowed) => {
    const found = new Map<string, number>();
    for (let index = 0; index < folded.length; index += 1) {
      const others = letters[index] ?? 0;
      const longer = (lengths[index] ?? 0) - wanted.length;
      const canStart = longer >= 0 && wanted.length >= 3 && (wantedLetters & ~others) === 0;
      // One edit removes at most one kind of letter and adds one.
      const canBeNear =
        Math.abs(longer) <= allowed && countBits(wantedLetters ^ others) <= 2 * allowed;
      if (!canStart && !canBeNear) continue;
      const candidate = folded[index] ?? '';
      const isStart = canStart && candidate.startsWith(wanted);
      const distance = isStart ? 1 : canBeNear ? distanceTo(candidate, allowed) : Infinity;
      if (distance <= allowed) found.set(names[index] ?? '', distance);
    }
    return found;
  };
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

/** May be Infinity where the distance exceeds `allowed`. */
type DistanceTo = (candidate: string, allowed: number) => number;

/** The letters of a name as bits. Letters share one of 32 places. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let index = 0; index < name.length; index += 1)
    letters |= 1 << (name.charCodeAt(index) & 31);
  return letters;
}

function countBits(bits: number): number {
  // Sums of 1, 2 and 4 neighbouring bits; the product adds up the bytes.
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
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
