import { wordSimilarity } from './name-match.ts';
import { singular, splitGluedWord, splitNameWords } from './split-words.ts';
import {
  agentEnds,
  compoundRoles,
  countWords,
  directions,
  flagWords,
  gluedSuffixes,
  idWords,
  kindWords,
  measureWords,
  otherRoles,
  peopleWords,
  personRoles,
  selfPrepositions,
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
  /** True if the name has an id word (`id`, `code`, `no`…), or says who did it (`created_by`). */
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
  const keyed = (withoutIdWords.length < words.length || isDoneBy(words)) && !isCount;
  return { words, entity: roleFirst(words), keyed, plural, isCount };
}

/** After these words of a name stands a role: `trigger_id_up`. */
const idBeforeRole = new Set(['id', 'key', 'uuid', 'guid', 'sk', 'fk']);

/**
 * The words that name something. A role stands before them, wherever it was: `almacen_origen`,
 * `team_id_2`, `person_b`, `trigger_id_up`.
 */
function roleFirst(words: readonly string[]): readonly string[] {
  const named = words.filter((word) => !idWords.has(word));
  const entity = withoutNoise(named, otherRoles);
  const [before = '', last = ''] = words.slice(-2);
  const isAfterId = words.length > 2 && idBeforeRole.has(before) && !measureWords.has(last);
  const isRole = otherRoles.has(last) || selfRoles.has(last) || /^(?:\d+|[a-z])$/.test(last);
  return entity.length > 1 && entity.at(-1) === last && (isAfterId || isRole)
    ? [last, ...entity.slice(0, -1)]
    : entity;
}

/** True for `admitted_by`: whatever it holds is who did it. */
function isDoneBy(words: readonly string[]): boolean {
  const [first = '', last = ''] = [words[0], words.at(-1)];
  if (words.length < 2 || !agentEnds.has(last) || measureWords.has(first)) return false;
  // `gueltig_von` is a day: elsewhere the word has other meanings too.
  return last === 'by' || words.slice(0, -1).some((word) => personRoles.has(word));
}

/** Removes `prefix`. Id words stay part of the entity (`zip_codes`, `account_numbers`). */
export function parseTableName(name: string, prefix = ''): NameParts {
  const hasPrefix = name.length > prefix.length && name.toLowerCase().startsWith(prefix);
  const words = splitNameWords(hasPrefix ? name.slice(prefix.length) : name).map(singular);
  return { words, entity: withoutNoise(words), keyed: false, plural: false, isCount: false };
}

function withoutNoise(
  words: readonly string[],
  kept: ReadonlySet<string> = new Set(),
): readonly string[] {
  const entity = words.filter((word) => !tableNoise.has(word) || kept.has(word));
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

/** True for `is_company`: it says yes or no, and refers to nothing. */
export const isFlag = ({ words: [first, ...rest], keyed }: NameParts): boolean =>
  !keyed && rest.length > 0 && flagWords.has(first ?? '');

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
    (selfRoles.has(word) && (isOfPeople || !personRoles.has(word))) ||
    table.entity.some((tableWord) => isCompoundRole(word, tableWord));
  return entity.some(isRole) && entity.every((word) => isRole(word) || isOwnTable(word));
}

/**
 * True for the `oberart` of a `warenart`, and the `ersatzartikel` of an `artikel`: languages that
 * write words together write the role before the word.
 */
function isCompoundRole(word: string, tableWord: string): boolean {
  let shared = 0;
  while (shared < word.length && word.at(-1 - shared) === tableWord.at(-1 - shared)) shared += 1;
  const role = word.slice(0, word.length - shared);
  const isWhole = shared === tableWord.length && shared >= 4 && role.length >= 3;
  return isWhole || (shared >= 3 && compoundRoles.has(role));
}

/**
 * True for `reversed_entry_id`, `template_of`, `merged_into_id`: what was done with another row, or
 * what the row is for it. Less clear than a role: `ship_to_id` may be an address.
 */
export const isSelfReference = ({ words }: NameParts): boolean =>
  words.some((word, at) =>
    at === 0 ? /^\p{Script=Latin}{3,}ed$/u.test(word) : selfPrepositions.has(word),
  );

export const isPersonRole = ({ words, entity }: NameParts): boolean =>
  words.some((word) => personRoles.has(word)) || isAgent(entity.at(-1) ?? '');

/** True for `sponsor_id`, and not for `room_number` or `type_code`, which may tell anything. */
export const isIdentifier = ({ words, keyed }: NameParts): boolean =>
  keyed && words.some((word) => /^(?:id|[ug]uid|oid|sk|fk|key|ид|by)$/u.test(word));

/** True for `origin` and `from_id`: the name says what the other row is for this one only. */
export const isDirection = ({ entity }: NameParts): boolean =>
  entity.length > 0 && entity.every((word) => directions.has(word));

/**
 * True for who does something: `proposer`, `auditor`, `venditore`. Things that do something are
 * called so too, so it says something only beside what is a person for other reasons.
 */
export const isAgent = (word: string): boolean =>
  word.length >= 5 &&
  /(?:[^aeiou]er|[iou]er|[ts]or|ist|eur|tore|ciel|nik|[^aou]man|cian|arian)$/.test(word);

/**
 * 0..1: how likely a role of a person refers to this table: 1 for staff, 0.6 for customers and
 * other people.
 */
export function peopleScore({ entity }: NameParts): number {
  // An `employee_class` is no employee.
  if (entity.length > 1 && kindWords.has(entity.at(-1) ?? '')) return 0;
  const scoreOf = (word: string): number => {
    const forms = [word, word.replace(/(?:innen|e[nrs]|[ein])$/, '')];
    const isOneOf = (list: ReadonlySet<string>): boolean =>
      forms.some((form, index) => list.has(form) && (index === 0 || form.length >= 5));
    if (isOneOf(staffWords)) return 1;
    return isOneOf(peopleWords) ? 0.6 : 0;
  };
  return Math.max(0, ...entity.map(scoreOf));
}
