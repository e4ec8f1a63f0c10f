import type { Claim, Evidence } from '../../context/claims/claim.ts';
import { rankByKind } from '../../context/compile/compile.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';

/** What has changed since a model read it. */
export interface ModelInputChanges {
  /** Why, by the path of the item. */
  readonly items: ReadonlyMap<string, string>;
  /** The structure that a table has now, by file and name of the table; descriptions record the one that they are about. */
  readonly structures: ReadonlyMap<string, string>;
}

/** Subjects of which something that is shown stands on nothing but what has changed since, and why. */
export function findStaleSubjects(
  claims: readonly Claim[],
  pins: readonly Pin[],
  changed: ModelInputChanges,
): Map<string, string> {
  const stale = new Map<string, string>();
  const ruled = applyModelDecisions(claims, pins);
  for (const [subject, own] of Map.groupBy(ruled.claims, (claim) => claim.subject)) {
    const shown = [...rankByKind(own, pins, ruled).values()].flatMap((verdict) => verdict.shown);
    const [why] = shown.flatMap(({ evidence }) => {
      const reasons = evidence.map((one) => reasonOf(one, changed));
      return reasons.every((reason) => reason !== undefined) ? reasons.slice(0, 1) : [];
    });
    if (why !== undefined) stale.set(subject, why);
  }
  return stale;
}

function reasonOf(
  { origin, item = '', location = '', measured }: Evidence,
  { items, structures }: ModelInputChanges,
): string | undefined {
  if (origin !== 'model') return undefined;
  const described =
    measured instanceof Object && 'structure' in measured ? measured.structure : undefined;
  const now = structures.get(`${item} ${location}`);
  if (described !== undefined && now !== undefined && now !== described)
    return `the table ${location} has changed since a model described it`;
  return items.get(item);
}
