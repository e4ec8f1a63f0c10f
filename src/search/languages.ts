import { readWordLines } from '../lib/word-list.ts';
import { splitWords } from './words.ts';

export type Language = 'english' | 'german' | 'french' | 'spanish';
const languages: readonly Language[] = ['english', 'german', 'french', 'spanish'];

const lines = readWordLines(new URL('function-words.txt', import.meta.url));
const functionWords = new Map(
  languages.map((language) => {
    const [, ...words] = lines.find(([name]) => name === `${language}:`) ?? [];
    return [language, new Set(words.flatMap(splitWords))];
  }),
);

/**
 * The languages that a question may be written in, by its function words: those with the most. All
 * of them if it has none.
 */
export function guessLanguages(words: readonly string[]): readonly Language[] {
  const counts = languages.map(
    (language) => words.filter((word) => isFunctionWord(word, [language])).length,
  );
  const most = Math.max(...counts);
  return languages.filter((_, index) => counts[index] === most);
}

/** True for a word that says nothing by itself in one of the languages. */
export function isFunctionWord(word: string, spoken: readonly Language[]): boolean {
  return spoken.some((language) => functionWords.get(language)?.has(word));
}

const ending = /(?:ern|em|en|er|es|os|as|e|n|s|a|o|x)$/;

/**
 * A word without its endings in German, French and Spanish: equal for `kunde` and `kunden`,
 * `operación` and `operaciones`. Not a word of any language; only to be compared.
 */
export function stripEndings(word: string): string {
  const [end = ''] = ending.exec(word) ?? [];
  const rest = word.slice(0, word.length - end.length);
  return end === '' || rest.length < 3 ? word : stripEndings(rest);
}
