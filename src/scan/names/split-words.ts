import {
  gluedSuffixes,
  idWords,
  otherRoles,
  personRoles,
  selfRoles,
  unspacedSuffixes,
} from './word-lists.ts';

/** Plurals of words in `ie`; those of other words in `ies` end in `y`. */
const endsInIe = new Set(
  'movies cookies calories brownies hoodies rookies zombies selfies genies'.split(' '),
);

/**
 * Splits a name at separators, case changes, script changes and digits; lower case, without
 * accents.
 */
export function splitNameWords(name: string): string[] {
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

export function singular(word: string): string {
  if (word.length <= 3 || idWords.has(word) || /(ss|us|is)$/.test(word)) return word;
  if (word === 'people') return 'person';
  if (endsInIe.has(word)) return word.slice(0, -1);
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz|[^ao]us)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/**
 * Splits words that are written without a separator: `orderkey`, `newcountryid`, `fkunit`.
 * `vocabulary` has the words of the schema's tables; it tells where one word ends.
 */
export function splitGluedWord(word: string, vocabulary: ReadonlySet<string>): string[] {
  const unspaced = unspacedSuffixes.find((key) => word.endsWith(key) && word.length > key.length);
  if (unspaced !== undefined) {
    const rest = word.slice(0, -unspaced.length);
    return splitBefore(rest, knownPart(rest, vocabulary) ?? rest, unspaced);
  }
  for (const suffix of gluedSuffixes.filter((key) => word.endsWith(key))) {
    const rest = word.slice(0, -suffix.length);
    const known = knownPart(rest, vocabulary);
    if (known !== undefined) return splitBefore(rest, known, suffix);
  }
  // `nid` beside a table of nodes, `dno` beside one of departments; `ano` is a year.
  const { letter, key } =
    /^(?!ano)(?<letter>[a-z])(?<key>id|no|num|number)$/.exec(word)?.groups ?? {};
  if (letter && key && [...vocabulary].some((entry) => entry.startsWith(letter)))
    return [letter, key];
  const prefix = /^(?:fk|id|pk|sk)(?=.{3})/.exec(word)?.[0];
  if (prefix !== undefined && vocabulary.has(singular(word.slice(2))))
    return [prefix, word.slice(2)];
  // `authorisedby`: who did it.
  if (/^[a-z]{3,}edby$/.test(word)) return [word.slice(0, -2), 'by'];
  return splitRole(word, vocabulary) ?? [word];
}

/** `rest` ends with `known`. */
function splitBefore(rest: string, known: string, suffix: string): string[] {
  const before = rest.slice(0, rest.length - known.length);
  return [before, known, suffix].filter((part) => part !== '');
}

/**
 * The part of a glued word that names something: all of it if a known word starts with it, or the
 * longest known word at its end.
 */
function knownPart(rest: string, vocabulary: ReadonlySet<string>): string | undefined {
  if (rest.length < 2) return undefined;
  if (vocabulary.has(singular(rest))) return rest;
  const entries = [...vocabulary].filter(
    (entry) => entry.length >= 3 || /^\p{Lo}{2}$/u.test(entry),
  );
  if (rest.length >= 3 && entries.some((entry) => entry.startsWith(rest))) return rest;
  return entries.filter((entry) => rest.endsWith(entry)).sort((a, b) => b.length - a.length)[0];
}

/**
 * `origincurso`, `parentreserva`, `replacedbyid`: a role, then a word of the schema, an id word, or
 * another role.
 */
function splitRole(word: string, vocabulary: ReadonlySet<string>): string[] | undefined {
  for (let length = word.length - 2; length >= 4; length -= 1) {
    const [role, rest] = [word.slice(0, length), word.slice(length)];
    if (![selfRoles, personRoles, otherRoles].some((list) => list.has(role))) continue;
    if (vocabulary.has(singular(rest)) || idWords.has(rest) || personRoles.has(rest))
      return [role, rest];
    const [, by, key] = /^(by)(id|key|code|num|no|nr)$/.exec(rest) ?? [];
    if (by !== undefined && key !== undefined) return [role, by, key];
    const further = splitGluedWord(rest, vocabulary);
    if (further.length > 1) return [role, ...further];
  }
  return undefined;
}
