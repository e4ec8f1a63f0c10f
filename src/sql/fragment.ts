import { isRecord } from '../lib/json.ts';
import { asNode, parseSql, type Span, walkSql } from './analyzer.ts';
import type { Dialect } from './dialect.ts';
import {
  changingFunctions,
  fragmentKeywords,
  reservedWords,
  scalarFunctions,
} from './scalar-functions.ts';
import { findClosing, isSymbol, isWord, notAllowedError, type Token, tokenize } from './tokens.ts';

/** A column or metric by its name: `orders.status`, `orders."Ship Date"`. */
export interface ColumnReference extends Span {
  readonly parts: readonly string[];
  /** The last part as written, quotes included. */
  readonly written: string;
}

export interface AggregateCall extends Span {
  readonly function:
    | 'sum'
    | 'count'
    | 'count_distinct'
    | 'avg'
    | 'min'
    | 'max'
    | 'median'
    | 'percentile';
  /** Undefined for `count(*)`. */
  readonly argument: Span | undefined;
  readonly fraction: number | undefined;
}

/** A name in a fragment of the model that stands for a value, `param.currency`; `bound` says which, for one query. */
export interface ParameterReference extends Span {
  readonly name: string;
  readonly bound?: BoundParameter;
}

interface BoundParameter {
  readonly address: string;
  /** Undefined where none was given. */
  readonly value: string | number | boolean | undefined;
  readonly choices: readonly string[];
}

/** What is known of a SQL fragment. Spans are UTF-16 offsets into `text`. */
export interface Fragment {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly references: readonly ColumnReference[];
  /** Outermost; an aggregate inside another is refused. */
  readonly aggregates: readonly AggregateCall[];
  /** The operands of AND at the top level; one where there is none, or an OR. */
  readonly conjuncts: readonly Span[];
  /** The `/` of every division that could be one of whole numbers. */
  readonly divisions: readonly Span[];
  /** Absent where there are none. */
  readonly parameters?: readonly ParameterReference[];
}

export interface FragmentOptions {
  readonly dialect: Dialect;
  /** `model`: written by the project's people, any function without side effects. `query`: from anyone, listed functions and words only. */
  readonly origin: 'model' | 'query';
  /** Words that are names here whatever the grammar thinks of them: `both`, `rank`. */
  readonly names?: ReadonlySet<string>;
}

const aggregateNames = ['sum', 'count', 'avg', 'min', 'max', 'median', 'percentile'] as const;
const fragmentCache = new Map<string, Fragment>();

/** Throws `sql_fragment`, `function`, `subquery`, `window`, `not_supported` or `sql_syntax`. Runs inside `withAnalyzer`. */
export function parseFragment(text: string, use: FragmentOptions): Fragment {
  const key = JSON.stringify([use.origin, use.dialect.analyzer, text, ...(use.names ?? [])]);
  const known = fragmentCache.get(key);
  if (known !== undefined) return known;
  if (fragmentCache.size > 20_000) fragmentCache.clear();
  const fragment = analyze(text, use);
  fragmentCache.set(key, fragment);
  return fragment;
}

function analyze(given: string, use: FragmentOptions): Fragment {
  const text = use.origin === 'query' ? withoutSoftWords(given, use) : given;
  const tokens = tokenize(text);
  checkWords(text, tokens, use.origin);
  checkTexts(text, tokens, use.dialect);
  const aggregates = findAggregateCalls(text, tokens);
  const references = findReferences(text, findDottedNames(text, tokens), { ...use, tokens });
  return {
    text,
    tokens,
    references,
    aggregates,
    conjuncts: splitConjuncts(tokens, { start: 0, end: text.length }),
    divisions: tokens.filter(isDivision),
  };
}

/** A word of the grammar gives way to a column of its name, which a query may not know: something else stands for it. */
function withoutSoftWords(
  text: string,
  { dialect: { softWords }, names }: FragmentOptions,
): string {
  if (softWords === undefined) return text;
  const tokens = tokenize(text);
  return tokens.reduceRight((done, token, index) => {
    const word =
      token.kind === 'word' && names?.has(text.slice(token.start, token.end)) !== true
        ? softWords[token.text]
        : undefined;
    const isMember =
      isSymbol(tokens[index - 1], '.') ||
      isSymbol(tokens[index + 1], '.') ||
      isSymbol(tokens[index + 1], '(');
    // `x IS TRUE` is a form of its own.
    const isForm =
      /^(true|false)$/.test(token.text) &&
      isWord(tokens[index - (isWord(tokens[index - 1], 'not') ? 2 : 1)], 'is');
    return word === undefined || isMember || isForm
      ? done
      : done.slice(0, token.start) + word + done.slice(token.end);
  }, text);
}

