import { wordSimilarity } from './name-match.ts';
import { singular, splitGluedWord, splitNameWords } from './split-words.ts';
import {
  countWords,
  gluedSuffixes,
  idWords,
  measureWords,
  peopleWords,
  personRoles,
  selfRoles,
  staffWords,
  tableNoise,
  unspacedSuffixes,
} from './word-lists.ts';

/** What the name of a table or column says. */
export interface NameParts {
  /** Lower case, singular. */
  readonly words: readonly string[];
  /** The words that name something: without id words, and without prefixes such as `dim_`. */
  readonly entity: readonly string[];
  /** True if the name has an id word (`id`, `code`, `no`…). */
  readonly keyed: boolean;
  /** True if the last word is a plural, which means a count if the name has no id word. */
  readonly plural: boolean;
  /** True if the name asks how many: `no_of_seats`. */
  readonly isCount: boolean;
}

/**
 * `vocabulary` has the words of the schema's tables; it tells where glued names such as `orderkey`
 * part.
 */
export function parseColumnName(
  name: string,
  vocabulary: ReadonlySet<string> = new Set(),
): NameParts {
  const written = splitNameWords(name).flatMap((word) => splitGluedWord(word, vocabulary));
  const words = written.map(singular);
  const withoutIdWords = words.filter((word) => !idWords.has(word));
  const plural = written.at(-1) !== words.at(-1);
  // `NumberEmployees`, `no_of_seats`: a number of things, not the number of one thing.
  const isCount = countWords.has(words[0] ?? '') && (plural || words[1] === 'of');
  const keyed = withoutIdWords.length < words.length && !isCount;
  return { words, entity: withoutNoise(withoutIdWords), keyed, plural, isCount };
}

/** Removes `prefix`. Id words stay part of the entity (`zip_codes`, `account_numbers`). */
export function parseTableName(name: string, prefix = ''): NameParts {
  const hasPrefix = name.length > prefix.length && name.toLowerCase().startsWith(prefix);
  const words = splitNameWords(hasPrefix ? name.slice(prefix.length) : name).map(singular);
  return { words, entity: withoutNoise(words), keyed: false, plural: false, isCount: false };
}

function withoutNoise(words: readonly string[]): readonly string[] {
  const entity = words.filter((word) => !tableNoise.has(word));
  return entity.length > 0 ? entity : words;
}

/**
 * The prefix of most of the names (`l_` of `l_orderkey, l_partkey…`, `tbl` of `tblorder…`); empty
 * if there is none.
 */
export function commonPrefixOf(names: readonly string[]): string {
  if (names.length < 3) return '';
  const lower = names.map((name) => name.toLowerCase()).sort();
  const middle = lower[Math.floor(lower.length / 2)] ?? '';
  for (let length = Math.min(12, middle.length - 2); length >= 2; length -= 1) {
    const prefix = middle.slice(0, length);
    const withPrefix = lower.filter((name) => name.startsWith(prefix));
    const isCommon = withPrefix.length >= Math.max(3, lower.length * 0.65);
    if (isCommon && withPrefix.every((name) => name.length > length + 1)) return prefix;
  }
  return '';
}

/** The word before an id suffix at the end of a table's first column: `policy` of `policyid`. */
export function wordBeforeIdSuffix(firstColumn: string): string | undefined {
  const lower = firstColumn.toLowerCase();
  const suffix = [...unspacedSuffixes, ...gluedSuffixes].find((key) => lower.endsWith(key));
  if (suffix === undefined) return undefined;
  const stem = firstColumn.slice(0, -suffix.length).toLowerCase();
  return /^(?:[a-z]{4,}|\p{Lo}{2,})$/u.test(stem) ? stem : undefined;
}

/** True if the column measures, counts or orders. */
export function isMeasure({ keyed, plural, words }: NameParts): boolean {
  return !keyed && (plural || words.some((word) => measureWords.has(word)));
}

/**
 * True if the name has a measure word that is not part of the parent's name: `sort_order` does not
 * refer to orders, but `rating` may refer to `ratings`.
 */
export function measuresSomethingElse(
  { keyed, words }: NameParts,
  parent: readonly string[],
): boolean {
  const isElsewhere = (word: string): boolean =>
    measureWords.has(word) && parent.every((parentWord) => wordSimilarity(word, parentWord) === 0);
  return !keyed && words.some(isElsewhere);
}

/**
 * True if the name is a role within the column's own table (`parent_id`) and names no other table.
 */
export function isSelfRole({ entity }: NameParts, table: NameParts): boolean {
  const isOwnTable = (word: string): boolean =>
    word.length <= 2 || table.entity.some((tableWord) => wordSimilarity(word, tableWord) > 0);
  // An item's manager is no item.
  const isOfPeople = peopleScore(table) > 0;
  const isRole = (word: string): boolean =>
    selfRoles.has(word) && (isOfPeople || !personRoles.has(word));
  return entity.some(isRole) && entity.every((word) => isRole(word) || isOwnTable(word));
}

export const isPersonRole = ({ words }: NameParts): boolean =>
  words.some((word) => personRoles.has(word));

/**
 * 0..1: how likely a role of a person refers to this table: 1 for staff, 0.6 for customers and
 * other people.
 */
export function peopleScore({ entity }: NameParts): number {
  const scoreOf = (word: string): number => {
    if (staffWords.has(word)) return 1;
    return peopleWords.has(word) ? 0.6 : 0;
  };
  return Math.max(0, ...entity.map(scoreOf));
}
