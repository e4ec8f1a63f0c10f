import {
  areComparable,
  isOfView,
  type ColumnFacts,
  type TableFacts,
} from '../facts/table-facts.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import { matchNames, nameSimilarity } from '../names/name-match.ts';
import { isMeasure } from '../names/parse-name.ts';
import {
  estimateContainment,
  isCompleteSketch,
  largestHash,
  maxCompared,
  sketchHashes,
} from '../profile/sketch.ts';

const maxNamesakes = 4;
/** A key holds a column if it has this share of its values. */
const holdsFrom = 0.95;

/** The namesakes of one column, with all values that the sketches of the group have. */
interface NamesakeGroup {
  readonly members: ReadonlySet<ColumnFacts>;
  readonly tables: ReadonlySet<TableFacts>;
  readonly hashes: ReadonlySet<string>;
  /** Up to this hash the sketches are complete; undefined if they are as a whole. */
  readonly limit: string | undefined;
}

/** At least so many columns of one name tell what they mean by their values. */
const enoughColumns = 3;
/** They refer to at least this share of the keys that they mean. */
const leastReach = 0.6;
/** And to as much more of them than of any other keys that hold them all. */
const leastLead = 0.08;

/** The hashes of the values of each key. */
export type KeyHashes = ReadonlyMap<ColumnFacts, ReadonlySet<string>>;

/**
 * Reads what columns of other tables with a column's name (`movie_id` in eight tables) say about a
 * key. All of them refer to the same table, whatever that is called.
 */
export function readNamesakes(children: readonly ColumnFacts[], keyHashes: KeyHashes) {
  const groups = new Map(
    [...Map.groupBy(children.filter(isNamed), nameOf)].flatMap(([name, members]) =>
      members.length > 1 ? [[name, members] as const] : [],
    ),
  );
  const prepared = new Map<string, NamesakeGroup>();
  const groupOf = (child: ColumnFacts): NamesakeGroup | undefined => {
    const name = nameOf(child);
    const members = isNamed(child) ? groups.get(name) : undefined;
    if (members === undefined) return undefined;
    const group = prepared.get(name) ?? prepareGroup(members);
    prepared.set(name, group);
    return group;
  };
  const meantParents = new Map<NamesakeGroup, ParentKey | undefined>();
  /** The key that all columns of the child's name mean, as far as values alone can tell. */
  const meantBy = (
    child: ColumnFacts,
    suggest: (child: ColumnFacts) => Iterable<ParentKey>,
  ): ParentKey | undefined => {
    const group = groupOf(child);
    if (group === undefined || group.tables.size < enoughColumns || !child.parts.keyed)
      return undefined;
    if (!meantParents.has(group)) {
      const members = [...group.members].slice(0, maxNamesakes);
      const suggested = new Set(members.flatMap((member) => [...suggest(member)]));
      const isNamed = suggested.values().some(({ column: { table } }) => namesWell(child, table));
      meantParents.set(group, isNamed ? undefined : keyMeantBy(group, suggested, keyHashes));
    }
    return meantParents.get(group);
  };
  /** True if the parent's own table has a column of the child's name, which refers elsewhere. */
  const parentHasNamesake = (child: ColumnFacts, { column }: ParentKey): boolean => {
    const group = child.table === column.table ? undefined : groupOf(child);
    if (group === undefined || !group.tables.has(column.table) || group.members.has(column))
      return false;
    return group.members
      .values()
      .some((member) => member.table !== child.table && areComparable(member, child));
  };
  return { meantBy, parentHasNamesake };
}

/** A table that the name fits needs no proof by values. */
const namesWell = ({ parts }: ColumnFacts, { parts: { entity } }: TableFacts): boolean =>
  nameSimilarity(matchNames(parts.entity, entity)) >= 0.75;

/** Undefined if several keys could be meant, or none. */
function keyMeantBy(
  group: NamesakeGroup,
  suggested: ReadonlySet<ParentKey>,
  keyHashes: KeyHashes,
): ParentKey | undefined {
  const compared = [...group.members].slice(0, 2 * maxNamesakes);
  const holders = [...suggested].filter(({ column, primary }) => {
    if (!primary || group.tables.has(column.table) || isOfView(column)) return false;
    const keys = keyHashes.get(column) ?? new Set();
    return compared.every((member) => areComparable(member, column) && holds(keys, column, member));
  });
  const ranked = holders
    .map((parent) => ({ parent, reach: reachOf(group, parent.column) }))
    .toSorted((a, b) => b.reach - a.reach);
  const [best, next] = ranked;
  if (best === undefined || best.reach < leastReach) return undefined;
  return best.reach - (next?.reach ?? 0) >= leastLead ? best.parent : undefined;
}

/** Generic names (`id`, `code`) and measures occur in tables that have nothing in common. */
const isNamed = ({ parts, present, family }: ColumnFacts): boolean =>
  present > 0 && family !== undefined && parts.entity.join('').length > 2 && !isMeasure(parts);

const nameOf = ({ parts }: ColumnFacts): string => parts.words.join(' ');

function prepareGroup(members: readonly ColumnFacts[]): NamesakeGroup {
  const used = members.slice(0, 4 * maxNamesakes);
  const limits = used.flatMap(({ profile: { sketch } }) =>
    isCompleteSketch(sketch) ? [] : [largestHash(sketch) ?? ''],
  );
  return {
    members: new Set(members),
    tables: new Set(members.map(({ table }) => table)),
    hashes: new Set(used.flatMap(({ profile }) => sketchHashes(profile.sketch))),
    limit: limits.sort()[0],
  };
}

function holds(keys: ReadonlySet<string>, parent: ColumnFacts, member: ColumnFacts): boolean {
  const { share, compared } = estimateContainment(
    sketchHashes(member.profile.sketch, maxCompared),
    keys,
    largestHash(parent.profile.sketch),
  );
  return compared > 0 && share >= holdsFrom;
}

function reachOf({ hashes, limit }: NamesakeGroup, parent: ColumnFacts): number {
  const keys = sketchHashes(parent.profile.sketch).filter(
    (hash) => limit === undefined || hash <= limit,
  );
  return keys.length === 0 ? 0 : keys.filter((hash) => hashes.has(hash)).length / keys.length;
}
