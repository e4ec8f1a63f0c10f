import {
  isDirection,
  isIdentifier,
  isPersonRole,
  isSelfReference,
  measuresSomethingElse,
} from '../names/parse-name.ts';
import { type ColumnFacts, isAmount } from '../facts/table-facts.ts';
import type { ColumnProfile } from '../profile/table-profile.ts';
import type { LinkCandidate } from './link-candidate.ts';

/**
 * The features of the trained model: numbers, mostly between 0 and 1, that speak for or against a
 * candidate. `coefficients.json` has their weights, in the same order.
 */
export function featuresOf(candidate: LinkCandidate) {
  const unnamed = 1 - candidate.names.best;
  return {
    bias: 1,
    ...nameFeatures(candidate),
    ...valueFeatures(candidate, unnamed),
    ...rangeEndFeatures(candidate, unnamed),
    ...rivalFeatures(candidate, unnamed),
    ...queryLogFeatures(candidate, unnamed),
    ...columnFeatures(candidate, unnamed),
    ...wordFeatures(candidate, unnamed),
    ...ownTableFeatures(candidate),
    ...snugFeatures(candidate, unnamed),
    ...plainFeatures(candidate, unnamed),
    ...schemaFeatures(candidate, unnamed),
    ...ownPlaceFeatures(candidate, unnamed),
    unnamed,
  };
}

/** What a name says that does not name the parent. Names like `c5` say nothing. */
function wordFeatures({ child, parent, names }: LinkCandidate, unnamed: number) {
  const { profile, parts, present } = child;
  const saysMore = Number(parts.words.some((word) => word.length >= 3)) * unnamed;
  const isFilled = present > 0 && child.family === 'integer';
  const span = (profile.max ?? 0) - (profile.min ?? 0) + 1;
  const density = isFilled ? Math.min(1, profile.distinct / span) : 0;
  const isFromStart = isFilled && (profile.min ?? 0) <= 1;
  const isUnkeyed = Number(!parts.keyed);
  const keyedCounter = saysMore * Number(parts.keyed) * Number(isFromStart) * density;
  return {
    // A column that counts from 1 and is not called a key fits every table by chance.
    unkeyed: saysMore * isUnkeyed,
    counter: saysMore * isUnkeyed * Number(isFromStart) * density,
    keyedCounter: keyedCounter * Number(!isIdentifier(parts)),
    identifierCounter: keyedCounter * Number(isIdentifier(parts)),
    sparse: saysMore * Number(parts.keyed) * Number(isFilled) * (1 - density),
    namedElsewhere: saysMore * Number(child.away),
    keyedPeople: saysMore * Number(parts.keyed) * parent.column.table.people,
    attribute: Number(parent.isAttribute === true) * names.same,
    ownTable: unnamed * Number(child.table === parent.column.table),
  };
}

/** What speaks for and against a reference to another row of the same table. */
function ownTableFeatures({ child, parent, names }: LinkCandidate) {
  const isOwn = Number(child.table === parent.column.table && child.present > 0);
  const isOptional = child.profile.nulls > 0 || hasNoneValue(child.profile, parent.column.profile);
  return {
    // The first row has none to refer to.
    noRoot: isOwn * Number(!isOptional),
    ownOptional: isOwn * (1 - names.selfRole) * Number(isOptional && child.parts.keyed),
    ownDone: isOwn * (1 - names.selfRole) * Number(isSelfReference(child.parts)),
  };
}

function snugFeatures({ child, parent, isOwnKey }: LinkCandidate, unnamed: number) {
  const { profile, parts, present } = child;
  const gaps = gapsAtEnds(profile, parent.column.profile);
  if (gaps === undefined || present === 0)
    return { snug: 0, snugKeyed: 0, loose: 0, snugOwnKey: 0, snugPeople: 0 };
  const isSnug = snugness(child, parent.column);
  const density = Math.min(1, profile.distinct / ((profile.max ?? 0) - (profile.min ?? 0) + 1));
  return {
    snug: unnamed * isSnug * Number(!isOwnKey),
    snugKeyed: unnamed * isSnug * Number(!isOwnKey && parts.keyed),
    loose: unnamed * (1 - Math.exp(-gaps / 8)) * weightOfValues(profile),
    // A key that leaves numbers out but reaches the ends counts the rows of another table.
    snugOwnKey: isSnug * Number(isOwnKey) * (1 - density),
    // Trainees are users: a key that leaves numbers out, in two tables of people.
    snugPeople: isSnug * Number(isOwnKey && density < 0.7) * peopleOfBoth(child, parent.column),
  };
}

