import { readWordLines } from '../lib/word-list.ts';
import { type Language, stripEndings } from './languages.ts';
import { splitWords } from './words.ts';

const columns: readonly Language[] = ['english', 'german', 'french', 'spanish'];

/** By language: the things that a word stands for, as indexes of `things`. */
const byWord = new Map(columns.map((language) => [language, new Map<string, number[]>()]));
const things = readThings();

function readThings(): readonly (readonly (readonly string[])[])[] {
  const lines = readWordLines(new URL('translations.txt', import.meta.url));
  const rows = lines.map((line) => line.join(' ').split('|').map(splitWords));
  for (const [thing, row] of rows.entries())
    for (const [column, language] of columns.entries())
      for (const word of row[column] ?? []) {
        const known = byWord.get(language);
        const key = wordKey(word, language);
        known?.set(key, [...(known.get(key) ?? []), thing]);
      }
  return rows;
}

function wordKey(word: string, language: Language): string {
  return language === 'english' ? word.replace(/(?<=...)(?:es|s)$/, '') : stripEndings(word);
}

/** The words that other languages have for a word of one of the given languages. */
export function translateWord(word: string, spoken: readonly Language[]): readonly string[] {
  const words = spoken.flatMap((language) => {
    const found = byWord.get(language)?.get(wordKey(word, language)) ?? [];
    return found.flatMap((thing) =>
      columns.flatMap((own, column) => (own === language ? [] : (things[thing]?.[column] ?? []))),
    );
  });
  return [...new Set(words)].filter((translated) => translated !== word);
}

const shortestPart = 3;

/**
 * The words that a German compound is made of: `Retourenquote` of retouren and quote. Where only
 * one end is a known word, that end; none for what is no compound. `isKnown` knows the words of the
 * company.
 */
export function splitCompound(word: string, isKnown: (part: string) => boolean): readonly string[] {
  const german = byWord.get('german');
  const isPart = (part: string) =>
    part.length >= shortestPart &&
    (german?.has(stripEndings(part)) === true || (part.length >= 5 && isKnown(part)));
  const cuts = Array.from(
    { length: Math.max(0, word.length - 2 * shortestPart + 1) },
    (_, index) => word.length - shortestPart - index,
  );
  const whole = cuts.find((cut) => isPart(word.slice(0, cut)) && isPart(word.slice(cut)));
  if (whole !== undefined) return [word.slice(0, whole), word.slice(whole)];
  const ends = cuts.flatMap((cut) => [word.slice(0, cut), word.slice(cut)]);
  const known = ends.filter((end) => end.length >= 4 && isPart(end));
  return known.toSorted((left, right) => right.length - left.length).slice(0, 1);
}
