import { z } from 'zod';
import type { Json } from '../lib/json.ts';
import { claimId, claimKinds, type Claim, type ClaimKind, type Evidence } from './claim.ts';

/** A person's decision about a conflict: one line of `pins.yaml`. It holds until a claim appears that is not in `seen`. */
export const pinSchema = z.strictObject({
  subject: z.string(),
  kind: z.enum(claimKinds),
  choose: z.string().describe('Id of the claim that counts.'),
  seen: z.array(z.string()).describe('Ids of all claims about it at the time.'),
  by: z.string(),
  at: z.string().describe('When, ISO 8601.'),
  why: z.string().optional(),
});
export type Pin = Readonly<z.infer<typeof pinSchema>>;

/** Claims about one subject that disagree, undecided. The first variant is what artifacts show. */
export interface Conflict {
  readonly subject: string;
  readonly kind: ClaimKind;
  readonly variants: readonly { readonly id: string; readonly body: Json; readonly evidence: readonly Evidence[] }[];
}

/** The claims about one subject and kind, what counts first. */
export interface Verdict {
  readonly ranked: readonly Claim[];
  readonly conflict: Conflict | undefined;
}

const contestable: ReadonlySet<ClaimKind> = new Set(['type', 'primary_key', 'metric', 'relationship'] as const);
/** Of these a table can have several, all true: what was found beside a declaration does not contradict it. */
const additive: ReadonlySet<ClaimKind> = new Set(['primary_key', 'relationship'] as const);
const origins = ['person', 'catalog', 'code', 'model'] as const;

/** Person before pin before catalog before code before model; then confidence, then id: never the order of arrival. */
export function judge(variants: readonly Claim[], pin: Pin | undefined): Verdict {
  const choice = new Map(variants.map((claim) => [claim, claimId(claim)]));
  const rank = (claim: Claim) => (originRank(claim) === 0 ? 0 : choice.get(claim) === pin?.choose ? 0.5 : originRank(claim));
  const ranked = variants.toSorted(
    (a, b) => rank(a) - rank(b) || confidence(b) - confidence(a) || ((choice.get(a) ?? '') < (choice.get(b) ?? '') ? -1 : 1),
  );
  const [first] = ranked;
  if (!first || !contestable.has(first.kind)) return { ranked, conflict: undefined };
  const contested = additive.has(first.kind) && rank(first) === 1 ? [first] : ranked;
  const isSettled = rank(first) === 0 || (rank(first) === 0.5 && [...choice.values()].every((id) => pin?.seen.includes(id)));
  if (contested.length < 2 || isSettled) return { ranked, conflict: undefined };
  const { subject, kind } = first;
  return { ranked, conflict: { subject, kind, variants: ranked.map((claim) => ({ id: claimId(claim), body: claim.body, evidence: claim.evidence })) } }; // prettier-ignore
}

/** Position in the order of precedence: 0 a person, 1 the catalog, 2 code, 3 a model. */
export function originRank({ evidence }: Claim): number {
  return Math.min(origins.length, ...evidence.map(({ origin }) => origins.indexOf(origin)));
}

function confidence({ evidence }: Claim): number {
  return Math.max(0, ...evidence.map((one) => one.confidence));
}
