import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/** The tokens of a text as the server reads them under the session's `sql_mode`. */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--(?=[\t\n\v\f\r ]|$)[^\n]*|#[^\n]*)|(?<text>'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*")|(?<name>`(?:[^`]|``)+`)|(?<code>--|[^/\-#'"`]+|[^'"`])/gy;

/**
 * Reserved words that no query has outside of quotes. A number may stand right before one
 * (`1e1INTO`).
 */
const refusedWords =
  /(?<![\p{L}_$])(?:into|outfile|dumpfile|procedure|lock|update|delete|insert(?!\s*\()|load|call|kill|grant|revoke|purge|analyze)(?![\w$])/iu;
/** The only variable that compiled queries read. */
const timeZoneVariable = /@@session\.time_zone\b/gi;

/**
 * Returns a text of the same length that the analyzer and the server read alike: comments are
 * blank, and string literals hold no character that could end them for the analyzer. (To the
 * server, `--` starts a comment only before a space, and comments do not nest.) Refuses hints,
 * comments that the server executes, variables, and words that no query needs.
 */
export function normalizeForAnalyzer(sql: string): string {
  let normalized = '';
  let code = '';
  for (const { 0: token, groups = {} } of textTokens(sql, { pattern: tokenPattern })) {
    const { comment, text, name } = groups;
    if (comment !== undefined && /^\/\*(?:M?!|\+)/.test(comment))
      throw gateRefusal('node', 'it has a hint, or a comment that the server executes.');
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined)
      normalized += `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
    else normalized += normalizeCode(token);
    const isCode = comment === undefined && text === undefined && name === undefined;
    code += isCode ? token : ' ';
  }
  checkCode(code.replaceAll(timeZoneVariable, ' '));
  return normalized;
}

/** The analyzer reads `@@` and `--` differently from the server, and does not know `!` for NOT. */
function normalizeCode(token: string): string {
  return token
    .replaceAll(/!(?!=)/g, '~')
    .replaceAll(timeZoneVariable, (variable) => variable.replaceAll(/[@.]/g, '_'))
    .replace('--', '-+');
}

/** `code` is the text without comments, literals and quoted names. */
function checkCode(code: string): void {
  if (/@|:=/.test(code))
    throw gateRefusal('node', 'it has a variable.', 'Write the value into the query.');
  if (/[^\x20-\x7e\t\n\v\f\r\p{L}\p{N}]/u.test(code))
    throw gateRefusal('parse', 'it has a character that no query needs outside of quotes.');
  const word = refusedWords.exec(code)?.[0];
  if (word !== undefined)
    throw gateRefusal(
      'statement',
      `it has the word ${word.toUpperCase()}.`,
      'If it is a name, quote it with backticks.',
    );
}
