import type { Claim, Evidence } from '../../context/claims/claim.ts';
import { applyModelDecisions } from '../../context/claims/model-decisions.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { rankByKind } from '../../context/compile/compile.ts';

/** What has changed since a model read it. */
export interface ModelInputChanges {
  /** Why an item is outdated, by its path. */
  readonly items: ReadonlyMap<string, string>;
  /** The hash of each table's present structure, by file and name of the table. Descriptions record the hash that they are about. */
  readonly structures: ReadonlyMap<string, string>;
}

/** The subjects that show something for which all evidence is outdated, with the reason. */
export function findStaleSubjects(
  claims: readonly Claim[],
  pins: readonly Pin[],
  changes: ModelInputChanges,
): Map<string, string> {
  const stale = new Map<string, string>();
  const decided = applyModelDecisions(claims, pins);
  for (const [subject, group] of Map.groupBy(decided.claims, (claim) => claim.subject)) {
    const shown = [...rankByKind(group, pins, decided).values()].flatMap((ranked) => ranked.shown);
    const [reason] = shown.flatMap(({ evidence }) => {
      const reasons = evidence.map((item) => whyOutdated(item, changes));
      return reasons.every((reasonOrNone) => reasonOrNone !== undefined) ? reasons.slice(0, 1) : [];
    });
    if (reason !== undefined) stale.set(subject, reason);
  }
  return stale;
}

/** Undefined if the evidence is up to date, or does not come from a model. */
function whyOutdated(
  { origin, item = '', location = '', measured }: Evidence,
  { items, structures }: ModelInputChanges,
): string | undefined {
  if (origin !== 'model') return undefined;
  const described =
    measured instanceof Object && 'structure' in measured ? measured.structure : undefined;
  const present = structures.get(`${item} ${location}`);
  if (described !== undefined && present !== undefined && present !== described)
    return `the table ${location} has changed since a model described it`;
  return items.get(item);
}
