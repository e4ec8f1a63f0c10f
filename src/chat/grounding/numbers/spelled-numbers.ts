/** A number in words, such as `one hundred and five`. */
interface SpelledNumber {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly value: number;
  /** The size of what the words leave open: two million have none of its thousands. */
  readonly step: number;
}

/** The words for one and for a, which are articles as well, count only before these. */
const sizes: ReadonlyMap<string, number> = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);

const rounds = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** From two on, the words of some languages. Not those that are other words too: due, sei, sex. */
const smallWords: readonly string[] = [
  'two zwei deux dos dois duas två dwa twee',
  'three drei trois tres três tre trzy drie',
  'four vier quatre cuatro quattro quatro fyra cztery',
  'five fünf cinq cinco cinque fem pięć vijf',
  'six sechs seis sześć zes',
  'seven sieben sept siete sette sete sju siedem zeven',
  'eight acht huit ocho otto oito åtta osiem',
  'nine neun neuf nueve nove nio dziewięć negen',
  'ten zehn dix diez dieci dez tio dziesięć tien',
  'eleven elf onze undici elva jedenaście',
  'twelve zwölf douze doce dodici doze tolv dwanaście twaalf',
  'thirteen dreizehn treize trece tredici treze tretton dertien',
  'fourteen vierzehn quatorze catorce quattordici fjorton veertien',
  'fifteen fünfzehn quinze quince quindici femton vijftien',
  'sixteen sechzehn seize dieciséis sedici dezesseis sexton zestien',
  'seventeen siebzehn dix-sept diecisiete diciassette dezessete sjutton zeventien',
  'eighteen achtzehn dieciocho diciotto dezoito arton achttien',
  'nineteen neunzehn diecinueve diciannove dezenove nitton negentien',
];

const roundWords: readonly string[] = [
  'zwanzig vingt veinte venti vinte tjugo dwadzieścia twintig',
  'dreißig trente treinta trenta trinta trettio trzydzieści dertig',
  'vierzig quarante cuarenta quaranta quarenta fyrtio veertig',
  'fünfzig cinquante cincuenta cinquanta cinquenta femtio pięćdziesiąt vijftig',
  'sechzig soixante sesenta sessanta sessenta sextio zestig',
];

const values: ReadonlyMap<string, number> = new Map([
  ...smallWords.flatMap((words, index) =>
    words.split(' ').map((word) => [word, index + 2] as const),
  ),
  ...roundWords.flatMap((words, index) =>
    words.split(' ').map((word) => [word, index * 10 + 20] as const),
  ),
  ...rounds.map((word, index) => [word, index * 10 + 20] as const),
]);

interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The numbers that a text spells out, in its order. */
export function readSpelledNumbers(text: string): readonly SpelledNumber[] {
  const words = [...text.matchAll(/(?<![\p{L}\p{N}_])\p{L}+(?![\p{L}\p{N}_])/gu)].map(
    ({ 0: word, index }): Word => ({
      text: word.toLowerCase(),
      start: index,
      end: index + word.length,
    }),
  );
  const isSpanish = /(?<!\p{L})(?:los|las|el|hay|son|fueron|hubo)(?!\p{L})/iu.test(text);
  const found: SpelledNumber[] = [];
  for (let at = 0; at < words.length;) {
    const read = readPhrase(words, at, text) ?? readWord(words[at], isSpanish);
    const [first, last] = [words[at], words[at + (read?.count ?? 1) - 1]];
    at += read?.count ?? 1;
    if (read === undefined || first === undefined || last === undefined) continue;
    const [start, end] = [first.start, last.end];
    if (isPartOfWord(text, start, end)) continue;
    found.push({ ...read, text: text.slice(start, end), start, end });
  }
  return found;
}

interface ReadPhrase {
  readonly value: number;
  readonly step: number;
  /** How many words it has. */
  readonly count: number;
}

/** `two-thirds` and `three-month` are no numbers. */
function isPartOfWord(text: string, start: number, end: number): boolean {
  return /[-_]$/.test(text.slice(0, start)) || /^[-_]\p{L}/u.test(text.slice(end, end + 2));
}

/** English and Portuguese have these words too. */
const onlySpanish = /^(?:once|dos)$/;

function readWord(word: Word | undefined, isSpanish: boolean): ReadPhrase | undefined {
  const text = word?.text ?? '';
  const known = text === 'once' ? 11 : (values.get(text) ?? readGerman(text));
  const value = onlySpanish.test(text) && !isSpanish ? undefined : known;
  return value === undefined ? undefined : { value, step: 1, count: 1 };
}

/** `einundzwanzig`, `zweihundert`, `dreitausend` */
function readGerman(word: string): number | undefined {
  const [, ones = '', tens = ''] = /^(\p{L}+?)und(\p{L}+zig|dreißig)$/u.exec(word) ?? [];
  const [one, ten] = [ones === 'ein' ? 1 : values.get(ones), values.get(tens)];
  if (one !== undefined && ten !== undefined) return one + ten;
  const [, count = '', size = ''] = /^(\p{L}+?)(hundert|tausend)$/u.exec(word) ?? [];
  const factor = count === 'ein' ? 1 : values.get(count);
  return factor === undefined ? undefined : factor * (size === 'hundert' ? 100 : 1000);
}

/** English, of more than one word. */
function readPhrase(words: readonly Word[], from: number, text: string): ReadPhrase | undefined {
  const state = { total: 0, current: 0, step: 1, last: '' };
  let count = 0;
  for (let at = from; at < words.length; at += 1) {
    const [word, before] = [words[at], words[at - 1]];
    if (word === undefined) break;
    const gap = before === undefined || at === from ? '' : text.slice(before.end, word.start);
    if (!/^(?:|-| {1,2}|\n)$/.test(gap)) break;
    const isBridge = word.text === 'and' && sizes.has(state.last);
    if (!isBridge && !take(state, word.text, words[at + 1]?.text)) break;
    state.last = word.text;
    if (!isBridge) count = at - from + 1;
  }
  const value = state.total + state.current;
  return count < 2 || value < 2 ? undefined : { value, step: state.step, count };
}

/** Adds the word to the number so far; false if it does not go on with it. */
function take(
  state: { total: number; current: number; step: number },
  word: string,
  next: string | undefined,
): boolean {
  const size = sizes.get(word);
  if (size !== undefined) {
    if (state.current === 0) return false;
    if (size === 100) state.current *= 100;
    else [state.total, state.current] = [state.total + state.current * size, 0];
    state.step = size;
    return true;
  }
  const isOne = word === 'one' && (sizes.has(next ?? '') || state.current > 0 || state.total > 0);
  const value = isOne ? 1 : englishValue(word);
  const open = state.current % 100;
  const fits = open === 0 || (open >= 20 && open % 10 === 0 && value !== undefined && value < 10);
  if (value === undefined || !fits) return false;
  state.current += value;
  state.step = 1;
  return true;
}

function englishValue(word: string): number | undefined {
  const small = smallWords.findIndex((words) => words.split(' ')[0] === word);
  const round = rounds.indexOf(word);
  if (small >= 0) return small + 2;
  return round < 0 ? undefined : round * 10 + 20;
}
