import { matchNames, type NameMatch } from './name-match.ts';
import { splitNameWords } from './split-words.ts';
import { kindWords } from './word-lists.ts';

/** What a table is called beside its name. */
export interface OtherName {
  readonly words: readonly string[];
  /** 0..1: how well it stands for the table. */
  readonly weight: number;
  /** True for a few letters, of which nothing is an abbreviation. */
  readonly isShort?: boolean | undefined;
  /**
   * Set for a name that only tables of this group use: every table has a type, and only that of
   * `media` is a `media_type`.
   */
  readonly group?: string | undefined;
}

interface TableNames {
  /** The words of the table's name that name something. */
  readonly entity: readonly string[];
  readonly columnNames: readonly string[];
}

/**
 * So many tables with one first word have it as the name of their group: `auth_user`. A word that
 * is a table's name itself names no group: `film_category` is of `film`.
 */
const leastOfGroup = 3;
const groupWeight = 0.95;
const prefixWeight = 0.95;
const initialsWeight = 0.85;
const letterWeight = 0.4;
/** Last words that add nothing to what a table holds: `company_name` has the companies. */
const lastNoise = /^(?:name|record|header|head|definition|stamm|kopf)$/;
const shortenedWeight = 0.9;

/**
 * Other names of each table, in the order of the tables: its name without the group that it is in
 * (`user` of `auth_user`), the prefix of its columns (`cli` of `cliName, cliCountry`), and its
 * first letters. A prefix or letters that several tables share name none of them.
 */
export function otherNames(tables: readonly TableNames[]): (readonly OtherName[])[] {
  const groups = Map.groupBy(tables, ({ entity }) => entity[0] ?? '');
  const prefixes = tables.map(({ columnNames }) => prefixOfColumns(columnNames));
  const initials = tables.map(({ entity }) => entity.map((word) => word[0] ?? '').join(''));
  const names = new Set(tables.map(({ entity }) => entity.join(' ')));
  const isOnly = (list: readonly (string | undefined)[], text: string): boolean =>
    list.filter((listed) => listed === text).length === 1;
  return tables.map(({ entity }, index) => {
    const prefix = prefixes[index];
    const letters = initials[index] ?? '';
    const isLetters = /^\p{Script=Latin}+$/u.test(letters) && isOnly(initials, letters);
    const shortened = lastNoise.test(entity.at(-1) ?? '') ? entity.slice(0, -1) : [];
    const isShortened = shortened.length > 0 && !names.has(shortened.join(' '));
    return [
      ...(isShortened ? [{ words: shortened, weight: shortenedWeight }] : []),
      ...nameInGroup(entity, groups.get(entity[0] ?? '') ?? [], names),
      ...(prefix !== undefined && isOnly(prefixes, prefix)
        ? [{ words: [prefix], weight: prefixWeight, isShort: true }]
        : []),
      ...(isLetters ? [{ words: [letters], weight: weightOfLetters(letters), isShort: true }] : []),
    ];
  });
}

/** The name of a table without that of its group, unless a table is called so. */
function nameInGroup(
  [first, ...rest]: readonly string[],
  group: readonly TableNames[],
  names: ReadonlySet<string>,
): readonly OtherName[] {
  const isTable = group.some(({ entity }) => entity.length === 1);
  const isNew = rest.length > 0 && !names.has(rest.join(' '));
  if (isTable || !isNew || group.length < leastOfGroup) return [];
  const isKind = rest.every((word) => kindWords.has(word));
  return [{ words: rest, weight: groupWeight, group: isKind ? first : undefined }];
}

const weightOfLetters = (letters: string): number =>
  letters.length > 1 ? initialsWeight : letterWeight;

/** How well a column's words name the table by another name. */
export function matchOtherName(
  child: readonly string[],
  { words, weight, isShort = false }: OtherName,
): NameMatch {
  if (isShort && child.at(-1) !== words[0]) return { full: 0, tail: 0, head: 0, common: 0 };
  const { full, tail, common } = matchNames(child, words);
  return { full: full * weight, tail: tail * weight, head: 0, common };
}

/** A longer word at the start of all columns names something; a short one is an abbreviation. */
const maxPrefix = 4;

/**
 * The short first word of most columns, the first one included: `cli` of `cliIdent, cliName`.
 * Undefined if there is none.
 */
export function prefixOfColumns(names: readonly string[]): string | undefined {
  const words = names.map((name) => splitNameWords(name));
  const [prefix] = words[0] ?? [];
  if (names.length < 3 || prefix === undefined || prefix.length > maxPrefix) return undefined;
  const withPrefix = words.filter(([first, ...rest]) => first === prefix && rest.length > 0);
  return withPrefix.length >= Math.max(3, names.length * 0.65) ? prefix : undefined;
}
