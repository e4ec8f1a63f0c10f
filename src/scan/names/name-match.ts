/**
 * How far a column's entity words name an entity, in numbers between 0 and 1: `full` where they are its words, `tail` where they
 * end with its words and what stands before is a role, `common` where a word is alike.
 */
export function matchNames(child: readonly string[], parent: readonly string[]) {
  if (child.length === 0 || parent.length === 0) return { full: 0, tail: 0, common: 0 };
  const common = Math.max(
    ...child.flatMap((word) => parent.map((other) => likenessOf(word, other))),
  );
  if (child.join('') === parent.join('')) return { full: 1, tail: 0, common };
  if (child.length < parent.length) return { full: 0, tail: 0, common };
  const ending = child.slice(-parent.length);
  const quality = Math.min(...ending.map((word, index) => likenessOf(word, parent[index] ?? '')));
  return child.length === parent.length
    ? { full: quality, tail: 0, common }
    : { full: 0, tail: quality, common };
}

/** A tagger is no tag, though the word begins so: who does something is not what is done. */
const likenessOf = (word: string, parent: string): number =>
  isDoerOf(word, parent) ? 0.3 : wordSimilarity(word, parent);

function isDoerOf(word: string, parent: string): boolean {
  const ending = word.startsWith(parent) ? word.slice(parent.length) : '';
  return /^(?:er|or|ee|ing|ist)$/.test(
    ending.startsWith(parent.at(-1) ?? '?') ? ending.slice(1) : ending,
  );
}

/** 1 equal, less for an abbreviation: a prefix of three letters or more, or letters in order from the same start. */
export function wordSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a[0] !== b[0]) return 0;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const common = commonPrefix(short, long);
  if (common >= 4 && long.length - common <= 3 && inflected.test(long)) return 0.9;
  if (short.length >= 3 && common === short.length)
    return short.length / long.length > 0.7 ? 0.9 : 0.8;
  return short.length >= 2 && short.length < long.length && isAbbreviation(short, long) ? 0.6 : 0;
}

/** Scripts whose languages change the ends of words. */
const inflected = /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u;

/** Letters in order; those that are left out are mostly vowels (`dpt` of `department`, not `cat` of `contract`). */
function isAbbreviation(short: string, long: string): boolean {
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return (
    at === short.length &&
    (!/[aeiou]/.test(short.slice(1)) || (short.length >= 4 && long.startsWith(short.slice(0, 2))))
  );
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** 0..1: how well the child's words name the parent. */
export function likeness({ full, tail, common }: ReturnType<typeof matchNames>): number {
  return Math.max(full * 0.95, tail * 0.9, common * 0.5);
}

/** Finds, among many things by their names, those of which `matchNames` can say anything but 0, the likeliest first. */
export function createNameIndex<T>(named: Iterable<readonly [readonly string[], T]>) {
  const words = [...named].flatMap((entry) =>
    [...new Set([...entry[0], entry[0].join('')])].map((word) => ({ word, entry })),
  );
  const byWord = Map.groupBy(words, ({ word }) => word);
  const byLetter = Map.groupBy(byWord.keys(), (word) => word[0]);
  const memo = new Map<string, readonly { readonly thing: T; readonly likeness: number }[]>();
  const find = (child: readonly string[]) => {
    const similarTo = (word: string): string[] =>
      (byLetter.get(word[0]) ?? []).filter((other) => wordSimilarity(word, other) > 0);
    const found = [...child, child.join('')]
      .flatMap(similarTo)
      .flatMap((word) => byWord.get(word) ?? []);
    const entries = [...new Set(found.map(({ entry }) => entry))];
    const judged = entries.map(([parent, thing]) => ({
      thing,
      likeness: likeness(matchNames(child, parent)),
    }));
    return judged.sort((a, b) => b.likeness - a.likeness);
  };
  return (child: readonly string[]) => {
    const key = child.join(' ');
    const found = memo.get(key) ?? find(child);
    memo.set(key, found);
    return found;
  };
}
