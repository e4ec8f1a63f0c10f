import type { AggregateCall, ColumnReference } from '../../sql/fragment.ts';
import { findClosing, isSymbol, isWord, type Token } from '../../sql/tokens.ts';
import { queryError } from '../query/errors.ts';
import { division, type Expr } from '../relational/query-tree.ts';
import {
  parameterSplice,
  type SqlPiece,
  type SqlSplice,
  spliceSql,
} from '../relational/sql-piece.ts';
import { isWithin } from '../../sql/analyzer.ts';

export interface OperandResolver {
  aggregate(call: AggregateCall): Expr;
  reference(reference: ColumnReference): Expr;
}

/** Arithmetic around aggregates and metrics: every division becomes the real, zero-safe one, everything else stays as it was written. */
export function arithmeticExpr(piece: SqlPiece, atoms: OperandResolver): Expr {
  const { fragment, span } = piece;
  const aggregates = fragment.aggregates.filter((it) => isWithin(it, span));
  const references = referencesOutsideAggregates(piece);
  const parameters = (fragment.parameters ?? []).filter(
    (it) => isWithin(it, span) && !aggregates.some((call) => isWithin(it, call)),
  );
  const tokens = fragment.tokens.filter((it) => isWithin(it, span));
  const isOutside = (token: Token): boolean => !aggregates.some((it) => isWithin(token, it));
  const refusedAt = tokens.findIndex(
    (token, index) => isOutside(token) && isUnsafeOperator(token, tokens[index + 1]),
  );
  if (refusedAt !== -1) {
    const text = `Arithmetic over metrics cannot use the operator ${tokens[refusedAt]?.text}: ${JSON.stringify(fragment.text)}`;
    throw queryError(
      'sql_fragment',
      text,
      'Use + - * / % and functions such as power(x, y) or concat(a, b).',
    );
  }
  const divisions = tokens.flatMap((token, index): readonly SqlSplice[] => {
    if (!isSymbol(token, '/') || !isOutside(token)) return [];
    const end = operandEnd(tokens, index + 1);
    const start = tokens[index + 1]?.start ?? end;
    return [
      { start: end, end, parts: [', 0)'] },
      { start: token.start, end: start, parts: [division, ' NULLIF('] },
    ];
  });
  return spliceSql(piece, [
    ...divisions,
    ...aggregates.map((it) => ({ ...it, parts: [atoms.aggregate(it)] })),
    ...references.map((it) => ({ ...it, parts: [atoms.reference(it)] })),
    ...parameters.map(parameterSplice),
  ]);
}

/** The names of a piece that are not inside an aggregate. */
export function referencesOutsideAggregates({
  fragment,
  span,
}: SqlPiece): readonly ColumnReference[] {
  return fragment.references.filter(
    (name) => isWithin(name, span) && !fragment.aggregates.some((call) => isWithin(name, call)),
  );
}

/** Only sums and differences of aggregates and metrics, and of those times or by a number, like `revenue / 100`. */
export function isLinear({ aggregates, references, tokens }: SqlPiece['fragment']): boolean {
  const atoms = [...aggregates, ...references];
  const shape = tokens
    .map((token) => {
      if (atoms.some((atom) => isWithin(token, atom))) return 'a';
      if (token.kind === 'number') return 'n';
      return token.kind === 'symbol' ? token.text : '?';
    })
    .join('')
    .replaceAll(/a+/g, 'a');
  const unscaled = shape.replaceAll(/(?<=[a)])[*/]n(?![*/])|(?<![*/])n\*(?=[a(])/g, '');
  return /^[a()+-]+$/.test(unscaled);
}

/** Where the operand ends that begins at `index`: signs, then a name, a literal, a call, a CASE or parentheses, then casts. */
function operandEnd(tokens: readonly Token[], index: number): number {
  if (isSymbol(tokens[index], '-') || isSymbol(tokens[index], '+'))
    return operandEnd(tokens, index + 1);
  let last = isWord(tokens[index], 'case') ? endOfCase(tokens, index) : index;
  while (isSymbol(tokens[last + 1], '.')) last += 2;
  if (isSymbol(tokens[index], '(')) last = findClosing(tokens, index);
  else if (isSymbol(tokens[last + 1], '(')) last = findClosing(tokens, last + 1);
  while (isSymbol(tokens[last + 1], '::')) {
    last += 2;
    while (isWord(tokens[last + 1], 'precision', 'varying')) last += 1;
    if (isSymbol(tokens[last + 1], '(')) last = findClosing(tokens, last + 1);
  }
  return tokens[last]?.end ?? 0;
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

/** Operators whose precedence differs between dialects, or that divide in another way. */
function isUnsafeOperator(token: Token, next: Token | undefined): boolean {
  if (token.kind !== 'symbol') return false;
  const isDoubled =
    '/*'.includes(token.text) && isSymbol(next, token.text) && next?.start === token.end;
  return isDoubled || !'().,=<>!+-*/%::'.includes(token.text);
}
