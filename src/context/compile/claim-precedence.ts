import { stepOf, withoutStep } from '../../sql/names/table-layer.ts';
import { bodySchemas, isProposal, shortId, type Claim, type ClaimKind } from '../claims/claim.ts';
import { noneOfThem, type Pin } from '../claims/pins.ts';
import {
  type Authority,
  compareByAge,
  compareByKind,
  compareByOrder,
  compareByPlace,
  defaultAuthority,
  isExpired,
} from './authority.ts';
import { parseSubject, parseWikiSubject } from '../claims/subject.ts';
import { meaningKey } from './meaning.ts';

/** The claims about one subject and kind. */
export interface RankedClaims {
  /** All of them, the one with precedence first. */
  readonly ranked: readonly Claim[];
  /** Those of `ranked` that artifacts show. */
  readonly shown: readonly Claim[];
  /**
   * If they disagree and nobody has decided: one claim of each meaning, the shown one first.
   * Otherwise empty.
   */
  readonly contested: readonly Claim[];
  /** The claim that a person chose. */
  readonly chosen?: Claim | undefined;
  /** The decision for a claim that is not there any more, so that the question is open again. */
  readonly lapsed?: Pin | undefined;
}

/** In the order of precedence. A pinned claim ranks right after a person's. */
const origins = ['person', 'catalog', 'code', 'model'] as const;
const pinRank = 0.5;
/** What only names suggest comes after everything that somebody says. */
const proposalRank = origins.length - 0.5;
/** What a person decided against comes after everything that they have not seen. */
const rejectedRank = origins.length;

/**
 * Only one claim of these kinds can be right. Of all other kinds several can be, so they are ranked
 * and never contested.
 */
const contestableKinds: ReadonlySet<ClaimKind> = new Set([
  'type',
  'primary_key',
  'metric',
  'relationship',
  'unit',
  'definition',
  'rule',
]);

export interface RankingRules {
  readonly pin?: Pin | undefined;
  /** Sets of short claim ids that a model found to mean the same. */
  readonly equivalent?: readonly (readonly string[])[] | undefined;
  readonly authority?: Authority | undefined;
}

/**
 * Ranks the claims about one subject and kind: person, pin, catalog; then the sources in the order
 * that people gave them for such subjects; then what code read before what a model read; then the
 * kinds of source, the confidence, joins within a layer, the date that the items give, and last
 * where they stand. Neither the order in which claims arrived nor what they say matters.
 */
export function rankClaims(
  claims: readonly Claim[],
  { pin, equivalent = [], authority = defaultAuthority }: RankingRules = {},
): RankedClaims {
  const pinned = pin && claims.find((claim) => shortId(claim) === pin.choose);
  const chosen = pinned ?? (pin && claims.find((claim) => takesPlace(claim, pin)));
  const isRejected = (claim: Claim) =>
    pin !== undefined && claim !== chosen && pin.seen.includes(shortId(claim));
  const rank = (claim: Claim) => {
    if (claim === chosen) return pinRank;
    const origin = bestOrigin(claim);
    const own = isProposal(claim) ? proposalRank : origins.indexOf(origin);
    return own + (isRejected(claim) && origin !== 'person' ? rejectedRank : 0);
  };
  const byOrder = compareByOrder(authority);
  const byKind = compareByKind(authority);
  const tier = (claim: Claim) => {
    const own = rank(claim);
    // Code and models of one source: the order of sources comes before what read them.
    return own === origins.indexOf('model') ? origins.indexOf('code') : own;
  };
  const isLapsed = (claim: Claim) => Number(isExpired(claim, authority));
  const ranked = claims.toSorted(
    (a, b) =>
      Number(isBesideOthers(a)) - Number(isBesideOthers(b)) ||
      isLapsed(a) - isLapsed(b) ||
      tier(a) - tier(b) ||
      byOrder(a, b) ||
      rank(a) - rank(b) ||
      byKind(a, b) ||
      bestConfidence(b) - bestConfidence(a) ||
      Number(leavesLayer(a)) - Number(leavesLayer(b)) ||
      compareByAge(a, b) ||
      compareByPlace(a, b),
  );
  // A table can have several keys, and several declared links over the same columns; all of them
  // are true.
  const isDeclaredLink = (claim: Claim) =>
    claim.kind === 'relationship' && bestOrigin(claim) === 'catalog';
  const isAlsoShown = (claim: Claim) =>
    claim.kind === 'unique_key' ||
    claim.kind === 'constraint' ||
    claim.kind === 'refs' ||
    isTopicSynonyms(claim) ||
    isBesideOthers(claim) ||
    (isDeclaredLink(claim) && ranked.slice(0, 1).every(isDeclaredLink));
  const shown = ranked.filter((claim, index) => index === 0 || isAlsoShown(claim));
  const rivals = ranked.filter((claim) => !isBesideOthers(claim));
  const lapsedPin = pinned === undefined && pin?.choose !== noneOfThem ? pin : undefined;
  const contested = findContested(rivals, { pin: pinned && pin, lapsedPin, equivalent });
  return { ranked, shown, contested, chosen, lapsed: contested.length > 0 ? lapsedPin : undefined };
}

