/**
 * What makes `own` of `base`, line by line: `-3` and the third line of the base, which is not
 * there, `+` and a line that is.
 */
export function differences(base: readonly string[], own: readonly string[]): readonly string[] {
  const common = longestCommon(base, own);
  const lines: string[] = [];
  let [b, o] = [0, 0];
  while (b < base.length || o < own.length) {
    if (b < base.length && o < own.length && base[b] === own[o]) [b, o] = [b + 1, o + 1];
    else if (
      o >= own.length ||
      (b < base.length && lengthAt(common, b + 1, o) >= lengthAt(common, b, o + 1))
    ) {
      lines.push(`-${b + 1} ${base[b]}`);
      b += 1;
    } else {
      lines.push(`+ ${own[o]}`);
      o += 1;
    }
  }
  return lines;
}

/** How many lines the two have in common from each pair of places on. */
function longestCommon(
  base: readonly string[],
  own: readonly string[],
): readonly (readonly number[])[] {
  const lengths = Array.from({ length: base.length + 1 }, () =>
    Array.from({ length: own.length + 1 }, () => 0),
  );
  for (let b = base.length - 1; b >= 0; b -= 1) {
    for (let o = own.length - 1; o >= 0; o -= 1) {
      const row = lengths[b] ?? [];
      row[o] =
        base[b] === own[o]
          ? lengthAt(lengths, b + 1, o + 1) + 1
          : Math.max(lengthAt(lengths, b + 1, o), lengthAt(lengths, b, o + 1));
    }
  }
  return lengths;
}

function lengthAt(lengths: readonly (readonly number[])[], b: number, o: number): number {
  return lengths[b]?.[o] ?? 0;
}
