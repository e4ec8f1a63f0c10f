interface FoundQuote {
  /** As the text has it, on one line, at most 300 characters. */
  readonly quote: string;
  /** From 1. */
  readonly line: number;
}

const longestQuote = 300;
/** In letters and digits. A shorter quote could stand anywhere. */
const shortestQuote = 8;

/**
 * Finds a quote in a text, whatever their white space, marks and case. Undefined if the text does
 * not have it, or if it is too short to prove anything.
 */
export function findQuote(text: string, quote: string): FoundQuote | undefined {
  const wanted = comparableText(quote).letters;
  const own = comparableText(text);
  if (wanted === '' || wanted.length < Math.min(shortestQuote, own.letters.length))
    return undefined;
  const found = own.letters.indexOf(wanted);
  const start = own.indexes[found];
  const last = own.indexes[found + wanted.length - 1];
  if (found < 0 || start === undefined || last === undefined) return undefined;
  const words = text.slice(start, last + 1).replaceAll(/\s+/g, ' ');
  return {
    quote: words.slice(0, longestQuote).trim().toWellFormed(),
    line: text.slice(0, start).split('\n').length,
  };
}

/** The letters of a text that count when quotes are compared. */
export function comparableLetters(text: string): string {
  return comparableText(text).letters;
}

/** White space, and the marks that Markdown or HTML put around words. */
const ignoredCharacter = /[\s*_`~>#|\\]/;

/**
 * The text in lower case without what is ignored, and the index that each letter has in the text.
 */
function comparableText(text: string): {
  readonly letters: string;
  readonly indexes: readonly number[];
} {
  const indexes: number[] = [];
  let letters = '';
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (ignoredCharacter.test(letter)) continue;
    // Some capitals have two small letters; one keeps the indexes in step.
    letters += letter.toLowerCase().charAt(0);
    indexes.push(index);
  }
  return { letters, indexes };
}