/** Not `//`, not an operator like `|/`, and with no decimal literal beside it, which makes the division a real one. */
function isDivision(token: Token, index: number, tokens: readonly Token[]): boolean {
  const [before, after] = [tokens[index - 1], tokens[index + 1]];
  if (!isSymbol(token, '/') || before === undefined || isSymbol(after, '/')) return false;
  const isDecimal = [before, after].some(
    (side) => side?.kind === 'number' && /[.e]/i.test(side.text),
  );
  return !isDecimal && (before.kind !== 'symbol' || ')]'.includes(before.text));
}

function checkWords(
  text: string,
  tokens: readonly Token[],
  origin: FragmentOptions['origin'],
): void {
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    const isMember = isSymbol(tokens[index - 1], '.') || isSymbol(next, '.');
    if (isWord(token, 'select', 'with') && !isMember)
      throw notAllowedError('subquery', text, 'a subquery');
    if (isWord(token, 'over') && index > 0 && !isMember)
      throw notAllowedError('window', text, 'a window function');
    if (isWord(token, 'filter', 'within') && isSymbol(tokens[index - 1], ')')) {
      throw notAllowedError(
        'not_supported',
        text,
        `${token.text.toUpperCase()} on an aggregate (use CASE WHEN inside it)`,
      );
    }
    const isCall = isSymbol(next, '(');
    if (
      origin === 'query' &&
      isWord(token, 'interval') &&
      !isMember &&
      next?.kind !== 'string' &&
      next?.kind !== 'number'
    ) {
      throw notAllowedError('sql_fragment', text, 'an interval without its length');
    }
    if (token.kind === 'quoted' && isCall)
      throw notAllowedError('function', text, 'a quoted function name');
    if (token.kind === 'word' && isCall) checkFunction(text, token.text, { origin, isMember });
    if (token.kind === 'symbol' && origin === 'query' && !'().,=<>!+-*/%|::'.includes(token.text)) {
      throw notAllowedError('sql_fragment', text, `the operator ${token.text}`);
    }
  }
}

/** Where the engine sees another end of a text than ktx, SQL could hide in it; where it sees another operator, other rows count. */
function checkTexts(
  text: string,
  tokens: readonly Token[],
  { name, misread, pipesAreOr }: Dialect,
): void {
  if (
    pipesAreOr === true &&
    tokens.some((token, index) => isSymbol(token, '|') && isSymbol(tokens[index + 1], '|'))
  ) {
    throw notAllowedError(
      'sql_fragment',
      text,
      `||, which is OR for ${name} (write OR, or concat(…) to join texts)`,
    );
  }
  const texts = tokens
    .filter(({ kind }) => kind === 'string' || kind === 'quoted')
    .map(({ start, end }) => text.slice(start, end));
  const refused = texts.find((one) => misread?.test(one));
  if (refused !== undefined)
    throw notAllowedError(
      'sql_fragment',
      text,
      `the text ${refused}, whose backslash or doubled quote ${name} reads in its own way`,
    );
}

function checkFunction(
  text: string,
  name: string,
  use: { origin: FragmentOptions['origin']; isMember: boolean },
): void {
  const isListed = scalarFunctions.has(name) || fragmentKeywords.has(name) || isAggregate(name);
  const isAllowed =
    use.origin === 'model' ? !changingFunctions.test(name) : isListed && !use.isMember;
  if (!isAllowed) throw notAllowedError('function', text, `the function ${name}`);
}

function isAggregate(name: string): name is (typeof aggregateNames)[number] {
  return aggregateNames.some((candidate) => candidate === name);
}

function findAggregateCalls(text: string, tokens: readonly Token[]): readonly AggregateCall[] {
  const calls: AggregateCall[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind !== 'word' || !isAggregate(token.text)) continue;
    if (!isSymbol(tokens[index + 1], '(') || isSymbol(tokens[index - 1], '.')) continue;
    const close = findClosing(tokens, index + 1);
    calls.push(parseAggregateCall(text, token.text, tokens.slice(index, close + 1)));
    index = close;
  }
  return calls;
}

