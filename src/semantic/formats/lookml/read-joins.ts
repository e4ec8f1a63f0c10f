import type { Dialect } from '../../../sql/dialect.ts';
import { type DatasetRelationship, toDatasetName, toKtxName } from '../imported-model.ts';
import { omitKeys } from '../patch.ts';
import { tryParseFragment } from '../sql-fragment.ts';
import { blocksWithKey, type LookmlBlock, type LookmlPlace, textProperty } from './parse.ts';
import type { AddLookmlFault } from './read.ts';
import { type ColumnPair, readSqlOn } from './read-sql-on.ts';
import type { LookmlProject } from './resolve-project.ts';
import { UnreadableLookml } from './unreadable-lookml.ts';
import type { ViewNames } from './view-names.ts';

interface JoinContext {
  readonly views: ReadonlyMap<string, ViewNames>;
  readonly addFault: AddLookmlFault;
  readonly dialect: Dialect;
}

interface ExploreContext extends JoinContext {
  /** Views that are left out because several have their name. */
  readonly ambiguous: ReadonlySet<string>;
  /** The view that each name in the explore stands for. The explore itself comes first. */
  readonly aliases: Map<string, string>;
  readonly explore: LookmlBlock;
}

/** A join as a relationship from one view to another. */
export interface ReadJoin {
  /** `explore orders.buyer`. */
  readonly at: string;
  readonly place: LookmlPlace;
  /** The views, and the name in the explore of the one that the relationship leads to. */
  readonly from: string;
  readonly to: string;
  readonly alias: string;
  readonly relationship: DatasetRelationship;
}

/** Keys that filter every query of an explore in Looker, and that ktx does not apply. */
export const filterKeys = [
  'sql_always_where',
  'sql_always_having',
  'always_filter',
  'conditionally_filter',
  'access_filter',
  'sql_where',
];
/** Keys that only change how Looker shows an explore, or how fast. */
const displayKeys = [
  'group_label',
  'view_label',
  'hidden',
  'fields',
  'tags',
  'persist_with',
  'persist_for',
  'cancel_grouping_fields',
  'case_sensitive',
  'required_access_grants',
  'query',
  'aggregate_table',
  'always_join',
  'extends',
  'extends__all',
  'extension',
  'symmetric_aggregates',
];
const readKeys = ['join', 'from', 'view_name', 'label', 'description', ...filterKeys];

export function readJoins(
  { explores, ambiguous }: LookmlProject,
  context: JoinContext,
): readonly ReadJoin[] {
  return explores.flatMap((explore) =>
    readExplore(explore, { ...context, ambiguous, explore, aliases: new Map() }),
  );
}

function readExplore(explore: LookmlBlock, context: ExploreContext): readonly ReadJoin[] {
  const at = `explore ${explore.name}`;
  noteUnreadKeys(explore, at, context);
  context.aliases.set(explore.name, exploreView(explore));
  const joins = blocksWithKey(explore.value, 'join');
  for (const join of joins) context.aliases.set(join.name, joinedView(join));
  return joins.flatMap((join) => {
    const joinAt = `${at}.${join.name}`;
    try {
      return [{ at: joinAt, place: join.place, ...readJoin(join, context) }];
    } catch (error) {
      if (!(error instanceof UnreadableLookml)) throw error;
      context.addFault(joinAt, `left out: ${error.message}`, join.place);
      return [];
    }
  });
}

/** The view that an explore starts from. */
export function exploreView(explore: LookmlBlock): string {
  return textProperty(explore, 'from') ?? textProperty(explore, 'view_name') ?? explore.name;
}

function joinedView(join: LookmlBlock): string {
  return textProperty(join, 'from') ?? join.name;
}

function noteUnreadKeys(explore: LookmlBlock, at: string, { addFault }: JoinContext): void {
  const keys = [...new Set(explore.value.map(({ key }) => key))];
  for (const key of filterKeys.filter((filterKey) => keys.includes(filterKey)))
    addFault(at, `not read: ${key}, so ktx counts rows that Looker filters out`, explore.place);
  const unread = keys.filter((key) => !readKeys.includes(key) && !displayKeys.includes(key));
  if (unread.length > 0) addFault(at, `not read: ${unread.join(', ')}`, explore.place);
}

