import { isAggregateName } from './aggregate-calls.ts';
import { isRecord } from '../lib/json.ts';
import { asNode, parseSql, type Span, walkSql } from './analyzer.ts';
import type { Dialect } from './dialect.ts';
import type { FragmentOptions } from './fragment-rules.ts';
import { fragmentKeywords, reservedWords } from './scalar-functions.ts';
import { isSymbol, notAllowedError, type Token } from './tokens.ts';

/** The name of a column or metric: `orders.status`, `orders."Ship Date"`. */
export interface ColumnReference extends Span {
  /** Without quotes. */
  readonly parts: readonly string[];
  /** The last part as written, with its quotes. */
  readonly written: string;
}

/** Every dotted name that is not a call, keywords included. */
export function findDottedNames(
  text: string,
  tokens: readonly Token[],
): readonly ColumnReference[] {
  const names: ColumnReference[] = [];
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
    const isCall = isSymbol(tokens[index + 1], '(') && !fragmentKeywords.has(first.text);
    if (isCall) continue;
    const written = text.slice(last.start, last.end);
    names.push({ parts, written, start: first.start, end: last.end });
  }
  return names;
}

function tokenName(text: string, token: Token): string {
  return token.kind === 'word' ? text.slice(token.start, token.end) : token.text;
}

interface NamedTokens {
  readonly text: string;
  readonly tokens: readonly Token[];
  /** As `findDottedNames` gives them. */
  readonly names: readonly ColumnReference[];
}

/**
 * The names of a fragment that are columns or metrics. Parses the text only if keywords could be
 * among them.
 */
export function findReferences(
  { text, tokens, names }: NamedTokens,
  options: FragmentOptions,
): readonly ColumnReference[] {
  const operands = names.filter((name) => !isOneWordOf(wordShapes, name));
  const areAllNames = operands.every(
    (name) => options.names?.has(name.written) === true || !isOneWordOf(reservedWords, name),
  );
  if (areAllNames && hasPlainShape(tokens)) return operands;
  const parsedText = maskQueryNames(text, names, options.names);
  const starts = parseColumnStarts(text, parsedText, options.dialect);
  const references = names.filter((name) => starts.delete(name.start));
  if (starts.size > 0) throw notAllowedError('sql_fragment', text, 'a name that cannot be located');
  const stray = names.find(
    (name) => !references.includes(name) && !isOneWordOf(fragmentKeywords, name),
  );
  if (stray !== undefined && options.origin === 'query')
    throw notAllowedError('sql_fragment', text, stray.parts.join('.'));
  return references;
}

function isOneWordOf(
  words: Pick<ReadonlySet<string>, 'has'>,
  { parts, written }: ColumnReference,
): boolean {
  return parts.length === 1 && words.has(written.toLowerCase());
}

/** One letter for each word that a plain expression may contain. */
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

const operandShape = String.raw`(?:(?:\(|f\(d?)!*)*(?:x(?:\.[xn])*|n)(?:\)|i!?n(?=[&)]|$))*`;
const plainShape = new RegExp(`^!*${operandShape}(?:(?:&!*|<>|[<>]=|[-+*/=<>])${operandShape})*$`);

/**
 * True for names, literals and aggregates of one argument with common operators between them. Such
 * an expression is understood without a grammar, so the parser need not be loaded.
 */
function hasPlainShape(tokens: readonly Token[]): boolean {
  const shapeOf = ({ kind, text }: Token, index: number): string => {
    if (kind === 'symbol') return text;
    if (kind !== 'word') return 'x';
    const isAggregateCall = isAggregateName(text) && isSymbol(tokens[index + 1], '(');
    return isAggregateCall ? 'f' : (wordShapes.get(text) ?? 'x');
  };
  return plainShape.test(tokens.map(shapeOf).join(''));
}

/**
 * Replaces the query's own names by words of the same length, so that the grammar takes none for a
 * keyword.
 */
function maskQueryNames(
  text: string,
  names: readonly ColumnReference[],
  queryNames: ReadonlySet<string> = new Set(),
): string {
  let masked = text;
  for (const { parts, written, start, end } of names) {
    if (parts.length === 1 && queryNames.has(written))
      masked = masked.slice(0, start) + '_'.repeat(end - start) + masked.slice(end);
  }
  return masked;
}

/**
 * The offsets at which columns begin, as the dialect's grammar reads them. `parsedText` is `text`
 * with other names of the same length.
 */
function parseColumnStarts(text: string, parsedText: string, dialect: Dialect): Set<number> {
  const prefix = 'SELECT (';
  const sql = `${prefix}${parsedText}\n)`;
  const [statement] = parseSql(sql, dialect);
  const projections = statement?.kind === 'select' ? statement.body['expressions'] : undefined;
  const projection =
    Array.isArray(projections) && projections.length === 1 ? asNode(projections[0]) : undefined;
  const expression = projection?.kind === 'paren' ? projection.body['this'] : undefined;
  const isList = /^(alias|tuple)$/.test(asNode(expression)?.kind ?? '');
  if (expression === undefined || isList)
    throw notAllowedError('sql_fragment', text, 'more than one expression');
  // The parser counts code points, ktx counts UTF-16 units.
  const codePoints = Array.from(sql);
  const starts = new Set<number>();
  for (const { kind, body } of walkSql(expression)) {
    checkNodeKind(text, kind);
    if (kind !== 'column') continue;
    const start = isRecord(body['span']) ? body['span']['start'] : undefined;
    if (typeof start !== 'number')
      throw notAllowedError('sql_fragment', text, 'a column that cannot be located');
    starts.add(codePoints.slice(prefix.length, start).join('').length);
  }
  return starts;
}

function checkNodeKind(text: string, kind: string): void {
  if (/^(select|subquery|exists|union|values|table)$/.test(kind))
    throw notAllowedError('subquery', text, 'a subquery');
  if (/window/.test(kind)) throw notAllowedError('window', text, 'a window function');
  if (kind === 'star')
    throw notAllowedError('sql_fragment', text, 'a star that stands for all columns');
}
