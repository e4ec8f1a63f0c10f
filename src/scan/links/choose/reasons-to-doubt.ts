import { isMeasure } from '../../names/parse-name.ts';
import type { LinkCandidate } from '../link-candidate.ts';
import type { RankedCandidate } from '../rank-candidates.ts';

export const noRows = 'no rows to judge by';
/** So few values are found among most keys. */
const fewValues = 3;

/** The model is trained on columns with values; without values its probability is too high. */
export function nameOnlyDiscount(candidate: LinkCandidate): number {
  if (isClearByName(candidate)) return 1;
  return candidate.isOwnKey || candidate.names.best < 0.75 ? 0.2 : 0.7;
}

/** Why a person should decide about a likely link; undefined if nothing speaks against it. */
export function reasonToDoubt(candidate: RankedCandidate): string | undefined {
  const { child, parent, values, isOpen } = candidate;
  const { column } = parent;
  if (isOpen) return 'many keys fit equally well';
  if (child.present === 0 || column.table.rows === 0) return noRows;
  if (values.orphans === undefined) return 'not confirmed';
  const elsewhere = reasonInNames(candidate);
  if (elsewhere !== undefined) return elsewhere;
  if (isOwnNumber(candidate)) return 'the name is no role of another row of the table';
  if (isRowNumber(candidate)) return 'both columns number the rows of their tables';
  if (isAmongDenseKeys(candidate) || isCoincidence(candidate))
    return 'only the values suggest it, and they may fit by chance';
  const isTiny = child.profile.distinct < fewValues && child.present < 10;
  const isNamed = isClearByName(candidate) || isNamedReference(candidate);
  return isTiny && !isNamed ? 'too few rows to judge by' : undefined;
}

function reasonInNames({
  child,
  names,
  parentHasNamesake,
  isOwnKey,
}: RankedCandidate): string | undefined {
  if (child.home >= 0.95 && isOwnKey && names.best < 0.95)
    return 'the name is that of its own table';
  const isRole = names.selfRole + names.personRole > 0;
  return parentHasNamesake && names.best < 0.6 && !isRole
    ? 'the other table has a column of that name, which refers elsewhere'
    : undefined;
}

/**
 * True for two keys that count rows, unless the name says that they are the same rows: it names the
 * parent's table, or both are named after a third table.
 */
function isRowNumber({ child, parent, names, isOwnKey }: RankedCandidate): boolean {
  const { min, max, distinct } = child.profile;
  const isKey = isOwnKey || (child.position === 0 && distinct >= child.present * 0.85);
  if (!isKey || min === undefined || max === undefined) return false;
  // A key that is called alike and leaves numbers out does not count its own rows.
  const isCalledAlike = names.same > 0 && child.home < 0.5;
  const isDense = distinct / (max - min + 1) > (isCalledAlike ? 0.8 : 0.2);
  const isShared = child.away && parent.column.away && names.same > 0;
  return isDense && !isShared && names.table < 0.75;
}

/**
 * True for the `desk` of a clerk: a small number fits among the keys of its own table, and its name
 * speaks of something else.
 */
function isOwnNumber({ child, parent, names, seen }: RankedCandidate): boolean {
  const saysMore = child.parts.words.some((word) => word.length >= 3);
  const isUnnamed = names.selfRole === 0 && names.best < 0.5 && !child.parts.keyed;
  return child.table === parent.column.table && isUnnamed && saysMore && seen === 0;
}

/**
 * True for a whole number that is not called a key, whose name does not name the table, and that
 * lies among the table's dense keys: it fits every table with enough rows.
 */
export function isAmongDenseKeys({ child, parent, names, seen }: LinkCandidate): boolean {
  const { min, max, distinct } = parent.column.profile;
  if (child.family !== 'integer' || min === undefined || max === undefined) return false;
  const isUnnamed = !child.parts.keyed && names.best < 0.3;
  return isUnnamed && seen === 0 && distinct > (max - min + 1) / 2;
}

/** True if nothing but values that may fit by chance suggests the link. */
function isCoincidence({ child, names, values, ...rest }: RankedCandidate): boolean {
  if (rest.seen > 0) return false;
  if (isMeasure(child.parts)) return names.best < 0.75;
  return names.best < 0.3 && rest.probability < 0.8 && (values.orphans ?? 0) > 0;
}

/** True for `reports_to`, and for `company_id` in a table beside that of companies. */
function isNamedReference({ child, names, rivals }: LinkCandidate): boolean {
  const isAlone = names.best >= 0.7 && names.best >= rivals.name + 0.1;
  return names.selfRole > 0 || (child.parts.keyed && isAlone);
}

/**
 * True if the name alone proves the link: it names this parent and no other, and both columns look
 * like key and reference.
 */
function isClearByName({ child, parent, names, rivals, isOwnKey }: LinkCandidate): boolean {
  const { column, prior, primary } = parent;
  const hasSameName = names.best >= 0.9 && child.parts.words.at(-1) === column.parts.words.at(-1);
  const isAheadOfRivals = names.best >= 0.75 && names.best >= rivals.name + 0.1;
  const namesOnlyThis = isAheadOfRivals && (child.parts.keyed || names.full >= 0.95);
  const isKey = primary && prior > 0.55 && !column.away;
  const hasSameType = child.schema.type === column.schema.type;
  return (hasSameName || namesOnlyThis) && isKey && hasSameType && !isOwnKey;
}
