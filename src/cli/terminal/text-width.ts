// Own code: string-width measures but does not truncate, and fast-string-truncated-width can cut a
// surrogate pair in half and counts a zero-width space as one column.

const zeroWidth = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;
const emoji = /^\p{RGI_Emoji}$/v;
/**
 * The East Asian wide and fullwidth characters of Unicode's EastAsianWidth, by script and block.
 */
const wide =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** Number of terminal columns that the text takes. */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return splitGraphemes(text).reduce((sum, { width }) => sum + width, 0);
}

/** The text in at most `width` columns; ends with an ellipsis if something is missing. */
export function truncateText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let room = width - 1;
  for (const grapheme of splitGraphemes(text)) {
    room -= grapheme.width;
    if (room < 0) break;
    kept += grapheme.text;
  }
  return `${kept}…`;
}

/** The text with spaces up to `width` columns. */
export function padText(text: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(Math.max(0, width - textWidth(text)));
  return align === 'right' ? space + text : text + space;
}

/**
 * Lines of at most `width` columns, broken at spaces. A longer word stays whole; without a width,
 * one line.
 */
export function wrapText(text: string, width: number | undefined): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const fits =
      last !== undefined && (width === undefined || textWidth(last) + 1 + textWidth(word) <= width);
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Makes control characters visible, so that text from outside cannot drive the terminal. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
    /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) =>
      shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Made at first use: it takes 20 ms, and ASCII text does not need it. */
let segmenter: Intl.Segmenter | undefined;

/** What a person sees as characters, each with its columns. */
export function splitGraphemes(text: string): { readonly text: string; readonly width: number }[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => ({
    text: segment,
    width: graphemeWidth(segment),
  }));
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0;
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1;
}
