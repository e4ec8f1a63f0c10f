import { isWithin, type Span } from '../../../sql/analyzer.ts';
import type { ColumnReference } from '../../../sql/column-references.ts';
import { isSymbol, isWord, type Token } from '../../../sql/tokens.ts';
import type { SqlPiece } from '../../relational/sql-piece.ts';

/** A value as SQL writes it: `'paid'`, `-5`, `true`, `date '2024-01-01'`. */
export interface WrittenLiteral extends Span {
  readonly kind: 'text' | 'number' | 'boolean';
  /** Without quotes; a number with its sign; `true` or `false`. */
  readonly value: string;
}

/** A field compared with nothing but literals: `a.status in ('x', 'y')`, `5 < a.id`. */
export interface LiteralComparison {
  readonly reference: ColumnReference;
  readonly isEquality: boolean;
  readonly literals: readonly WrittenLiteral[];
  /** Those that a larger value of the same day would pass: all but those of `<` and `>=`. */
  readonly bounds: readonly WrittenLiteral[];
}

/**
 * The comparisons of a piece whose operands are one field and literals. Any other comparison is
 * left out.
 */
export function findLiteralComparisons({ fragment, span }: SqlPiece): readonly LiteralComparison[] {
  const tokens = fragment.tokens.filter((token) => isWithin(token, span));
  return fragment.references
    .filter((reference) => isWithin(reference, span))
    .flatMap((reference) => {
      const first = tokens.findIndex(({ start }) => start === reference.start);
      const last = tokens.findIndex(({ end }) => end === reference.end);
      const found =
        readAfter(tokens, last + 1, tokens[first - 1]) ??
        readBefore(tokens, first - 1, tokens[last + 1]);
      return found === undefined ? [] : [{ reference, ...found }];
    });
}

type Compared = Omit<LiteralComparison, 'reference'>;

/**
 * The literals from `index` on, if the field before it is the whole left side; `before` is the
 * token in front of the field.
 */
function readAfter(
  tokens: readonly Token[],
  index: number,
  before: Token | undefined,
): Compared | undefined {
  if (!isBoundary(before)) return undefined;
  const negated = isWord(tokens[index], 'not') ? index + 1 : index;
  if (isWord(tokens[negated], 'between')) return readBetween(tokens, negated + 1);
  if (isWord(tokens[negated], 'in')) return readList(tokens, negated + 1);
  const operator = readOperator(tokens, index);
  const literal = operator && readLiteral(tokens, operator.next);
  if (literal === undefined || !isBoundary(tokens[literal.next])) return undefined;
  return comparisonOf(literal.literal, operator);
}

/**
 * The literal before the field, up to `index`: `'paid' = a.status`. `after` is the token behind the
 * field.
 */
function readBefore(
  tokens: readonly Token[],
  index: number,
  after: Token | undefined,
): Compared | undefined {
  if (!isBoundary(after)) return undefined;
  const start = operatorStart(tokens, index);
  const operator = start === undefined ? undefined : readOperator(tokens, start);
  if (start === undefined || operator?.next !== index + 1) return undefined;
  for (const from of [start - 1, start - 2]) {
    const literal = from < 0 ? undefined : readLiteral(tokens, from);
    if (literal?.next === start && isBoundary(tokens[from - 1]))
      return comparisonOf(literal.literal, { ...operator, text: mirrored[operator.text] });
  }
  return undefined;
}

/** `5 < a.id` is `a.id > 5`. */
const mirrored: Readonly<Record<string, string | undefined>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

function comparisonOf(
  literal: WrittenLiteral,
  operator: { readonly isEquality: boolean; readonly text: string | undefined } | undefined,
): Compared {
  const isBound = operator?.text !== '<' && operator?.text !== '>=';
  return {
    isEquality: operator?.isEquality ?? false,
    literals: [literal],
    bounds: isBound ? [literal] : [],
  };
}

/** The index of the first token of an operator that ends at `index`. */
function operatorStart(tokens: readonly Token[], index: number): number | undefined {
  if (!isOperatorSymbol(tokens[index])) return undefined;
  return isOperatorSymbol(tokens[index - 1]) ? index - 1 : index;
}

function isOperatorSymbol(token: Token | undefined): boolean {
  return token?.kind === 'symbol' && '=<>!'.includes(token.text);
}

function readOperator(
  tokens: readonly Token[],
  index: number,
): { readonly isEquality: boolean; readonly text: string; readonly next: number } | undefined {
  let operator = '';
  let next = index;
  for (; isOperatorSymbol(tokens[next]); next += 1) operator += tokens[next]?.text;
  if (!['=', '<', '<=', '>', '>=', '<>', '!='].includes(operator)) return undefined;
  return { isEquality: ['=', '<>', '!='].includes(operator), text: operator, next };
}

function readBetween(tokens: readonly Token[], index: number): Compared | undefined {
  const low = readLiteral(tokens, index);
  if (low === undefined || !isWord(tokens[low.next], 'and')) return undefined;
  const high = readLiteral(tokens, low.next + 1);
  if (high === undefined || !isBoundary(tokens[high.next])) return undefined;
  const literals = [low.literal, high.literal];
  return { isEquality: false, literals, bounds: [high.literal] };
}

function readList(tokens: readonly Token[], index: number): Compared | undefined {
  if (!isSymbol(tokens[index], '(')) return undefined;
  const literals: WrittenLiteral[] = [];
  for (let at = index + 1; at < tokens.length;) {
    const item = readLiteral(tokens, at);
    if (item === undefined) return undefined;
    literals.push(item.literal);
    if (isSymbol(tokens[item.next], ')')) return { isEquality: true, literals, bounds: literals };
    if (!isSymbol(tokens[item.next], ',')) return undefined;
    at = item.next + 1;
  }
  return undefined;
}

const signs = ['-', '+'];
const typeWords = ['date', 'timestamp', 'datetime', 'timestamptz'];

function readLiteral(
  tokens: readonly Token[],
  index: number,
): { readonly literal: WrittenLiteral; readonly next: number } | undefined {
  const first = tokens[index];
  const second = tokens[index + 1];
  if (first?.kind === 'string') return wholeLiteral(first, first, index + 1);
  if (isWord(first, 'true', 'false') || first?.kind === 'number')
    return wholeLiteral(first, first, index + 1);
  if (first?.kind === 'symbol' && signs.includes(first.text) && second?.kind === 'number') {
    const { literal, next } = wholeLiteral(first, second, index + 2);
    return { literal: { ...literal, value: `${first.text}${second.text}` }, next };
  }
  const isTyped = isWord(first, ...typeWords) && second?.kind === 'string';
  return first !== undefined && isTyped ? wholeLiteral(first, second, index + 2) : undefined;
}

function wholeLiteral(
  first: Token | undefined,
  last: Token | undefined,
  next: number,
): { readonly literal: WrittenLiteral; readonly next: number } {
  const { start = 0 } = first ?? {};
  const { end = 0, kind, text = '' } = last ?? {};
  const isText = kind === 'string';
  const value = isText ? text.slice(1, -1).replaceAll("''", "'") : text;
  const literalKind = isText ? 'text' : kind === 'number' ? 'number' : 'boolean';
  return { literal: { kind: literalKind, value, start, end }, next };
}

/**
 * True if an operand may begin or end beside the token: what else stands there would be part of it.
 */
function isBoundary(token: Token | undefined): boolean {
  if (token === undefined) return true;
  if (token.kind === 'symbol') return '(),'.includes(token.text);
  return isWord(token, 'and', 'or', 'not', 'when', 'then', 'else', 'end', 'is');
}
