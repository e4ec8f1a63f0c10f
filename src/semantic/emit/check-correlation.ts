import { type Dialect, noSuchSqlError } from '../../sql/dialect.ts';
import type { Expr } from '../relational/query-tree.ts';
import { aliasesIn } from '../resolve/row-expr.ts';

type Exists = Extract<Expr, { kind: 'exists' }>;

/**
 * Throws `not_supported` for an EXISTS that the engine would answer wrongly: one that can be true
 * where a column of the outer query is NULL.
 */
export function checkCorrelation({ joins, where }: Exists, dialect: Dialect): void {
  if (dialect.losesNullsOfOuterQuery !== true) return;
  const inside = new Set(joins.map(({ alias }) => alias));
  const [first, ...others] = joins;
  const rest = [where, ...others.map(({ on }) => on)];
  const readsOuter = rest.some((expr) => [...aliasesIn(expr)].some((alias) => !inside.has(alias)));
  if (!readsOuter && first !== undefined && isEqualities(first.on)) return;
  throw noSuchSqlError(
    dialect.name,
    'rows that others relate to by a range, an expression or NULL',
    'Filter by fields of the dataset itself, and leave `others` out.',
  );
}

/** Equalities are never true where one of their sides is NULL. */
function isEqualities(on: Expr): boolean {
  return (
    on.kind === 'text' &&
    on.parts.every((part) =>
      typeof part === 'string' ? /^ (?:=|AND) $/.test(part) : isColumn(part),
    )
  );
}

function isColumn({ kind }: { readonly kind: string }): boolean {
  return kind === 'column';
}
