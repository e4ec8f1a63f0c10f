import { kindWords } from './word-lists.ts';

/** How well the words of a column name the entity of a table; each number is between 0 and 1. */
export interface NameMatch {
  /** The words are the entity's words. */
  readonly full: number;
  /**
   * The words end with the entity's words; the words before them are a role (`billing_customer`).
   */
  readonly tail: number;
  /** The entity's words end with the column's words: `order_id` may mean a sales order. */
  readonly head: number;
  /** The best similarity of any two words. */
  readonly common: number;
}

/** The same few names are compared again and again. */
const knownMatches = new Map<string, NameMatch>();
const mostKnownMatches = 50_000;

export function matchNames(child: readonly string[], parent: readonly string[]): NameMatch {
  const key = `${child.join(' ')}\n${parent.join(' ')}`;
  const known = knownMatches.get(key);
  if (known !== undefined) return known;
  const match = computeMatch(child, parent);
  if (knownMatches.size >= mostKnownMatches) knownMatches.clear();
  knownMatches.set(key, match);
  return match;
}

function computeMatch(child: readonly string[], parent: readonly string[]): NameMatch {
  if (child.length === 0 || parent.length === 0) return { full: 0, tail: 0, head: 0, common: 0 };
  const common = Math.max(
    ...child.flatMap((word) => parent.map((parentWord) => entityWordSimilarity(word, parentWord))),
  );
  if (child.join('') === parent.join('')) return { full: 1, tail: 0, head: 0, common };
  if (child.length < parent.length) {
    // Every table may have a type of its own.
    const isKind = child.length === 1 && kindWords.has(child[0] ?? '');
    const head = endingSimilarity(parent, child) * (isKind ? 0.4 : 1);
    const tail = child.length > 1 ? shortFormMatch(child.slice(-1), parent) : 0;
    return { full: shortFormMatch(child, parent), tail, head, common };
  }
  const worst = endingSimilarity(child, parent);
  // `current_cdemo`: a role before the short form.
  const shortened = shortFormMatch(child.slice(-1), parent);
  const tail = Math.max(shortened, compoundMatch(child.at(-1), parent));
  const head = child.length === 1 ? compoundMatch(parent[0], child) : 0;
  return child.length === parent.length
    ? { full: worst, tail, head, common }
    : { full: 0, tail: Math.max(worst, tail), head, common };
}

/**
 * Languages that write words together put what a thing is last: `zielort` is an `ort`, `superhero`
 * a `hero`.
 */
function compoundMatch(long = '', [short = '', ...more]: readonly string[]): number {
  const isCompound = short.length >= 4 && long.length - short.length >= 3 && long.endsWith(short);
  return isCompound && more.length === 0 ? 0.9 : 0;
}

/** How well the last words of a name are those of a shorter one. */
function endingSimilarity(long: readonly string[], short: readonly string[]): number {
  const ending = long.slice(-short.length);
  return Math.min(...ending.map((word, index) => entityWordSimilarity(word, short[index] ?? '')));
}

/** `cdemo` for customer demographics: the first letters of all words but the last. */
function shortForm(words: readonly string[]): string {
  return words.map((word, index) => (index < words.length - 1 ? word[0] : word)).join('');
}

function shortFormMatch(child: readonly string[], parent: readonly string[]): number {
  const own = child.at(-1) ?? '';
  const short = shortForm(parent);
  // `bu_class` of business unit class.
  if (child.length > 1) return child.length < parent.length && child.join('') === short ? 1 : 0;
  return parent.length > 1 && own.length >= 4 ? wordSimilarity(own, short) : 0;
}

/** Like `wordSimilarity`, but lower for the person who does something: a tagger is not a tag. */
const entityWordSimilarity = (word: string, parent: string): number =>
  isAgentNoun(word, parent) ? 0.3 : wordSimilarity(word, parent);

/** True for `tagger` of `tag`, `owner` of `own`. */
function isAgentNoun(word: string, stem: string): boolean {
  const ending = word.startsWith(stem) ? word.slice(stem.length) : '';
  const isLastLetterDoubled = ending.startsWith(stem.at(-1) ?? '?');
  return /^(?:er|or|ee|ing|ist)$/.test(isLastLetterDoubled ? ending.slice(1) : ending);
}

/**
 * 1 for equal words, less for an abbreviation: a prefix of three or more letters, or letters in
 * order from the same start.
 */
export function wordSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a[0] !== b[0]) return 0;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  const common = commonPrefixLength(short, long);
  const inflected = inflectionSimilarity(short, long, common);
  if (inflected > 0) return inflected;
  if (short.length >= 3 && common === short.length)
    return short.length / long.length > 0.7 ? 0.9 : 0.8;
  return short.length >= 2 && short.length < long.length && isAbbreviation(short, long) ? 0.6 : 0;
}

