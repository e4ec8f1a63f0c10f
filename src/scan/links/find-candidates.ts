import { comparable, type ColumnFacts, type TableFacts } from '../facts/table-facts.ts';
import { keysOf, nameEvidence, overlapOf, type Candidate, type ValueEvidence } from './features.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import { createNameIndex } from '../names/name-match.ts';
import { columnPairKey, type ObservedJoins } from './observed-joins.ts';
import { isMeasure, isPersonRole, peopleScore } from '../names/parse-name.ts';
import { maxCompared, sketchHashes, inclusion, isWhole, largestHash } from '../profile/sketch.ts';

/** Below this share of contained values a pair is no candidate. */
const leastContainment = 0.5;
/** How many of a column's values are looked up among the keys. */
const lookups = 8;
/** How many keys one way of looking suggests for a column, the likelier first. */
const most = 16;

type Suggest = (child: ColumnFacts) => readonly ParentKey[];

/** Every column beside the keys that its name or its values suggest: a bounded number, however many keys hold its values. */
export function findCandidates(
  tables: readonly TableFacts[],
  parents: readonly ParentKey[],
  seen: ObservedJoins = new Map(),
): Candidate[] {
  const children = tables.flatMap(({ columns }) => columns.filter(mayRefer));
  const ranked = parents.toSorted(
    (a, b) => b.prior - a.prior || (a.column.id < b.column.id ? -1 : 1),
  );
  const sources = [
    byQueries(ranked, seen),
    byName(ranked),
    byRole(ranked),
    byValue(ranked, children),
    byRange(ranked),
  ];
  const hashes = new Map(
    parents.map(({ column }) => [column, new Set(sketchHashes(column.profile.sketch))]),
  );
  const ownKeys = new Set(
    parents.flatMap(({ column, primary, prior }) => (primary && prior >= 0.5 ? [column] : [])),
  );
  return children.flatMap((child) => {
    const typeColumn = typeColumnOf(child, tables);
    const meant = typeColumn
      ? ranked.filter(({ column, primary }) => primary && typeColumn.tables.includes(column.table))
      : [];
    const suggested =
      meant.length > 0 ? meant : new Set(sources.flatMap((suggest) => suggest(child)));
    const least = meant.length > 0 ? 0 : leastContainment;
    const first = sketchHashes(child.profile.sketch, maxCompared);
    const found = [...suggested].flatMap((parent) => {
      const { column } = parent;
      // An address is no reference to whoever has it too, unless it is what they are known by.
      const isShared = child.profile.kind === 'email' && !parent.primary;
      if (column === child || isShared || !comparable(child, column)) return [];
      const values = estimate(child, column, {
        hashes: hashes.get(column) ?? new Set(),
        first,
        least,
      });
      return values
        ? [
            {
              child,
              parent,
              names: nameEvidence(child, parent),
              values,
              seen: seen.get(columnPairKey(child, column)) ?? 0,
              isOwnKey: ownKeys.has(child),
              typeColumn,
            },
          ]
        : [];
    });
    return addRivals(found);
  });
}

/** Prose and constants of no key-like name refer to nothing. */
function mayRefer({ family, profile, parts, position, present }: ColumnFacts): boolean {
  if (family === undefined || profile.kind === 'text' || parts.isCount) return false;
  if (family === 'date' || profile.kind === 'name') return parts.keyed;
  return present > 0 || parts.keyed || position === 0 || !isMeasure(parts);
}

/** Keys that people's queries join the column to. */
function byQueries(keys: readonly ParentKey[], seen: ObservedJoins): Suggest {
  if (seen.size === 0) return () => [];
  const byPair = Map.groupBy(
    [...seen.keys()].flatMap((pair) => pair.split('\n').map((id) => ({ id, pair }))),
    ({ id }) => id,
  );
  const byId = new Map(keys.map((key) => [key.column.id, key]));
  return ({ id }) =>
    (byPair.get(id) ?? []).flatMap(({ pair }) =>
      pair.split('\n').flatMap((other) => (other === id ? [] : (byId.get(other) ?? []))),
    );
}

function byName(keys: readonly ParentKey[]): Suggest {
  const find = createNameIndex(
    keys.flatMap((key) =>
      [key.column.table.parts, key.column.parts].map(({ entity }) => [entity, key] as const),
    ),
  );
  return ({ parts }) => {
    const found = new Set(find(parts.entity).map(({ thing }) => thing));
    return [...found].slice(0, most);
  };
}

/** Keys of the column's own table, and for a person's role those of people. */
function byRole(keys: readonly ParentKey[]): Suggest {
  const byTable = Map.groupBy(keys, ({ column }) => column.table);
  const people = keys
    .toSorted((a, b) => peopleScore(b.column.table.parts) - peopleScore(a.column.table.parts))
    .slice(0, most);
  return ({ parts, table }) => [
    ...(byTable.get(table) ?? []),
    ...(isPersonRole(parts) ? people : []),
  ];
}

