import {
  haveSameWords,
  isOfView,
  type ColumnFacts,
  type TableFacts,
} from '../facts/table-facts.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import { matchNames, type NameMatch, nameSimilarity } from '../names/name-match.ts';
import { matchOtherName } from '../names/other-names.ts';
import { isPersonRole, isSelfRole } from '../names/parse-name.ts';
import { otherRoles } from '../names/word-lists.ts';
import type { MeasuredNumbers } from '../scan-store.ts';

/** A column, and a key that it may refer to. */
export interface LinkCandidate {
  readonly child: ColumnFacts;
  readonly parent: ParentKey;
  readonly names: NameEvidence;
  readonly values: ValueEvidence;
  readonly rivals: RivalEvidence;
  /** True if the parent's own table has a column of the child's name, which refers elsewhere. */
  readonly parentHasNamesake: boolean;
  readonly schema: SchemaEvidence;
  /** Number of statements in the query logs that join the two columns. */
  readonly seen: number;
  /** True if the child is the primary key of its own table. */
  readonly isOwnKey: boolean;
  /** 0..1: how sure it is that the child is one of the columns of its own table's key. */
  readonly member: number;
  /** True if more keys than are measured fit the child equally well. */
  readonly isOpen?: boolean;
  /**
   * Set for a polymorphic child: the column that says which table is meant (`commentable_type`),
   * and the tables that its values name. The list is empty if the values name no table.
   */
  readonly typeColumn:
    | { readonly name: string; readonly tables: readonly TableFacts[] }
    | undefined;
}

/**
 * How the child's name speaks for the parent; numbers between 0 and 1. `table`: how well it names
 * the parent's table.
 */
export type NameEvidence = Readonly<
  Record<'same' | 'table' | 'full' | 'common' | 'selfRole' | 'personRole' | 'best', number>
>;

/** What the values say. */
export interface ValueEvidence {
  /** Share of the child's distinct values that the parent has. */
  readonly containment: number;
  /** Share of the parent's keys that the child refers to. */
  readonly coverage: number;
  /** Child rows without a parent; undefined until they are counted. */
  readonly orphans?: number | undefined;
}

/** What the columns of the whole schema say about a pair. */
export interface SchemaEvidence {
  /** True if no column of another table is named after the parent. */
  readonly isUnclaimed: boolean;
  /** How many other columns of the child's table have values from as much of the parent. */
  readonly twins: number;
  /** True if a column of the parent's table is named after the child's table. */
  readonly isClaimedByParent: boolean;
}

/** What the other primary keys that hold the child's values are like. */
interface RivalEvidence {
  /** The best name evidence among them. */
  readonly name: number;
  /** How many of them hold as many of the values: a quarter for each, at most 1. */
  readonly crowd: number;
  /** True if none of those has fewer keys. */
  readonly tightest: boolean;
  /** Number of statements in the query logs that join the child to one of them. */
  readonly seen: number;
}

/**
 * `isMeant`: by its meaning, the name is that of the parent's table. It only ever adds to the
 * evidence.
 */
export function nameEvidence(
  child: ColumnFacts,
  { column }: ParentKey,
  isMeant = false,
): NameEvidence {
  const { entity } = child.parts;
  const table = column.table.parts.entity;
  // `artist.type` refers to artist types.
  const withOwnTable = matchNames([...child.table.parts.entity, ...entity], table);
  // The `current_state` of an order refers to order states.
  const withoutRoles = [
    ...child.table.parts.entity,
    ...entity.filter((word, index) => index === entity.length - 1 || !otherRoles.has(word)),
  ];
  const ownKind = matchNames(withoutRoles, table);
  const isSelf = child.table === column.table;
  const ofTable = bestMatch([
    matchNames(entity, table),
    ...column.table.otherNames
      .filter(({ group }) => group === undefined || group === child.table.parts.entity[0])
      .map((name) => matchOtherName(entity, name)),
  ]);
  const matches = [
    ofTable,
    matchNames(entity, column.parts.entity),
    {
      full:
        isSelf || entity.length === 0
          ? 0
          : Math.max(
              withOwnTable.full * 0.95,
              ownKind.full * 0.85,
              Number(isKindOfOwn(child, table)) * 0.85,
            ),
      tail: 0,
      common: 0,
      head: 0,
    },
  ];
  // Every table may have an `id`, but nobody fills a `uuid` from that of another table by chance.
  const saysSomething = entity.length > 0 || child.profile.kind === 'uuid';
  const hasSameName = saysSomething && haveSameWords(child.parts, column.parts);
  // Where both are named after a third table, the name is not this table's.
  const same = hasSameName ? (column.away ? 0.9 : 1) : 0;
  const selfRole = Number(isSelf && isSelfRole(child.parts, column.table.parts));
  const personRole = isPersonRole(child.parts) ? column.table.people * (isSelf ? 0.7 : 1) : 0;
  const similarity = Math.max(...matches.map(nameSimilarity));
  return {
    same,
    table: Math.max(ofTable.full, ofTable.tail),
    full: Math.max(...matches.map(({ full }) => full)),
    common: Math.max(...matches.map(({ common }) => common)),
    selfRole,
    personRole,
    best: Math.max(same, similarity, selfRole * 0.8, personRole * 0.55, Number(isMeant) * 0.6),
  };
}