/** `tokens` are those of the call: name, parenthesis, arguments, parenthesis. */
function parseAggregateCall(
  text: string,
  name: (typeof aggregateNames)[number],
  tokens: readonly Token[],
): AggregateCall {
  const call = { start: tokens[0]?.start ?? 0, end: tokens.at(-1)?.end ?? 0 };
  const distinct = isWord(tokens[2], 'distinct');
  let inner = tokens.slice(distinct ? 3 : 2, -1);
  if (
    inner.some(
      (token, index) =>
        token.kind === 'word' && isAggregate(token.text) && isSymbol(inner[index + 1], '('),
    )
  ) {
    throw notAllowedError(
      'not_supported',
      text,
      'an aggregate inside an aggregate (nested aggregation)',
    );
  }
  if (name === 'count' && inner.length === 1 && isSymbol(inner[0], '*') && !distinct) {
    return { ...call, function: 'count', argument: undefined, fraction: undefined };
  }
  let fraction: number | undefined;
  if (name === 'percentile') {
    fraction = Number(inner.at(-1)?.text);
    if (!isSymbol(inner.at(-2), ',') || !(fraction >= 0 && fraction <= 1)) {
      throw notAllowedError(
        'sql_fragment',
        text,
        'a percentile without a fraction (write percentile(amount, 0.9))',
      );
    }
    inner = inner.slice(0, -2);
  }
  const [first, last] = [inner[0], inner.at(-1)];
  if (first === undefined || last === undefined || hasTopLevelComma(inner)) {
    throw notAllowedError('sql_fragment', text, `a ${name} that has not exactly one argument`);
  }
  if (distinct && name !== 'count')
    throw notAllowedError('not_supported', text, `${name}(DISTINCT …)`);
  return {
    ...call,
    function: distinct ? 'count_distinct' : name,
    argument: { start: first.start, end: last.end },
    fraction,
  };
}

function hasTopLevelComma(tokens: readonly Token[]): boolean {
  for (let index = 0; index < tokens.length; index += 1) {
    if (isSymbol(tokens[index], '(')) index = findClosing(tokens, index);
    else if (isSymbol(tokens[index], ',')) return true;
  }
  return false;
}

function findReferences(
  text: string,
  chains: readonly ColumnReference[],
  use: FragmentOptions & { tokens: readonly Token[] },
): readonly ColumnReference[] {
  const operands = chains.filter((chain) => !isOneWordOf(wordShapes, chain));
  const areNames = operands.every(
    (chain) => use.names?.has(chain.written) === true || !isOneWordOf(reservedWords, chain),
  );
  if (areNames && hasPlainShape(use.tokens)) return operands;
  const starts = parseColumnStarts(text, withoutKeywords(text, chains, use), use.dialect);
  const references = chains.filter((chain) => starts.delete(chain.start));
  if (starts.size > 0) throw notAllowedError('sql_fragment', text, 'a name that cannot be placed');
  const stray = chains.find(
    (chain) => !references.includes(chain) && !isOneWordOf(fragmentKeywords, chain),
  );
  if (stray !== undefined && use.origin === 'query')
    throw notAllowedError('sql_fragment', text, stray.parts.join('.'));
  return references;
}

/** The text with a word of the same length in place of each of the given names. */
function withoutKeywords(
  text: string,
  chains: readonly ColumnReference[],
  use: FragmentOptions,
): string {
  let result = text;
  for (const { parts, written, start, end } of chains) {
    if (parts.length === 1 && use.names?.has(written))
      result = result.slice(0, start) + '_'.repeat(end - start) + result.slice(end);
  }
  return result;
}

const wordShapes = new Map(
  Object.entries({
    and: '&',
    or: '&',
    not: '!',
    is: 'i',
    null: 'n',
    true: 'x',
    false: 'x',
    distinct: 'd',
  }),
);

function isOneWordOf(
  words: Pick<ReadonlySet<string>, 'has'>,
  { parts, written }: ColumnReference,
): boolean {
  return parts.length === 1 && words.has(written.toLowerCase());
}

const operand = String.raw`(?:(?:\(|f\(d?)!*)*(?:x(?:\.[xn])*|n)(?:\)|i!?n(?=[&)]|$))*`;
const plainShape = new RegExp(`^!*${operand}(?:(?:&!*|<>|[<>]=|[-+*/=<>])${operand})*$`);

/** Names, literals, aggregates of one argument and common operators in turn: such a text needs no grammar to be understood. */
function hasPlainShape(tokens: readonly Token[]): boolean {
  const shapeOf = ({ kind, text }: Token, index: number): string => {
    if (kind === 'symbol') return text;
    if (kind !== 'word') return 'x';
    return isAggregate(text) && isSymbol(tokens[index + 1], '(')
      ? 'f'
      : (wordShapes.get(text) ?? 'x');
  };
  return plainShape.test(tokens.map(shapeOf).join(''));
}

