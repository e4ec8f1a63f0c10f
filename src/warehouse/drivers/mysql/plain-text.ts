import { refused } from '../../failure.ts';

/** The pieces of a text as the server reads them under the `sql_mode` of the session: comments, texts, quoted names, the rest. */
const pieces =
  /(?<comment>\/\*[^]*?\*\/|--(?=[\t\n\v\f\r ]|$)[^\n]*|#[^\n]*)|(?<text>'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*")|(?<name>`(?:[^`]|``)+`)|(?<code>--|[^/\-#'"`]+|[^'"`])/gy;

/** Words that no query has outside of quotes: the server reserves them. A number may stand right before one (`1e1INTO`). */
const never =
  /(?<![\p{L}_$])(?:into|outfile|dumpfile|procedure|lock|update|delete|insert(?!\s*\()|load|call|kill|grant|revoke|purge|analyze)(?![\w$])/iu;
/** The one variable that compiled queries read. */
const timeZone = /@@session\.time_zone\b/gi;

/**
 * The text with its places kept, but without what the analyzer reads otherwise than the server: comments are blank (`--` starts
 * one only before a space, and none holds another), texts hold nothing that could end them. Refuses what a server executes
 * although it looks like a comment, hints, variables, and words that no query has.
 */
export function plainText(sql: string): string {
  let code = '';
  let plain = '';
  for (const { 0: piece, groups = {} } of piecesOf(sql)) {
    const { comment, text, name } = groups;
    if (comment !== undefined && /^\/\*(?:M?!|\+)/.test(comment))
      throw refused('node', 'a comment that the server executes, or a hint.');
    if (comment !== undefined) plain += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined)
      plain += `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
    else
      plain += piece
        .replaceAll(timeZone, (word) => word.replaceAll(/[@.]/g, '_'))
        .replace('--', '-+');
    code += comment === undefined && text === undefined && name === undefined ? piece : ' ';
  }
  const rest = code.replaceAll(timeZone, ' ');
  if (/@|:=/.test(rest)) throw refused('node', 'a variable.', 'Write the value into the query.');
  if (/[^\x20-\x7e\t\n\v\f\r\p{L}\p{N}]/u.test(rest))
    throw refused('parse', 'a character outside of quotes that no query needs.');
  const word = never.exec(rest)?.[0];
  if (word !== undefined)
    throw refused(
      'statement',
      `it has the word ${word.toUpperCase()}.`,
      'If it is a name, quote it with backticks.',
    );
  return plain;
}

/** Throws where a quote or a comment does not end. */
function* piecesOf(sql: string): Generator<RegExpExecArray> {
  pieces.lastIndex = 0;
  for (let at = 0; at < sql.length; at = pieces.lastIndex) {
    const piece = pieces.exec(sql);
    if (piece === null) throw refused('parse', 'a quote that does not end.');
    if (piece[0] === '/' && sql[at + 1] === '*')
      throw refused('parse', 'a comment that does not end.');
    yield piece;
  }
}
