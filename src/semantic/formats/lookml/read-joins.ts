import type { Dataset } from '../../model/dataset.ts';
import {
  type AddMisfit,
  type DatasetRelationship,
  toDatasetName,
  toKtxName,
} from '../imported-model.ts';
import { isEqual, omitKeys } from '../patch.ts';
import { type LookmlBlock, type LookmlEntry, textProperty } from './parse.ts';
import { UnreadableLookml } from './translate-sql.ts';

interface JoinContext {
  /** The datasets by the names of their views. */
  readonly views: ReadonlyMap<string, Dataset>;
  readonly addMisfit: AddMisfit;
}

interface ExploreContext extends JoinContext {
  /** The view that each name in the explore stands for. The explore itself comes first. */
  readonly aliases: Map<string, string>;
}

/** Keys that filter every query of an explore in Looker, and that ktx does not apply. */
const filterKeys = [
  'sql_always_where',
  'sql_always_having',
  'always_filter',
  'conditionally_filter',
  'access_filter',
  'sql_where',
];
const readKeys = ['join', 'from', 'view_name', 'label', 'description', ...filterKeys];

/**
 * Relationships by the view that they start from. A join that several explores repeat is read once.
 */
export function readJoins(
  explores: readonly LookmlBlock[],
  context: JoinContext,
): ReadonlyMap<string, readonly DatasetRelationship[]> {
  const joins = explores.flatMap((explore) => readExplore(explore, context));
  const byView = new Map<string, DatasetRelationship[]>();
  for (const { from, relationship } of joins) {
    const known = byView.get(from) ?? [];
    if (!known.some((existing) => isEqual(existing, relationship)))
      byView.set(from, [...known, relationship]);
  }
  return byView;
}

interface ReadJoin {
  /** The view that the relationship starts from. */
  readonly from: string;
  readonly relationship: DatasetRelationship;
}

function readExplore(explore: LookmlBlock, context: JoinContext): readonly ReadJoin[] {
  const at = `explore ${explore.name}`;
  noteUnreadKeys(explore, at, context);
  const base = textProperty(explore, 'from') ?? textProperty(explore, 'view_name') ?? explore.name;
  const aliases = new Map([[explore.name, base]]);
  return explore.value
    .filter(({ key }) => key === 'join')
    .flatMap((join) => {
      aliases.set(join.name, textProperty(join, 'from') ?? join.name);
      try {
        return [readJoin(join, { ...context, aliases })];
      } catch (error) {
        if (!(error instanceof UnreadableLookml)) throw error;
        context.addMisfit(`${at}.${join.name}`, `left out: ${error.message}`);
        return [];
      }
    });
}

function noteUnreadKeys(explore: LookmlBlock, at: string, { addMisfit }: JoinContext): void {
  const keys = [...new Set(explore.value.map(({ key }) => key))];
  for (const key of filterKeys.filter((filterKey) => keys.includes(filterKey)))
    addMisfit(at, `not read: ${key}, so ktx counts rows that Looker filters out`);
  const unread = keys.filter((key) => !readKeys.includes(key));
  if (unread.length > 0) addMisfit(at, `not read: ${unread.join(', ')}`);
}

function readJoin(join: LookmlEntry, context: ExploreContext): ReadJoin {
  const cardinality = textProperty(join, 'relationship') ?? 'many_to_one';
  checkJoinType(join, cardinality, context);
  const pairs = readColumnPairs(join, context);
  const [first] = pairs;
  if (first === undefined) throw new UnreadableLookml('it has neither sql_on nor foreign_key');
  const joined = context.aliases.get(join.name) ?? join.name;
  const other = context.aliases.get(first.other) ?? first.other;
  const missing = [joined, other].find((view) => !context.views.has(view));
  if (missing !== undefined)
    throw new UnreadableLookml(`there is no view ${missing} in these files`);
  if (pairs.some((pair) => pair.other !== first.other))
    throw new UnreadableLookml('its sql_on joins more than two views');
  const isReversed = cardinality === 'one_to_many';
  const end = isReversed
    ? { from: joined, to: other, alias: first.other }
    : { from: other, to: joined, alias: join.name };
  const on = Object.fromEntries(
    pairs.map(({ column, otherColumn }) =>
      isReversed ? [column, otherColumn] : [otherColumn, column],
    ),
  );
  const others = omitKeys({
    role: end.alias === end.to ? undefined : toKtxName(end.alias),
    cardinality: cardinality === 'one_to_one' ? cardinality : undefined,
  });
  return { from: end.from, relationship: { to: toDatasetName(end.to), on, ...others } };
}

function checkJoinType(
  join: LookmlEntry,
  cardinality: string,
  { addMisfit }: ExploreContext,
): void {
  const type = textProperty(join, 'type') ?? 'left_outer';
  if (cardinality === 'many_to_many')
    throw new UnreadableLookml('a many_to_many needs a bridge: declare it with via');
  if (type === 'cross') throw new UnreadableLookml('a cross join has no keys');
  if (type !== 'left_outer')
    addMisfit(
      `join ${join.name}`,
      `the ${type} join is read as left_outer, which keeps rows without a match`,
    );
}

/** A pair of joined columns: one of the joined view, one of the view that it is joined to. */
interface ColumnPair {
  readonly column: string;
  /** The name of the other view in the explore. */
  readonly other: string;
  readonly otherColumn: string;
}

function readColumnPairs(join: LookmlEntry, context: ExploreContext): readonly ColumnPair[] {
  const foreignKey = textProperty(join, 'foreign_key');
  return foreignKey === undefined
    ? readSqlOn(join, textProperty(join, 'sql_on') ?? '')
    : [readForeignKey(join, foreignKey, context)];
}

/** `foreign_key: buyer_id` of the explore's own view, or `foreign_key: orders.buyer_id`. */
function readForeignKey(
  join: LookmlEntry,
  foreignKey: string,
  { aliases, views }: ExploreContext,
): ColumnPair {
  const [explore = ''] = aliases.keys();
  const [other = '', otherColumn = ''] = foreignKey.includes('.')
    ? foreignKey.split('.')
    : [explore, foreignKey];
  const [column] = views.get(aliases.get(join.name) ?? join.name)?.primary_key ?? [];
  if (column === undefined) throw new UnreadableLookml(`${join.name} has no primary_key`);
  return { column, other, otherColumn: toKtxName(otherColumn) };
}

const columnEquality =
  /^\s*\(?\s*\$\{\s*(\w+)\.(\w+)\s*\}\s*=\s*\$\{\s*(\w+)\.(\w+)\s*\}\s*\)?\s*$/;

/** `sql_on: ${orders.buyer_id} = ${buyer.id} AND …` */
function readSqlOn(join: LookmlEntry, sqlOn: string): readonly ColumnPair[] {
  const conditions = sqlOn.split(/\band\b/i).filter((condition) => condition.trim() !== '');
  return conditions.map((condition) => {
    const match = columnEquality.exec(condition);
    if (match === null)
      throw new UnreadableLookml(`ktx cannot read its sql_on: ${condition.trim()}`);
    const [, left = '', leftColumn = '', right = '', rightColumn = ''] = match;
    if ((left === join.name) === (right === join.name))
      throw new UnreadableLookml(
        `its sql_on does not join ${join.name} to another view: ${condition.trim()}`,
      );
    const [column, other, otherColumn] =
      left === join.name ? [leftColumn, right, rightColumn] : [rightColumn, left, leftColumn];
    return { column: toKtxName(column), other, otherColumn: toKtxName(otherColumn) };
  });
}
