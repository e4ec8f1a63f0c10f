import { renderTable } from '../terminal/table.ts';
import type { Screen } from '../terminal/screen.ts';
import { escapeControls, textWidth } from '../terminal/text-width.ts';

/** The text of an answer as a terminal shows it while it streams: lines broken between words, tables of Markdown aligned. */
export interface AnswerText {
  push(delta: string): void;
  /** Writes what was held back. */
  end(): void;
  /** True where the cursor is not at the start of a line. */
  isMidLine(): boolean;
}

export function openAnswerText(write: (text: string) => void, screen: Screen): AnswerText {
  const { width = Number.POSITIVE_INFINITY } = screen;
  let pending = '';
  let table: string[] = [];
  let column = 0;
  /** Of a line of the answer; one that was broken here goes on. */
  let isStart = true;
  let isCode = false;
  const put = (piece: string): void => {
    const isBroken = !isCode && column > 0 && piece !== '\n' && column + textWidth(piece) > width;
    // A line that was broken does not begin with the space that was there. Text of a model may quote what drives a
    // terminal; its lines stay lines.
    const said = piece === '\n' ? piece : escapeControls(isBroken ? piece.trimStart() : piece);
    write(isBroken ? `\n${said}` : said);
    column = piece === '\n' ? 0 : (isBroken ? 0 : column) + textWidth(said);
    isStart = piece === '\n';
  };
  const putTable = (): void => {
    const rendered = tableText(table, screen);
    table = [];
    if (rendered !== '') write(`${rendered}\n`);
  };
  /** Takes what can be shown already; false where more has to come first. */
  const step = (isEnd: boolean): boolean => {
    if (pending === '') return false;
    const first = isStart ? pending.charAt(0) : '';
    const end = pending.indexOf('\n');
    if (first === '`' || (first === '|' && !isCode)) {
      if (end < 0 && !isEnd) return false;
      const line = end < 0 ? pending : pending.slice(0, end);
      if (first === '|') {
        table.push(line);
        pending = pending.slice(line.length + 1);
        return true;
      }
      isCode = line.startsWith('```') ? !isCode : isCode;
    }
    if (table.length > 0) putTable();
    const [piece] =
      /^(?:\n|[^\S\n]*\S+(?=\s)|[^\S\n]+(?=\n))/.exec(pending) ?? (isEnd ? [pending] : []);
    if (piece === undefined) return false;
    pending = pending.slice(piece.length);
    put(piece);
    return true;
  };
  const take = (isEnd: boolean): void => {
    while (step(isEnd));
  };
  return {
    push(delta) {
      pending += delta;
      take(false);
    },
    end() {
      take(true);
      if (table.length > 0) putTable();
    },
    isMidLine: () => column > 0,
  };
}

const separator = /^\|(?:\s*:?-+:?\s*\|)+\s*$/;

/** Aligned where it is a table; as it came where it is none. */
function tableText(lines: readonly string[], screen: Screen): string {
  const [header = '', marks = '', ...rows] = lines;
  if (!separator.test(marks)) return lines.map(escapeControls).join('\n');
  const right = cellsOf(marks).map((mark) => mark.endsWith(':'));
  const columns = cellsOf(header).map((name, index) => ({
    name,
    type: right[index] === true ? 'decimal' : 'string',
  }));
  return renderTable(
    { columns, rows: rows.map((row) => columns.map((_, index) => cellsOf(row)[index] ?? '')) },
    screen,
  );
}

/** Of a row between its outer bars; a bar behind a backslash is text. */
function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
