import { tableKey } from '../../sql/dialect.ts';
import {
  areComparable,
  type ColumnFacts,
  mayReferTo,
  type TableFacts,
} from '../facts/table-facts.ts';
import type { KeyFindings, ParentKey } from '../keys/find-keys.ts';
import { isLabel } from '../keys/key-candidates.ts';
import type { NameMeanings } from '../names/name-meanings.ts';
import { isFlag, isMeasure } from '../names/parse-name.ts';
import {
  estimateContainment,
  isCompleteSketch,
  largestHash,
  maxCompared,
  sketchHashes,
} from '../profile/sketch.ts';
import { rangeOverlap } from './features.ts';
import {
  addRivals,
  keyCount,
  type LinkCandidate,
  nameEvidence,
  type ValueEvidence,
} from './link-candidate.ts';
import { findNearParents } from '../names/near-parents.ts';
import { type KeyHashes, readNamesakes } from './namesakes.ts';
import { columnPairKey, type ObservedJoins } from './observed-joins.ts';
import { findTypeColumn } from './polymorphic.ts';
import { addSchemaEvidence, type BareCandidate } from './schema-evidence.ts';
import { suggestParents } from './suggest-parents.ts';

/** With a smaller share of contained values a pair is no candidate. */
const minCandidateContainment = 0.5;

/** Where candidates come from beside names and values. */
interface CandidateSources {
  readonly observedJoins?: ObservedJoins;
  /** Undefined without embeddings. */
  readonly meanings?: NameMeanings | undefined;
}

/**
 * Pairs every column that may refer to a key with the keys that its name, its values or the query
 * logs suggest. The number of candidates per column is bounded, however many keys hold its values.
 */
export function findCandidates(
  tables: readonly TableFacts[],
  { parents, primaryKeys }: KeyFindings,
  { observedJoins = new Map(), meanings }: CandidateSources = {},
): LinkCandidate[] {
  const keyHashes = new Map(
    parents.map(({ column }) => [column, new Set(sketchHashes(column.profile.sketch))]),
  );
  const mayRefer = referenceTest(parents, keyHashes);
  const children = tables.flatMap(({ columns }) => columns.filter(mayRefer));
  const ranked = parents.toSorted(
    (a, b) => b.prior - a.prior || (a.column.id < b.column.id ? -1 : 1),
  );
  const suggest = suggestParents(ranked, children, observedJoins);
  const findNear = findNearParents(ranked, meanings);
  const namesakes = readNamesakes(children, keyHashes);
  const members = membersOf(primaryKeys);
  const evidence = { observedJoins, namesakes, keyHashes, members };
  const createCandidate = candidateBuilder(parents, evidence);
  const bare = children.flatMap((child) => {
    const typeColumn = findTypeColumn(child, tables);
    const keysOfType = typeColumn
      ? ranked.filter(({ column, primary }) => primary && typeColumn.tables.includes(column.table))
      : [];
    // Only a part of a polymorphic column's values is meant for each table.
    const isPolymorphic = keysOfType.length > 0;
    const near = isPolymorphic ? [] : findNear(child);
    const meantByAll = isPolymorphic ? undefined : namesakes.meantBy(child, suggest);
    const meant = near.find(({ isDistinct }) => isDistinct)?.parent ?? meantByAll;
    const others = [...near.map(({ parent }) => parent), ...(meantByAll ? [meantByAll] : [])];
    const suggested = isPolymorphic ? keysOfType : new Set([...suggest(child), ...others]);
    const required = isPolymorphic ? 0 : minCandidateContainment;
    const childHashes = sketchHashes(child.profile.sketch, maxCompared);
    return [...suggested].flatMap(
      (parent) =>
        createCandidate(parent, { child, childHashes, required, typeColumn, meant }) ?? [],
    );
  });
  const groups = Map.groupBy(addSchemaEvidence(bare), ({ child }) => child);
  return [...groups.values()].flatMap(addRivals);
}

/** The columns of keys of several columns, by their ids, and how sure these keys are. */
function membersOf(keys: KeyFindings['primaryKeys']): ReadonlyMap<string, number> {
  return new Map(
    keys.flatMap(({ table, columns, probability }) =>
      columns.length > 1 ? columns.map((name) => [tableKey(table) + name, probability]) : [],
    ),
  );
}

/** From so many equal names on, it is no accident that they are those of another table. */
const enoughNames = 5;

/** The values of all primary keys that are names or other texts. */
function namesAsKeys(parents: readonly ParentKey[], keyHashes: KeyHashes): ReadonlySet<string> {
  const keys = parents.filter(({ column, primary }) => primary && isText(column.profile));
  return new Set(keys.flatMap(({ column }) => [...(keyHashes.get(column) ?? [])]));
}

/**
 * Returns a test that is false for prose, counts, flags, and constants without a key-like name;
 * also for names of things, unless the column is called like a table or like a key of two words, or
 * the names are those that a table has for its key.
 */
