import { isAmount, isOfView } from '../../facts/table-facts.ts';
import { countsOtherRows, hasNoneValue, snugness } from '../features.ts';
import type { LinkCandidate } from '../link-candidate.ts';
import { wordSimilarity } from '../../names/name-match.ts';
import { otherRoles } from '../../names/word-lists.ts';
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
  if (isYesOrNo(candidate)) return 'the values are those of yes and no';
  if (isOnlyValue(candidate)) return 'it has one value only, and the name says more';
  const isMissing = lacksValues(candidate);
  const doubt = isMissing ? 'many values are missing in the other table' : reasonInNames(candidate);
  if (doubt !== undefined) return doubt;
  if (isOwnNumber(candidate)) return 'the name is no role of another row of the table';
  if (isRowNumber(candidate)) return 'both columns number the rows of their tables';
  if (isOneOfMany(candidate))
    return 'as many columns of the table fit the same key by their values';
  if (isAmongDenseKeys(candidate) || isCoincidence(candidate))
    return 'only the values suggest it, and they may fit by chance';
  return isTiny(candidate) ? 'too few rows to judge by' : undefined;
}

/** In so many rows, references to so many keys have more values than two. */
const [manyRows, manyKeys] = [50, 10];

/** True for the `invoice` of an order, which says whether there is one. */
export function isYesOrNo({ child, parent, seen }: LinkCandidate): boolean {
  const { min = -1, max = -1 } = child.profile;
  const isBinary = child.family === 'integer' && !child.parts.keyed && min === 0 && max === 1;
  const { distinct } = parent.column.profile;
  return isBinary && seen === 0 && child.present >= manyRows && distinct >= manyKeys;
}

/**
 * True for a `shop_group_id` that is always 1, beside groups of people: only the last word is that
 * of the table.
 */
export function isOnlyValue({ child, parent, names, seen }: LinkCandidate): boolean {
  const { entity } = parent.column.table.parts;
  const others = child.parts.entity.filter(
    (word) => !otherRoles.has(word) && !entity.some((own) => wordSimilarity(word, own) > 0),
  );
  const isRole = names.selfRole + names.personRole + names.same > 0;
  const isWhole = names.full >= 0.95 || others.length === 0;
  const isOnly = child.profile.distinct === 1 && child.present >= manyRows;
  return isOnly && !isRole && !isWhole && seen === 0 && parent.column.profile.distinct > 1;
}

/** True if so few values, or so few rows, fit most keys, and no name says which. */
function isTiny(candidate: RankedCandidate): boolean {
  const { child, parent } = candidate;
  const isFew = child.present < 10 || !parent.primary;
  const isNamed = isClearByName(candidate) || isNamedReference(candidate);
  return child.profile.distinct < fewValues && isFew && !isNamed;
}

/** Rows of deleted things refer to nothing; so many do not. */
const mostMissing = 0.3;

/** Numbers of so few values may be kinds. */
const mostKinds = 4;

export function lacksValues(candidate: LinkCandidate): boolean {
  const { child, parent, values } = candidate;
  const { orphans = 0, containment } = values;
  // How many rows have the value that stands for "none" is not known. Kinds and flags count from 0.
  const isKind = child.profile.distinct <= mostKinds && !isClearByName(candidate);
  if (isKind && isKindsFromZero(candidate)) return orphans > 0;
  if (!isKind && hasNoneValue(child.profile, parent.column.profile))
    return orphans > 0 && containment + 1 / child.profile.distinct < 1 - mostMissing;
  return orphans > mostMissing * (child.present / child.table.profile.fraction);
}

/** Of so many rows some have no reference; of so many kinds the first is 0. */
function isKindsFromZero({ child, parent, names }: LinkCandidate): boolean {
  const isPlain = child.family === 'integer' && !child.parts.keyed && names.selfRole === 0;
  const isNone = child.profile.min === 0 && hasNoneValue(child.profile, parent.column.profile);
  return isPlain && isNone && child.present >= manyRows;
}

function reasonInNames({
  child,
  parent,
  names,
  parentHasNamesake,
  isOwnKey,
  seen,
}: RankedCandidate): string | undefined {
  if (isOfView(child) && isOwnKey) return 'the view may have some rows of the table';
  const isOfRow = isOwnKey || isOwnCode({ child, names });
  if (child.home >= 0.95 && isOfRow && names.best < 0.95 && !countsOtherRows({ child, parent }))
    return 'the name is that of its own table';
  const elsewhere = reasonInOtherName({ child, parent, names, isOwnKey, seen });
  if (elsewhere !== undefined) return elsewhere;
  const isRole = names.selfRole + names.personRole > 0;
  return parentHasNamesake && names.best < 0.6 && !isRole
    ? 'the other table has a column of that name, which refers elsewhere'
    : undefined;
}

/** True for the `region_code` of regions, each of which has its own. */
function isOwnCode({ child, names }: Pick<RankedCandidate, 'child' | 'names'>): boolean {
  const isUnique = child.profile.distinct >= child.present * 0.98 && child.profile.nulls === 0;
  return isUnique && child.parts.keyed && child.parts.entity.length > 0 && names.best < 0.3;
}

/** Why a name speaks against each other table that has no such name. */
function reasonInOtherName({
  child,
  parent,
  names,
  isOwnKey,
  seen,
}: Pick<RankedCandidate, 'child' | 'parent' | 'names' | 'isOwnKey' | 'seen'>): string | undefined {
  if (names.best > 0 || child.table === parent.column.table) return undefined;
  if (isCalledByLetter(child)) return 'the name is that of another table';
  return isPartOfOwnTable(child) && !isOwnKey && seen === 0
    ? 'the name is a part of that of its own table'
    : undefined;
}

