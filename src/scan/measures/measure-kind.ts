import { readWordList } from '../../lib/word-list.ts';
import { splitNameWords, singular } from '../names/split-words.ts';

/** What a sum over a column is a sum of; `price` and `quantity` also make a product. */
export type MeasureKind = 'amount' | 'cost' | 'quantity' | 'duration' | 'price';

const load = (name: string): ReadonlySet<string> =>
  readWordList(new URL(`../names/words/${name}.txt`, import.meta.url));
const amountWords = load('sums-amounts');
const costWords = load('sums-costs');
const quantityWords = load('sums-quantities');
const priceWords = load('sums-prices');
/** Words of what must not be added up: rates, levels, limits, statistics, plans. */
const stateWords = load('no-sums');
/** Units of time, in the plural: `hour` alone is one of the day. */
const timeUnits =
  /^(milliseconds|millis|ms|seconds|secs|minutes|mins|hours|hrs|minuten|stunden|sekunden)$/;
const totalWords = new Set(['total', 'extended', 'line', 'sub', 'subtotal', 'gesamt']);

/**
 * What the name of a number column says that can be added up; undefined if it says nothing, or
 * names something that must not be added up.
 */
export function measureKind(name: string): MeasureKind | undefined {
  const written = splitNameWords(name);
  const words = written.map((word) => (timeUnits.test(word) ? word : singular(word)));
  const isOneOf = (list: ReadonlySet<string>) =>
    [...written, ...words].some((word) => list.has(word));
  const isTotal = words.some((word) => totalWords.has(word));
  if (isOneOf(stateWords)) return undefined;
  if (isOneOf(priceWords)) return isTotal ? 'amount' : priceKind(words);
  const isPer = words.includes('per') || words.includes('each');
  if (isPer) return undefined;
  if (written.some((word) => timeUnits.test(word)) || words.includes('duration')) return 'duration';
  if (isOneOf(quantityWords) || isCountOf(written)) return 'quantity';
  if (isOneOf(amountWords)) return 'amount';
  return isOneOf(costWords) ? 'cost' : undefined;
}

/** Only the price of one piece, under its plain name, makes an amount with a quantity. */
function priceKind(words: readonly string[]): MeasureKind | undefined {
  const qualifiers = words.filter((word) => !priceWords.has(word));
  const isPlain = qualifiers.every((word) =>
    ['unit', 'item', 'sale', 'sold', 'selling'].includes(word),
  );
  return isPlain ? 'price' : undefined;
}

/** `num_passengers`, `nb_articles`; not `num` or `number` alone, which are names. */
function isCountOf([first = '', ...rest]: readonly string[]): boolean {
  const last = rest.at(-1) ?? '';
  return ['num', 'nb', 'nbr', 'cnt'].includes(first) && last !== singular(last);
}
