import { isAggregateName } from './aggregate-calls.ts';
import type { Dialect } from './dialect.ts';
import { changingFunctions, fragmentKeywords, scalarFunctions } from './scalar-functions.ts';
import { isSymbol, isWord, notAllowedError, type Token } from './tokens.ts';

/** The function that stands for a metric in a condition on rows. */
export const metricFunction = 'metric_by';

/** How a fragment is parsed, and what it may contain. */
export interface FragmentOptions {
  readonly dialect: Dialect;
  /**
   * `model`: written by the project's people; may call any function without side effects. `query`:
   * from anyone; only listed functions and words.
   */
  readonly origin: 'model' | 'query';
  /** Words that are names here although they are SQL keywords: `both`, `rank`. */
  readonly names?: ReadonlySet<string>;
}

type FragmentOrigin = FragmentOptions['origin'];

/** Throws for the first token that a fragment may not contain. */
export function checkTokens(text: string, tokens: readonly Token[], origin: FragmentOrigin): void {
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    const next = tokens[index + 1];
    if (token.kind === 'word') checkWord(text, { token, before, next }, origin);
    if (token.kind === 'quoted' && isSymbol(next, '('))
      throw notAllowedError('function', text, 'a quoted function name');
    const isOtherOperator = token.kind === 'symbol' && !'().,=<>!+-*/%|::'.includes(token.text);
    if (origin === 'query' && isOtherOperator)
      throw notAllowedError('sql_fragment', text, `the operator ${token.text}`);
  }
}

interface WordInContext {
  readonly token: Token;
  readonly before: Token | undefined;
  readonly next: Token | undefined;
}

function checkWord(
  text: string,
  { token, before, next }: WordInContext,
  origin: FragmentOrigin,
): void {
  const isMember = isSymbol(before, '.') || isSymbol(next, '.');
  if (isWord(token, 'filter', 'within') && isSymbol(before, ')')) {
    const what = `${token.text.toUpperCase()} on an aggregate (use CASE WHEN inside it)`;
    throw notAllowedError('not_supported', text, what);
  }
  if (!isMember) checkKeyword(text, { token, before, next }, origin);
  if (isSymbol(next, '(') && !isAllowedFunction(token.text, { origin, isMember })) {
    const own = ownSpelling.get(token.text.toLowerCase());
    const note = own === undefined ? '' : ` (write ${own})`;
    throw notAllowedError('function', text, `the function ${token.text}${note}`);
  }
}

const distinctCount = 'count(DISTINCT x)';
const conditionalCount = 'count(CASE WHEN condition THEN 1 END)';

/** What other tools and engines have, and how it is written here. */
const ownSpelling: ReadonlyMap<string, string> = new Map([
  ['count_distinct', distinctCount],
  ['countdistinct', distinctCount],
  ['countd', distinctCount],
  ['approx_count_distinct', distinctCount],
  ['uniq', distinctCount],
  ['average', 'avg'],
  ['mean', 'avg'],
  ['count_if', conditionalCount],
  ['countif', conditionalCount],
  ['sum_if', 'sum(CASE WHEN condition THEN x END)'],
  ['sumif', 'sum(CASE WHEN condition THEN x END)'],
  ['percentile_cont', 'percentile(x, 0.9)'],
]);

function checkKeyword(
  text: string,
  { token, before, next }: WordInContext,
  origin: FragmentOrigin,
): void {
  if (isWord(token, 'select', 'with')) throw notAllowedError('subquery', text, 'a subquery');
  if (isWord(token, 'over') && before !== undefined)
    throw notAllowedError('window', text, 'a window function');
  const hasLength = next?.kind === 'string' || next?.kind === 'number';
  if (origin === 'query' && isWord(token, 'interval') && !hasLength)
    throw notAllowedError('sql_fragment', text, 'an interval without its length');
}

function isAllowedFunction(
  name: string,
  { origin, isMember }: { origin: FragmentOrigin; isMember: boolean },
): boolean {
  if (origin === 'model') return !changingFunctions.test(name);
  if (name === metricFunction && !isMember) return true;
  const isListed = scalarFunctions.has(name) || fragmentKeywords.has(name) || isAggregateName(name);
  return isListed && !isMember;
}

/**
 * Throws for text that the dialect reads differently from ktx. If a string ended at another place,
 * it could hide SQL; if an operator meant something else, other rows would count.
 */
export function checkDialectTexts(
  text: string,
  tokens: readonly Token[],
  { name, misread, pipesAreOr }: Dialect,
): void {
  const hasPipes = tokens.some(
    (token, index) => isSymbol(token, '|') && isSymbol(tokens[index + 1], '|'),
  );
  if (pipesAreOr === true && hasPipes) {
    const what = `||, which is OR for ${name} (write OR, or concat(…) to join texts)`;
    throw notAllowedError('sql_fragment', text, what);
  }
  const misreadText = tokens
    .filter(({ kind }) => kind === 'string' || kind === 'quoted')
    .map(({ start, end }) => text.slice(start, end))
    .find((literal) => misread?.test(literal));
  if (misreadText === undefined) return;
  const what = `the text ${misreadText}, whose backslash or doubled quote ${name} reads in its own way`;
  throw notAllowedError('sql_fragment', text, what);
}
