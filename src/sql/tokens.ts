import { UserError } from '../lib/error.ts';
import type { Span } from './analyzer.ts';

export interface Token extends Span {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'symbol';
  /** A word in lower case; a quoted name without its quotes; everything else as written. */
  readonly text: string;
}

const tokenPatterns: readonly (readonly [Token['kind'] | 'space', RegExp])[] = [
  ['space', /\s+/y],
  ['word', /[\p{L}_][\p{L}\p{N}_]*/uy],
  ['quoted', /"(?:[^"]|"")+"/y],
  ['string', /'(?:[^']|'')*'/y],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['symbol', /::|[^\s]/uy],
];

/**
 * The tokens of a SQL fragment that is to stand inside parentheses. Throws `sql_fragment` where it could reach out of them:
 * comments, semicolons, parentheses that do not pair up, quotes that do not close, strings with escapes of their own.
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const token = readToken(text, at);
    if (token === undefined)
      throw notAllowedError('sql_fragment', text, 'a character that cannot be read');
    if (token.kind !== 'space') tokens.push({ ...token, kind: token.kind });
    at = token.end;
  }
  checkTokens(text, tokens);
  return tokens;
}

function readToken(
  text: string,
  at: number,
): (Omit<Token, 'kind'> & { kind: Token['kind'] | 'space' }) | undefined {
  if (text.startsWith('--', at) || text.startsWith('/*', at))
    throw notAllowedError('sql_fragment', text, 'a comment');
  for (const [kind, pattern] of tokenPatterns) {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined)
      return { kind, text: tokenText(kind, match), start: at, end: at + match.length };
  }
  return undefined;
}

function tokenText(kind: Token['kind'] | 'space', text: string): string {
  if (kind === 'word') return text.toLowerCase();
  return kind === 'quoted' ? text.slice(1, -1).replaceAll('""', '"') : text;
}

function checkTokens(text: string, tokens: readonly Token[]): void {
  if (tokens.length === 0) throw notAllowedError('sql_fragment', text, 'nothing');
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    if (
      token.kind === 'word' &&
      next?.kind === 'string' &&
      next.start === token.end &&
      /^(e|b|x|n|r|q)$/.test(token.text)
    ) {
      throw notAllowedError('sql_fragment', text, `a string with the prefix ${token.text}`);
    }
    if (token.kind !== 'symbol') continue;
    if (`'";\`$?#\\\0`.includes(token.text))
      throw notAllowedError(
        'sql_fragment',
        text,
        token.text === ';' ? 'a semicolon' : `a stray ${token.text}`,
      );
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth < 0) break;
  }
  if (depth !== 0) throw notAllowedError('sql_fragment', text, 'a parenthesis without its partner');
}

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

export function isWord(token: Token | undefined, ...texts: string[]): boolean {
  return token?.kind === 'word' && texts.includes(token.text);
}
