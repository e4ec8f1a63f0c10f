import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/**
 * The tokens of a text as Snowflake reads them. Its comments do not nest. A `$$` behind a letter is
 * a part of a name.
 */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--[^\n]*|\/\/[^\n]*)|(?<text>'(?:[^'\\]|\\[^]|'')*')|(?<dollars>(?<![\p{L}\p{N}_$])\$\$[^]*?\$\$)|(?<name>"(?:[^"]|"")+")|(?<code>[^/\-'"$]+|\$(?!\$)|[/-])/guy;
const tokenRules = {
  pattern: tokenPattern,
  otherFault: () => 'a quote does not end, or $$ stands behind a name.',
};

/** Words that no query has outside of quotes, and functions that do more than compute. */
const refusedWords =
  /(?<![\p{L}\p{N}_$.])(?:into|call|execute|system\$\w*|identifier(?=\s*\()|result_scan|semantic_view)(?![\p{L}\p{N}_$])|(?<=\.\s*)(?:nextval|currval)(?![\p{L}\p{N}_$])/iu;

/** `TABLE(…)` of something that is no call: of a text, a variable, a name. */
const tableOfNoCall = /(?<![\p{L}\p{N}_$])table\s*\((?!\s*[a-z_]\w*\s*\()/iu;

/**
 * Returns a text of the same length that the analyzer and Snowflake read alike: comments are blank,
 * and string literals hold no character that could end them for the analyzer. Refuses stages,
 * variables, sequences, chained statements, and words that no query needs.
 */
export function normalizeForAnalyzer(sql: string): string {
  let normalized = '';
  let code = '';
  for (const { 0: token, groups = {} } of textTokens(sql, tokenRules)) {
    const { comment, text, dollars, name } = groups;
    if (comment !== undefined) checkComment(comment);
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined) normalized += `'${withoutSpecials(text.slice(1, -1))}'`;
    else if (dollars !== undefined) normalized += `'${withoutSpecials(dollars.slice(1, -1))}'`;
    else normalized += token;
    code += groups['code'] ?? (name === undefined ? ' ' : nameInCode(name));
  }
  checkCode(code);
  return normalized;
}

/** Whether a carriage return alone ends a comment of Snowflake is not known. */
function checkComment(comment: string): void {
  if (!comment.startsWith('/*') && /\r(?!$)/.test(comment))
    throw gateRefusal('parse', 'a comment has a carriage return in it.', 'End lines with \\n.');
}

/**
 * A quoted name stays as a letter, so that what stands before it is seen. `s."NEXTVAL"` counts a
 * sequence up like `s.nextval`.
 */
function nameInCode(name: string): string {
  return /^"(?:NEXTVAL|CURRVAL)"$/.test(name) ? name.slice(1, -1) : 'x';
}

function withoutSpecials(text: string): string {
  return text.replaceAll(/[^\w\s%:.,+@/-]/g, '_');
}

/** `code` is the text without comments and literals. */
function checkCode(code: string): void {
  if (code.includes('@'))
    throw gateRefusal('node', 'it reads files of a stage.', 'Read a table of the catalog.');
  if (/(?<![\p{L}\p{N}_])\$[\p{L}\p{N}_]|:=|\?/u.test(code))
    throw gateRefusal('node', 'it has a variable.', 'Write the value into the query.');
  if (/->>|!(?!=)/.test(code))
    throw gateRefusal('node', 'it calls a method, or chains statements.');
  if (/[^\x20-\x7e\t\n\v\f\r\p{L}\p{N}]/u.test(code))
    throw gateRefusal('parse', 'it has a character that no query needs outside of quotes.');
  if (tableOfNoCall.test(code))
    throw gateRefusal('table', 'TABLE( ) has no call of a function.', 'Write the name alone.');
  const word = refusedWords.exec(code)?.[0];
  if (word !== undefined)
    throw gateRefusal(
      'statement',
      `it has the word ${word.toUpperCase()}.`,
      `If it is a name, write it as "${word.toUpperCase()}".`,
    );
}
