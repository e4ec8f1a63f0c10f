import { notSupportedError } from '../query/errors.ts';
import type { JoinPath } from '../resolve/join-paths.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import { toJoin, type PlannedJoin } from '../resolve/join-scope.ts';
import { aliasesIn } from '../resolve/row-expr.ts';
import type { NamedColumn, FromItem, Select, Expr } from '../relational/query-tree.ts';

/** Combinations of dimension values to be shown even where no row of the fact has them. */
export type Members =
  /** Rows of the dataset in which the dimensions live, filtered like those of the fact. */
  | { readonly kind: 'dataset'; readonly select: Select }
  /** What the result itself has: the other dimensions are combined with these. */
  | { readonly kind: 'fact'; readonly columns: readonly string[] };

/**
 * The members of a block's dimensions: one set for each relationship of the owner that leads to some, and one for the owner's
 * own; their combinations are added to the result. Conditions on nothing but a set's own rows apply to it.
 */
export function membersOf(
  { columns, from, where }: Select,
  at: { places: readonly ResolvedField[]; joins: readonly PlannedJoin[] },
): readonly Members[] {
  const groups = [...Map.groupBy(at.places.keys(), (index) => at.places[index]?.path[0])].map(
    ([first, indexes]) => {
      const prefix = commonPrefix(indexes.map((index) => at.places[index]?.path ?? []));
      const root = at.joins.find(
        ({ path, alias }) =>
          isPrefix(prefix, path) && path.length === prefix.length && !alias.endsWith(' via'),
      );
      const joins = at.joins.filter(
        ({ path }) => path.length > prefix.length && isPrefix(prefix, path),
      );
      // What is computed for each row of the owner is the owner's own.
      const own = at.joins.filter(({ path }) =>
        first === undefined ? path[0]?.legs.length === 0 : path[0] === first,
      );
      const all = [...(first === undefined ? [from.alias] : []), ...own.map(({ alias }) => alias)];
      const aliases = new Set(
        first === undefined ? all : [root?.alias ?? '', ...joins.map(({ alias }) => alias)],
      );
      return {
        root,
        joins,
        all: new Set(all),
        aliases,
        dimensions: indexes.flatMap((index) => columns[index] ?? []),
      };
    },
  );
  if (groups.every(({ root }) => root === undefined)) return [];
  const conditions = where.map((expr) => ({ expr, used: aliasesIn(expr) }));
  if (
    conditions.some(
      ({ used }) =>
        groups.filter(({ all }) => [...used].some((alias) => all.has(alias))).length > 1,
    )
  ) {
    throw notSupportedError(
      'include_empty with a condition across dimensions',
      'It is not clear which combinations of members it allows',
    );
  }
  return groups.map(({ root, joins, aliases, dimensions }): Members => {
    if (root === undefined)
      return { kind: 'fact', columns: dimensions.map((dimension) => dimension.column) };
    const own = conditions
      .filter(({ used }) => used.size > 0 && [...used].every((name) => aliases.has(name)))
      .map(({ expr }) => expr);
    return { kind: 'dataset', select: memberSelect(root, { joins, where: own, dimensions }) };
  });
}

function memberSelect(
  root: FromItem,
  rest: {
    joins: readonly PlannedJoin[];
    where: readonly Expr[];
    dimensions: readonly NamedColumn<Expr>[];
  },
): Select {
  const joins = rest.joins.map(toJoin);
  return {
    kind: 'select',
    distinct: true,
    columns: rest.dimensions,
    from: { alias: root.alias, relation: root.relation },
    joins,
    where: rest.where,
  };
}

/** The hops that all have. */
function commonPrefix([first = [], ...others]: readonly JoinPath[]): JoinPath {
  const length = first.findIndex((step, index) => others.some((path) => path[index] !== step));
  return length === -1 ? first : first.slice(0, length);
}

function isPrefix(prefix: JoinPath, path: JoinPath): boolean {
  return prefix.every((step, index) => path[index] === step);
}
