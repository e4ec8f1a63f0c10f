import type { Screen } from '../terminal/screen.ts';
import { splitGraphemes, textWidth } from '../terminal/text-width.ts';

/** A piece of a paragraph. A text that is `\n` breaks the line. */
export interface StyledText {
  readonly text: string;
  readonly style: 'bold' | undefined;
}

/** Pieces without a space between them. */
type WrappedWord = StyledText[];

/** Lines of at most `width` columns, broken between words; a longer word is broken inside. */
export function wrapStyled(
  texts: readonly StyledText[],
  width: number,
  style: Screen['style'],
): readonly string[] {
  const lines: string[] = [];
  let [line, column] = ['', 0];
  const endLine = (): void => {
    lines.push(line);
    [line, column] = ['', 0];
  };
  const write = ({ text, style: name }: StyledText): void => {
    line += name === undefined ? text : style(name, text);
    column += textWidth(text);
  };
  const writeBroken = (word: WrappedWord): void => {
    for (const { text, style: name } of word)
      for (const grapheme of splitGraphemes(text)) {
        if (column + grapheme.width > width) endLine();
        write({ text: grapheme.text, style: name });
      }
  };
  for (const word of splitWords(texts)) {
    if (word === 'break') {
      endLine();
      continue;
    }
    const wordWidth = word.reduce((sum, { text }) => sum + textWidth(text), 0);
    const gap = column === 0 ? 0 : 1;
    const isLong = wordWidth > width;
    if (!isLong && column + gap + wordWidth > width) endLine();
    else if (gap > 0 && column < width) write({ text: ' ', style: undefined });
    if (isLong) writeBroken(word);
    else word.forEach(write);
  }
  if (line !== '' || lines.length === 0) endLine();
  return lines;
}

function splitWords(texts: readonly StyledText[]): readonly (WrappedWord | 'break')[] {
  const words: (WrappedWord | 'break')[] = [];
  let current: WrappedWord = [];
  const endWord = (): void => {
    if (current.length > 0) words.push(current);
    current = [];
  };
  for (const { text, style } of texts) {
    if (text === '\n') {
      endWord();
      words.push('break');
      continue;
    }
    for (const [index, part] of text.split(/ +/).entries()) {
      if (index > 0) endWord();
      if (part !== '') current.push({ text: part, style });
    }
  }
  endWord();
  return words;
}
