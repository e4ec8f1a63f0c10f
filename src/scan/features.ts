import { columnId, type ColumnFacts } from './facts.ts';
import type { ParentKey } from './keys.ts';
import type { Measured } from './measure.ts';
import { isMeasure, isPeople, isPersonRole, isSelfRole, matchNames } from './names.ts';

/** How a column's name speaks for one parent. */
export interface NameEvidence {
  readonly same: number;
  readonly full: number;
  readonly tail: number;
  readonly partial: number;
  readonly selfRole: number;
  readonly personRole: number;
  /** 0..1, the best of all. */
  readonly best: number;
}

export function nameEvidence(child: ColumnFacts, parent: ParentKey): NameEvidence {
  const isSelf = child.table === parent.table.schema;
  const [mine, key] = [child.parts.entity, parent.column.parts.entity];
  const byTable = matchNames(mine, parent.table.parts.entity);
  const byKey = matchNames(mine, key);
  const same = mine.length > 0 && child.parts.words.join() === parent.column.parts.words.join() ? 1 : 0;
  const full = Math.max(byTable.full, byKey.full);
  const tail = Math.max(byTable.tail, byKey.tail);
  const partial = Math.max(byTable.partial, byKey.partial);
  const selfRole = isSelf && isSelfRole(child.parts, parent.table.parts) ? 1 : 0;
  const personRole = isPersonRole(child.parts) && isPeople(parent.table.parts) ? 1 : 0;
  const best = Math.max(same, full * 0.95, tail * 0.9, partial * 0.6, selfRole * 0.8, personRole * 0.55);
  return { same, full, tail, partial, selfRole, personRole, best };
}

/** What is known of the values: estimated from sketches, or measured exactly. */
export interface ValueEvidence {
  readonly containment: number;
  /** Share of the parent's keys that are referred to. */
  readonly coverage: number;
  readonly exact: boolean;
  /** Child rows without a parent, where measured. */
  readonly orphans?: number | undefined;
}

export function exactEvidence([rows, matched, distinct, found]: Measured, parent: ParentKey): ValueEvidence {
  const parentDistinct = Math.max(1, parent.column.profile.distinct / parent.table.profile.fraction);
  return { containment: distinct === 0 ? 1 : found / distinct, coverage: Math.min(1, found / parentDistinct), exact: true, orphans: rows - matched };
}

export interface Candidate {
  readonly child: ColumnFacts;
  readonly childRows: number;
  readonly parent: ParentKey;
  readonly names: NameEvidence;
  readonly values: ValueEvidence;
  /** The best name among the other parents that hold the child's values. */
  readonly rivalName: number;
  readonly rivals: number;
  /** The probability that the child's column is the key of its own table, by itself. */
  readonly ownKey: number;
  /** 0..1: the child's name is that of its own table. */
  readonly childHome: number;
}

/** The order of the model's coefficients. */
export const featureNames = [
  'bias', 'same', 'full', 'tail', 'partial', 'self_role', 'person_role', 'behind', 'ahead', 'away', 'missing', 'complete', 'coverage', 'surprise',
  'range', 'unnamed_coverage', 'unnamed_surprise', 'unnamed_keyed', 'unnamed_range', 'unnamed_sole', 'unnamed_missing', 'keyed', 'measure', 'own_key', 'child_home', 'child_unique',
  'parent_prior', 'parent_secondary', 'fewer_rows', 'self', 'same_type', 'text', 'small_child', 'small_parent', 'empty', 'unnamed', 'clear', 'outdone',
] as const; // prettier-ignore

export function featuresOf(candidate: Candidate): number[] {
  const { child, parent, names, values, rivalName } = candidate;
  const { profile, present } = child;
  const [distinct, empty] = [profile.distinct, present === 0];
  const parentDistinct = Math.max(1, parent.column.profile.distinct);
  const unnamed = 1 - names.best;
  const expected = 1 - Math.exp(-candidate.childRows / parentDistinct);
  const coverage = empty ? 0 : Math.min(1, values.coverage / Math.max(expected, 1 / parentDistinct));
  const missing = empty ? 0 : Math.sqrt(1 - values.containment);
  const surprise = empty ? 0 : surpriseOf(child, parent) * (values.containment > 0.9 ? 1 : 0);
  const range = empty ? 0 : rangeShare(child, parent, coverage);
  const keyed = child.parts.keyed ? 1 : 0;
  const measure = !isMeasure(child.parts) ? 0 : child.parts.plural ? 1 : 1 - Math.max(names.same, names.full);
  const named = names.best >= 0.8;
  return [
    1, names.same, names.full, names.tail, names.partial, names.selfRole, names.personRole,
    Math.max(0, rivalName - names.best), Math.max(0, names.best - rivalName), parent.away ? 1 : 0,
    missing, !empty && values.containment >= 1 ? 1 : 0, coverage, surprise, range,
    unnamed * coverage, unnamed * surprise, unnamed * keyed, unnamed * range, unnamed * (candidate.rivals === 0 ? 1 : 0), unnamed * missing,
    keyed, measure, candidate.ownKey, candidate.childHome, !empty && distinct === present ? 1 : 0,
    parent.prior, parent.primary ? 0 : 1, Math.max(0, Math.min(1, Math.log10(Math.max(1, parent.table.rows) / Math.max(1, candidate.childRows)) / 3)),
    child.table === parent.table.schema ? 1 : 0, child.schema.type === parent.column.schema.type ? 1 : 0, child.family === 'text' ? 1 : 0,
    empty ? 0 : 1 / distinct, 1 / parentDistinct, empty ? 1 : 0, unnamed, named && names.best > rivalName ? 1 : 0, named && names.best < rivalName ? 1 : 0,
  ]; // prettier-ignore
}

/** 0..1: how unlikely the inclusion would be by chance. Dense integers inside a dense range say nothing, UUIDs say all. */
function surpriseOf(child: ColumnFacts, parent: ParentKey): number {
  const { min, max, distinct } = child.profile;
  const { min: low, max: high } = parent.column.profile;
  let chance = 0.001;
  if (min !== undefined && max !== undefined && low !== undefined && high !== undefined) {
    const overlap = Math.max(0, Math.min(max, high) - Math.max(min, low) + 1);
    const density = Math.min(1, parent.column.profile.distinct / (high - low + 1));
    chance = Math.min(0.999, Math.max(1e-6, (density * overlap) / (max - min + 1)));
  } else if ((child.profile.maxLength ?? 9) <= 3) chance = 0.2;
  return Math.min(1, (-Math.log2(chance) * distinct) / 40);
}

/** Share of the parent's range of numbers that the child spans; the coverage where there are no numbers. */
function rangeShare(child: ColumnFacts, parent: ParentKey, coverage: number): number {
  const { min, max } = child.profile;
  const { min: low, max: high } = parent.column.profile;
  if (min === undefined || max === undefined || low === undefined || high === undefined) return coverage;
  return high === low ? 1 : Math.max(0, Math.min(max, high) - Math.max(min, low)) / (high - low);
}

export const candidateId = ({ child, parent }: Candidate): string => `${columnId(child)}>${columnId(parent.column)}`;
