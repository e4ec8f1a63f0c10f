import type { Screen } from '../terminal/screen.ts';
import { renderTable } from '../terminal/table.ts';
import { escapeControls, textWidth } from '../terminal/text-width.ts';

/**
 * Formats the text of an answer for a terminal while it streams: breaks lines between words, aligns
 * Markdown tables.
 */
export interface AnswerText {
  push(delta: string): void;
  /** Writes what is still buffered. */
  end(): void;
  /** True if the cursor is not at the start of a line. */
  isMidLine(): boolean;
}

export function openAnswerText(write: (text: string) => void, screen: Screen): AnswerText {
  const { width = Number.POSITIVE_INFINITY } = screen;
  let pending = '';
  let tableLines: string[] = [];
  let column = 0;
  /** At the start of a line of the answer; a line that was broken here continues. */
  let isLineStart = true;
  let isCodeBlock = false;
  const writePiece = (piece: string): void => {
    const isLineEnd = piece === '\n';
    const needsBreak =
      !isCodeBlock && column > 0 && !isLineEnd && column + textWidth(piece) > width;
    // The space before a broken word is dropped. Control characters of a model are escaped.
    const text = isLineEnd ? piece : escapeControls(needsBreak ? piece.trimStart() : piece);
    write(needsBreak ? `\n${text}` : text);
    column = isLineEnd ? 0 : (needsBreak ? 0 : column) + textWidth(text);
    isLineStart = isLineEnd;
  };
  const writeTable = (): void => {
    if (tableLines.length === 0) return;
    write(`${renderMarkdownTable(tableLines, screen)}\n`);
    tableLines = [];
  };
  /**
   * Takes a whole line that begins with a bar or a backquote. `text` is a line to be written like
   * any other.
   */
  const takeMarkedLine = (first: string, isEnd: boolean): 'wait' | 'taken' | 'text' => {
    const end = pending.indexOf('\n');
    if (end < 0 && !isEnd) return 'wait';
    const line = end < 0 ? pending : pending.slice(0, end);
    if (first === '|') {
      tableLines.push(line);
      pending = pending.slice(line.length + 1);
      return 'taken';
    }
    if (line.startsWith('```')) isCodeBlock = !isCodeBlock;
    return 'text';
  };
  /** Writes the next word or line. Returns false if there is none until more text arrives. */
  const writeNext = (isEnd: boolean): boolean => {
    if (pending === '') return false;
    const first = isLineStart ? pending.charAt(0) : '';
    if (first === '`' || (first === '|' && !isCodeBlock)) {
      const result = takeMarkedLine(first, isEnd);
      if (result !== 'text') return result === 'taken';
    }
    writeTable();
    const [piece] =
      /^(?:\n|[^\S\n]*\S+(?=\s)|[^\S\n]+(?=\n))/.exec(pending) ?? (isEnd ? [pending] : []);
    if (piece === undefined) return false;
    pending = pending.slice(piece.length);
    writePiece(piece);
    return true;
  };
  const writeAll = (isEnd: boolean): void => {
    while (writeNext(isEnd));
  };
  return {
    push(delta) {
      pending += delta;
      writeAll(false);
    },
    end() {
      writeAll(true);
      writeTable();
    },
    isMidLine: () => column > 0,
  };
}

const separatorLine = /^\|(?:\s*:?-+:?\s*\|)+\s*$/;

/** Aligned columns; lines that are not a table stay as they are. */
function renderMarkdownTable(lines: readonly string[], screen: Screen): string {
  const [header = '', separator = '', ...rows] = lines;
  if (!separatorLine.test(separator)) return lines.map(escapeControls).join('\n');
  const isRightAligned = splitTableRow(separator).map((mark) => mark.endsWith(':'));
  const columns = splitTableRow(header).map((name, index) => ({
    name,
    type: isRightAligned[index] ? 'decimal' : 'string',
  }));
  const cells = rows.map((row) => {
    const texts = splitTableRow(row);
    return columns.map((_, index) => texts[index] ?? '');
  });
  return renderTable({ columns, rows: cells }, screen);
}

/** The cells between the outer bars; `\|` is a bar in a text. */
function splitTableRow(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
