import { domainToASCII } from 'node:url';

const longestText = 1000;

/** The text in one line that shows what it is: characters that are invisible or reorder text become escapes. */
export function visibleText(text: string): string {
  const whole = text.length > longestText ? text.slice(0, longestText) : text;
  const escaped = whole.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
  const rest = text.length - whole.length;
  return rest === 0 ? escaped : `${escaped}… (${rest} more characters)`;
}

/** A host in ASCII: a Cyrillic `а` in a name shows as `xn--…`. */
export function visibleHost(text: string): string {
  if (/^[\x21-\x7e]*$/.test(text)) return visibleText(text);
  return visibleText(
    text.replaceAll(/[^\s/@:?#[\]\\]+/g, (part) => {
      if (/^[\x21-\x7e]*$/.test(part)) return part;
      return domainToASCII(part) || escapeForeign(part);
    }),
  );
}

function escapeForeign(text: string): string {
  return text.replaceAll(
    /[^\x20-\x7e]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