/**
 * 0..1: how surely the rows of both tables are people. Those of a table that is called by what one
 * does (`trainer`) are, if its keys are those of people.
 */
export function peopleOfBoth(child: ColumnFacts, parent: ColumnFacts): number {
  const { people, parts } = child.table;
  const isCalledByRole = isPersonRole({ ...parts, words: parts.entity.slice(-1) });
  const own = Math.max(people, Number(isCalledByRole) / 2);
  return child.table === parent.table ? 0 : Math.min(own, parent.table.people);
}

/** What fits says more of a name without an id word, where that is the custom. */
function plainFeatures({ child, parent, rivals, isOwnKey }: LinkCandidate, unnamed: number) {
  const isMute = child.parts.keyed || isOwnKey || child.present === 0 || isAmount(child);
  const plain = isMute ? 0 : unnamed * child.table.plain;
  return {
    plain,
    plainSnug: plain * snugness(child, parent.column),
    plainTightest: plain * Number(rivals.tightest),
  };
}

/** What the other columns of the schema say about a name that says nothing. */
function schemaFeatures(
  { child, parent, schema, values, isOwnKey }: LinkCandidate,
  unnamed: number,
) {
  const isReference =
    parent.primary && child.present > 0 && !isOwnKey && values.containment >= 0.95;
  const weight = isReference && !isAmount(child) ? unnamed : 0;
  const unclaimed = weight * Number(schema.isUnclaimed);
  return {
    unclaimed,
    unclaimedCoverage: unclaimed * coverageOf({ child, parent, values }),
    unclaimedSmall: unclaimed / Math.sqrt(Math.max(1, parent.column.profile.distinct)),
    unclaimedOther: unclaimed * Number(child.table === parent.column.table),
    twin: weight * Number(schema.twins > 0),
    // A number may be a count; an `id` refers to something.
    identifier: weight * Number(isIdentifier(child.parts)),
    unclaimedIdentifier: unclaimed * Number(isIdentifier(child.parts)),
    direction: weight * Number(isDirection(child.parts)),
  };
}

/** What the column's place in its own table says about a name that says nothing. */
function ownPlaceFeatures({ child, parent, member }: LinkCandidate, unnamed: number) {
  const isNumber = child.family === 'integer' && child.present > 0;
  const isCounter = isNumber && (child.profile.min ?? 0) <= 1 && !child.parts.keyed;
  return {
    // What tells the rows of a key apart is another table's key, or a number of the row.
    member: isAmount(child) ? 0 : unnamed * member,
    memberCounter: unnamed * member * Number(isCounter),
    series: unnamed * Number(isOfSeries(child) && !isOfSeries(parent.column)),
  };
}

/** True for `n5` and `ch0`: a letter or two and a number. */
const isOfSeries = ({ name, parts }: ColumnFacts): boolean =>
  !parts.keyed && /^[a-z]{1,3}_?\d{1,3}[a-z]?$/i.test(name);

/**
 * References are spread over the keys, so the more they are, the nearer their ends come to those of
 * the keys; other numbers end anywhere. 0..1: how near they come, as far as so many values can
 * tell.
 */
export function snugness({ profile }: ColumnFacts, parent: ColumnFacts): number {
  const gaps = gapsAtEnds(profile, parent.profile);
  return gaps === undefined ? 0 : Math.exp(-gaps / 2) * weightOfValues(profile);
}

/**
 * True for a key that leaves numbers out and yet reaches the ends of the other table's: it has its
 * numbers from there, as a patient has that of a person.
 */
