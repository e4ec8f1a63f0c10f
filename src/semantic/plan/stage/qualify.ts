import { arithmeticExpr } from '../../resolve/arithmetic.ts';
import type { Expr } from '../../relational/query-tree.ts';
import { findLiteralComparisons } from '../../resolve/literals/literal-comparisons.ts';
import { type LiteralTarget, typedLiteral } from '../../resolve/literals/typed-literal.ts';
import type { Qualifier } from './read-stage.ts';

/** A column of the result, and the type that literals beside it must have. */
export interface QualifiedColumn {
  readonly expr: Expr;
  readonly target: LiteralTarget;
}

/** The conditions of `qualify` over the columns of the result, which it calls by their names. */
export function qualifierExprs(
  { fragment, columnOf }: Qualifier,
  columns: ReadonlyMap<string, QualifiedColumn>,
): readonly Expr[] {
  const columnNamed = (parts: readonly string[]): QualifiedColumn => {
    const name = columnOf(parts.join('.'));
    const column = columns.get(name);
    if (column === undefined) throw new Error(`the result has no column ${name}`);
    return column;
  };
  return fragment.conjuncts.map((span) => {
    const piece = { fragment, span };
    const literals = findLiteralComparisons(piece).flatMap((comparison) => {
      const { target } = columnNamed(comparison.reference.parts);
      return comparison.literals.flatMap((literal) => {
        const typed = typedLiteral(literal, target, comparison);
        return typed === undefined
          ? []
          : [{ start: literal.start, end: literal.end, parts: [typed] }];
      });
    });
    const resolver = {
      aggregate: (): Expr => {
        throw new Error('qualify has no aggregates');
      },
      reference: ({ parts }: { readonly parts: readonly string[] }) => columnNamed(parts).expr,
    };
    return arithmeticExpr(piece, resolver, literals);
  });
}
