import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/** The tokens of a text as the server reads them: comments do not nest and end at any line end. */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--[^\r\n]*)|(?<text>'(?:[^']|'')*')|(?<name>"(?:[^"]|"")+")|(?<code>[^/\-'"]+|[^'"])/gy;

/** Characters that no query needs outside of quotes, and that the analyzer reads in its own way. */
const refusedCharacters = /[^\x20-\x7e\t\n\r\p{L}\p{N}]|[`@#$\\{}~&;]/u;

/**
 * The statement without a `;` at its end, as it is sent. Only code counts: a `;` in a text or a
 * comment stays.
 */
export function withoutLastSemicolon(sql: string): string {
  let last: number | undefined;
  for (const { 0: token, groups = {}, index } of textTokens(sql, { pattern: tokenPattern })) {
    if (groups['comment'] !== undefined || /^\s*$/.test(token)) continue;
    const [ending] = groups['code'] === undefined ? [] : (/;\s*$/.exec(token) ?? []);
    last = ending === undefined ? undefined : index + token.length - ending.length;
  }
  return last === undefined ? sql : `${sql.slice(0, last)} ${sql.slice(last + 1)}`;
}

/**
 * Returns a text of the same length that the analyzer and the server read alike: comments are
 * blank, and texts hold no character that could end them for the analyzer. Throws `gate_refused`
 * for characters that no query needs.
 */
export function normalizeForAnalyzer(sql: string): string {
  let normalized = '';
  for (const { 0: token, groups = {} } of textTokens(sql, { pattern: tokenPattern })) {
    const { comment, text, code } = groups;
    if (code !== undefined) checkCode(code);
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined) normalized += plainText(text);
    else normalized += token;
  }
  return normalized;
}

/**
 * The analyzer also knows texts like E'…', in which a backslash does not end them. Line ends stay,
 * so that it counts lines as people do.
 */
function plainText(text: string): string {
  return `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
}

function checkCode(code: string): void {
  const [character] = refusedCharacters.exec(code) ?? [];
  if (character === undefined) return;
  if (character === ';') throw gateRefusal('statement', 'the text has more than one statement.');
  throw gateRefusal('parse', `it has the character ${character} outside of quotes.`);
}
