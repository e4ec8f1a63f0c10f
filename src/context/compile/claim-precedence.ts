import { shortId, type Claim, type ClaimKind } from '../claims/claim.ts';
import { meaningKey } from './meaning.ts';
import type { Pin } from '../claims/pins.ts';
import { parseSubject, parseWikiSubject } from '../claims/subject.ts';

export interface RankedClaims {
  /** All claims, what counts first. */
  readonly ranked: readonly Claim[];
  /** Those of them that artifacts show. */
  readonly shown: readonly Claim[];
  /** One claim of each meaning, what is shown first, where they disagree and nobody has decided; else none. */
  readonly contested: readonly Claim[];
}

/** In the order of precedence. */
const origins = ['person', 'catalog', 'code', 'model'] as const;
/** Of these one is right; of all other kinds several can be, and are only ranked. */
const contestable: ReadonlySet<ClaimKind> = new Set([
  'type',
  'primary_key',
  'metric',
  'relationship',
  'unit',
  'definition',
  'rule',
]);

/**
 * Judges the claims about one subject and kind, in the order of `uniteClaims`. Person before pin before catalog before code
 * before model, then confidence, then that order; never the order of arrival. `alike` are sets of claims, by their short ids,
 * that a model found to mean the same.
 */
export function rankClaims(
  claims: readonly Claim[],
  pin?: Pin,
  alike: readonly (readonly string[])[] = [],
): RankedClaims {
  const chosen = pin && claims.find((claim) => shortId(claim) === pin.choose);
  const rank = (claim: Claim) => (claim === chosen ? 0.5 : origins.indexOf(originOf(claim)));
  const ranked = claims.toSorted((a, b) => rank(a) - rank(b) || confidence(b) - confidence(a));
  // A table can have several keys, and several declared links by the same columns, all true.
  const isDeclaredLink = (claim: Claim) =>
    claim.kind === 'relationship' && originOf(claim) === 'catalog';
  const isAlsoShown = (claim: Claim) =>
    claim.kind === 'unique_key' ||
    claim.kind === 'refs' ||
    isOtherName(claim) ||
    (isDeclaredLink(claim) && ranked.slice(0, 1).every(isDeclaredLink));
  const shown = ranked.filter((claim, index) => index === 0 || isAlsoShown(claim));
  return { ranked, shown, contested: contestedIn(ranked, chosen && pin, alike) };
}

function contestedIn(
  ranked: readonly Claim[],
  pin: Pin | undefined,
  alike: readonly (readonly string[])[],
): readonly Claim[] {
  const [first] = ranked;
  if (!first || !contestable.has(first.kind)) return [];
  const firsts = new Set(
    meanings(voices(ranked), alike).map((same) => ranked.find((claim) => same.includes(claim))),
  );
  const variants = ranked.filter((claim) => firsts.has(claim));
  if (
    variants.length < 2 ||
    (first.kind === 'relationship' && variants.every((claim) => originOf(claim) === 'catalog'))
  )
    return [];
  const seen = pin?.seen ?? (originOf(first) === 'person' ? ranked.map(shortId) : []);
  return variants.every((claim) => seen.includes(shortId(claim))) ? [] : variants;
}

/** Claims in groups that say the same. */
function meanings(
  claims: readonly Claim[],
  alike: readonly (readonly string[])[],
): readonly (readonly Claim[])[] {
  let groups = [...Map.groupBy(claims, meaningKey).values()];
  for (const ids of alike) {
    const isMeant = (group: readonly Claim[]) =>
      group.some((claim) => ids.includes(shortId(claim)));
    groups = [...groups.filter((group) => !isMeant(group)), groups.filter(isMeant).flat()];
  }
  return groups.filter((group) => group.length > 0);
}

/**
 * What a warehouse says of itself counts once: what it declares and what was found in it are ranked, not contested. What was
 * only measured in it contradicts nobody who says what it is.
 */
function voices(ranked: readonly Claim[]): readonly Claim[] {
  const isOwn = ({ subject, evidence }: Claim) =>
    evidence.every(({ connection }) => connection === parseSubject(subject)?.connection);
  const [own] = ranked.filter(isOwn);
  const isVague = ({ kind, body }: Claim) => kind === 'type' && body === 'unknown';
  const isSaid = ranked.some((claim) => !isOwn(claim) && confidence(claim) === 1);
  const isMeasured = (claim: Claim) =>
    isSaid && isOwn(claim) && originOf(claim) !== 'catalog' && confidence(claim) < 1;
  return ranked.filter(
    (claim) => (claim === own || !isOwn(claim)) && !isVague(claim) && !isMeasured(claim),
  );
}

/** Of a term all names are true; of what has columns the best list is shown. */
function isOtherName({ kind, subject }: Claim): boolean {
  return kind === 'synonyms' && parseWikiSubject(subject) !== undefined;
}

/** The best that its evidence has. */
function originOf({ evidence }: Claim): (typeof origins)[number] {
  return origins.find((origin) => evidence.some((one) => one.origin === origin)) ?? 'model';
}

function confidence({ evidence }: Claim): number {
  return Math.max(0, ...evidence.map((one) => one.confidence));
}
