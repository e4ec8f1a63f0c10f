import { canonicalJson } from '../../lib/json.ts';
import { bodySchemas, isEditRecord, shortId, type ClaimBodies, type Claim } from './claim.ts';
import type { Pin } from './pins.ts';
import { parseWikiSubject } from './subject.ts';

/** What models ruled about claims of others. It claims nothing of the data, and what it is about stays recorded as it was said. */
const rulingKinds = ['same_as', 'same_meaning', 'contradiction', 'rejected', 'repaired'] as const;
type RulingKind = (typeof rulingKinds)[number];
type RulingKindOrPage = RulingKind | 'page';

export function isModelDecision({ kind }: Pick<Claim, 'kind'>): boolean {
  return rulingKinds.some((one) => one === kind);
}

/** A ruling, or where a model placed a term, as it is recorded; `extractor` is the stage, e.g. `curation@1`. */
export function createModelDecision<Kind extends RulingKindOrPage>(
  extractor: string,
  subject: string,
  what: { kind: Kind; body: ClaimBodies[Kind] },
): Claim {
  return {
    subject,
    ...what,
    evidence: [{ connection: 'ktx', origin: 'model', extractor, confidence: 0.7 }],
  };
}

/** Whether it came about by `createModelDecision`: such evidence belongs to no source, and stands as long as what it is about. */
export function isDecisionEvidence({ connection, origin }: Claim['evidence'][number]): boolean {
  return connection === 'ktx' && origin === 'model';
}

export interface DecidedClaims {
  /** The claims that count, as they count: under the name that holds, mended, without those rejected. No rulings, no records. */
  readonly claims: readonly Claim[];
  /** One of the claims as it counts; undefined where it does not. */
  readonly counted: (claim: Claim) => Claim | undefined;
  /** The subject that holds, by each other name of it. */
  readonly canonical: ReadonlyMap<string, string>;
  /** Sets of short ids that mean the same, by subject and kind. */
  readonly alike: ReadonlyMap<string, readonly (readonly string[])[]>;
}

/** Claims as the rulings among them leave them. Pure, and the same whatever the order. A subject with a pin keeps its name. */
export function applyModelDecisions(
  all: readonly Claim[],
  pins: readonly Pin[] = [],
): DecidedClaims {
  const own = all.filter((claim) => !isModelDecision(claim) && !isEditRecord(claim));
  const rulings = all.filter(isModelDecision);
  if (rulings.length === 0)
    return { claims: own, counted: (claim) => claim, canonical: new Map(), alike: new Map() };
  const rejected = new Set(said(rulings, 'rejected').flatMap(({ body: { claims } }) => claims));
  const isKept = (claim: Claim) =>
    rejected.size === 0 || !isModels(claim) || !rejected.has(shortId(claim));
  const canonical = canonicalSubjects(own.filter(isKept), said(rulings, 'same_as'), pins);
  const mend = mender(said(rulings, 'repaired'));
  const counted = (claim: Claim) =>
    isKept(claim) ? renamed(mend(claim), canonical.get(claim.subject)) : undefined;
  const same = Map.groupBy(said(rulings, 'same_meaning'), ({ subject, body: { kind } }) =>
    subjectKindKey({ subject, kind }),
  );
  return {
    claims: own.flatMap((claim) => counted(claim) ?? []),
    counted,
    canonical,
    alike: new Map(
      [...same].map(([key, sets]) => [key, sets.map(({ body: { claims } }) => claims)]),
    ),
  };
}

/** The key of `alike`. */
export function subjectKindKey({
  subject,
  kind,
}: {
  readonly subject: string;
  readonly kind: string;
}): string {
  return `${subject}\n${kind}`;
}

interface Standing {
  /** Claims that stand, and are not among those asked for. */
  readonly beside?: readonly Claim[];
  readonly pins?: readonly Pin[];
}

