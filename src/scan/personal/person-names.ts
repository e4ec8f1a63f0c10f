import { readWordList } from '../../lib/word-list.ts';
import { foldText } from './fold-text.ts';

const cache = new Map<string, ReadonlySet<string>>();

/** The word list, read on first use. */
function list(name: string): ReadonlySet<string> {
  const known = cache.get(name);
  if (known !== undefined) return known;
  const words = readWordList(new URL(`words/${name}.txt`, import.meta.url));
  cache.set(name, words);
  return words;
}

/** `full`: given and family name. `given`, `family`: one of them, or a word that can be one. */
export type NameShape = 'full' | 'given' | 'family';

const titles =
  /^(?:(?:mr|mrs|ms|miss|mx|dr|prof|sir|dame|herr|frau|fr|hr|dipl|ing|mag|mme|mlle|m|sr|sra|srta|don|dona|sig|sigra|dott|pan|pani|dhr|mevr|г-н|г-жа|др|инж|д-р|السيد|السيدة|د|أ|م)\.?\s+)+/iu;
const endings = /(?:,?\s+(?:jr|sr|ii|iii|iv|phd|md|dds|dvm|esq|b\.?sc|m\.?sc|mba)\.?)+$/i;

/**
 * What a value can be as the name of a person; undefined if it is none, as far as forms and lists
 * can tell.
 */
