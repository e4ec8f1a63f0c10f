import type { Screen } from '../terminal/screen.ts';
import { splitGraphemes, textWidth } from '../terminal/text-width.ts';

/** A piece of a paragraph. A text that is `\n` breaks the line. */
export interface StyledText {
  readonly text: string;
  readonly style: 'bold' | undefined;
  /** What the text opens. */
  readonly address?: string;
}

/** Pieces without a space between them. */
type WrappedWord = StyledText[];

/** Lines of at most `width` columns, broken between words; a longer word is broken inside. */
export function wrapStyled(
  texts: readonly StyledText[],
  width: number,
  { style, link }: Pick<Screen, 'style' | 'link'>,
): readonly string[] {
  const lines: string[] = [];
  let [line, column] = ['', 0];
  const endLine = (): void => {
    lines.push(line);
    [line, column] = ['', 0];
  };
  const write = ({ text, style: name, address }: StyledText): void => {
    const styled = name === undefined ? text : style(name, text);
    line += address === undefined ? styled : link(address, styled);
    column += textWidth(text);
  };
  const writeBroken = (word: WrappedWord): void => {
    for (const piece of word) {
      let part = '';
      for (const { text, width: columns } of splitGraphemes(piece.text)) {
        if (column + textWidth(part) + columns > width) {
          write({ ...piece, text: part });
          part = '';
          endLine();
        }
        part += text;
      }
      write({ ...piece, text: part });
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
  for (const piece of texts) {
    const { text } = piece;
    if (text === '\n') {
      endWord();
      words.push('break');
      continue;
    }
    for (const [index, part] of text.split(/ +/).entries()) {
      if (index > 0) endWord();
      if (part !== '') current.push({ ...piece, text: part });
    }
  }
  endWord();
  return words;
}
