import { gateRefusal, sqlSyntaxError } from '../../warehouse-error.ts';

interface TextToken {
  readonly kind: 'word' | 'name' | 'text' | 'symbol';
  readonly text: string;
}

/** What a text says by itself, before the server has parsed it. */
export interface StatementText {
  /** Lower case: the words before a `(`, and those that APPLY calls. */
  readonly called: ReadonlySet<string>;
}

const tokenPattern =
  /(?<space>\s+|(?:--|#[ !])[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/)|(?<text>'(?:[^'\\]|\\[^]|'')*'|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$)|(?<name>"(?:[^"\\]|\\[^]|"")*"|`(?:[^`\\]|\\[^]|``)*`)|(?<word>[a-z_][\w$]*)|(?<digits>\d+)|(?<symbol>[^])/giuy;

/** The server takes these for quotes. */
const typographicQuotes = /[‘’“”]/u;
/** The server's tree has names as they are, one line for each node. */
const unclearName = /[\p{C}\u2028\u2029]|\\[^\\"`]|\((?:alias|children) /u;

/**
 * Refuses what a read-only server would still do: write into a file, answer in another format,
 * change settings, run a second statement. Throws `gate_refused` or `sql_syntax`.
 */
export function checkStatementText(sql: string): StatementText {
  const tokens = tokenize(sql);
  const called = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    const [next, afterNext] = [tokens[index + 1], tokens[index + 2]];
    checkToken(token, next);
    if (token.kind !== 'word') continue;
    checkClause(token.text.toLowerCase(), next, afterNext);
    if (next?.text === '(') called.add(token.text.toLowerCase());
    if (/^apply$/i.test(token.text))
      for (const name of appliedNames(tokens, index)) called.add(name);
  }
  return { called };
}

function tokenize(sql: string): readonly TextToken[] {
  const tokens: TextToken[] = [];
  for (const match of sql.matchAll(tokenPattern)) {
    const { space, text, name, word, digits } = match.groups ?? {};
    if (space !== undefined) continue;
    const kind =
      text !== undefined
        ? 'text'
        : name !== undefined
          ? 'name'
          : word !== undefined
            ? 'word'
            : 'symbol';
    if (kind === 'symbol' && digits === undefined) checkSymbol(match[0]);
    tokens.push({ kind, text: match[0] });
  }
  return tokens;
}

function checkSymbol(symbol: string): void {
  if (typographicQuotes.test(symbol))
    throw gateRefusal('parse', `${symbol} outside of a text.`, `Write ' or " instead.`);
  if (/['"`]/.test(symbol))
    throw sqlSyntaxError(`The SQL cannot be parsed: a ${symbol} is never closed.`);
}

function checkToken({ kind, text }: TextToken, next: TextToken | undefined): void {
  if (text === ';' && next !== undefined && next.text !== ';')
    throw gateRefusal('statement', 'the text has more than one statement.');
  if (kind === 'name' && unclearName.test(text))
    throw gateRefusal('parse', 'a quoted name has characters that no name needs.');
}

function checkClause(
  word: string,
  next: TextToken | undefined,
  afterNext: TextToken | undefined,
): void {
  const nextWord = next?.kind === 'word' || next?.kind === 'name' ? next.text.toLowerCase() : '';
  if (word === 'into' && nextWord === 'outfile')
    throw gateRefusal('node', 'INTO OUTFILE writes a file.');
  if (word === 'settings' && nextWord !== '' && afterNext?.text === '=')
    throw gateRefusal('node', 'SETTINGS is not allowed; ktx sets its own.');
  if (word === 'format' && nextWord !== '')
    throw gateRefusal('node', 'FORMAT is not allowed; ktx asks for its own.');
}

/** The tree of the server does not name what APPLY calls. */
function appliedNames(tokens: readonly TextToken[], applyAt: number): readonly string[] {
  const names: string[] = [];
  let depth = 0;
  for (const token of tokens.slice(applyAt + 1)) {
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    const isFirst = names.length === 0;
    const isName = token.kind === 'word' || token.kind === 'name';
    if (isName && isFirst) names.push(token.text.replaceAll(/["`]/g, '').toLowerCase());
    if (depth <= 0 && !isFirst) break;
    if (depth <= 0 && names.length > 0) break;
  }
  return names;
}
