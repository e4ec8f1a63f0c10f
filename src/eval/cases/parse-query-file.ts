export interface CommentedQuery {
  /** What the comment above it says; empty where there is none. */
  readonly question: string;
  readonly sql: string;
  /** From 1, of the statement. */
  readonly line: number;
}

const piece =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$[^]*?\$\1\$|[^]/gy;

/** The statements of a SQL file, each with the comment that stands before it. One that is cut wrong fails where it runs. */
export function parseQueryFile(text: string): readonly CommentedQuery[] {
  const found: CommentedQuery[] = [];
  let [comments, sql, from] = ['', '', 0];
  const end = (): void => {
    if (sql.trim() !== '')
      found.push({
        question: questionOf(comments),
        sql: sql.trim(),
        line: text.slice(0, from).split('\n').length,
      });
    [comments, sql] = ['', ''];
  };
  for (const match of text.matchAll(piece)) {
    const [part] = match;
    const isComment = part.startsWith('--') || part.startsWith('/*');
    if (part === ';') end();
    else if (sql.trim() !== '') sql += part;
    else if (isComment) comments += `${part}\n`;
    // An empty line parts a heading of the file from what is about the statement.
    else if (part === '\n' && /\n[ \t\r]*$/.test(text.slice(0, match.index)) && comments !== '')
      comments = '';
    else if (part.trim() !== '') [sql, from] = [part, match.index];
  }
  end();
  return found;
}

function questionOf(comments: string): string {
  const lines = comments.replaceAll(/^\s*\/\*+|\*+\/\s*$/gm, '').split('\n');
  return lines
    .map((line) => line.replace(/^[\s*-]+/, '').trim())
    .filter((line) => line !== '')
    .join(' ');
}
