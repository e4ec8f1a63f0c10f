import { readWordLines } from '../lib/word-list.ts';
import { toSingular } from './words.ts';

const groups = readWordLines(new URL('synonyms.txt', import.meta.url));
const byWord = new Map<string, readonly (readonly string[])[]>();
for (const group of groups)
  for (const word of group) byWord.set(word, [...(byWord.get(word) ?? []), group]);

/** Words that companies use for the given ones, without those. */
export function relatedWords(words: readonly string[]): readonly string[] {
  const given = new Set([...words, ...words.map(toSingular)]);
  const related = [...given].flatMap((word) => (byWord.get(word) ?? []).flat());
  return [...new Set(related)].filter((word) => !given.has(word));
}
