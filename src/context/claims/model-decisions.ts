import { canonicalJson } from '../../lib/json.ts';
import { bodySchemas, isEditRecord, shortId, type Claim, type ClaimBodies } from './claim.ts';
import type { Pin } from './pins.ts';
import { parseWikiSubject } from './subject.ts';

/**
 * The kinds of claims that hold a model's decision about other claims. A decision says nothing
 * about the data, and the claims that it is about stay recorded as they were.
 */
const decisionKinds = ['same_as', 'same_meaning', 'contradiction', 'rejected', 'repaired'] as const;
type DecisionKind = (typeof decisionKinds)[number];

export interface DecidedClaims {
  /**
   * The claims that count: renamed, repaired and without the rejected ones. Decisions and records
   * of edits are left out.
   */
  readonly claims: readonly Claim[];
  /** A given claim as it counts; undefined if it does not. */
  readonly effective: (claim: Claim) => Claim | undefined;
  /** The subject that stays, by each subject that is merged into it. */
  readonly canonicalSubjects: ReadonlyMap<string, string>;
  /** Sets of short claim ids that mean the same, by `subjectKindKey`. */
  readonly equivalent: ReadonlyMap<string, readonly (readonly string[])[]>;
}

export function isModelDecision({ kind }: Pick<Claim, 'kind'>): boolean {
  return decisionKinds.some((decisionKind) => decisionKind === kind);
}

/**
 * The claim that records a model's decision, or the page where a model placed a term. `extractor`
 * is the stage that asked the model, e.g. `curation@1`.
 */
export function createModelDecision<Kind extends DecisionKind | 'page'>(
  extractor: string,
  subject: string,
  decision: { kind: Kind; body: ClaimBodies[Kind] },
): Claim {
  return {
    subject,
    ...decision,
    evidence: [{ connection: 'ktx', origin: 'model', extractor, confidence: 0.7 }],
  };
}

/**
 * True for the evidence of `createModelDecision`. It belongs to no source and stands as long as the
 * claims it is about.
 */
export function isDecisionEvidence({ connection, origin }: Claim['evidence'][number]): boolean {
  return connection === 'ktx' && origin === 'model';
}

/**
 * Applies the decisions among the claims to the others. Pure, and independent of their order. A
 * subject with a pin keeps its name.
 */
export function applyModelDecisions(
  all: readonly Claim[],
  pins: readonly Pin[] = [],
): DecidedClaims {
  const statements = all.filter((claim) => !isModelDecision(claim) && !isEditRecord(claim));
  const decisions = all.filter(isModelDecision);
  if (decisions.length === 0)
    return {
      claims: statements,
      effective: (claim) => claim,
      canonicalSubjects: new Map(),
      equivalent: new Map(),
    };
  const rejected = new Set(
    decisionsOfKind(decisions, 'rejected').flatMap(({ body: { claims } }) => claims),
  );
  const isAccepted = (claim: Claim) =>
    rejected.size === 0 || !isOnlyFromModels(claim) || !rejected.has(shortId(claim));
  const sameAs = decisionsOfKind(decisions, 'same_as');
  const canonicalSubjects = mergeSubjects(statements.filter(isAccepted), sameAs, pins);
  const repair = createRepairer(decisionsOfKind(decisions, 'repaired'));
  const effective = (claim: Claim) =>
    isAccepted(claim)
      ? renameSubject(repair(claim), canonicalSubjects.get(claim.subject))
      : undefined;
  const sameMeaning = Map.groupBy(
    decisionsOfKind(decisions, 'same_meaning'),
    ({ subject, body: { kind } }) => subjectKindKey({ subject, kind }),
  );
  return {
    claims: statements.flatMap((claim) => effective(claim) ?? []),
    effective,
    canonicalSubjects,
    equivalent: new Map(
      [...sameMeaning].map(([key, sets]) => [key, sets.map(({ body: { claims } }) => claims)]),
    ),
  };
}

/** The key of `DecidedClaims.equivalent`. */
export function subjectKindKey({
  subject,
  kind,
}: {
  readonly subject: string;
  readonly kind: string;
}): string {
  return `${subject}\n${kind}`;
}

interface OrphanContext {
  /** Claims that count as present but are not themselves filtered. */
  readonly beside?: readonly Claim[];
  readonly pins?: readonly Pin[];
}

/**
 * The claims without decisions about claims that are gone, and without pages of terms about which
 * nothing is said any more.
 */