export function nameShape(value: string): NameShape | undefined {
  const text = value.slice(0, 100).trim().replace(titles, '').replace(endings, '');
  if (text.length < 2 || /[\d@/\\#%&+=<>{}[\]|$€_:;!?"()]/.test(text)) return undefined;
  if (/\p{Script=Han}/u.test(text)) return hanShape(text);
  if (/\p{Script=Hangul}/u.test(text)) return koreanShape(text);
  if (/\p{Script=Cyrillic}/u.test(text)) return cyrillicShape(text);
  if (/\p{Script=Arabic}/u.test(text)) return arabicShape(text);
  if (/^[\p{Script=Latin}\p{M}\s,.'’ʼ-]+$/u.test(text)) return latinShape(text);
  return otherShape(text);
}

const particles = new Set(
  'van von der den de del della di da do dos das du le la les el al bin ibn bint ben abu st zu zur ter ten af av y e i und of mc mac o d'.split(
    ' ',
  ),
);

function latinShape(text: string): NameShape | undefined {
  const hasComma = text.includes(',');
  if (hasComma && !/^[^,]+,\s*[^,]+$/.test(text)) return undefined;
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  const pieces = words.length > 6 ? undefined : capitalisedPieces(words);
  if (pieces === undefined || pieces.some(isOtherWord)) return undefined;
  const [only = []] = pieces;
  if (pieces.length > 1)
    return pieces.some(isGivenName) ? 'full' : pieces.some(isFamilyName) ? 'family' : undefined;
  if (!isGivenName(only))
    return isFamilyName(only) ? (words.length > 1 ? 'full' : 'family') : undefined;
  return words.length > 1 ? 'full' : 'given';
}

/**
 * The parts of each word that is no particle and no initial, folded. Undefined unless all are
 * capitalised, as names are.
 */
function capitalisedPieces(words: readonly string[]): string[][] | undefined {
  const named = words
    .map((word) => ({ word, folded: foldText(word).replaceAll('.', '') }))
    .filter(({ folded }) => !particles.has(folded) && folded.length > 1);
  const isName = ({ word }: { readonly word: string }): boolean =>
    /^(?:[dlO]['’])?\p{Lu}/u.test(word);
  if (named.length === 0 || !named.every(isName)) return undefined;
  return named.map(({ folded }) => folded.split('-').filter((piece) => piece !== ''));
}

const isOtherWord = (pieces: readonly string[]): boolean =>
  pieces.every((piece) => list('not-names').has(piece));
const isGivenName = (pieces: readonly string[]): boolean =>
  pieces.some((piece) => list('given-latin').has(piece));
const isFamilyName = (pieces: readonly string[]): boolean =>
  pieces.some((piece) => list('family-latin').has(piece) || isFamilyEnding(piece));

const isFamilyEnding = (word: string): boolean =>
  word.length > 5 &&
  /(?:ski|ska|cki|cka|wicz|owicz|czyk|czak|iak|enko|chuk|ovic|evic|sson|sdottir|oglu|opoulos|idis|akis|yan|shvili|dze|mann|stein|berg|inen|escu|nen|quist|ova|eva|ez|az)$/.test(
    word,
  );

// Folded text has и for й, е for ё and і for ї.
const cyrillicPatronymic = /(?:ович|евич|ьич|овна|евна|ична|инична|івна|иович)х?$/;
const cyrillicFamily =
  /(?:ов|ова|ев|ева|ин|ина|ын|ына|скии|ская|ски|ска|цкии|цкая|ськии|ська|цькии|цька|енко|енка|чук|щук|юк|ук|як|ян|дзе|швили|ых|их|ко|ець|ич|еико|ак|ии|аи|іль)$/;

function cyrillicShape(text: string): NameShape | undefined {
  const words = text.split(/[\s,.]+/).filter((word) => word !== '');
  if (words.length > 4 || words.some((word) => !/^\p{Lu}/u.test(word))) return undefined;
  const folded = words.map(foldText).flatMap((word) => word.split('-'));
  const isGiven = (word: string): boolean => list('given-cyrillic').has(word);
  const isFamily = (word: string): boolean =>
    list('family-cyrillic').has(word) || (word.length > 4 && cyrillicFamily.test(word));
  if (folded.some((word) => list('not-names').has(word))) return undefined;
  if (folded.length === 1) {
    const [only = ''] = folded;
    return isGiven(only) ? 'given' : isFamily(only) ? 'family' : undefined;
  }
  if (folded.some((word) => word.length > 5 && cyrillicPatronymic.test(word))) return 'full';
  // Sidorov A. B.
  const initials = folded.filter((word) => word.length === 1).length;
  if (initials > 0) return folded.some(isFamily) ? 'full' : undefined;
  return folded.some(isGiven) && folded.some((word) => isFamily(word) || isGiven(word))
    ? 'full'
    : undefined;
}

function arabicShape(text: string): NameShape | undefined {
  const words = foldText(text)
    .split(/\s+/)
    .map((word) => word.replace(/^ال(?=\p{L}{2})/u, ''));
  if (words.length > 6) return undefined;
  const isGiven = (word: string): boolean => list('given-arabic').has(word);
  if (words.length === 1) return isGiven(words[0] ?? '') ? 'given' : undefined;
  const hasArticleName = /(?:^|\s)(?:عبد|بن|ابن|بنت|آل|ابو|أبو)(?:\s|ال)/u.test(text);
  return isGiven(words[0] ?? '') || hasArticleName ? 'full' : undefined;
}

const placeEnding = /[県市区町村駅店局省县縣區镇路街号號社館場校部課品器機]$/u;

function hanShape(text: string): NameShape | undefined {
  const compact = text.replaceAll(/[\s・·　]/g, '');
  if (!/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u.test(compact))
    return undefined;
  const [first = '', second] = text.split(/[\s・·　]+/);
  const letters = Array.from(compact);
  if (letters.length < 2 || letters.length > 7) return undefined;
  if (second !== undefined)
    return list('family-japanese').has(first) || list('family-chinese').has(first)
      ? 'full'
      : undefined;
  if (placeEnding.test(compact) || list('not-names').has(compact)) return undefined;
  const [chinese, japanese] = [chineseShape(letters), japaneseShape(letters)];
  return chinese === 'full' ? chinese : (japanese ?? chinese);
}

function chineseShape(letters: readonly string[]): NameShape | undefined {
  if (letters.length > 4 || letters.some((letter) => !/\p{Script=Han}/u.test(letter)))
    return undefined;
  const families = list('family-chinese');
  const long = families.has(letters.slice(0, 2).join('')) && letters.length > 2;
  const given = letters.slice(long ? 2 : 1);
  if (given.length > 2 || !(long || families.has(letters[0] ?? ''))) return undefined;
  if (given.every((letter) => list('given-chinese').has(letter))) return 'full';
  return 'family';
}

function japaneseShape(letters: readonly string[]): NameShape | undefined {
  const families = list('family-japanese');
  const whole = letters.join('');
  if (families.has(whole)) return 'family';
  if (list('given-japanese').has(whole)) return 'given';
  const cuts = [2, 3, 1].filter((length) => length < letters.length);
  const cut = cuts.find((length) => families.has(letters.slice(0, length).join('')));
  if (cut === undefined) return undefined;
  const given = letters.slice(cut).join('');
  return list('given-japanese').has(given) || (given.length <= 3 && cut === 2) ? 'full' : undefined;
}

function koreanShape(text: string): NameShape | undefined {
  const compact = text.replaceAll(/\s/g, '');
  if (!/^\p{Script=Hangul}{2,5}$/u.test(compact)) return undefined;
  const letters = Array.from(compact);
  const cut = list('family-korean').has(letters.slice(0, 2).join('')) && letters.length > 3 ? 2 : 1;
  const given = letters.slice(cut).join('');
  if (list('not-names').has(compact)) return undefined;
  if (!list('family-korean').has(letters.slice(0, cut).join(''))) return undefined;
  return list('given-korean').has(given) ? 'full' : undefined;
}

/** Greek, Hebrew, Thai, Devanagari and other scripts: by the lists alone. */
function otherShape(text: string): NameShape | undefined {
  const words = foldText(text).split(/\s+/);
  if (words.length > 4 || !words.some((word) => list('names-other').has(word))) return undefined;
  return words.length > 1 ? 'full' : 'given';
}
