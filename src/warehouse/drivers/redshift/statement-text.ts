import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/**
 * The tokens of a text as Redshift reads them, if no text has `\'` in it. A carriage return ends a
 * comment too.
 */
const tokenPattern =
  /(?<comment>\/\*(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/|--[^\r\n]*)|(?<text>'(?:[^']|'')*')|(?<name>"(?:[^"]|"")+")|(?<code>[^/\-'"]+|[^'"])/gy;

/**
 * An odd number of backslashes before a quote. Whether it ends the text there depends on whether
 * the server reads a backslash as an escape; with an even number, or none, both readings agree.
 */
const escapedQuote = /(?<!\\)(?:\\\\)*\\'/;

/** Words that no query has outside of quotes. A number may stand right before one (`1e1INTO`). */
const refusedWords =
  /(?<![\p{L}_$])(?:into|unload|copy|call|insert|update|delete|merge|truncate|create|alter|drop|grant|revoke|vacuum|analyze|lock|execute|prepare|deallocate|declare|fetch|cancel|set|reset|reg(?:class|procedure|proc|operator|oper|type|role|namespace|config|dictionary))(?![\w$])/iu;

/**
 * Returns a text of the same length that parsers and the server read alike: comments are blank, and
 * string literals hold no character that could end them for a parser. Refuses words that no query
 * needs, and what parsers read in different ways.
 */
export function normalizeText(sql: string): string {
  if (escapedQuote.test(sql))
    throw gateRefusal('parse', "it has a backslash before a quote; write '' for a quote.");
  let normalized = '';
  let code = '';
  for (const { 0: token, groups = {} } of textTokens(sql, { pattern: tokenPattern })) {
    const { comment, text, name } = groups;
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined)
      normalized += `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
    else normalized += token;
    if (comment !== undefined || text !== undefined) code += ' ';
    else code += name === undefined ? token : '""';
  }
  checkCode(code);
  return normalized;
}

/** `code` is the text without comments and literals, and with quoted names empty. */
function checkCode(code: string): void {
  if (code.includes('$')) throw gateRefusal('parse', 'it has a $ outside of quotes.');
  if (/[^\x20-\x7e\t\n\v\f\r\p{L}\p{N}]/u.test(code))
    throw gateRefusal('parse', 'it has a character that no query needs outside of quotes.');
  if (/[)]\s*[.]\s*[\p{L}_"]/u.test(code))
    throw gateRefusal(
      'node',
      'it takes a field of an expression in parentheses, which may call a function.',
      'Give the expression a name in a subquery.',
    );
  const word = refusedWords.exec(code)?.[0];
  if (word !== undefined)
    throw gateRefusal(
      'statement',
      `it has the word ${word.toUpperCase()}.`,
      'If it is a name, put it in double quotes.',
    );
}
