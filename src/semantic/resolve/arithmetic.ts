import { isWithin, type Span } from '../../sql/analyzer.ts';
import type { AggregateCall } from '../../sql/aggregate-calls.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import { isSymbol, type Token } from '../../sql/tokens.ts';
import { queryError } from '../query/errors.ts';
import { divisionSplices } from '../relational/division.ts';
import type { Expr } from '../relational/query-tree.ts';
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
 * Arithmetic over aggregates and metrics as an expression. Every division keeps decimals, and is
 * NULL if the denominator is
 * 0. `literals` stand in place of values that the text compares with. The rest of the text stays as
 * it is. Throws `sql_fragment` for operators that dialects read differently.
 */
export function arithmeticExpr(
  piece: SqlPiece,
  resolver: OperandResolver,
  literals: readonly SqlSplice[] = [],
): Expr {
  const { fragment, span } = piece;
  const aggregates = fragment.aggregates.filter((call) => isWithin(call, span));
  const parameters = (fragment.parameters ?? []).filter(
    (parameter) => isWithin(parameter, span) && !isInsideAny(parameter, aggregates),
  );
  const tokens = fragment.tokens.filter((token) => isWithin(token, span));
  checkOperators(fragment.text, tokens, aggregates);
  const isOutside = (call: Span) => isWithin(call, span) && !isInsideAny(call, aggregates);
  if (fragment.metricCalls?.some(isOutside) === true)
    throw queryError(
      'mixed_condition',
      `metric_by is a value of rows, and ${fragment.text} is made of aggregates`,
      'Write it into a condition on rows (where), or into an aggregate.',
    );
  return spliceSql(piece, [
    ...divisionSplices(tokens, aggregates),
    ...aggregates.map((call) => ({ ...call, parts: [resolver.aggregate(call)] })),
    ...referencesOutsideAggregates(piece).map((reference) => ({
      ...reference,
      parts: [resolver.reference(reference)],
    })),
    ...parameters.map(parameterSplice),
    ...literals,
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

/**
 * True for sums and differences of aggregates and metrics, each of which may be multiplied or
 * divided by a number: `revenue / 100`.
 */
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
