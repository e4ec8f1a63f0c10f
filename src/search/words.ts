import { plainLetters } from '../lib/patterns/plain-letters.ts';
import { readWordList } from '../lib/word-list.ts';

const noiseWords = readWordList(new URL('noise-words.txt', import.meta.url));

/**
 * The words of a name or text in lower case, without accents; camelCase, snake_case and digits are
 * split.
 */
export function splitWords(text: string): string[] {
  if (isAscii.test(text)) return splitAsciiWords(text);
  return plainLetters(text)
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/(\p{L})(\p{N})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

// eslint-disable-next-line no-control-regex -- all characters of ASCII
const isAscii = /^[\u0000-\u007f]*$/;
/** Capitals without the last one if it begins a word; a word; digits with a unit as in `24h`. */
const asciiWord = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+[a-z]*/g;

/** The same for most texts, in a third of the time. */
function splitAsciiWords(text: string): string[] {
  return text.match(asciiWord)?.map((word) => word.toLowerCase()) ?? [];
}

/** A key that is equal for `orderItems`, `order_items` and `Order Items`. */
export function nameKey(name: string): string {
  return splitWords(name).join('');
}

/**
 * The text to index: all words, their singulars, and the joined form of names with two to six
 * words.
 */
export function indexText(texts: readonly string[]): string {
  const all = texts.flatMap((text) => {
    const parts = splitWords(text);
    return parts.length > 1 && parts.length <= 6 ? [...parts, parts.join('')] : parts;
  });
  return [...new Set([...all, ...all.map(toSingular)])].join(' ');
}

/** The words of the texts, as often as they stand there. */
export function plainText(texts: readonly string[]): string {
  return texts.flatMap(splitWords).join(' ');
}

/**
 * The distinct words of a question without noise words, at most 24; all words if it has only noise.
 */
export function queryWords(text: string): string[] {
  const all = [...new Set(splitWords(text.slice(0, 2000)))];
  const meaningful = all.filter((word) => !noiseWords.has(word));
  return (meaningful.length > 0 ? meaningful : all).slice(0, 24);
}

export function toSingular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:ch|sh|x|ss|z)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && /[^su]s$/.test(word)) return word.slice(0, -1);
  return word;
}
