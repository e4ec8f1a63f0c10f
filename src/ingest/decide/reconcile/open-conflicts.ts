import { bodySchemas, shortId, type Claim } from '../../../context/claims/claim.ts';
import type { Conflict } from '../../../context/compile/conflicts.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import { applyModelDecisions } from '../../../context/claims/model-decisions.ts';

/** A conflict that no model has looked at as it is now. */
export interface Contested extends Conflict {
  /** What says so, by the id of the version. */
  readonly evidence: ReadonlyMap<string, Claim['evidence']>;
}

/** Sorted by the least id of their versions. A conflict that a model found to be a contradiction is a person's. */
export function contestedIn(
  conflicts: readonly Conflict[],
  claims: readonly Claim[],
  pins: readonly Pin[],
): readonly Contested[] {
  const seen = claims.flatMap(({ subject, kind, body }) => {
    const { data } = bodySchemas.contradiction.safeParse(body);
    return kind === 'contradiction' && data !== undefined
      ? [{ subject, kind: data.kind, ids: data.claims }]
      : [];
  });
  const open = conflicts.filter(({ subject, kind, variants }) => {
    const own = seen.filter((one) => one.subject === subject && one.kind === kind);
    return !own.some(({ ids }) => variants.every(({ id }) => ids.includes(id)));
  });
  const wanted = new Set(open.map(({ subject }) => subject));
  const counted = applyModelDecisions(claims, pins).claims.filter(
    ({ subject }) => open.length > 0 && wanted.has(subject),
  );
  const byId = Map.groupBy(counted, shortId);
  const first = ({ variants }: Conflict) => variants.map(({ id }) => id).sort()[0] ?? '';
  return open
    .map((conflict) => {
      const evidence = conflict.variants.map(
        ({ id }) => [id, (byId.get(id) ?? []).flatMap((claim) => claim.evidence)] as const,
      );
      return { ...conflict, evidence: new Map(evidence) };
    })
    .sort((a, b) => (first(a) < first(b) ? -1 : 1));
}
