/** Small letters without accents. */
export function foldText(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The words of a name: `orderItems`, `order_items` and `Order Items` have the same. */
function wordsOf(name: string): string[] {
  return foldText(name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 2 || (word !== '' && !/^[a-z]+$/.test(word)));
}

/** Enough of a word to know it by: endings differ. */
const stemLength = 4;

/** Words that stand in any text and name nothing. */
const emptyWords: ReadonlySet<string> = new Set(
  [
    'all and any are been but can does each every for from has have how its may more must not off',
    'one only our out own some such than that the their them then there these they this those was',
    'were what when where which who whom whose will with der die das den dem des ein eine und von',
    'mit les des une est par pour sur who',
  ].flatMap((line) => line.split(' ')),
);

const isFull = (word: string) => !emptyWords.has(word);

/**
 * Whether the place has a word of one of the spellings. Names without any word, such as `x1`, have
 * nothing to look for.
 */
export function isNamed(place: string, spellings: readonly string[]): boolean {
  const words = spellings.flatMap(wordsOf);
  const full = words.filter(isFull);
  return (
    words.length === 0 || (full.length > 0 ? full : words).some((word) => hasWord(place, word))
  );
}

/** Whether the place has every word of the name. */
export function isFullyNamed(place: string, name: string): boolean {
  return wordsOf(name).every((word) => hasWord(place, word));
}

function hasWord(place: string, word: string): boolean {
  return place.includes(word.slice(0, stemLength));
}

/** A text of fewer words may be another word for something. */
const shortestProse = 4;
const leastShare = 0.25;

/** Whether the text speaks of what the place speaks of: a few of its words are there. */
export function sharesWords(text: string, place: string): boolean {
  const words = [...new Set(wordsOf(text))].filter((word) => word.length > 3 && isFull(word));
  const shared = words.filter((word) => hasWord(place, word));
  return words.length < shortestProse || shared.length >= words.length * leastShare;
}