function referenceTest(parents: readonly ParentKey[], keyHashes: KeyHashes) {
  const knownNames = namesAsKeys(parents, keyHashes);
  const isKnown = ({ profile }: ColumnFacts): boolean => {
    const hashes = sketchHashes(profile.sketch, 2 * enoughNames);
    return hashes.length >= enoughNames && hashes.every((hash) => knownNames.has(hash));
  };
  const names = new Set(
    parents.flatMap(({ column: { table, parts } }) => [
      table.parts.entity.join(' '),
      ...(parts.words.length > 1 ? [parts.words.join(' ')] : []),
    ]),
  );
  return (column: ColumnFacts): boolean => {
    const { family, profile, parts, position, present } = column;
    if (family === undefined || parts.isCount || isFlag(parts)) return false;
    const isCalled = [parts.entity, parts.words].some((words) => names.has(words.join(' ')));
    const isTable = isCalled || (isText(profile) && isKnown(column));
    if (profile.kind === 'text') return isTable && isLabel(profile);
    const isNamed = parts.keyed || isTable;
    if (profile.kind === 'name') return isNamed;
    if (family === 'date') return parts.keyed && parts.entity.length < parts.words.length;
    return present > 0 || parts.keyed || position === 0 || !isMeasure(parts);
  };
}

const isText = ({ kind }: ColumnFacts['profile']): boolean => kind === 'text' || kind === 'name';

interface ChildColumn {
  readonly child: ColumnFacts;
  readonly childHashes: readonly string[];
  /** The least containment of a candidate. */
  readonly required: number;
  readonly typeColumn: LinkCandidate['typeColumn'];
  /** The key whose table means what the column is called. */
  readonly meant: ParentKey | undefined;
}

interface CandidateEvidence {
  readonly observedJoins: ObservedJoins;
  readonly namesakes: ReturnType<typeof readNamesakes>;
  readonly keyHashes: KeyHashes;
  readonly members: ReadonlyMap<string, number>;
}

function candidateBuilder(
  parents: readonly ParentKey[],
  { observedJoins, namesakes, keyHashes, members }: CandidateEvidence,
) {
  const primaryKeys = new Set(
    parents.flatMap(({ column, primary, prior }) => (primary && prior >= 0.5 ? [column] : [])),
  );
  return (parent: ParentKey, own: ChildColumn): BareCandidate | undefined => {
    const { child, typeColumn } = own;
    const { column } = parent;
    // Two tables can have the same email addresses without a reference, unless the address is a
    // primary key.
    const isSharedEmail = child.profile.kind === 'email' && !parent.primary;
    if (column === child || isSharedEmail || !areComparable(child, column)) return undefined;
    if (!mayReferTo(child.table, column.table)) return undefined;
    const names = nameEvidence(child, parent, parent === own.meant);
    if (parent.isAttribute && names.table < 0.95 && (names.same === 0 || isUnique(child)))
      return undefined;
    const values = estimateValues(own, column, keyHashes.get(column) ?? new Set());
    if (values === undefined) return undefined;
    return {
      child,
      parent,
      names,
      values,
      parentHasNamesake: namesakes.parentHasNamesake(child, parent),
      seen: observedJoins.get(columnPairKey(child, column)) ?? 0,
      isOwnKey: primaryKeys.has(child) || numbersOwnRows(child),
      member: members.get(child.id) ?? 0,
      typeColumn,
    };
  };
}

/** True if the column is named after its table and tells its rows apart. */
function numbersOwnRows({ parts, home, profile, present }: ColumnFacts): boolean {
  return parts.keyed && parts.entity.length > 0 && home >= 0.95 && profile.distinct === present;
}

/** Undefined if the parent does not hold enough of the child's values. */
function estimateValues(
  { child, childHashes, required }: ChildColumn,
  parent: ColumnFacts,
  parentHashes: ReadonlySet<string>,
): ValueEvidence | undefined {
  if (child.present === 0 || parent.table.rows === 0) return { containment: 1, coverage: 0 };
  const { share, compared } = estimateContainment(
    childHashes,
    parentHashes,
    largestHash(parent.profile.sketch),
  );
  const containment = Math.min(1, share / parent.table.profile.fraction);
  const rangesMeet = (rangeOverlap(child.profile, parent.profile)?.shared ?? 0) >= 0;
  if (!rangesMeet || (compared >= 3 && containment < required)) return undefined;
  // With every value of both columns at hand, the estimate is exact.
  const isExact =
    compared === child.profile.distinct &&
    isCompleteSketch(parent.profile.sketch) &&
    child.table.profile.fraction === 1;
  const coverage = Math.min(1, (child.profile.distinct * containment) / keyCount(parent));
  return { containment, coverage, orphans: isExact && containment === 1 ? 0 : undefined };
}

/** True for a column that tells the rows of its own table apart, such as their labels. */
function isUnique({ profile, present }: ColumnFacts): boolean {
  return profile.distinct >= present * 0.98;
}
