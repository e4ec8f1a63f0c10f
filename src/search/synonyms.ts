import { readWordLines } from '../lib/word-list.ts';
import { toSingular } from './words.ts';

const groups = readWordLines(new URL('synonyms.txt', import.meta.url));
const byWord = new Map<string, readonly (readonly string[])[]>();
for (const group of groups)
  for (const word of group) byWord.set(word, [...(byWord.get(word) ?? []), group]);

/** Words that companies use for the given ones, without those. */
export function relatedWords(words: readonly string[]): readonly string[] {
  const given = new Set([...words, ...words.flatMap(baseForms)]);
  const related = [...given].flatMap((word) => (byWord.get(word) ?? []).flat());
  return [...new Set(related)].filter((word) => !given.has(word));
}

/** What a word may be a form of: `orders` of order, `buying` of buy, `cancelled` of cancel. */
function baseForms(word: string): readonly string[] {
  const singular = toSingular(word);
  // A form with a group of its own is another word: `placed` is no place.
  if (byWord.has(word)) return [singular];
  const [, stem = ''] = /^(.{3,}?)(?:ing|ed|er|ers)$/.exec(word) ?? [];
  const undoubled = stem.replace(/([^aeiou])\1$/, '$1');
  return stem === '' ? [singular] : [singular, stem, `${stem}e`, undoubled];
}