/** The claims without rulings about what is gone, and without places of terms of which nothing is said any more. */
export function dropOrphans(
  claims: readonly Claim[],
  { beside = [], pins = [] }: Standing = {},
): readonly Claim[] {
  if (!claims.some((claim) => isModelDecision(claim) || claim.kind === 'page')) return claims;
  const raw = [...claims, ...beside].filter(
    (claim) => !isModelDecision(claim) && !isEditRecord(claim) && claim.kind !== 'page',
  );
  const [subjects, ids] = [new Set(raw.map(({ subject }) => subject)), new Set(raw.map(shortId))];
  const effective = new Set(applyModelDecisions([...claims, ...beside], pins).claims.map(shortId));
  const standing = (wanted: readonly string[], known: ReadonlySet<string>) =>
    wanted.filter((id) => known.has(id)).length;
  const isDue = (claim: Claim): boolean => {
    const { subject, kind } = claim;
    if (kind === 'page') return subjects.has(subject);
    const [one] = isModelDecision(claim) ? said([claim], kind as RulingKind) : [];
    if (one === undefined) return !isModelDecision(claim);
    const { body } = one;
    if (typeof body === 'string') return subjects.has(subject) && subjects.has(body);
    if ('claim' in body) return ids.has(body.claim);
    return kind === 'rejected'
      ? standing(body.claims, ids) > 0
      : standing(body.claims, effective) > 1;
  };
  return claims.filter(isDue);
}

/** Of one kind, those whose body is of it. */
function said<Kind extends RulingKind>(rulings: readonly Claim[], kind: Kind) {
  return rulings.flatMap(({ subject, kind: own, body }) => {
    const { data } = bodySchemas[kind].safeParse(body);
    return own === kind && data !== undefined ? [{ subject, body: data as ClaimBodies[Kind] }] : [];
  });
}

function isModels({ evidence }: Claim): boolean {
  return evidence.every(({ origin }) => origin === 'model');
}

/** What people say, and what the warehouse declares, is never mended. */
function mender(
  repairs: readonly { readonly body: ClaimBodies['repaired'] }[],
): (claim: Claim) => Claim {
  const found = repairs.flatMap(({ body: { claim, kind, body } }) =>
    body === null ? [] : [{ claim, kind, body }],
  );
  const byClaim = Map.groupBy(found, ({ claim }) => claim);
  return (claim) => {
    if (
      byClaim.size === 0 ||
      claim.evidence.some(({ origin }) => origin === 'person' || origin === 'catalog')
    )
      return claim;
    const wanted = (byClaim.get(shortId(claim)) ?? []).filter(({ kind }) => kind === claim.kind);
    const [first] = wanted
      .map(({ body }) => body)
      .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
    if (first === undefined) return claim;
    const evidence = claim.evidence.map((one) => ({
      ...one,
      origin: 'model' as const,
      confidence: Math.min(one.confidence, 0.5),
    }));
    return { ...claim, body: first, evidence };
  };
}

type SameAs = { readonly subject: string; readonly body: string };

/** Subjects that are the same, in one class; it has the name of one that is itself no other's name, else the first by name. */
function canonicalSubjects(
  claims: readonly Claim[],
  links: readonly SameAs[],
  pins: readonly Pin[],
): Map<string, string> {
  const known = new Set(claims.flatMap(({ subject, kind }) => (kind === 'page' ? [] : [subject])));
  const pinned = new Set(pins.map(({ subject }) => subject));
  const counts = links.filter(({ subject, body }) => {
    const isSameType = parseWikiSubject(subject)?.type === (parseWikiSubject(body)?.type ?? '');
    return isSameType && known.has(subject) && known.has(body) && !pinned.has(subject);
  });
  const classes = new Map<string, Set<string>>();
  for (const { subject, body } of counts) {
    const joined = new Set([subject, body].flatMap((name) => [...(classes.get(name) ?? [name])]));
    for (const name of joined) classes.set(name, joined);
  }
  const others = new Set(counts.map(({ subject }) => subject));
  return new Map(
    [...new Set(classes.values())].flatMap((members) => {
      const sorted = [...members].sort();
      const name = sorted.find((one) => !others.has(one)) ?? sorted[0] ?? '';
      return sorted.filter((one) => one !== name).map((one) => [one, name] as const);
    }),
  );
}

/** Said of the name that holds: a title is a synonym of it, and it has a place already. */
function renamed(claim: Claim, name: string | undefined): Claim | undefined {
  if (name === undefined) return claim;
  if (claim.kind === 'page') return undefined;
  const { kind, body }: Pick<Claim, 'kind' | 'body'> =
    claim.kind === 'title' ? { kind: 'synonyms', body: [claim.body] } : claim;
  return { ...claim, subject: name, kind, body };
}
