import { readWordList } from '../../lib/word-list.ts';
import { wordSimilarity } from './name-match.ts';

export type NameParts = ReturnType<typeof parseColumnName>;

const words = (name: string): ReadonlySet<string> =>
  readWordList(new URL(`words/${name}.txt`, import.meta.url));
const keyWords = words('keys');
const tableNoise = words('table-noise');
const measures = words('measures');
const selfRoles = words('self-roles');
const personRoles = words('person-roles');
const otherRoles = words('other-roles');
const counts = new Set(['number', 'num', 'no', 'nbr', 'nr', 'numero', 'nummer']);
/** The words and what they begin with, from five letters: `mitarb`, `custo`. */
const abbreviated = (list: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(
    [...list].flatMap((word) =>
      Array.from({ length: Math.max(1, word.length - 4) }, (_, cut) =>
        word.slice(0, word.length - cut),
      ),
    ),
  );
const staff = abbreviated(words('staff'));
const people = abbreviated(words('people'));
const gluedSuffixes = [
  'identifier',
  'number',
  'nummer',
  'code',
  'uuid',
  'guid',
  'key',
  'num',
  'id',
  'no',
  'nr',
  'sk',
  'cd',
  'fk',
  'pk',
];
/** Id words of scripts that write no spaces: what stands before them is another word, known or not. */
const joinedSuffixes = [
  '番号',
  '編号',
  '编号',
  '編碼',
  '编码',
  '代码',
  '代碼',
  'コード',
  '번호',
  '코드',
  '아이디',
];

/**
 * What a column's name says: `words` without case and plural; `entity`, those that name something, without id words and prefixes
 * such as `dim_`; `keyed` where an id word (`id`, `code`, `no`…) was among them; `plural` where the last one is, which of a column
 * that is not keyed means a count; `isCount` where the name says how many (`no_of_seats`). `vocabulary` (words of the schema's tables) tells where glued names such as
 * `orderkey` part.
 */
export function parseColumnName(name: string, vocabulary: ReadonlySet<string> = new Set()) {
  const written = splitWords(name).flatMap((word) => unglue(word, vocabulary));
  const singulars = written.map(singular);
  const meaningful = singulars.filter((word) => !keyWords.has(word));
  const plural = written.at(-1) !== singulars.at(-1);
  // `NumberEmployees`, `no_of_seats`: how many, and not which.
  const isCount = counts.has(singulars[0] ?? '') && (plural || singulars[1] === 'of');
  const keyed = meaningful.length < singulars.length && !isCount;
  return { words: singulars, entity: withoutNoise(meaningful), keyed, plural, isCount };
}

/** A table's words, without `prefix`: id words stay part of its entity (`zip_codes`, `account_numbers`). */
export function parseTableName(name: string, prefix = ''): NameParts {
  const bare =
    name.length > prefix.length && name.toLowerCase().startsWith(prefix)
      ? name.slice(prefix.length)
      : name;
  const singulars = splitWords(bare).map(singular);
  return {
    words: singulars,
    entity: withoutNoise(singulars),
    keyed: false,
    plural: false,
    isCount: false,
  };
}

function withoutNoise(all: readonly string[]): readonly string[] {
  const entity = all.filter((word) => !tableNoise.has(word));
  return entity.length > 0 ? entity : all;
}

/** What most of the names start with (`l_` of `l_orderkey, l_partkey…`, `tbl` of `tblorder…`); '' where nothing. */
export function sharedPrefix(names: readonly string[]): string {
  const lower = names.map((name) => name.toLowerCase()).sort();
  const middle = lower[Math.floor(lower.length / 2)] ?? '';
  if (lower.length < 3) return '';
  for (let length = Math.min(12, middle.length - 2); length >= 2; length -= 1) {
    const prefix = middle.slice(0, length);
    const having = lower.filter((name) => name.startsWith(prefix));
    if (
      having.length >= Math.max(3, lower.length * 0.65) &&
      having.every((name) => name.length > length + 1)
    )
      return prefix;
  }
  return '';
}

export function isMeasure(parts: NameParts): boolean {
  return !parts.keyed && (parts.plural || parts.words.some((word) => measures.has(word)));
}

/** Does a word measure or order that is not the parent's name: `sort_order` is no order, `rating` may be one of the ratings. */
export function measuresSomethingElse(
  { keyed, words: own }: NameParts,
  parent: readonly string[],
): boolean {
  const isOther = (word: string): boolean =>
    measures.has(word) && parent.every((other) => wordSimilarity(word, other) === 0);
  return !keyed && own.some(isOther);
}

/** A role that a row plays for another row of its own table, and no other table's name beside it. */
export function isSelfRole({ entity }: NameParts, table: NameParts): boolean {
  const explained = (word: string): boolean =>
    word.length <= 2 || table.entity.some((own) => wordSimilarity(word, own) > 0);
  return (
    entity.some((word) => selfRoles.has(word)) &&
    entity.every((word) => selfRoles.has(word) || explained(word))
  );
}

export const isPersonRole = (parts: NameParts): boolean =>
  parts.words.some((word) => personRoles.has(word));

/** How well a table fits a person's role: the people who work with the data before those whom they serve. */
export function peopleScore({ entity }: NameParts): number {
  return Math.max(
    0,
    ...entity.map((word) => (staff.has(word) ? 1 : Number(people.has(word)) * 0.6)),
  );
}

function splitWords(name: string): string[] {
  return name
    .normalize('NFD')
    .replaceAll(/(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '')
    .normalize('NFC')
    .replaceAll(
      /(?<=\p{Script=Han})(?=\p{Script=Katakana})|(?<=[\p{Script=Katakana}ー])(?=\p{Script=Han})|(?<=\p{Lo}|ー)(?=[A-Za-z])/gu,
      ' ',
    )
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+|(?<=\p{L}{2})(?=\d+(?:[^\p{L}\d]|$))/u)
    .filter((word) => word !== '');
}

/** Parts `orderkey`, `newcountryid`, `fkunit` where the vocabulary knows the word inside. */
function unglue(word: string, vocabulary: ReadonlySet<string>): string[] {
  const joined = joinedSuffixes.find((key) => word.endsWith(key) && word.length > key.length);
  if (joined !== undefined) {
    const rest = word.slice(0, -joined.length);
    const known = knownIn(rest, vocabulary) ?? rest;
    return [rest.slice(0, rest.length - known.length), known, joined].filter((part) => part !== '');
  }
  for (const suffix of gluedSuffixes.filter((key) => word.endsWith(key))) {
    const rest = word.slice(0, -suffix.length);
    const known = knownIn(rest, vocabulary);
    if (known !== undefined)
      return [rest.slice(0, rest.length - known.length), known, suffix].filter(
        (part) => part !== '',
      );
  }
  const prefix = /^(?:fk|id|pk|sk)(?=.{3})/.exec(word)?.[0];
  if (prefix !== undefined && vocabulary.has(singular(word.slice(2))))
    return [prefix, word.slice(2)];
  return roleAndRest(word, vocabulary) ?? [word];
}

/** `origincurso`, `parentreserva`, `replacedbyid`: a role, and then what the schema knows, an id word, or another role. */
function roleAndRest(word: string, vocabulary: ReadonlySet<string>): string[] | undefined {
  for (let length = word.length - 2; length >= 4; length -= 1) {
    const [role, rest] = [word.slice(0, length), word.slice(length)];
    if (![selfRoles, personRoles, otherRoles].some((list) => list.has(role))) continue;
    if (vocabulary.has(singular(rest)) || keyWords.has(rest) || personRoles.has(rest))
      return [role, rest];
    const [, by, key] = /^(by)(id|key|code|num|no|nr)$/.exec(rest) ?? [];
    if (by !== undefined && key !== undefined) return [role, by, key];
    const further = unglue(rest, vocabulary);
    if (further.length > 1) return [role, ...further];
  }
  return undefined;
}

/** What a table calls itself in its first column: `policy` of `policyid`. */
export function ownWord(firstColumn: string): string | undefined {
  const suffix =
    [...joinedSuffixes, ...gluedSuffixes].find((key) => firstColumn.toLowerCase().endsWith(key)) ??
    '';
  const stem = firstColumn.slice(0, -suffix.length || 0).toLowerCase();
  return suffix !== '' && /^(?:[a-z]{4,}|\p{Lo}{2,})$/u.test(stem) ? stem : undefined;
}

/** The part of a glued word that names something: all of it where a known word starts so, or the known word that it ends with. */
function knownIn(rest: string, vocabulary: ReadonlySet<string>): string | undefined {
  if (rest.length < 2 || vocabulary.has(singular(rest))) return rest.length < 2 ? undefined : rest;
  const entries = [...vocabulary].filter(
    (entry) => entry.length >= 3 || /^\p{Lo}{2}$/u.test(entry),
  );
  if (rest.length >= 3 && entries.some((entry) => entry.startsWith(rest))) return rest;
  return entries.filter((entry) => rest.endsWith(entry)).sort((a, b) => b.length - a.length)[0];
}

function singular(word: string): string {
  if (word.length <= 3 || keyWords.has(word) || /(ss|us|is)$/.test(word)) return word;
  if (word === 'people') return 'person';
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz|[^ao]us)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}