export function dropOrphans(
  claims: readonly Claim[],
  { beside = [], pins = [] }: OrphanContext = {},
): readonly Claim[] {
  if (!claims.some((claim) => isModelDecision(claim) || claim.kind === 'page')) return claims;
  const everything = [...claims, ...beside];
  const statements = everything.filter(
    (claim) => !isModelDecision(claim) && !isEditRecord(claim) && claim.kind !== 'page',
  );
  const subjects = new Set(statements.map(({ subject }) => subject));
  const statementIds = new Set(statements.map(shortId));
  const effectiveIds = new Set(applyModelDecisions(everything, pins).claims.map(shortId));
  const countPresent = (ids: readonly string[], present: ReadonlySet<string>) =>
    ids.filter((id) => present.has(id)).length;
  return claims.filter((claim): boolean => {
    const { subject, kind } = claim;
    if (kind === 'page') return subjects.has(subject);
    if (!isModelDecision(claim)) return true;
    const [decision] = decisionsOfKind([claim], kind as DecisionKind);
    if (decision === undefined) return false;
    const { body } = decision;
    if (typeof body === 'string') return subjects.has(subject) && subjects.has(body);
    if ('claim' in body) return statementIds.has(body.claim);
    return kind === 'rejected'
      ? countPresent(body.claims, statementIds) > 0
      : countPresent(body.claims, effectiveIds) > 1;
  });
}

/** The decisions of one kind whose body fits it. */
function decisionsOfKind<Kind extends DecisionKind>(decisions: readonly Claim[], wanted: Kind) {
  return decisions.flatMap(({ subject, kind, body }) => {
    const { data } = bodySchemas[wanted].safeParse(body);
    return kind === wanted && data !== undefined
      ? [{ subject, body: data as ClaimBodies[Kind] }]
      : [];
  });
}

function isOnlyFromModels({ evidence }: Claim): boolean {
  return evidence.every(({ origin }) => origin === 'model');
}

/**
 * A function that replaces the body of a repaired claim. What people say and what the warehouse
 * declares is never repaired.
 */
function createRepairer(
  decisions: readonly { readonly body: ClaimBodies['repaired'] }[],
): (claim: Claim) => Claim {
  const repairs = decisions.flatMap(({ body: { claim, kind, body } }) =>
    body === null ? [] : [{ claim, kind, body }],
  );
  const byClaim = Map.groupBy(repairs, ({ claim }) => claim);
  return (claim) => {
    const isAuthoritative = claim.evidence.some(
      ({ origin }) => origin === 'person' || origin === 'catalog',
    );
    if (byClaim.size === 0 || isAuthoritative) return claim;
    const [repaired] = (byClaim.get(shortId(claim)) ?? [])
      .filter(({ kind }) => kind === claim.kind)
      .map(({ body }) => body)
      .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
    if (repaired === undefined) return claim;
    const evidence = claim.evidence.map((item) => ({
      ...item,
      origin: 'model' as const,
      confidence: Math.min(item.confidence, 0.5),
    }));
    return { ...claim, body: repaired, evidence };
  };
}

interface SameAsDecision {
  readonly subject: string;
  readonly body: string;
}

/**
 * The subject that stays, by each subject that is merged into it. Among subjects that are the same,
 * one that no decision calls another's name stays; of several, or none, the first by name.
 */
function mergeSubjects(
  claims: readonly Claim[],
  decisions: readonly SameAsDecision[],
  pins: readonly Pin[],
): Map<string, string> {
  const known = new Set(claims.flatMap(({ subject, kind }) => (kind === 'page' ? [] : [subject])));
  const pinned = new Set(pins.map(({ subject }) => subject));
  const applicable = decisions.filter(({ subject, body }) => {
    const isSameType = parseWikiSubject(subject)?.type === (parseWikiSubject(body)?.type ?? '');
    return isSameType && known.has(subject) && known.has(body) && !pinned.has(subject);
  });
  const classes = new Map<string, Set<string>>();
  for (const { subject, body } of applicable) {
    const merged = new Set([subject, body].flatMap((name) => [...(classes.get(name) ?? [name])]));
    for (const name of merged) classes.set(name, merged);
  }
  const renamed = new Set(applicable.map(({ subject }) => subject));
  return new Map(
    [...new Set(classes.values())].flatMap((members) => {
      const sorted = [...members].sort();
      const canonical = sorted.find((name) => !renamed.has(name)) ?? sorted[0] ?? '';
      return sorted.filter((name) => name !== canonical).map((name) => [name, canonical] as const);
    }),
  );
}

/**
 * The claim about the subject that stays: its title becomes a synonym there, and its page does not
 * count.
 */
function renameSubject(claim: Claim, canonical: string | undefined): Claim | undefined {
  if (canonical === undefined) return claim;
  if (claim.kind === 'page') return undefined;
  const { kind, body }: Pick<Claim, 'kind' | 'body'> =
    claim.kind === 'title' ? { kind: 'synonyms', body: [claim.body] } : claim;
  return { ...claim, subject: canonical, kind, body };
}
