import { isWithin, type Span } from '../../sql/analyzer.ts';
import type { Fragment, ParameterReference } from '../../sql/fragment.ts';
import type { ColumnReference } from '../../sql/column-references.ts';
import { queryError } from '../query/errors.ts';
import { isOperand } from '../../sql/boolean-operands.ts';
import { isWord } from '../../sql/tokens.ts';
import { divisionSplices } from './division.ts';
import type { Expr, ExprPart } from './query-tree.ts';

/** A span of a parsed SQL fragment. */
export interface SqlPiece {
  readonly fragment: Fragment;
  readonly span: Span;
}

/** The parts that replace a span of SQL text. */
export interface SqlSplice extends Span {
  readonly parts: readonly ExprPart[];
}

export function wholePiece(fragment: Fragment): SqlPiece {
  return { fragment, span: { start: 0, end: fragment.text.length } };
}

export function pieceText({ fragment, span }: SqlPiece): string {
  return fragment.text.slice(span.start, span.end);
}

/**
 * Row-level SQL as an expression: names are resolved, parameters get their values, divisions are as
 * `divisionSplices` says, and `literals` replace literals.
 */
export function rowTextExpr(
  piece: SqlPiece,
  resolve: (reference: ColumnReference) => Expr,
  literals: readonly SqlSplice[] = [],
): Expr {
  const { text, references, tokens, parameters = [] } = piece.fragment;
  const within = tokens.filter((token) => isWithin(token, piece.span));
  const names = references
    .filter((reference) => isWithin(reference, piece.span))
    .map((reference) => {
      const expr = resolve(reference);
      const isTruth = expr.kind === 'boolean' && isOperand(within, reference);
      return { ...reference, parts: [isTruth ? ({ kind: 'truth', of: expr } as const) : expr] };
    });
  const words = within.filter(
    (token, index) => isWord(token, 'true', 'false') && !isWord(within[index - 1], 'is', 'not'),
  );
  return spliceSql(piece, [
    ...names,
    ...divisionSplices(within),
    ...words
      .filter((word) => !literals.some((literal) => isWithin(word, literal)))
      .map(({ start, end }) => ({
        start,
        end,
        parts: [{ kind: 'boolean_word', text: text.slice(start, end) } as const],
      })),
    ...parameters.map(parameterSplice),
    ...literals,
  ]);
}

/** The SQL of a piece with the splices put in; splices outside the piece are ignored. */
export function spliceSql({ fragment, span }: SqlPiece, splices: readonly SqlSplice[]): Expr {
  const parts: ExprPart[] = [];
  const inOrder = splices
    .filter((splice) => isWithin(splice, span))
    .toSorted((a, b) => a.start - b.start);
  let offset = span.start;
  for (const splice of inOrder) {
    if (splice.start > offset) parts.push(fragment.text.slice(offset, splice.start));
    parts.push(...splice.parts);
    offset = splice.end;
  }
  if (offset < span.end) parts.push(fragment.text.slice(offset, span.end));
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' && only.kind !== 'division'
    ? only
    : { kind: 'text', parts };
}

/** Replaces the name of a parameter by its value. Throws `missing_parameter` if it has none. */
export function parameterSplice({ name, bound, ...span }: ParameterReference): SqlSplice {
  if (bound === undefined) {
    throw queryError(
      'missing_parameter',
      `A row rule uses param.${name}, which the person asking could choose`,
      'Write the value itself into the rule, or use a field without parameters.',
    );
  }
  const { address: parameter, value, choices } = bound;
  if (value !== undefined) return { ...span, parts: [{ kind: 'literal', parameter, value }] };
  throw queryError('missing_parameter', `The parameter ${parameter} has no value`, {
    hint: `Pass --parameter ${name}=value, or parameters: {${name}: value} in the query.`,
    choices,
  });
}
