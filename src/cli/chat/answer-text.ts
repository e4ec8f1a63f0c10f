import { renderMarkdown } from '../markdown/render-markdown.ts';
import type { Screen } from '../terminal/screen.ts';

/**
 * Shows the text of an answer in a terminal while it streams: each paragraph, list or table when it
 * is complete, without marks of Markdown.
 */
export interface AnswerText {
  push(delta: string): void;
  /** Writes what is still buffered. */
  end(): void;
}

export function openAnswerText(write: (text: string) => void, screen: Screen): AnswerText {
  /** The complete lines of a block, and the line that is arriving. */
  let block: string[] = [];
  let line = '';
  let hasBlank = false;
  let isCode = false;
  let isFirst = true;
  const writeBlock = (): void => {
    const lines = renderMarkdown(block.join('\n'), screen);
    block = [];
    hasBlank = false;
    if (lines.length === 0) return;
    write(`${isFirst ? '' : '\n'}${lines.join('\n')}\n`);
    isFirst = false;
  };
  /** After an empty line, a line that is not indented begins the next block. */
  const endBlockBefore = (next: string): void => {
    if (hasBlank && !isCode && /^\S/.test(next)) writeBlock();
  };
  const takeLine = (): void => {
    endBlockBefore(line);
    const isBlank = line.trim() === '';
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    hasBlank = isBlank && !isCode && block.length > 0;
    block.push(line);
    line = '';
  };
  return {
    push(delta) {
      const [first = '', ...rest] = delta.split('\n');
      line += first;
      for (const text of rest) {
        takeLine();
        line = text;
      }
      endBlockBefore(line);
    },
    end() {
      if (line !== '') takeLine();
      writeBlock();
      [isCode, isFirst] = [false, true];
    },
  };
}