export function countsOtherRows({
  child,
  parent,
}: Pick<LinkCandidate, 'child' | 'parent'>): boolean {
  const { min = 0, max = 0, distinct } = child.profile;
  const least = peopleOfBoth(child, parent.column) > 0 ? 0.2 : 0.4;
  return distinct / (max - min + 1) < 0.7 && snugness(child, parent.column) >= least;
}

const weightOfValues = ({ distinct }: ColumnProfile): number =>
  Math.min(1, Math.log2(Math.max(1, distinct)) / 8);

/** About 1 for references to random keys. Undefined for other values than numbers, and outside. */
function gapsAtEnds(child: ColumnProfile, parent: ColumnProfile): number | undefined {
  const overlap = rangeOverlap(child, parent);
  if (overlap === undefined || overlap.parent <= 0 || overlap.shared < overlap.child)
    return undefined;
  return ((overlap.parent - overlap.child) / overlap.parent) * ((child.distinct + 1) / 2);
}

function nameFeatures({ parent: { column, primary }, names, rivals, isOwnKey }: LinkCandidate) {
  return {
    same: names.same * Number(primary && !isOwnKey),
    full: names.full,
    part: names.best < 0.6 ? names.common : 0,
    selfRole: names.selfRole,
    personRole: names.personRole * (1 - rivals.name),
    behind: Math.max(0, rivals.name - names.best),
    ahead: Math.max(0, names.best - rivals.name),
    away: Number(column.away),
  };
}

/** Features called `unnamed…` count only as far as the name does not speak for the candidate. */
function valueFeatures(candidate: LinkCandidate, unnamed: number) {
  const { child, parent, values } = candidate;
  const [own, referred] = [child.profile, parent.column.profile];
  const filled = Number(child.present > 0);
  // The value that stands for "none" need not exist in the parent.
  const noneShare = hasNoneValue(own, referred) ? 1 / own.distinct : 0;
  const containment = Math.min(1, values.containment + noneShare);
  const missing = filled * Math.sqrt(1 - containment);
  const surprise = containment > 0.9 ? filled * containmentSurprise(own, referred) : 0;
  const coverage = coverageOf(candidate);
  // The range of a few values says little.
  const rangeWeight = 1 - Math.exp(-own.distinct / 3);
  const range = filled * (1 - rangeWeight * (1 - rangeShare(own, referred, coverage)));
  return {
    missing,
    unnamedMissing: unnamed * missing,
    complete: Number(child.present > 0 && containment >= 1),
    surprise,
    range,
    unnamedCoverage: unnamed * coverage,
    unnamedSurprise: unnamed * surprise,
    unnamedKeyed: unnamed * Number(child.parts.keyed),
    unnamedRange: unnamed * range,
  };
}

/**
 * 0..1: the share of the parent's keys that are referred to, compared with what random references
 * would reach.
 */
function coverageOf({
  child,
  parent,
  values,
}: Pick<LinkCandidate, 'child' | 'parent' | 'values'>): number {
  if (child.present === 0) return 0;
  const keys = Math.max(1, parent.column.profile.distinct);
  const rows = child.present / child.table.profile.fraction;
  const expected = 1 - Math.exp(-rows / keys);
  return Math.min(1, values.coverage / Math.max(expected, 1 / keys));
}

/**
 * Two tables of one length number their rows alike, so equal ends say nothing about a column of row
 * numbers.
 */
function rangeEndFeatures({ child, parent, isOwnKey }: LinkCandidate, unnamed: number) {
  const isUnique = child.present > 0 && child.profile.distinct === child.present;
  const weight = isOwnKey || isUnique ? 0 : unnamed * Number(child.present > 0);
  const referred = parent.column.profile;
  return {
    unnamedEnds: weight * equalMaximum(child.profile, referred),
    unnamedStart: weight * equalMinimum(child.profile, referred),
  };
}

function rivalFeatures({ child, rivals }: LinkCandidate, unnamed: number) {
  const filled = Number(child.present > 0);
  return {
    unnamedCrowd: unnamed * filled * rivals.crowd,
    unnamedTightest: unnamed * filled * Number(rivals.tightest),
  };
}

