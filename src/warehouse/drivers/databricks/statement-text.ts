import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/**
 * The tokens of a text. Comments of the engine nest, and a backslash at the end of a line goes on
 * with the comment; both are refused.
 */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--[^\r\n]*)|(?<text>'(?:[^'\\]|\\[^])*')|(?<name>`(?:[^`]|``)+`)|(?<code>[^/\-'"`]+|[^'"`])/gy;
/** Characters that no query needs outside of quotes. */
const refusedCharacters = /[^\x20-\x7e\t\n\r\p{L}\p{N}]|[@#$\\{}?;]/u;
/** `r'…'` has no escapes. */
const unclearQuotes =
  "it has double quotes, which mean a text or a name by the settings of the server: write texts in '…' and names in `…`.";
const rawPrefix = /(?<![\w.])r$/i;

/**
 * Returns a text of the same length that the analyzer and the engine read alike: comments are
 * blank, and texts hold no character that could end them for the analyzer. Throws `gate_refused`
 * for what the two could read differently.
 */
export function normalizeForAnalyzer(sql: string): string {
  if (sql.includes('${')) throw gateRefusal('parse', 'it has a variable of the server: ${…}.');
  let normalized = '';
  let before = '';
  const statement = sql.replace(/;\s*$/, (end) => ` ${end.slice(1)}`);
  const otherFault = (at: number): string | undefined =>
    statement[at] === '"' ? unclearQuotes : undefined;
  for (const { 0: token, groups = {} } of textTokens(statement, {
    pattern: tokenPattern,
    otherFault,
  })) {
    const { comment, text, code } = groups;
    if (comment !== undefined) checkComment(comment);
    if (code !== undefined) checkCode(code);
    if (text !== undefined && rawPrefix.test(before))
      throw gateRefusal('parse', "it has a raw text, r'…'.", "Write it as '…'.");
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined) normalized += plainText(text);
    else normalized += token;
    before = code ?? '';
  }
  return normalized;
}

/** Line ends stay, so that the analyzer counts lines as people do. */
function plainText(text: string): string {
  return `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
}

function checkComment(comment: string): void {
  if (comment.startsWith('/*+')) throw gateRefusal('node', 'it has a hint.');
  if (comment.slice(2).includes('/*')) throw gateRefusal('parse', 'it has a comment in a comment.');
  if (comment.startsWith('--') && comment.includes('\\'))
    throw gateRefusal('parse', 'it has a comment with a backslash.');
}

function checkCode(code: string): void {
  const [character] = refusedCharacters.exec(code) ?? [];
  if (character === undefined) return;
  if (character === ';') throw gateRefusal('statement', 'the text has more than one statement.');
  throw gateRefusal('parse', `it has the character ${character} outside of quotes.`);
}
