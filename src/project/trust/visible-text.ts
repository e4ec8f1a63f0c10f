import { domainToASCII } from 'node:url';

const longestText = 1000;

/**
 * The text in one line that shows what it is: characters that are invisible or reorder text become
 * escapes.
 */
export function visibleText(text: string, longest = longestText): string {
  const whole = text.length > longest ? text.slice(0, longest) : text;
  const escaped = whole.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const rest = text.length - whole.length;
  return rest === 0 ? escaped : `${escaped}… (${rest} more characters)`;
}

/** True if `visibleText` does not cut the text. */
export function isShownWhole(text: string): boolean {
  return text.length <= longestText;
}

/** A host in ASCII: a Cyrillic `а` in a name shows as `xn--…`. */
export function visibleHost(text: string, longest = longestText): string {
  if (/^[\x21-\x7e]*$/.test(text)) return visibleText(text, longest);
  return visibleText(
    text.replaceAll(/[^\s/@:?#[\]\\]+/g, (part) => {
      if (/^[\x21-\x7e]*$/.test(part)) return part;
      return domainToASCII(part) || escapeForeign(part);
    }),
    longest,
  );
}

function escapeForeign(text: string): string {
  return text.replaceAll(
    /[^\x20-\x7e]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
