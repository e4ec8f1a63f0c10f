interface TextLimit {
  /** Most words. `total_price`, `totalPrice` and `total price` have two. */
  readonly words: number;
  /** Most bytes of UTF-8. A sentence of Chinese or Thai has few words by any count of spaces. */
  readonly bytes: number;
}

const wordPattern = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{M}]+/gu;
const hexadecimal = /^[\da-f-]*$/i;
const longestHexadecimal = 64;

/** True for names, codes, numbers and keys; false for everything that may be a sentence. */
export function isTooShortForAnOrder(text: unknown, { words, bytes }: TextLimit): boolean {
  if (text === undefined || typeof text === 'number' || typeof text === 'boolean') return true;
  if (typeof text !== 'string') return false;
  if (hexadecimal.test(text)) return text.length <= longestHexadecimal;
  return Buffer.byteLength(text) <= bytes && (text.match(wordPattern) ?? []).length <= words;
}
