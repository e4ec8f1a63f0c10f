import { stripVTControlCharacters } from 'node:util';

// Own code: string-width measures but does not truncate, and fast-string-truncated-width can cut a
// surrogate pair in half and counts a zero-width space as one column.

const zeroWidth = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;
/**
 * The wide and fullwidth characters of Unicode's EastAsianWidth that are no emoji, by block. Not by
 * script: the long vowel of Katakana has none, and halfwidth Katakana is narrow.
 */
const wide =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

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
 * Lines of at most `width` columns, broken at spaces. A longer word stays whole, and so does a
 * command, which people copy; without a width, one line.
 */
export function wrapText(text: string, width: number | undefined): readonly string[] {
  const lines: string[] = [];
  for (const word of splitWords(text)) {
    const last = lines.at(-1);
    const fits =
      last !== undefined &&
      (width === undefined || styledWidth(last) + 1 + styledWidth(word) <= width);
    if (fits) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/**
 * `ktx` with what belongs to it in a sentence: the words of the command, flags with their values,
 * quoted texts, and words of other characters than letters.
 */
const commandInText =
  /(?<![\w/.-])ktx(?: [a-z-]+){1,2}(?: (?:--?[a-z][\w-]*(?:[ =](?:"[^"]*"|[^\s"-][^\s"]*))?|"[^"]*"|<[^>]*>|\w+[.:/_=(][^\s"]*))*/g;

function splitWords(text: string): readonly string[] {
  const words: string[] = [];
  let at = 0;
  const addWords = (plain: string) => {
    const [first = '', ...others] = plain.split(' ');
    words[Math.max(0, words.length - 1)] = `${words.at(-1) ?? ''}${first}`;
    words.push(...others);
  };
  for (const { 0: command, index } of text.matchAll(commandInText)) {
    addWords(text.slice(at, index));
    words[words.length - 1] = `${words.at(-1) ?? ''}${command}`;
    at = index + command.length;
  }
  addWords(text.slice(at));
  return words;
}

/** Colours and links take no column. */
function styledWidth(text: string): number {
  return textWidth(text.includes('\u001b') ? stripVTControlCharacters(text) : text);
}

/**
 * The lines of a note for a person, broken at spaces. Commands, and SQL that begins with a space,
 * stand as they are: people copy them. Without a width, the text as it is.
 */
export function wrapNote(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0] ?? '';
      const isCopied = /^(?: +(?:ktx|git|npm|[A-Z]{3,}) |ktx [a-z ]+ -)/.test(line);
      if (isCopied || indent.length > width / 2) return [line];
      return wrapText(line.trimStart(), width - indent.length).map((part) => `${indent}${part}`);
    })
    .join('\n');
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

/** Made at first use: they take 50 ms, and ASCII text does not need them. */
let segmenter: Intl.Segmenter | undefined;
let emoji: RegExp | undefined;

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
  emoji ??= new RegExp('^\\p{RGI_Emoji}$', 'v');
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1;
}
