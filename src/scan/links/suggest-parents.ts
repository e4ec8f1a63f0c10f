import type { ColumnFacts } from '../facts/table-facts.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import { createNameIndex } from '../names/name-match.ts';
import { isPersonRole } from '../names/parse-name.ts';
import { isCompleteSketch, sketchHashes } from '../profile/sketch.ts';
import type { ObservedJoins } from './observed-joins.ts';

/** How many of a column's values are looked up among the keys. */
const valuesToLookUp = 8;
/** How many keys each rule suggests for a column at most. */
const maxSuggestions = 16;

type SuggestionRule = (child: ColumnFacts) => readonly ParentKey[];

/**
 * Returns a function that suggests the keys to which a column may refer. `ranked`: the likeliest
 * keys first.
 */
export function suggestParents(
  ranked: readonly ParentKey[],
  children: readonly ColumnFacts[],
  observedJoins: ObservedJoins,
): (child: ColumnFacts) => readonly ParentKey[] {
  const rules = [
    byObservedJoins(ranked, observedJoins),
    byName(ranked),
    byRole(ranked),
    byFirstValues(ranked, children),
    byRange(ranked),
  ];
  return (child) => [...new Set(rules.flatMap((rule) => rule(child)))];
}

/** Keys that the query logs join to the column. */
function byObservedJoins(keys: readonly ParentKey[], observedJoins: ObservedJoins): SuggestionRule {
  if (observedJoins.size === 0) return () => [];
  const pairs = [...observedJoins.keys()].map((pair) => pair.split('\n'));
  const pairsById = Map.groupBy(
    pairs.flatMap((pair) => pair.map((id) => ({ id, pair }))),
    ({ id }) => id,
  );
  const keysById = new Map(keys.map((key) => [key.column.id, key]));
  return ({ id }) =>
    (pairsById.get(id) ?? []).flatMap(({ pair }) =>
      pair.flatMap((otherId) => (otherId === id ? [] : (keysById.get(otherId) ?? []))),
    );
}

/** Keys whose table or column has a similar name. */
function byName(keys: readonly ParentKey[]): SuggestionRule {
  const search = createNameIndex(
    keys.flatMap((key) =>
      [
        key.column.table.parts.entity,
        key.column.parts.entity,
        ...key.column.table.otherNames.map(({ words }) => words),
      ].map((name) => [name, key] as const),
    ),
  );
  // Thousands of columns are called `customer_id`, and as many keys can be similar to that.
  const firstByName = new Map<string, readonly ParentKey[]>();
  return ({ parts }) => {
    const name = parts.entity.join(' ');
    const similar = () => new Set(search(parts.entity).map(({ item }) => item));
    const first = firstByName.get(name) ?? [...similar()].slice(0, maxSuggestions);
    firstByName.set(name, first);
    return first;
  };
}

/** Keys of the column's own table; for a person's role also keys of tables of people. */
function byRole(keys: readonly ParentKey[]): SuggestionRule {
  const byTable = Map.groupBy(keys, ({ column }) => column.table);
  const people = keys
    .toSorted((a, b) => b.column.table.people - a.column.table.people)
    .slice(0, maxSuggestions);
  return ({ parts, table }) => [
    ...(byTable.get(table) ?? []),
    ...(isPersonRole(parts) ? people : []),
  ];
}

/**
 * Keys that hold most of the column's first values, and keys too large for their sketch to tell.
 */
function byFirstValues(
  keys: readonly ParentKey[],
  children: readonly ColumnFacts[],
): SuggestionRule {
  const firstHashes = ({ profile }: ColumnFacts): readonly string[] =>
    sketchHashes(profile.sketch, valuesToLookUp);
  const keysByHash = new Map<string, ParentKey[]>(
    children.flatMap(firstHashes).map((hash) => [hash, []]),
  );
  for (const key of keys) {
    for (const hash of sketchHashes(key.column.profile.sketch)) {
      const holders = keysByHash.get(hash);
      if (holders && holders.length < maxSuggestions) holders.push(key);
    }
  }
  const large = keys
    .filter(({ column }) => !isCompleteSketch(column.profile.sketch))
    .slice(0, maxSuggestions);
  return (child) => {
    const holders = firstHashes(child).flatMap((hash) => keysByHash.get(hash) ?? []);
    const byCount = [...Map.groupBy(holders, (key) => key)].sort(
      ([, a], [, b]) => b.length - a.length,
    );
    return [...byCount.slice(0, maxSuggestions).map(([key]) => key), ...large];
  };
}

/** Keys whose greatest number is in the same power of two as the column's, or in the next one. */
function byRange(keys: readonly ParentKey[]): SuggestionRule {
  const bucketOf = (max: number): number => Math.ceil(Math.log2(Math.max(1, max)));
  const buckets = Map.groupBy(
    keys,
    ({ column: { profile } }) => profile.max && bucketOf(profile.max),
  );
  return ({ profile: { max } }) => {
    if (max === undefined) return [];
    const bucket = bucketOf(max);
    const inRange = [bucket, bucket + 1].flatMap((near) =>
      (buckets.get(near) ?? []).slice(0, maxSuggestions),
    );
    return inRange.slice(0, maxSuggestions);
  };
}
