import type { Claim, Evidence } from '../claims/claim.ts';
import { applyModelDecisions } from '../claims/model-decisions.ts';
import type { Pin } from '../claims/pins.ts';
import { type Authority, defaultAuthority, isPast } from './authority.ts';
import { rankByKind } from './compile.ts';

/** What has changed since a model read it. */
export interface ModelInputChanges {
  /** Path of a changed item → why it counts as changed. */
  readonly items: ReadonlyMap<string, string>;
  /**
   * `<catalog file> <table>` → the hash of the table's present structure. A description records the
   * hash that it is about.
   */
  readonly structures: ReadonlyMap<string, string>;
}

/**
 * Subjects with a shown claim whose evidence has changed, all of it, since a model read it: subject
 * → why. Evidence that code
 * read is stale only once it has expired, because every ingest reads it again.
 */
export function findStaleSubjects(
  claims: readonly Claim[],
  {
    pins,
    authority,
  }: { readonly pins: readonly Pin[]; readonly authority?: Authority | undefined },
  changes: ModelInputChanges,
): Map<string, string> {
  const staleSubjects = new Map<string, string>();
  const decided = applyModelDecisions(claims, pins);
  const bySubject = Map.groupBy(decided.claims, (claim) => claim.subject);
  for (const [subject, subjectClaims] of bySubject) {
    const shown = [...rankByKind(subjectClaims, { pins, authority }, decided).values()].flatMap(
      (ranking) => ranking.shown,
    );
    const [why] = shown.flatMap((claim) => staleReason(claim, changes, authority) ?? []);
    if (why !== undefined) staleSubjects.set(subject, why);
  }
  return staleSubjects;
}

/** The first reason if every piece of evidence has changed; undefined if any still holds. */
function staleReason(
  { evidence }: Claim,
  changes: ModelInputChanges,
  { today }: Authority = defaultAuthority,
): string | undefined {
  const reasons = evidence.map((source) =>
    isPast(source.expires, today)
      ? `${source.item ?? source.connection} says that it holds until ${source.expires}`
      : whyChanged(source, changes),
  );
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

function whyChanged(
  { origin, item = '', location = '', measured }: Evidence,
  { items, structures }: ModelInputChanges,
): string | undefined {
  if (origin !== 'model') return undefined;
  const describedStructure =
    measured instanceof Object && 'structure' in measured ? measured.structure : undefined;
  const structure = structures.get(`${item} ${location}`);
  if (
    describedStructure !== undefined &&
    structure !== undefined &&
    structure !== describedStructure
  )
    return `the table ${location} has changed since a model described it`;
  return items.get(item);
}
