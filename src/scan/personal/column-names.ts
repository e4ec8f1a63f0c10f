import { readWordLines } from '../../lib/word-list.ts';
import { splitNameWords } from '../names/split-words.ts';
import { foldText } from './fold-text.ts';

/** A group of personal data, as the lines of `words/columns.txt` name it. */
export type PersonalGroup =
  | 'name'
  | 'handle'
  | 'mail'
  | 'phone'
  | 'address'
  | 'birth'
  | 'national_id'
  | 'document'
  | 'plate'
  | 'bank'
  | 'card'
  | 'money'
  | 'health'
  | 'belief'
  | 'person'
  | 'place'
  | 'network'
  | 'profile'
  | 'secret';

interface Vocabulary {
  /** Terms of one or more words, joined by `_`. */
  readonly terms: ReadonlyMap<string, PersonalGroup>;
  /** The same without the joints: `firstname`. */
  readonly glued: ReadonlyMap<string, PersonalGroup>;
  /** Beginnings of words. */
  readonly stems: readonly (readonly [stem: string, group: PersonalGroup])[];
  /** Terms of scripts without spaces: found anywhere in a word. */
  readonly unspaced: readonly (readonly [term: string, group: PersonalGroup])[];
}

/**
 * After these words a name speaks of something about the data: `email_verified`, `phone_model`,
 * `address_count`.
 */
const otherEndings = new Set(
  'id ids key fk count cnt num_of type typ status state flag verified confirmed sent opened bounced clicked enabled optin subscribed template subject body domain provider model brand score_type rate total sum avg category group class format version currency policy required valid is_valid length size level band range bucket segment campaign list tier rank plan'.split(
    ' ',
  ),
);

const isUnspaced = (term: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u.test(
    term,
  );

let vocabulary: Vocabulary | undefined;

/**
 * The group that a column's name says; undefined if it says nothing, or speaks of something else
 * about the data.
 */
export function groupOfName(columnName: string): PersonalGroup | undefined {
  const words = wordsOf(columnName);
  const ending = words.at(-1) ?? '';
  const { terms, glued, stems, unspaced } = (vocabulary ??= loadVocabulary());
  const whole = terms.get(words.join('_')) ?? glued.get(words.join(''));
  if (whole !== undefined) return whole;
  if (words.length > 1 && otherEndings.has(ending)) return undefined;
  for (let length = Math.min(4, words.length); length > 0; length -= 1) {
    for (let start = words.length - length; start >= 0; start -= 1) {
      const part = words.slice(start, start + length);
      const group = terms.get(part.join('_')) ?? glued.get(part.join(''));
      if (group !== undefined) return group;
    }
  }
  return words
    .map((word) => stems.find(([stem]) => word.startsWith(stem))?.[1] ?? inUnspaced(word, unspaced))
    .find((group) => group !== undefined);
}

function inUnspaced(word: string, unspaced: Vocabulary['unspaced']): PersonalGroup | undefined {
  return isUnspaced(word) ? unspaced.find(([term]) => word.includes(term))?.[1] : undefined;
}

function wordsOf(name: string): string[] {
  // An article of Arabic and the parts of a word in other scripts do not count.
  return splitNameWords(name.slice(0, 200).replaceAll(/(?<=\p{L})[ʼ’'](?=\p{L})/gu, ''))
    .map(foldText)
    .map((word) => word.replace(/^ال(?=\p{L}{3})/u, ''));
}

function loadVocabulary(): Vocabulary {
  const lines = readWordLines(new URL('words/columns.txt', import.meta.url));
  const entries = lines.flatMap(([group = '', ...list]) =>
    list.map((term) => [term, group.slice(0, -1) as PersonalGroup] as const),
  );
  const terms = new Map<string, PersonalGroup>();
  const stems: [string, PersonalGroup][] = [];
  const unspaced: [string, PersonalGroup][] = [];
  for (const [written, group] of entries) {
    const isStem = written.endsWith('*');
    const term = wordsOf(isStem ? written.slice(0, -1) : written).join('_');
    if (!terms.has(term)) terms.set(term, group);
    if (isStem) stems.push([term, group]);
    if (isUnspaced(term) && Array.from(term).length > 1) unspaced.push([term, group]);
  }
  const glued = new Map(
    [...terms]
      .filter(([term]) => term.includes('_'))
      .map(([term, group]) => [term.replaceAll('_', ''), group]),
  );
  unspaced.sort(([a], [b]) => b.length - a.length);
  return { terms, glued, stems, unspaced };
}