/** True for the `type` of a release group: it refers to `release_group_primary_type`. */
function isKindOfOwn({ parts, table }: ColumnFacts, parent: readonly string[]): boolean {
  const [own, last] = [table.parts.entity, parts.entity];
  const isLonger = parent.length > own.length + last.length;
  const begins = own.length > 0 && own.every((word, index) => word === parent[index]);
  return isLonger && begins && parent.slice(-last.length).join(' ') === last.join(' ');
}

/** The name that fits best. */
function bestMatch(matches: readonly NameMatch[]): NameMatch {
  const best = (read: (match: NameMatch) => number): number => Math.max(0, ...matches.map(read));
  return {
    full: best(({ full }) => full),
    tail: best(({ tail }) => tail),
    head: best(({ head }) => head),
    common: best(({ common }) => common),
  };
}

/** Reads the result of a `containmentQuery`. */
export function measuredEvidence(
  [rows = 0, matched = 0, distinct = 0, found = 0]: MeasuredNumbers,
  { column }: ParentKey,
): ValueEvidence {
  const containment = distinct === 0 ? 1 : found / distinct;
  const coverage = Math.min(1, found / keyCount(column));
  return { containment, coverage, orphans: rows - matched };
}

/** Distinct keys of the whole table; an estimate if the table was sampled. */
export const keyCount = ({ profile, table }: ColumnFacts): number =>
  Math.max(1, profile.distinct / table.profile.fraction);

/** Adds to each candidate of one child what the other candidates are like. */
export function addRivals(candidates: readonly UnrivalledCandidate[]): LinkCandidate[] {
  const serious = candidates.filter(
    ({ values, parent }) => values.containment > 0.9 && parent.primary,
  );
  const ofTables = serious.filter(({ parent }) => !isOfView(parent.column));
  const distinctKeys = ({ parent }: UnrivalledCandidate): number => parent.column.profile.distinct;
  return candidates.map((candidate) => {
    // A view is no rival of the table whose keys it repeats.
    const rivals = isOfView(candidate.parent.column) ? serious : ofTables;
    // An extension table has the key of the table that it extends, so its name is no rival of that
    // table's.
    const [first, second] = rivals
      .filter(({ parent }) => !parent.column.away)
      .toSorted((a, b) => b.names.best - a.names.best);
    const equalRivals = rivals.filter(
      (rival) => rival !== candidate && rival.values.containment >= candidate.values.containment,
    );
    const tightest = equalRivals.every((rival) => distinctKeys(rival) >= distinctKeys(candidate));
    const bestRival = candidate === first ? second : first;
    const seen = candidates.reduce((sum, rival) => sum + (rival === candidate ? 0 : rival.seen), 0);
    const crowd = Math.min(4, equalRivals.length) / 4;
    const name = bestRival?.names.best ?? 0;
    return { ...candidate, rivals: { name, crowd, tightest, seen } };
  });
}

type UnrivalledCandidate = Omit<LinkCandidate, 'rivals'>;

/**
 * 0..1: how unlikely it is that all of the child's values lie by chance among the rival's keys, if
 * those are fewer and its name is as good. Sixteen bits and more count as certain.
 */
export function tightness(candidate: UnrivalledCandidate, rival: UnrivalledCandidate): number {
  const hasName = rival.names.best >= Math.max(0.75, candidate.names.best - 0.15);
  // The rows of a key are counted; its distinct values may be an estimate.
  const [own, other] = [candidate.parent.column.table.rows, rival.parent.column.table.rows];
  if (!hasName || !candidate.parent.primary || other === 0 || other >= own) return 0;
  // The keys of subtypes are called like that of what they are: fewer bits decide between them.
  const isSubtype = haveSameWords(candidate.parent.column.parts, rival.parent.column.parts);
  const bits = candidate.child.profile.distinct * Math.log2(own / other);
  return Math.min(1, bits / (isSubtype ? 8 : 16));
}
