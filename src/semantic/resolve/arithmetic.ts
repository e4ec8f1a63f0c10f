import { isWithin, type Span } from '../../sql/analyzer.ts';
import type { AggregateCall } from '../../sql/aggregate-calls.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import { findClosing, isSymbol, isWord, type Token } from '../../sql/tokens.ts';
import { queryError } from '../query/errors.ts';
import { division, type Expr } from '../relational/query-tree.ts';
import {
  parameterSplice,
  spliceSql,
  type SqlPiece,
  type SqlSplice,
} from '../relational/sql-piece.ts';

/** Resolves the operands of arithmetic. */
export interface OperandResolver {
  aggregate(call: AggregateCall): Expr;
  /** A name outside of aggregates: a metric. */
  reference(reference: ColumnReference): Expr;
}

/**
 * Arithmetic over aggregates and metrics as an expression. Every division keeps decimals, and is NULL if the denominator is
 * 0. The rest of the text stays as it is. Throws `sql_fragment` for operators that dialects read differently.
 */
export function arithmeticExpr(piece: SqlPiece, resolver: OperandResolver): Expr {
  const { fragment, span } = piece;
  const aggregates = fragment.aggregates.filter((call) => isWithin(call, span));
  const parameters = (fragment.parameters ?? []).filter(
    (parameter) => isWithin(parameter, span) && !isInsideAny(parameter, aggregates),
  );
  const tokens = fragment.tokens.filter((token) => isWithin(token, span));
  checkOperators(fragment.text, tokens, aggregates);
  return spliceSql(piece, [
    ...divisionSplices(tokens, aggregates),
    ...aggregates.map((call) => ({ ...call, parts: [resolver.aggregate(call)] })),
    ...referencesOutsideAggregates(piece).map((reference) => ({
      ...reference,
      parts: [resolver.reference(reference)],
    })),
    ...parameters.map(parameterSplice),
  ]);
}

/** The names of a piece that are not inside an aggregate. */
export function referencesOutsideAggregates({
  fragment,
  span,
}: SqlPiece): readonly ColumnReference[] {
  return fragment.references.filter(
    (reference) => isWithin(reference, span) && !isInsideAny(reference, fragment.aggregates),
  );
}

/** True for sums and differences of aggregates and metrics, each of which may be multiplied or divided by a number: `revenue / 100`. */
export function isLinear({ aggregates, references, tokens }: SqlPiece['fragment']): boolean {
  const operands = [...aggregates, ...references];
  // One letter per token: `a` for an operand, `n` for a number.
  const shape = tokens
    .map((token) => {
      if (isInsideAny(token, operands)) return 'a';
      if (token.kind === 'number') return 'n';
      return token.kind === 'symbol' ? token.text : '?';
    })
    .join('')
    .replaceAll(/a+/g, 'a');
  // Drops `* n` and `/ n` after an operand, and `n *` before one.
  const withoutFactors = shape.replaceAll(/(?<=[a)])[*/]n(?![*/])|(?<![*/])n\*(?=[a(])/g, '');
  return /^[a()+-]+$/.test(withoutFactors);
}

function isInsideAny(inner: Span, spans: readonly Span[]): boolean {
  return spans.some((span) => isWithin(inner, span));
}

function checkOperators(text: string, tokens: readonly Token[], aggregates: readonly Span[]): void {
  const unsafe = tokens.find(
    (token, index) => !isInsideAny(token, aggregates) && isUnsafeOperator(token, tokens[index + 1]),
  );
  if (unsafe === undefined) return;
  throw queryError(
    'sql_fragment',
    `Arithmetic over metrics cannot use the operator ${unsafe.text}: ${JSON.stringify(text)}`,
    'Use + - * / % and functions such as power(x, y) or concat(a, b).',
  );
}

/** True for `//`, `**` and every operator whose precedence or meaning differs between dialects. */
function isUnsafeOperator(token: Token, next: Token | undefined): boolean {
  if (token.kind !== 'symbol') return false;
  const isDoubled =
    '/*'.includes(token.text) && isSymbol(next, token.text) && next?.start === token.end;
  return isDoubled || !'().,=<>!+-*/%::'.includes(token.text);
}

/** Turns each `a / b` into `a <division> NULLIF(b, 0)`. */
function divisionSplices(
  tokens: readonly Token[],
  aggregates: readonly Span[],
): readonly SqlSplice[] {
  return tokens.flatMap((token, index): readonly SqlSplice[] => {
    if (!isSymbol(token, '/') || isInsideAny(token, aggregates)) return [];
    const end = operandEnd(tokens, index + 1);
    const start = tokens[index + 1]?.start ?? end;
    return [
      { start: end, end, parts: [', 0)'] },
      { start: token.start, end: start, parts: [division, ' NULLIF('] },
    ];
  });
}

/** The text offset where the operand at `index` ends: signs, then a name, literal, call, CASE or parentheses, then casts. */
function operandEnd(tokens: readonly Token[], index: number): number {
  const first = tokens[index];
  if (isSymbol(first, '-') || isSymbol(first, '+')) return operandEnd(tokens, index + 1);
  return tokens[lastCast(tokens, lastOfOperand(tokens, index))]?.end ?? 0;
}

function lastOfOperand(tokens: readonly Token[], index: number): number {
  if (isSymbol(tokens[index], '(')) return findClosing(tokens, index);
  let last = isWord(tokens[index], 'case') ? endOfCase(tokens, index) : index;
  while (isSymbol(tokens[last + 1], '.')) last += 2;
  return isSymbol(tokens[last + 1], '(') ? findClosing(tokens, last + 1) : last;
}

function lastCast(tokens: readonly Token[], operand: number): number {
  let last = operand;
  while (isSymbol(tokens[last + 1], '::')) {
    last += 2;
    while (isWord(tokens[last + 1], 'precision', 'varying')) last += 1;
    if (isSymbol(tokens[last + 1], '(')) last = findClosing(tokens, last + 1);
  }
  return last;
}

function endOfCase(tokens: readonly Token[], start: number): number {
  let depth = 0;
  return tokens.findIndex((token, index) => {
    if (index < start) return false;
    if (isWord(token, 'case')) depth += 1;
    if (isWord(token, 'end')) depth -= 1;
    return depth === 0;
  });
}
