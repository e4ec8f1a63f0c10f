/** Signs that mean nothing to a reader: white space, and what Markdown or HTML put around words. */
const unsaid = /[\s*_`~>#|\\]/;

interface Found {
  /** As the text has it, on one line. */
  readonly quote: string;
  /** From 1. */
  readonly line: number;
}

const longest = 300;
/** Letters and digits; less could stand anywhere. */
const shortest = 8;

/** Where the text says this, whatever its white space, marks and case; undefined where it does not, or where the quote is next to nothing. */
export function findQuote(text: string, quote: string): Found | undefined {
  const wanted = bare(quote);
  const own = bare(text);
  if (wanted.letters.length < Math.min(shortest, own.letters.length)) return undefined;
  const at = wanted.letters === '' ? -1 : own.letters.indexOf(wanted.letters);
  const [start, last] = [own.places[at], own.places[at + wanted.letters.length - 1]];
  if (at < 0 || start === undefined || last === undefined) return undefined;
  const said = text.slice(start, last + 1).replaceAll(/\s+/g, ' ');
  return {
    quote: said.slice(0, longest).trim().toWellFormed(),
    line: text.slice(0, start).split('\n').length,
  };
}

/** What is said, in lower case, with the place of each letter in the text. */
function bare(text: string): { readonly letters: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let letters = '';
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (unsaid.test(letter)) continue;
    // A capital that has two small letters keeps to one place.
    letters += letter.toLowerCase().charAt(0);
    places.push(index);
  }
  return { letters, places };
}
