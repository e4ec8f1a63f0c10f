import type { Claim } from './claim.ts';

export interface Verdict {
  /** All claims, what counts first. */
  readonly ranked: readonly Claim[];
  /** Those of them that artifacts show. */
  readonly shown: readonly Claim[];
}

/** In the order of precedence. */
const origins = ['person', 'catalog', 'code', 'model'] as const;

/**
 * Judges the claims about one subject and kind, in the order of `uniteClaims`. Person before catalog before code before
 * model, then confidence, then that order; never the order of arrival.
 */
export function judge(claims: readonly Claim[]): Verdict {
  const rank = (claim: Claim) => origins.indexOf(originOf(claim));
  const ranked = claims.toSorted((a, b) => rank(a) - rank(b) || confidence(b) - confidence(a));
  // A table can have several keys, and several declared links by the same columns, all true.
  const isDeclaredLink = (claim: Claim) => claim.kind === 'relationship' && originOf(claim) === 'catalog';
  const isAlsoShown = (claim: Claim) => claim.kind === 'unique_key' || (isDeclaredLink(claim) && ranked.slice(0, 1).every(isDeclaredLink));
  return { ranked, shown: ranked.filter((claim, index) => index === 0 || isAlsoShown(claim)) };
}

/** The best that its evidence has. */
function originOf({ evidence }: Claim): (typeof origins)[number] {
  return origins.find((origin) => evidence.some((one) => one.origin === origin)) ?? 'model';
}

function confidence({ evidence }: Claim): number {
  return Math.max(0, ...evidence.map((one) => one.confidence));
}