/** True for what the pinned source says now, where it no longer says what was pinned. */
function takesPlace(claim: Claim, { source, seen }: Pin): boolean {
  if (source === undefined || seen.includes(shortId(claim))) return false;
  const { connection, item } = source;
  return claim.evidence.some(
    (own) => own.connection === connection && (item === undefined || own.item === item),
  );
}

interface Decisions {
  /** The decision for one of the claims. */
  readonly pin: Pin | undefined;
  /** The decision for a claim that is gone: what is left stands against it, even if it is alone. */
  readonly lapsedPin: Pin | undefined;
  readonly equivalent: readonly (readonly string[])[];
}

function findContested(
  ranked: readonly Claim[],
  { pin, lapsedPin, equivalent }: Decisions,
): readonly Claim[] {
  const [first, second] = ranked;
  if (!first || !contestableKinds.has(first.kind)) return [];
  const isAlone = second === undefined && lapsedPin === undefined;
  if (isAlone) return [];
  const meanings = groupByMeaning(listVoices(ranked), equivalent);
  const firstOfEach = new Set(
    meanings.map((group) => ranked.find((claim) => group.includes(claim))),
  );
  const variants = ranked.filter((claim) => firstOfEach.has(claim));
  const areDeclaredLinks =
    first.kind === 'relationship' && variants.every((claim) => bestOrigin(claim) === 'catalog');
  const fewest = lapsedPin === undefined || bestOrigin(first) === 'person' ? 2 : 1;
  if (variants.length < fewest || areDeclaredLinks) return [];
  const seen = pin?.seen ?? (bestOrigin(first) === 'person' ? ranked.map(shortId) : []);
  return variants.every((claim) => seen.includes(shortId(claim))) ? [] : variants;
}

/**
 * Like `meaningKey`, but a join to a staging table and one to the mart built on it do not
 * contradict each other: the values are in both.
 */
function contestedMeaning(claim: Claim): string {
  const link = linkOf(claim);
  return link ? `${withoutStep(link.to)} ${Object.keys(link.on).join()}` : meaningKey(claim);
}

/** True for a join from one layer of a transformation to another, such as to a staging table. */
function leavesLayer(claim: Claim): boolean {
  const link = linkOf(claim);
  return (
    link !== undefined && stepOf(parseSubject(claim.subject)?.dataset ?? '') !== stepOf(link.to)
  );
}

/** True for a join to a query of a source, which contradicts no other join. */
function isBesideOthers(claim: Claim): boolean {
  return linkOf(claim)?.beside === true;
}

function linkOf({ kind, body }: Claim) {
  return kind === 'relationship' ? bodySchemas.relationship.safeParse(body).data : undefined;
}

function groupByMeaning(
  claims: readonly Claim[],
  equivalent: readonly (readonly string[])[],
): readonly (readonly Claim[])[] {
  let groups = [...Map.groupBy(claims, contestedMeaning).values()];
  for (const ids of equivalent) {
    const isListed = (group: readonly Claim[]) =>
      group.some((claim) => ids.includes(shortId(claim)));
    groups = [...groups.filter((group) => !isListed(group)), groups.filter(isListed).flat()];
  }
  return groups.filter((group) => group.length > 0);
}

/**
 * The claims that can contradict each other. A warehouse has one voice about itself: what it
 * declares and what scan found in it are ranked, not contested. A mere measurement contradicts
 * nobody who is sure.
 */
function listVoices(ranked: readonly Claim[]): readonly Claim[] {
  const isFromItself = ({ subject, evidence }: Claim) =>
    evidence.every(({ connection }) => connection === parseSubject(subject)?.connection);
  const [warehouseVoice] = ranked.filter(isFromItself);
  const isUnknownType = ({ kind, body }: Claim) => kind === 'type' && body === 'unknown';
  const isAnyoneSure = ranked.some((claim) => !isFromItself(claim) && bestConfidence(claim) === 1);
  const isMeasurement = (claim: Claim) =>
    isFromItself(claim) && bestOrigin(claim) !== 'catalog' && bestConfidence(claim) < 1;
  return ranked.filter(
    (claim) =>
      (claim === warehouseVoice || !isFromItself(claim)) &&
      !isUnknownType(claim) &&
      !(isAnyoneSure && isMeasurement(claim)),
  );
}

/**
 * All names of a term or a rule are true; of the synonyms of a dataset or a field only the best
 * list is shown.
 */
function isTopicSynonyms({ kind, subject }: Claim): boolean {
  return kind === 'synonyms' && parseWikiSubject(subject) !== undefined;
}

/** The origin of its evidence that has precedence. */
function bestOrigin({ evidence }: Claim): (typeof origins)[number] {
  return origins.find((origin) => evidence.some((item) => item.origin === origin)) ?? 'model';
}

function bestConfidence({ evidence }: Claim): number {
  return Math.max(0, ...evidence.map(({ confidence }) => confidence));
}