/** Two forms of one word, by how much of their start they share; 0 if they are none. */
function inflectionSimilarity(short: string, long: string, common: number): number {
  const isInflected = common >= 4 && long.length - common <= 3 && inflectedScripts.test(long);
  if (isInflected || haveOtherEndings(short, long)) return 0.9;
  // `pacjent` and `pacjenci`.
  return common >= 5 && long.length - common <= 2 && short.length > common ? 0.8 : 0;
}

/** `cliente` and `clienti`, `banca` and `banche`, `klasa` and `klasy`: the last vowels change. */
function haveOtherEndings(a: string, b: string): boolean {
  const [stem, other] = [a, b].map((word) => word.replace(/h?[aeiouy]{1,2}$/, ''));
  return stem === other && (stem?.length ?? 0) >= 4;
}

/** Scripts of languages that change the ends of words. */
const inflectedScripts = /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u;

/**
 * True if the letters occur in order and mostly vowels are left out: `dpt` of `department`, but not
 * `cat` of `contract`.
 */
function isAbbreviation(short: string, long: string): boolean {
  let found = 0;
  for (const letter of long) if (letter === short[found]) found += 1;
  if (found < short.length) return false;
  const hasNoInnerVowel = !/[aeiou]/.test(short.slice(1));
  return hasNoInnerVowel || (short.length >= 4 && long.startsWith(short.slice(0, 2)));
}

function commonPrefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** 0..1: how well the child's words name the parent. */
export function nameSimilarity({ full, tail, head, common }: NameMatch): number {
  return Math.max(full * 0.95, tail * 0.9, head * 0.7, common * 0.45);
}

interface NameSearchResult<T> {
  readonly item: T;
  readonly similarity: number;
}

interface IndexedName<T> {
  readonly name: readonly string[];
  readonly item: T;
}

/** How many names are compared with one, where thousands of names have a word in common. */
const mostCompared = 400;

/**
 * Returns a search over named items: those whose name is at all similar, the most similar first; of
 * more than `mostCompared`, those that share the rarest words.
 */
export function createNameIndex<T>(items: Iterable<readonly [name: readonly string[], item: T]>) {
  const namesWithWords = [...items].flatMap(([name, item]) => {
    const entry: IndexedName<T> = { name, item };
    return [...new Set([...name, name.join(''), shortForm(name)])].map((word) => ({ word, entry }));
  });
  const byWord = new Map<string, readonly IndexedName<T>[]>(
    Map.groupBy(namesWithWords, ({ word }) => word)
      .entries()
      .map(([word, found]) => [word, found.map(({ entry }) => entry)]),
  );
  const wordsByLetter = Map.groupBy(byWord.keys(), (word) => word[0]);
  const knownSimilar = new Map<string, readonly string[]>();
  const similarWords = (word: string): readonly string[] => {
    const known = knownSimilar.get(word);
    if (known !== undefined) return known;
    const all = (wordsByLetter.get(word[0]) ?? []).filter(
      (indexed) => wordSimilarity(word, indexed) > 0,
    );
    const own = byWord.has(word) ? [word] : [];
    const similar = all.length <= mostCompared ? all : [...own, ...all.slice(0, mostCompared)];
    knownSimilar.set(word, similar);
    return similar;
  };
  const shortFirst = new Map(
    byWord
      .entries()
      .filter(([, found]) => found.length > mostCompared)
      .map(([word, found]) => [word, found.toSorted((a, b) => a.name.length - b.name.length)]),
  );
  const countOf = (word: string): number => byWord.get(word)?.length ?? 0;
  const similarNames = (words: readonly string[]): Iterable<IndexedName<T>> => {
    const similar = words.flatMap(similarWords);
    const count = similar.reduce((sum, word) => sum + countOf(word), 0);
    if (count <= mostCompared) return new Set(similar.flatMap((word) => byWord.get(word) ?? []));
    const rareFirst = [...new Set(similar)].sort((a, b) => countOf(a) - countOf(b));
    const found = new Set<IndexedName<T>>();
    const take = (word: string, most: number): void => {
      const own = shortFirst.get(word) ?? byWord.get(word) ?? [];
      for (const entry of own.slice(0, Math.max(0, most))) found.add(entry);
    };
    for (const word of rareFirst) if (words.includes(word)) take(word, mostCompared / 4);
    for (const word of rareFirst) take(word, mostCompared - found.size);
    return found;
  };
  return (name: readonly string[]): readonly NameSearchResult<T>[] =>
    [...similarNames([...name, name.join('')])]
      .map((entry) => ({
        item: entry.item,
        similarity: nameSimilarity(matchNames(name, entry.name)),
      }))
      .sort((a, b) => b.similarity - a.similarity);
}