/** Dotted names that are not calls, keywords included. */
function findDottedNames(text: string, tokens: readonly Token[]): readonly ColumnReference[] {
  const chains: ColumnReference[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const first = tokens[index];
    if (first?.kind !== 'word' && first?.kind !== 'quoted') continue;
    const parts = [tokenName(text, first)];
    let last = first;
    while (isSymbol(tokens[index + 1], '.')) {
      const member = tokens[index + 2];
      if (member?.kind !== 'word' && member?.kind !== 'quoted')
        throw notAllowedError('sql_fragment', text, 'a dot without a name');
      parts.push(tokenName(text, member));
      last = member;
      index += 2;
    }
    if (!isSymbol(tokens[index + 1], '(') || fragmentKeywords.has(first.text))
      chains.push({
        parts,
        written: text.slice(last.start, last.end),
        start: first.start,
        end: last.end,
      });
  }
  return chains;
}

function tokenName(text: string, token: Token): string {
  return token.kind === 'word' ? text.slice(token.start, token.end) : token.text;
}

/** Where the columns begin, as the dialect's own grammar sees them. `sql` has other names than `text`, as long ones. */
function parseColumnStarts(text: string, sql: string, dialect: Dialect): Set<number> {
  const prefix = 'SELECT (';
  const whole = `${prefix}${sql}\n)`;
  const [statement] = parseSql(whole, dialect);
  const projections = statement?.kind === 'select' ? statement.body['expressions'] : undefined;
  const only =
    Array.isArray(projections) && projections.length === 1 ? asNode(projections[0]) : undefined;
  const inner = only?.kind === 'paren' ? only.body['this'] : undefined;
  if (inner === undefined || /^(alias|tuple)$/.test(asNode(inner)?.kind ?? '')) {
    throw notAllowedError('sql_fragment', text, 'more than one expression');
  }
  const characters = Array.from(whole);
  const starts = new Set<number>();
  for (const { kind, body } of walkSql(inner)) {
    if (/^(select|subquery|exists|union|values|table)$/.test(kind))
      throw notAllowedError('subquery', text, 'a subquery');
    if (/window/.test(kind)) throw notAllowedError('window', text, 'a window function');
    if (kind === 'star')
      throw notAllowedError('sql_fragment', text, 'a star that stands for all columns');
    if (kind !== 'column') continue;
    // The parser counts code points.
    const start = isRecord(body['span']) ? body['span']['start'] : undefined;
    if (typeof start !== 'number')
      throw notAllowedError('sql_fragment', text, 'a column that cannot be placed');
    starts.add(characters.slice(prefix.length, start).join('').length);
  }
  return starts;
}

/** The operands of OR at the top level of a piece, parentheses around it aside; one where there is none. */
export function splitDisjuncts(tokens: readonly Token[]): readonly Span[] {
  const inner = stripParentheses(tokens);
  return spansBetween(
    inner,
    topLevelIndexes(inner).filter((index) => isWord(inner[index], 'or')),
  );
}

/** The operands of AND; the whole where there is an OR beside them. */
export function splitConjuncts(tokens: readonly Token[], whole: Span): readonly Span[] {
  const inner = stripParentheses(tokens);
  const cuts: number[] = [];
  let betweens = 0;
  for (const index of topLevelIndexes(inner)) {
    const token = inner[index];
    if (isWord(token, 'or')) return [whole];
    if (isWord(token, 'between')) betweens += 1;
    else if (isWord(token, 'and') && betweens > 0) betweens -= 1;
    else if (isWord(token, 'and')) cuts.push(index);
  }
  return spansBetween(inner, cuts);
}

/** Without the parentheses that are around all of it. */
function stripParentheses(tokens: readonly Token[]): readonly Token[] {
  let inner = tokens;
  while (isSymbol(inner[0], '(') && findClosing(inner, 0) === inner.length - 1)
    inner = inner.slice(1, -1);
  return inner;
}

/** The indexes of what is in no parentheses and in no CASE, and is no member of a name. */
function topLevelIndexes(tokens: readonly Token[]): readonly number[] {
  const found: number[] = [];
  let cases = 0;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (isSymbol(tokens[index - 1], '.')) continue;
    if (isSymbol(token, '(')) index = findClosing(tokens, index);
    else if (isWord(token, 'case')) cases += 1;
    else if (isWord(token, 'end')) cases -= 1;
    else if (cases === 0) found.push(index);
  }
  return found;
}

function spansBetween(tokens: readonly Token[], cuts: readonly number[]): readonly Span[] {
  const starts = [0, ...cuts.map((cut) => cut + 1)];
  return starts.map((start, index) => ({
    start: tokens[start]?.start ?? 0,
    end: tokens[(cuts[index] ?? tokens.length) - 1]?.end ?? 0,
  }));
}