/** Keys that hold most of the column's first values, and those too large for their sketches to tell. */
function byValue(keys: readonly ParentKey[], children: readonly ColumnFacts[]): Suggest {
  const asked = ({ profile }: ColumnFacts): readonly string[] =>
    sketchHashes(profile.sketch, lookups);
  const holders = new Map<string, ParentKey[]>(children.flatMap(asked).map((hash) => [hash, []]));
  for (const key of keys) {
    for (const hash of sketchHashes(key.column.profile.sketch)) {
      const list = holders.get(hash);
      if (list && list.length < most) list.push(key);
    }
  }
  const large = keys.filter(({ column }) => !isWhole(column.profile.sketch)).slice(0, most);
  return (child) => {
    const found = [
      ...Map.groupBy(
        asked(child).flatMap((hash) => holders.get(hash) ?? []),
        (key) => key,
      ),
    ];
    const fullest = found.sort(([, a], [, b]) => b.length - a.length).slice(0, most);
    return [...fullest.map(([key]) => key), ...large];
  };
}

/** Keys whose numbers end where the column's do, or within the double of it. */
function byRange(keys: readonly ParentKey[]): Suggest {
  const bucketOf = (max: number): number => Math.ceil(Math.log2(Math.max(1, max)));
  const buckets = Map.groupBy(
    keys,
    ({ column: { profile } }) => profile.max && bucketOf(profile.max),
  );
  return ({ profile: { max } }) =>
    max === undefined
      ? []
      : [bucketOf(max), bucketOf(max) + 1]
          .flatMap((bucket) => buckets.get(bucket) ?? [])
          .slice(0, most);
}

type Looked = {
  readonly hashes: ReadonlySet<string>;
  readonly first: readonly string[];
  readonly least: number;
};

/** Undefined where the parent does not hold the values. */
function estimate(
  child: ColumnFacts,
  parent: ColumnFacts,
  { hashes, first, least }: Looked,
): ValueEvidence | undefined {
  if (child.present === 0 || parent.table.rows === 0) return { containment: 1, coverage: 0 };
  const { share, compared } = inclusion(first, hashes, largestHash(parent.profile.sketch));
  const containment = Math.min(1, share / parent.table.profile.fraction);
  const isOutside = (overlapOf(child.profile, parent.profile)?.shared ?? 0) < 0;
  if (isOutside || (compared >= 3 && containment < least)) return undefined;
  // Two whole sets of values need no further proof.
  const isProof =
    compared === child.profile.distinct &&
    isWhole(parent.profile.sketch) &&
    child.table.profile.fraction === 1;
  const orphans = isProof && containment === 1 ? 0 : undefined;
  return {
    containment,
    coverage: Math.min(1, (child.profile.distinct * containment) / keysOf(parent)),
    orphans,
  };
}

/** Tells each of a column's candidates about the others. */
export function addRivals(found: readonly Omit<Candidate, 'rivals'>[]): Candidate[] {
  const serious = found.filter(({ values, parent }) => values.containment > 0.9 && parent.primary);
  // A table that extends another has that one's key: it is no rival of it.
  const [first, second] = serious
    .filter(({ parent }) => !parent.column.away)
    .sort((a, b) => b.names.best - a.names.best);
  const keys = ({ parent }: Omit<Candidate, 'rivals'>): number => parent.column.profile.distinct;
  return found.map((entry) => {
    const others = serious.filter(
      (other) => other !== entry && other.values.containment >= entry.values.containment,
    );
    const tightest = others.every((other) => keys(other) >= keys(entry));
    const name = (entry === first ? second : first)?.names.best ?? 0;
    const otherSeen = found.reduce((sum, other) => sum + (other === entry ? 0 : other.seen), 0);
    return {
      ...entry,
      rivals: { name, crowd: Math.min(4, others.length) / 4, tightest, seen: otherSeen },
    };
  });
}

const typeWords = /^(type|kind|class|table|model|entity|object|typ|tipo)$/;

/** `commentable_type` beside `commentable_id`: the column that tells which table is meant, and the tables that its values name. */
function typeColumnOf(
  { parts, table }: ColumnFacts,
  tables: readonly TableFacts[],
): Candidate['typeColumn'] {
  const stem = parts.entity.join(' ');
  if (stem === '' || isMeasure(parts)) return undefined;
  const typeColumn = table.columns.find(({ parts: { words }, profile }) => {
    const isNamed = typeWords.test(words.at(-1) ?? '') && words.slice(0, -1).join(' ') === stem;
    return isNamed && profile.kind !== 'integer' && profile.distinct < 50;
  });
  if (!typeColumn) return undefined;
  const values = new Set(typeColumn.profile.top.map(compact));
  const meant = tables.filter(
    ({ schema, parts: { entity } }) =>
      values.has(compact(schema.table)) || values.has(entity.join('')),
  );
  const isNamed = tables.some(
    ({ parts: { entity } }) => entity.slice(-parts.entity.length).join(' ') === stem,
  );
  return isNamed && meant.length < 2 ? undefined : { name: typeColumn.name, tables: meant };
}

const compact = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
