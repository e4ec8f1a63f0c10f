import { sameWords, type ColumnFacts, type TableFacts } from '../facts/table-facts.ts';
import type { ParentKey } from '../keys/find-keys.ts';
import type { Measured } from '../facts/measure.ts';
import { likeness, matchNames } from '../names/name-match.ts';
import {
  isMeasure,
  isPersonRole,
  isSelfRole,
  measuresSomethingElse,
  peopleScore,
} from '../names/parse-name.ts';
import type { ColumnProfile } from '../profile/profile-table.ts';

/** How a column's name speaks for one parent, in numbers between 0 and 1. */
export function nameEvidence(child: ColumnFacts, { column }: ParentKey) {
  const mine = child.parts.entity;
  const matches = [
    matchNames(mine, column.table.parts.entity),
    matchNames(mine, column.parts.entity),
  ];
  const full = Math.max(...matches.map((match) => match.full));
  const common = Math.max(...matches.map((match) => match.common));
  const alike = Math.max(...matches.map(likeness));
  const isSelf = child.table === column.table;
  const same = Number(mine.length > 0 && sameWords(child.parts, column.parts));
  const selfRole = Number(isSelf && isSelfRole(child.parts, column.table.parts));
  const personRole = isPersonRole(child.parts)
    ? peopleScore(column.table.parts) * (isSelf ? 0.7 : 1)
    : 0;
  return {
    same,
    full,
    common,
    selfRole,
    personRole,
    best: Math.max(same, alike, selfRole * 0.8, personRole * 0.55),
  };
}

/**
 * What the values say: their containment, the share of the parent's keys that are referred to, and the child rows without a
 * parent, which are undefined until they are counted.
 */
export type ValueEvidence = Readonly<Record<'containment' | 'coverage', number>> & {
  readonly orphans?: number | undefined;
};

export function exactEvidence(
  [rows = 0, matched = 0, distinct = 0, found = 0]: Measured,
  { column }: ParentKey,
): ValueEvidence {
  const containment = distinct === 0 ? 1 : found / distinct;
  return { containment, coverage: Math.min(1, found / keysOf(column)), orphans: rows - matched };
}

/** Keys of the whole table, extrapolated where it was sampled. */
export const keysOf = ({ profile, table }: ColumnFacts): number =>
  Math.max(1, profile.distinct / table.profile.fraction);

/** What the other primary keys that hold the child's values are like. */
interface Rivals {
  /** The best name among them. */
  readonly name: number;
  /** How many hold as much of the values, up to four, as a share of four. */
  readonly crowd: number;
  /** None of those has fewer keys. */
  readonly tightest: boolean;
  /** In how many statements the child is joined to one of them. */
  readonly seen: number;
}

/** A column, and a key that it may refer to. */
export interface Candidate {
  readonly child: ColumnFacts;
  readonly parent: ParentKey;
  readonly names: ReturnType<typeof nameEvidence>;
  readonly values: ValueEvidence;
  readonly rivals: Rivals;
  /** In how many statements of the query logs the two are joined. */
  readonly seen: number;
  /** The child is the key of its own table. */
  readonly isOwnKey: boolean;
  /** More keys than were measured fit the child as well. */
  readonly isOpen?: boolean;
  /** Of a polymorphic child: the column that tells which table is meant, and the tables that its values name, if they do. */
  readonly typeColumn:
    | { readonly name: string; readonly tables: readonly TableFacts[] }
    | undefined;
}

