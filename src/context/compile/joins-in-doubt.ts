import { z } from 'zod';
import { bodySchemas, isUnreviewed, shortId, subjects, type Claim } from '../claims/claim.ts';
import { findPin, noneOfThem, type Pin } from '../claims/pins.ts';
import { parseSubject } from '../claims/subject.ts';
import { ownDefinitions } from './own-definitions.ts';

interface SettledJoins {
  /** All claims but those of joins in doubt and of joins that people rejected. */
  readonly claims: readonly Claim[];
  /** Joins that are in no artifact because a person has to decide. */
  readonly inDoubt: readonly JoinInDoubt[];
}

/** A join that only a person can accept. */
export interface JoinInDoubt {
  readonly claim: Claim;
  /** Why it is not used. */
  readonly why: string;
}

/**
 * Sorts out the claims about joins, in whatever order they are given. Joins that people accepted
 * count as theirs, and those that they rejected are gone. A join that only a model read in prose
 * counts if it connects what nothing else connects: then no query that had an answer changes.
 */
export function settleJoins(claims: readonly Claim[], pins: readonly Pin[]): SettledJoins {
  const accepted = ownDefinitions(pins).filter(({ kind }) => kind === 'relationship');
  const isDecided = new Set(accepted.map(({ subject }) => subject));
  const standing = claims.filter((claim) => !isRejected(claim, pins));
  const doubtful = standing.filter(({ kind }) => kind === 'possible_relationship');
  const read = standing.filter(isReadByModelOnly);
  const others = standing.filter(
    (claim) => !isReadByModelOnly(claim) && claim.kind !== 'possible_relationship',
  );
  const groups = connectedDatasets([...others, ...accepted]);
  const harmless: Claim[] = [];
  const unused: JoinInDoubt[] = [];
  for (const claim of read.toSorted((a, b) => (shortId(a) < shortId(b) ? -1 : 1))) {
    if (groups.connect(claim)) harmless.push(claim);
    else unused.push({ claim, why: 'only a model read it, and it would compete with other joins' });
  }
  const known = new Set(
    others.flatMap(({ kind, subject, body }) =>
      kind === 'relationship' && bodySchemas.relationship.safeParse(body).data?.beside !== true
        ? [subject]
        : [],
    ),
  );
  const inDoubt = [
    ...unused,
    ...doubtful
      .filter(({ subject }) => !known.has(subject))
      .map((claim): JoinInDoubt => ({ claim, why: reasonOf(claim) })),
  ];
  return {
    claims: [...others, ...harmless, ...accepted],
    inDoubt: inDoubt
      .filter(({ claim: { subject } }) => !isDecided.has(subject))
      .toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)),
  };
}

function sortKey({ claim }: JoinInDoubt): string {
  return `${claim.subject} ${shortId(claim)}`;
}

/**
 * The claims without what models and names say about metrics and times that people rejected.
 * Several models may read such a metric again; a definition that the person has not seen asks
 * again.
 */
export function withoutRejected(claims: readonly Claim[], pins: readonly Pin[]): readonly Claim[] {
  const rejected = pins.filter(
    ({ kind, choose }) => choose === noneOfThem && (kind === 'metric' || kind === 'default_time'),
  );
  if (rejected.length === 0) return claims;
  const isGone = rejected.flatMap(({ subject, kind, seen }) => {
    const own = claims.filter((claim) => claim.subject === subject && claim.kind === kind);
    const isDecided = own.every((claim) => isUnreviewed(claim) && seen.includes(shortId(claim)));
    return isDecided ? [{ subject, kind }] : [];
  });
  const metrics = new Set(
    isGone.flatMap(({ subject, kind }) => (kind === 'metric' ? [subject] : [])),
  );
  const times = new Set(
    isGone.flatMap(({ subject, kind }) => (kind === 'metric' ? [] : [subject])),
  );
  return claims.filter(
    (claim) =>
      !isUnreviewed(claim) ||
      !(metrics.has(claim.subject) || (claim.kind === 'default_time' && times.has(claim.subject))),
  );
}

/** What a scan says about a join that it does not use. */
const measuredSchema = z
  .object({ why: z.string(), orphans: z.string(), names: z.string() })
  .partial()
  .catch({});

function reasonOf({ evidence: [first] }: Claim): string {
  const { why, orphans, names } = measuredSchema.parse(first?.measured ?? {});
  const isMeasured = orphans !== undefined && names !== undefined;
  const measured = isMeasured
    ? `values without a match: ${orphans}; the names ${names}`
    : undefined;
  const reasons = [why, measured].filter((reason) => reason !== undefined);
  return reasons.length === 0 ? 'names and values leave it open' : reasons.join('; ');
}

function isRejected(claim: Claim, pins: readonly Pin[]): boolean {
  const { subject, kind } = claim;
  if (kind !== 'relationship' && kind !== 'possible_relationship') return false;
  const pin = findPin(pins, { subject, kind: 'relationship' });
  return pin?.choose === noneOfThem && pin.seen.includes(shortId(claim));
}

function isReadByModelOnly({ kind, evidence }: Claim): boolean {
  return (
    kind === 'relationship' &&
    evidence.every(
      ({ origin, extractor }) => origin === 'model' && extractor.startsWith('reading@'),
    )
  );
}

/** Datasets in groups: those of one group have a path of joins between them. */
function connectedDatasets(claims: readonly Claim[]) {
  const parents = new Map<string, string>();
  const rootOf = (dataset: string): string => {
    const parent = parents.get(dataset) ?? dataset;
    if (parent === dataset) return dataset;
    const root = rootOf(parent);
    parents.set(dataset, root);
    return root;
  };
  /** Joins the groups of both ends; false if they are one group already. */
  const connect = (claim: Claim): boolean => {
    const owner = parseSubject(claim.subject);
    const link = bodySchemas.relationship.safeParse(claim.body).data;
    if (owner === undefined || link === undefined) return true;
    const from = rootOf(subjects.dataset(owner.connection, owner.dataset));
    const to = rootOf(subjects.dataset(owner.connection, link.to));
    parents.set(from, to);
    return from !== to;
  };
  for (const claim of claims) if (claim.kind === 'relationship') connect(claim);
  return { connect };
}