function readJoin(
  join: LookmlBlock,
  context: ExploreContext,
): Pick<ReadJoin, 'from' | 'to' | 'alias' | 'relationship'> {
  const cardinality = textProperty(join, 'relationship') ?? 'many_to_one';
  checkJoinType(join, cardinality, context);
  const { pairs, rest } = readPairs(join, context);
  const [first] = pairs;
  if (first === undefined) throw new UnreadableLookml('it has neither sql_on nor foreign_key');
  const joined = joinedView(join);
  const other = context.aliases.get(first.other) ?? first.other;
  checkViews([joined, other], context);
  if (pairs.some((pair) => pair.other !== first.other))
    throw new UnreadableLookml('its sql_on joins more than two views');
  const isReversed = cardinality === 'one_to_many';
  const end = isReversed
    ? { from: joined, to: other, alias: first.other }
    : { from: other, to: joined, alias: join.name };
  const columns = pairs.map(({ column, otherColumn }): [string, string] =>
    isReversed ? [column, otherColumn] : [otherColumn, column],
  );
  const own = isReversed ? join.name : first.other;
  const on =
    rest.length === 0
      ? Object.fromEntries(columns)
      : [
          ...columns.map(([left, right]) => `${left} = ${toKtxName(end.alias)}.${right}`),
          ...rest.map((condition) => joinCondition(condition, { own, ...end }, context)),
        ].join(' and ');
  const others = omitKeys({
    role: end.alias === end.to ? undefined : toKtxName(end.alias),
    cardinality: cardinality === 'one_to_one' ? cardinality : undefined,
  });
  return { ...end, relationship: { to: toDatasetName(end.to), on, ...others } };
}

/** A further condition of a join, in the names of the view that it starts from. */
function joinCondition(
  condition: string,
  { own, from, to, alias }: { own: string; from: string; to: string; alias: string },
  { views, dialect }: ExploreContext,
): string {
  const text = condition.replaceAll(
    /\$\{\s*(\w+)\.(\w+)\s*\}/g,
    (written, one: string, name: string) => {
      const view = one === own ? from : to;
      if (one !== own && one !== alias)
        throw new UnreadableLookml(`its sql_on uses ${written} of a third view`);
      if (views.get(view)?.members.get(name)?.kind !== 'dimension')
        throw new UnreadableLookml(`its sql_on uses ${written}, which is no dimension`);
      return one === own ? toKtxName(name) : `${toKtxName(alias)}.${toKtxName(name)}`;
    },
  );
  // A name outside of ${…} is a column, and may be a dimension of another meaning.
  const bare = condition.replaceAll(/\$\{[^}]*\}/g, '0');
  const isReadable = tryParseFragment(bare, dialect)?.references.length === 0;
  if (!isReadable || tryParseFragment(text, dialect)?.aggregates.length !== 0)
    throw new UnreadableLookml(`ktx cannot read its sql_on: ${condition}`);
  return `(${text})`;
}

function checkViews(names: readonly string[], { views, ambiguous }: ExploreContext): void {
  for (const name of names) {
    if (!views.has(name)) throw new UnreadableLookml(`there is no view ${name} in these files`);
    if (ambiguous.has(name))
      throw new UnreadableLookml(
        `several views are named ${name}: which one is joined is not sure`,
      );
  }
}

function checkJoinType(
  join: LookmlBlock,
  cardinality: string,
  { addFault, explore }: ExploreContext,
): void {
  const type = textProperty(join, 'type') ?? 'left_outer';
  if (cardinality === 'many_to_many')
    throw new UnreadableLookml('a many_to_many needs a bridge: declare it with via');
  if (type === 'cross') throw new UnreadableLookml('a cross join has no keys');
  const at = `explore ${explore.name}.${join.name}`;
  if (type !== 'left_outer')
    addFault(
      at,
      `the ${type} join is read as left_outer, which keeps rows without a match`,
      join.place,
    );
  if (textProperty(join, 'sql_where') !== undefined)
    addFault(at, 'not read: sql_where, so ktx counts rows that Looker filters out', join.place);
}

interface ReadPairs {
  readonly pairs: readonly ColumnPair[];
  /** Conditions that compare no two columns. */
  readonly rest: readonly string[];
}

function readPairs(join: LookmlBlock, context: ExploreContext): ReadPairs {
  const foreignKey = textProperty(join, 'foreign_key');
  if (foreignKey !== undefined)
    return { pairs: [readForeignKey(join, foreignKey, context)], rest: [] };
  const sqlOn = textProperty(join, 'sql_on');
  if (sqlOn === undefined && textProperty(join, 'sql') !== undefined)
    throw new UnreadableLookml('it is written as sql: write sql_on');
  return sqlOn === undefined
    ? { pairs: [], rest: [] }
    : readSqlOn(sqlOn, { join: join.name, aliases: context.aliases, views: context.views });
}

/** `foreign_key: buyer_id` of the explore's own view, or `foreign_key: orders.buyer_id`. */
function readForeignKey(
  join: LookmlBlock,
  foreignKey: string,
  { explore, views }: ExploreContext,
): ColumnPair {
  const [first = '', second] = foreignKey.split('.');
  const [other, otherColumn] = second === undefined ? [explore.name, first] : [first, second];
  const view = joinedView(join);
  const [column, ...more] = views.get(view)?.primaryKey ?? [];
  if (!views.has(view)) throw new UnreadableLookml(`there is no view ${view} in these files`);
  if (column === undefined || more.length > 0)
    throw new UnreadableLookml(`${join.name} has no primary_key of one column`);
  return { column: toKtxName(column), other, otherColumn: toKtxName(otherColumn) };
}
