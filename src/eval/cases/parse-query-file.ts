export interface CommentedQuery {
  /** The comment above the statement; empty if there is none. */
  readonly question: string;
  readonly sql: string;
  /** Where the statement starts, from 1. */
  readonly line: number;
}

/** A comment, a quoted text, or any other single character. */
const token =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$[^]*?\$\1\$|[^]/gy;

/** The statements of a SQL file, each with the comment above it. A statement that is split wrongly fails when it runs. */
export function parseQueryFile(text: string): readonly CommentedQuery[] {
  const queries: CommentedQuery[] = [];
  let [comments, sql, start] = ['', '', 0];
  const endStatement = (): void => {
    if (sql.trim() !== '')
      queries.push({
        question: questionFromComments(comments),
        sql: sql.trim(),
        line: text.slice(0, start).split('\n').length,
      });
    [comments, sql] = ['', ''];
  };
  for (const match of text.matchAll(token)) {
    const [part] = match;
    const isComment = part.startsWith('--') || part.startsWith('/*');
    if (part === ';') endStatement();
    else if (sql.trim() !== '') sql += part;
    else if (isComment) comments += `${part}\n`;
    else if (part === '\n' && comments !== '' && isEmptyLine(text, match.index)) comments = '';
    else if (part.trim() !== '') [sql, start] = [part, match.index];
  }
  endStatement();
  return queries;
}

/** An empty line separates a heading of the file from the comment of a statement. */
function isEmptyLine(text: string, lineEnd: number): boolean {
  return /\n[ \t\r]*$/.test(text.slice(0, lineEnd));
}

function questionFromComments(comments: string): string {
  const lines = comments.replaceAll(/^\s*\/\*+|\*+\/\s*$/gm, '').split('\n');
  return lines
    .map((line) => line.replace(/^[\s*-]+/, '').trim())
    .filter((line) => line !== '')
    .join(' ');
}