function queryLogFeatures({ seen, rivals }: LinkCandidate, unnamed: number) {
  const joins = Math.max(1, seen + rivals.seen);
  const joined = (seen / joins) * Math.min(1, Math.log2(1 + seen) / 3);
  return { seen: joined, unnamedSeen: unnamed * joined, seenElsewhere: rivals.seen / joins };
}

/** The prior of a key that is found for sure. */
const surePrior = 0.98;

function columnFeatures({ child, parent, names, isOwnKey }: LinkCandidate, unnamed: number) {
  const { column, prior, primary } = parent;
  const isEmpty = child.present === 0;
  const measuresOther =
    child.parts.plural ||
    measuresSomethingElse(child.parts, [...column.table.parts.entity, ...column.parts.words]);
  return {
    keyed: Number(child.parts.keyed),
    measure: isAmount(child) ? Math.max(unnamed, Number(measuresOther)) : 0,
    childHome: child.home,
    childOwnKey: Number(isOwnKey),
    // Extension table: shares its primary key with the table it is named after.
    extension: Number(isOwnKey && primary) * names.full * (1 - child.home),
    childUnique: Number(!isEmpty && child.profile.distinct === child.present),
    // A declared key counts no more: knowing the keys must make no join worse.
    parentPrior: Math.min(prior, surePrior),
    parentSecondary: Number(!primary),
    text: Number(child.family === 'text'),
    smallChild: isEmpty ? 0 : 1 / child.profile.distinct,
    smallParent: column.table.rows === 0 ? 0 : 1 / Math.max(1, column.profile.distinct),
    empty: Number(isEmpty),
    emptyNamed: Number(isEmpty) * names.best,
  };
}

/** True if the child has a 0 or -1 below all keys, which stands for "none". */
export function hasNoneValue({ min }: ColumnProfile, parent: ColumnProfile): boolean {
  return (min === 0 || min === -1) && parent.min !== undefined && parent.min > min;
}

/** 0..1: the greatest numbers are equal. Says more for a parent with many keys. */
function equalMaximum({ max }: ColumnProfile, parent: ColumnProfile): number {
  return max !== undefined && max === parent.max
    ? Math.min(1, Math.log2(Math.max(1, parent.distinct)) / 8)
    : 0;
}

/** 0..1: the least numbers are equal. Says nothing for 0 and 1, where most keys begin. */
function equalMinimum({ min }: ColumnProfile, parent: ColumnProfile): number {
  return min !== undefined && min === parent.min
    ? Math.min(1, Math.log2(Math.max(1, Math.abs(min))) / 8)
    : 0;
}

/**
 * 0..1: how unlikely the containment is by chance: 0 for dense integers in a dense range, 1 for
 * UUIDs.
 */
function containmentSurprise(child: ColumnProfile, parent: ColumnProfile): number {
  const overlap = rangeOverlap(child, parent);
  let chance = (child.maxLength ?? 9) <= 3 ? 0.2 : 0.001;
  if (overlap) {
    const density = Math.min(1, parent.distinct / (overlap.parent + 1));
    chance = (density * Math.max(0, overlap.shared + 1)) / (overlap.child + 1);
  }
  const bounded = Math.min(0.999, Math.max(1e-6, chance));
  return Math.min(1, (-Math.log2(bounded) * child.distinct) / 40);
}

/**
 * The share of the parent's range of numbers that the child spans; `coverage` if there are no
 * numbers.
 */
function rangeShare(child: ColumnProfile, parent: ColumnProfile, coverage: number): number {
  const overlap = rangeOverlap(child, parent);
  if (overlap === undefined) return coverage;
  return overlap.parent === 0 ? 1 : Math.max(0, overlap.shared) / overlap.parent;
}

/**
 * The lengths of two ranges of numbers and of their overlap, which is negative if they do not meet.
 */
export function rangeOverlap(child: ColumnProfile, parent: ColumnProfile) {
  const [childMin, childMax, parentMin, parentMax] = [child.min, child.max, parent.min, parent.max];
  if (childMin === undefined || childMax === undefined) return undefined;
  if (parentMin === undefined || parentMax === undefined) return undefined;
  return {
    shared: Math.min(childMax, parentMax) - Math.max(childMin, parentMin),
    child: childMax - childMin,
    parent: parentMax - parentMin,
  };
}
