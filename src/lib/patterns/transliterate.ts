import { createRequire } from 'node:module';
import { plainLetters } from './plain-letters.ts';

/** Runs of letters that are not Latin ones, with their marks. */
const otherLetters = /(?:[^\p{Script=Latin}\P{L}]\p{M}*)+/gu;

let toLatin: ReturnType<typeof loadLetters> | undefined;

/** Half a megabyte, which only texts in other scripts need. */
function loadLetters(): (text: string) => string {
  const require = createRequire(import.meta.url);
  return (require('any-ascii') as typeof import('any-ascii')).default;
}

/** Whether the text has letters of another script than the Latin one. */
export const hasOtherLetters = (text: string): boolean => text.search(otherLetters) !== -1;

/**
 * The text in lower-case Latin letters without accents: `Заказы` is `zakazy`, `订单` is `dingdan`.
 * What is no letter stays.
 */
export function transliterate(text: string): string {
  const latin = text.normalize('NFC').replaceAll(otherLetters, (letters) => {
    toLatin ??= loadLetters();
    return toLatin(letters).replaceAll(/[^a-z]/gi, '');
  });
  return plainLetters(latin.toLowerCase());
}
