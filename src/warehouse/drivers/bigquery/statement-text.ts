import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/**
 * The tokens of a text as BigQuery reads them. Comments do not nest, and end at any line end. A
 * backslash hides the character behind it, in raw texts (`r'…'`) too.
 */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--[^\r\n]*|#[^\r\n]*)|(?<text>'''(?:[^\\]|\\[^])*?'''|"""(?:[^\\]|\\[^])*?"""|'(?:[^'\\\r\n]|\\[^])*'|"(?:[^"\\\r\n]|\\[^])*")|(?<name>`[^`\\\r\n]+`)|(?<code>[^/\-#'"`]+|[/-])/gy;
const tokenRules = {
  pattern: tokenPattern,
  otherFault: () => 'a quote does not end, or a name in backticks has a backslash.',
};
/** Characters that no query needs outside of quotes. */
const refusedCharacters = /[^\x20-\x7e\t\n\r\p{L}\p{N}]|[\\$]/u;
/** The analyzer does not know that both may stand before a text. */
const doublePrefix = /(?<![\w.])(?:rb|br)$/i;

/**
 * Returns a text of the same length that the analyzer and BigQuery read alike: comments are blank,
 * and texts hold no character that could end them for the analyzer. Throws `gate_refused` for what
 * the two could read differently.
 */
export function normalizeForAnalyzer(sql: string): string {
  let normalized = '';
  for (const { 0: token, groups = {} } of textTokens(sql, tokenRules)) {
    const { comment, text, code } = groups;
    if (code !== undefined) checkCode(code);
    if (comment !== undefined) normalized += comment.replaceAll(/[^\n]/g, ' ');
    else if (text !== undefined)
      normalized = normalized.replace(doublePrefix, '  ') + plainText(text);
    else normalized += token;
  }
  return normalized;
}

/** Line ends stay, so that the analyzer counts lines as people do. */
function plainText(text: string): string {
  return `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
}

/** What the analyzer cannot read, with what to write instead. */
const unreadClauses: readonly (readonly [pattern: RegExp, what: string, hint: string])[] = [
  [/\bFOR\s+SYSTEM_TIME\b/i, 'a time travel (FOR SYSTEM_TIME)', 'Read the table as it is now.'],
  [/\|>/, 'pipe syntax (|>)', 'Write it as SELECT … FROM … WHERE ….'],
];

function checkCode(code: string): void {
  for (const [pattern, what, hint] of unreadClauses)
    if (pattern.test(code)) throw gateRefusal('parse', `it has ${what}.`, hint);
  const [character] = refusedCharacters.exec(code) ?? [];
  if (character !== undefined)
    throw gateRefusal('parse', `it has the character ${character} outside of quotes.`);
}
