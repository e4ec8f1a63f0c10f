const zeroWidth = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;
// Emoji; then the East Asian wide and fullwidth blocks, as scripts and the forms of Unicode's EastAsianWidth.
const emoji = /^\p{RGI_Emoji}$/v;
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Columns that the text takes in a terminal. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return graphemes(text).reduce((sum, { width }) => sum + width, 0);
}

/** The text cut to `width` columns, with an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let room = width - 1;
  for (const { segment, width: taken } of graphemes(text)) {
    room -= taken;
    if (room < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text in lines of at most `width` columns, broken between words. */
export function wrapped(text: string, width: number | undefined): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (
      last !== undefined &&
      textWidth(last) + 1 + textWidth(word) <= (width ?? Number.POSITIVE_INFINITY)
    )
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
}

/** Control characters made visible, so that foreign text cannot drive the terminal. */
export function printable(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
    /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) =>
      shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A segmenter costs 20 ms to make: only for text that needs it. */
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string) {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => {
    if (zeroWidth.test(segment)) return { segment, width: 0 };
    return { segment, width: emoji.test(segment) || wide.test(segment) ? 2 : 1 };
  });
}
