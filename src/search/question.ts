import { readWordList } from '../lib/word-list.ts';
import { guessLanguages, isFunctionWord } from './languages.ts';
import { relatedWords } from './synonyms.ts';
import { splitCompound, translateWord } from './translations.ts';
import { splitWords } from './words.ts';

/** The words of a question, by how much they say about what is looked for. */
export interface QuestionWords {
  /** What is looked for. Empty only if the text has no word. */
  readonly strong: readonly string[];
  /** Parts of compounds, and other forms of the strong words that the index has. */
  readonly forms: readonly string[];
  /** When, how it is counted, who asks. */
  readonly weak: readonly string[];
  /** What the strong words are called in other languages. */
  readonly translated: readonly string[];
  /** Words that companies use for the strong ones. */
  readonly related: readonly string[];
}

/** What the index knows about words. */
export interface IndexWords {
  /** True if something has this name. */
  isName(word: string): boolean;
  /** The words of the index that differ from this only in their endings. */
  formsOf(word: string): readonly string[];
}

const weakWords = new Set(
  [...readWordList(new URL('weak-words.txt', import.meta.url))].flatMap(splitWords),
);

const mostWords = 24;

/** Reads at most 24 words that are no function words; those count if there is nothing else. */
export function readQuestion(text: string, index: IndexWords): QuestionWords {
  const all = [...new Set(splitWords(text.slice(0, 2000)))];
  const spoken = guessLanguages(all);
  const meaningful = all.filter((word) => !isFunctionWord(word, spoken));
  const words = (meaningful.length > 0 ? meaningful : all).slice(0, mostWords);
  const isWeak = (word: string) => weakWords.has(word);
  const strong = words.every(isWeak) ? words : words.filter((word) => !isWeak(word));
  const isForeign = spoken.some((language) => language !== 'english');
  const parts = isForeign
    ? strong.flatMap((word) => compoundParts(word, spoken.includes('german'), index))
    : [];
  const meant = [...strong, ...parts];
  const forms = isForeign ? meant.flatMap((word) => index.formsOf(word)) : [];
  const translations = meant.flatMap((word) => translateWord(word, spoken));
  const translated = translations.filter(
    (word) => !isWeak(word) && !meant.some((own) => isFormOf(word, own)),
  );
  const unnamed = strong.filter((word) => !index.isName(word));
  // A word alone may be of any language, and its own translations would bring it again.
  const isEnglish = spoken.includes('english');
  const related = relatedWords([...unnamed, ...(isEnglish ? [] : translated)]);
  return {
    strong,
    forms: [...new Set([...parts, ...forms])].filter((word) => !strong.includes(word)),
    weak: words.filter((word) => !strong.includes(word)),
    translated: [...new Set(translated)],
    related: related.filter((word) => !strong.includes(word)),
  };
}

/** `revenu` finds what `revenue` finds: it must not count twice. */
function isFormOf(word: string, own: string): boolean {
  return word.startsWith(own.slice(0, -1)) || own.startsWith(word.slice(0, -1));
}

function compoundParts(word: string, isGerman: boolean, index: IndexWords): readonly string[] {
  if (!isGerman || word.length < 7 || translateWord(word, ['german']).length > 0) return [];
  return splitCompound(word, (part) => index.formsOf(part).length > 0);
}
