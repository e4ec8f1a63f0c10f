import { UserError } from '../lib/error.ts';
import type { Span } from './analyzer.ts';

export interface Token extends Span {
  readonly kind: TokenKind;
  /** A word in lower case; a quoted name without its quotes; anything else as written. */
  readonly text: string;
}

type TokenKind = 'word' | 'quoted' | 'string' | 'number' | 'symbol';

const tokenPatterns: readonly (readonly [TokenKind | 'space', RegExp])[] = [
  ['space', /\s+/y],
  ['word', /[\p{L}_][\p{L}\p{N}_]*/uy],
  ['quoted', /"(?:[^"]|"")+"/y],
  ['string', /'(?:[^']|'')*'/y],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['symbol', /::|[^\s]/uy],
];

/**
 * The tokens of a SQL fragment that will stand inside parentheses. Throws `sql_fragment` if it
 * could reach out of them: for comments, semicolons, unbalanced parentheses, unclosed quotes, and
 * strings with prefixes like e'…'.
 *
 * The parser has a tokenizer too. This one stays because most fragments need no more than it, and
 * so never load the parser (0.2 s), and because it refuses what dialects read differently before
 * any of them sees the text.
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let offset = 0; offset < text.length;) {
    const { kind, match } = readToken(text, offset);
    const end = offset + match.length;
    if (kind !== 'space') tokens.push({ kind, text: tokenText(kind, match), start: offset, end });
    offset = end;
  }
  checkTokens(text, tokens);
  return tokens;
}

function readToken(text: string, offset: number): { kind: TokenKind | 'space'; match: string } {
  if (text.startsWith('--', offset) || text.startsWith('/*', offset))
    throw notAllowedError('sql_fragment', text, 'a comment');
  for (const [kind, pattern] of tokenPatterns) {
    pattern.lastIndex = offset;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) return { kind, match };
  }
  throw notAllowedError('sql_fragment', text, 'a character that cannot be read');
}

function tokenText(kind: TokenKind, text: string): string {
  if (kind === 'word') return text.toLowerCase();
  return kind === 'quoted' ? text.slice(1, -1).replaceAll('""', '"') : text;
}

function checkTokens(text: string, tokens: readonly Token[]): void {
  if (tokens.length === 0) throw notAllowedError('sql_fragment', text, 'nothing');
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (isStringPrefix(token, tokens[index + 1]))
      throw notAllowedError('sql_fragment', text, `a string with the prefix ${token.text}`);
    if (token.kind !== 'symbol') continue;
    if (token.text === ';') throw notAllowedError('sql_fragment', text, 'a semicolon');
    if (`'"\`$?#\\\0`.includes(token.text))
      throw notAllowedError('sql_fragment', text, `a stray ${token.text}`);
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth < 0) break;
  }
  if (depth !== 0) throw notAllowedError('sql_fragment', text, 'an unbalanced parenthesis');
}

/** True for the `e` of e'…': engines read escapes in such a string. */
function isStringPrefix(token: Token, next: Token | undefined): boolean {
  const isBeforeString = next?.kind === 'string' && next.start === token.end;
  return isBeforeString && token.kind === 'word' && /^(e|b|x|n|r|q)$/.test(token.text);
}

/**
 * The error for a part of a fragment that is not allowed; `what` completes "The expression … has".
 */
export function notAllowedError(code: string, text: string, what: string): UserError {
  return new UserError(
    code,
    `The expression ${JSON.stringify(text)} has ${what}, which is not allowed here`,
    {
      hint: 'Write one plain SQL expression over fields.',
      exitCode: 2,
      details: code === 'not_supported' ? { feature: what } : undefined,
    },
  );
}

/** The index of the token that closes the parenthesis at `open`. */
export function findClosing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind !== 'symbol') continue;
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth === 0) return index;
  }
  return tokens.length - 1;
}

export function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === 'symbol' && token.text === text;
}

/** True for a word that is one of `texts`, which are in lower case. */
export function isWord(token: Token | undefined, ...texts: string[]): boolean {
  return token?.kind === 'word' && texts.includes(token.text);
}