/** Numbers between 0 and 1 that speak for or against the candidate. */
export function featuresOf({ child, parent, names, values, rivals, seen, isOwnKey }: Candidate) {
  const { column, prior, primary } = parent;
  const isEmpty = child.present === 0;
  const filled = Number(!isEmpty);
  const unnamed = 1 - names.best;
  const keyed = Number(child.parts.keyed);
  const keys = Math.max(1, column.profile.distinct);
  const expected = 1 - Math.exp(-child.present / child.table.profile.fraction / keys);
  const coverage = filled * Math.min(1, values.coverage / Math.max(expected, 1 / keys));
  const containment = Math.min(
    1,
    values.containment + (hasNone(child.profile, column.profile) ? 1 / child.profile.distinct : 0),
  );
  const surprise = containment > 0.9 ? filled * surpriseOf(child.profile, column.profile) : 0;
  const isOther =
    child.parts.plural ||
    measuresSomethingElse(child.parts, [...column.table.parts.entity, ...column.parts.words]);
  const missing = filled * Math.sqrt(1 - containment);
  const joined = (seen / Math.max(1, seen + rivals.seen)) * Math.min(1, Math.log2(1 + seen) / 3);
  // Of a few values it says little how far they reach.
  const telling = 1 - Math.exp(-child.profile.distinct / 3);
  const range = filled * (1 - telling * (1 - rangeShare(child.profile, column.profile, coverage)));
  // Two tables of one length number their rows alike.
  const counts = isOwnKey || (!isEmpty && child.profile.distinct === child.present);
  const unnamedEnds = counts ? 0 : unnamed * filled;
  return {
    bias: 1,
    same: names.same * Number(primary && !isOwnKey),
    full: names.full,
    part: names.best < 0.6 ? names.common : 0,
    selfRole: names.selfRole,
    personRole: names.personRole * (1 - rivals.name),
    behind: Math.max(0, rivals.name - names.best),
    ahead: Math.max(0, names.best - rivals.name),
    away: Number(column.away),
    missing,
    unnamedMissing: unnamed * missing,
    complete: Number(!isEmpty && containment >= 1),
    surprise,
    range,
    unnamedCoverage: unnamed * coverage,
    unnamedSurprise: unnamed * surprise,
    unnamedKeyed: unnamed * keyed,
    unnamedRange: unnamed * range,
    unnamedEnds: unnamedEnds * endsAlike(child.profile, column.profile),
    unnamedStart: unnamedEnds * startsAlike(child.profile, column.profile),
    unnamedCrowd: unnamed * filled * rivals.crowd,
    unnamedTightest: unnamed * filled * Number(rivals.tightest),
    seen: joined,
    unnamedSeen: unnamed * joined,
    seenElsewhere: rivals.seen / Math.max(1, seen + rivals.seen),
    keyed,
    measure: isMeasure(child.parts) ? Math.max(unnamed, Number(isOther)) : 0,
    childHome: child.home,
    childOwnKey: Number(isOwnKey),
    // One to one with what it is named after.
    extension: Number(isOwnKey && primary) * names.full * (1 - child.home),
    childUnique: Number(!isEmpty && child.profile.distinct === child.present),
    parentPrior: prior,
    parentSecondary: Number(!primary),
    text: Number(child.family === 'text'),
    smallChild: isEmpty ? 0 : 1 / child.profile.distinct,
    smallParent: column.table.rows === 0 ? 0 : 1 / keys,
    empty: Number(isEmpty),
    emptyNamed: Number(isEmpty) * names.best,
    unnamed,
  };
}

/** Does a 0 or -1 below all keys stand for nothing? */
function hasNone({ min }: ColumnProfile, parent: ColumnProfile): boolean {
  return (min === 0 || min === -1) && parent.min !== undefined && parent.min > min;
}

/** 0..1: the greatest numbers are equal, which says more of long ranges. */
function endsAlike({ max }: ColumnProfile, parent: ColumnProfile): number {
  return max !== undefined && max === parent.max
    ? Math.min(1, Math.log2(Math.max(1, parent.distinct)) / 8)
    : 0;
}

/** 0..1: the least numbers are equal, and not where everybody starts to count. */
function startsAlike({ min }: ColumnProfile, parent: ColumnProfile): number {
  return min !== undefined && min === parent.min
    ? Math.min(1, Math.log2(Math.max(1, Math.abs(min))) / 8)
    : 0;
}

/** 0..1: how unlikely the inclusion would be by chance. Dense integers inside a dense range say nothing, UUIDs say all. */
function surpriseOf(child: ColumnProfile, parent: ColumnProfile): number {
  const overlap = overlapOf(child, parent);
  let chance = (child.maxLength ?? 9) <= 3 ? 0.2 : 0.001;
  if (overlap) {
    const density = Math.min(1, parent.distinct / (overlap.parent + 1));
    chance = (density * Math.max(0, overlap.shared + 1)) / (overlap.child + 1);
  }
  return Math.min(1, (-Math.log2(Math.min(0.999, Math.max(1e-6, chance))) * child.distinct) / 40);
}

/** Share of the parent's range of numbers that the child spans; the coverage where there are no numbers. */
function rangeShare(child: ColumnProfile, parent: ColumnProfile, coverage: number): number {
  const overlap = overlapOf(child, parent);
  if (overlap === undefined) return coverage;
  return overlap.parent === 0 ? 1 : Math.max(0, overlap.shared) / overlap.parent;
}

/** Lengths of two ranges of numbers and of what they share. */
export function overlapOf(child: ColumnProfile, parent: ColumnProfile) {
  const [low, high, from, to] = [child.min, child.max, parent.min, parent.max];
  if (low === undefined || high === undefined || from === undefined || to === undefined)
    return undefined;
  return { shared: Math.min(high, to) - Math.max(low, from), child: high - low, parent: to - from };
}
