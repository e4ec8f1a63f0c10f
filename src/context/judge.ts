import type { Claim, ClaimKind } from './claim.ts';

/** Claims about one subject that disagree, undecided. */
export interface Conflict {
  readonly subject: string;
  readonly kind: ClaimKind;
  /** All of them; the first is what artifacts show. */
  readonly variants: readonly Claim[];
}

export interface Verdict {
  /** All claims, what counts first. */
  readonly ranked: readonly Claim[];
  /** Those of them that artifacts show. */
  readonly shown: readonly Claim[];
  readonly conflict: Conflict | undefined;
}

/** In the order of precedence. */
const origins = ['person', 'catalog', 'code', 'model'] as const;
const contestable: ReadonlySet<ClaimKind> = new Set(['type', 'primary_key', 'metric', 'relationship'] as const);
/** A table can have several of these, all true: what was found beside a declaration does not contradict it. */
const additive: ReadonlySet<ClaimKind> = new Set(['primary_key', 'relationship'] as const);

/**
 * Judges the claims about one subject and kind, in the order of `uniteClaims`. Person before catalog before code before
 * model, then confidence, then that order; never the order of arrival.
 */
export function judge(claims: readonly Claim[]): Verdict {
  const rank = (claim: Claim) => origins.indexOf(originOf(claim));
  const ranked = claims.toSorted((a, b) => rank(a) - rank(b) || confidence(b) - confidence(a));
  const [first] = ranked;
  if (!first) return { ranked, shown: [], conflict: undefined };
  const { subject, kind } = first;
  const isDeclared = originOf(first) === 'catalog';
  const isAlsoShown = (claim: Claim) => kind === 'unique_key' || (kind === 'relationship' && isDeclared && originOf(claim) === 'catalog');
  const shown = ranked.filter((claim) => claim === first || isAlsoShown(claim));
  const isSettled = originOf(first) === 'person' || (additive.has(kind) && isDeclared);
  const isContested = contestable.has(kind) && ranked.length > 1 && !isSettled;
  return { ranked, shown, conflict: isContested ? { subject, kind, variants: ranked } : undefined };
}

/** The best that its evidence has. */
function originOf({ evidence }: Claim): (typeof origins)[number] {
  return origins.find((origin) => evidence.some((one) => one.origin === origin)) ?? 'model';
}

function confidence({ evidence }: Claim): number {
  return Math.max(0, ...evidence.map((one) => one.confidence));
}