function isCalledByLetter({ parts, position }: RankedCandidate['child']): boolean {
  return /^[a-z] (?:id|no|num|number)$/.test(parts.words.join(' ')) && position > 0;
}

/** True for `element_contact(element_id)`, whose table is called after more than elements. */
function isPartOfOwnTable({ parts, table }: RankedCandidate['child']): boolean {
  const { words } = table.parts;
  const isPart = parts.entity.length > 0 && parts.entity.every((word) => words.includes(word));
  return parts.keyed && isPart && words.length > parts.entity.length;
}

/**
 * True for two keys that count rows, unless the name says that they are the same rows: it names the
 * parent's table, or both are named after a third table.
 */
function isRowNumber(candidate: RankedCandidate): boolean {
  const { child, parent, names, isOwnKey } = candidate;
  const { min, max, distinct } = child.profile;
  if (min === undefined || max === undefined) return false;
  const density = distinct / (max - min + 1);
  if (isPlace(candidate, density)) return true;
  const isFirst = child.position === 0 && distinct >= child.present * 0.85;
  if (!(isOwnKey || isFirst) || countsOtherRows({ child, parent })) return false;
  // A key that is called alike and leaves numbers out does not count its own rows.
  const isCalledAlike = names.same > 0 && child.home < 0.5;
  const isDense = density > (isCalledAlike ? 0.8 : 0.2);
  const isShared = child.away && parent.column.away && names.same > 0;
  return isDense && !isShared && names.table < 0.75;
}

/** True for `lft` and `rgt`, which number the places of a tree: each has half of the numbers. */
function isPlace({ child, names }: RankedCandidate, density: number): boolean {
  const { min = 0, distinct, nulls } = child.profile;
  const isUnique = distinct >= child.present * 0.98 && nulls === 0 && min <= 2;
  const isHalf = density > 0.4 && density < 0.6;
  return isUnique && isHalf && !child.parts.keyed && names.best < 0.3;
}

/**
 * True for the `desk` of a clerk: a small number fits among the keys of its own table, and its name
 * speaks of something else.
 */
function isOwnNumber(candidate: RankedCandidate): boolean {
  const { child, parent, names, seen } = candidate;
  const isOther = child.table !== parent.column.table || child.family !== 'integer' || seen > 0;
  const saysMore = child.parts.words.some((word) => word.length >= 3);
  const isRole = names.selfRole > 0 || names.personRole > 0;
  const isPlain = child.profile.nulls > 0 && isPlainReference(candidate);
  if (child.profile.nulls > 0 && candidate.probability >= clearByValues) return false;
  return !isOther && saysMore && !isRole && names.best < 0.5 && !child.parts.keyed && !isPlain;
}

/** From this probability on, the values leave no doubt, where the first row refers to none. */
const clearByValues = 0.9;
/** From this probability on, the values and the other columns say enough without a name. */
const likelyByValues = 0.6;

/**
 * True for a whole number that is not called a key, whose name does not name the table, and that
 * lies among the table's dense keys: it fits every table with enough rows.
 */
export function isAmongDenseKeys(candidate: RankedCandidate): boolean {
  const { child, parent, names, seen } = candidate;
  const { min, max, distinct } = parent.column.profile;
  if (child.family !== 'integer' || min === undefined || max === undefined) return false;
  const isUnnamed = !child.parts.keyed && names.best < 0.3;
  // `x` and `r` are places in a grid.
  const isLetter = child.parts.words.join('').length < 2;
  if (!isLetter && candidate.probability >= likelyByValues) return false;
  const isDense = distinct > (max - min + 1) / 2;
  return isUnnamed && seen === 0 && isDense && !isPlainReference(candidate);
}

/** Two columns may play two roles, and four play four; more numbers of one range are measured. */
const mostTwins = 3;

function isOneOfMany({ child, names, schema, seen }: RankedCandidate): boolean {
  const isNumber = child.family === 'integer' && !child.parts.keyed;
  return isNumber && schema.twins > mostTwins && names.best < 0.3 && seen === 0;
}

/** Where references have no id word in their names, and the numbers end where the keys end. */
function isPlainReference({ child, parent }: LinkCandidate): boolean {
  return child.table.plain >= 0.6 && snugness(child, parent.column) >= 0.4;
}

/** True if nothing but values that may fit by chance suggests the link. */
function isCoincidence({ child, names, values, ...rest }: RankedCandidate): boolean {
  if (rest.seen > 0) return false;
  // No amount is a UUID: `supersedes` is a verb.
  if (isAmount(child) && child.profile.kind !== 'uuid') return names.best < 0.75;
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
export function isClearByName({ child, parent, names, rivals, isOwnKey }: LinkCandidate): boolean {
  const { column, prior, primary } = parent;
  const hasSameName = names.best >= 0.9 && child.parts.words.at(-1) === column.parts.words.at(-1);
  const isAheadOfRivals = names.best >= 0.75 && names.best >= rivals.name + 0.1;
  const namesOnlyThis = isAheadOfRivals && (child.parts.keyed || names.full >= 0.95);
  const isKey = primary && prior > 0.55 && !column.away;
  const hasSameType = child.schema.type === column.schema.type;
  return (hasSameName || namesOnlyThis) && isKey && hasSameType && !isOwnKey;
}
