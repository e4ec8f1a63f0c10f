import { notSupportedError } from '../query/errors.ts';
import type { Expr, FromItem, NamedColumn, Select } from '../relational/query-tree.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import type { JoinPath } from '../resolve/join-paths.ts';
import { isBridgeAlias, type PlannedJoin, toJoin } from '../resolve/join-scope.ts';
import { aliasesIn } from '../resolve/row-expr.ts';

/** Values of some dimensions, which the result shows even if no row of the fact has them. */
export type DimensionMembers =
  /** The rows of the dataset that has the dimensions, filtered like those of the fact. */
  | { readonly kind: 'dataset'; readonly select: Select }
  /**
   * The values that occur in the result itself. They are combined with the members of the other
   * dimensions.
   */
  | { readonly kind: 'fact'; readonly columns: readonly string[] };

/**
 * Dimensions that the owner reaches through the same relationship, or dimensions of the owner
 * itself.
 */
interface DimensionGroup {
  readonly columns: readonly NamedColumn<Expr>[];
  /** The dataset to read the members from; undefined for the owner's own dimensions. */
  readonly root: FromItem | undefined;
  /** The joins that start from the root, directly or not. */
  readonly joins: readonly PlannedJoin[];
  /** The aliases in the query that reads the members. */
  readonly memberAliases: ReadonlySet<string>;
  /** All aliases that belong to the group. A condition on one of them restricts the group. */
  readonly groupAliases: ReadonlySet<string>;
}

/**
 * Plans the members of a fact query's dimensions. Dimensions that the owner reaches through the
 * same relationship form one set of members; the owner's own dimensions form another. The
 * combinations of all sets are added to the result. A condition restricts the members of a set if
 * it uses only the rows of that set.
 */
export function planDimensionMembers(
  { columns, from, where }: Select,
  query: { dimensions: readonly ResolvedField[]; joins: readonly PlannedJoin[] },
): readonly DimensionMembers[] {
  const byRelationship = Map.groupBy(
    query.dimensions.keys(),
    (index) => query.dimensions[index]?.path[0],
  );
  const groups = [...byRelationship.values()].map((indexes) => ({
    ...findDimensionGroup(
      indexes.map((index) => query.dimensions[index]?.path ?? []),
      query.joins,
      from,
    ),
    columns: indexes.flatMap((index) => columns[index] ?? []),
  }));
  if (groups.every(({ root }) => root === undefined)) return [];
  const conditions = where.map((expr) => ({ expr, aliases: [...aliasesIn(expr)] }));
  for (const { aliases } of conditions) checkSingleGroup(groups, aliases);
  return groups.map((group): DimensionMembers => {
    if (group.root === undefined)
      return { kind: 'fact', columns: group.columns.map(({ column }) => column) };
    const applicable = conditions.filter(
      ({ aliases }) =>
        aliases.length > 0 && aliases.every((alias) => group.memberAliases.has(alias)),
    );
    const memberConditions = applicable.map(({ expr }) => expr);
    return {
      kind: 'dataset',
      select: memberSelect({ ...group, root: group.root }, memberConditions),
    };
  });
}

/**
 * `paths` are the paths of the group's dimensions. They all begin with the same step, or are all
 * empty.
 */
function findDimensionGroup(
  paths: readonly JoinPath[],
  joins: readonly PlannedJoin[],
  from: FromItem,
): Omit<DimensionGroup, 'columns'> {
  const firstStep = paths[0]?.[0];
  const prefix = commonPrefix(paths);
  const root = joins.find(
    ({ path, alias }) =>
      isPrefix(prefix, path) && path.length === prefix.length && !isBridgeAlias(alias),
  );
  const behindRoot = joins.filter(
    ({ path }) => path.length > prefix.length && isPrefix(prefix, path),
  );
  if (firstStep === undefined) {
    // The query of a row metric of the owner is joined by a step without legs. Its values belong to
    // the owner.
    const ownJoins = joins.filter(({ path }) => path[0]?.legs.length === 0);
    const aliases = new Set([from.alias, ...ownJoins.map(({ alias }) => alias)]);
    return { root, joins: behindRoot, memberAliases: aliases, groupAliases: aliases };
  }
  const groupJoins = joins.filter(({ path }) => path[0] === firstStep);
  return {
    root,
    joins: behindRoot,
    memberAliases: new Set([root?.alias ?? '', ...behindRoot.map(({ alias }) => alias)]),
    groupAliases: new Set(groupJoins.map(({ alias }) => alias)),
  };
}

function checkSingleGroup(groups: readonly DimensionGroup[], aliases: readonly string[]): void {
  const restrictedGroups = groups.filter(({ groupAliases }) =>
    aliases.some((alias) => groupAliases.has(alias)),
  );
  if (restrictedGroups.length > 1)
    throw notSupportedError(
      'include_empty with a condition across dimensions',
      'It is not clear which combinations of members it allows',
    );
}

function memberSelect(
  { root, joins, columns }: DimensionGroup & { readonly root: FromItem },
  where: readonly Expr[],
): Select {
  const { alias, relation } = root;
  return {
    kind: 'select',
    distinct: true,
    columns,
    from: { alias, relation },
    joins: joins.map(toJoin),
    where,
  };
}

/** The steps that all paths begin with. */
function commonPrefix([first = [], ...others]: readonly JoinPath[]): JoinPath {
  const length = first.findIndex((step, index) => others.some((path) => path[index] !== step));
  return length === -1 ? first : first.slice(0, length);
}

function isPrefix(prefix: JoinPath, path: JoinPath): boolean {
  return prefix.every((step, index) => path[index] === step);
}
