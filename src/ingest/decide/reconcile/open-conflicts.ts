import { bodySchemas, shortId, type Claim } from '../../../context/claims/claim.ts';
import { applyModelDecisions } from '../../../context/claims/model-decisions.ts';
import type { Pin } from '../../../context/claims/pins.ts';
import type { Conflict } from '../../../context/compile/conflicts.ts';

/** A conflict that no model has looked at in its present form. */
export interface OpenConflict extends Conflict {
  /** The evidence of each version, by its id. */
  readonly evidence: ReadonlyMap<string, Claim['evidence']>;
}

/**
 * Sorted by the least id of their versions. Leaves out contradictions that a model has found: a
 * person decides about those.
 */
export function listOpenConflicts(
  conflicts: readonly Conflict[],
  claims: readonly Claim[],
  pins: readonly Pin[],
): readonly OpenConflict[] {
  const contradictions = claims.flatMap(({ subject, kind, body }) => {
    const { data } = bodySchemas.contradiction.safeParse(body);
    return kind === 'contradiction' && data !== undefined ? [{ subject, ...data }] : [];
  });
  const isFound = ({ subject, kind, variants }: Conflict) =>
    contradictions.some(
      (found) =>
        found.subject === subject &&
        found.kind === kind &&
        variants.every(({ id }) => found.claims.includes(id)),
    );
  const open = conflicts.filter((conflict) => !isFound(conflict));
  if (open.length === 0) return [];
  const subjects = new Set(open.map(({ subject }) => subject));
  const effective = applyModelDecisions(claims, pins).claims.filter(({ subject }) =>
    subjects.has(subject),
  );
  const claimsById = Map.groupBy(effective, shortId);
  const evidenceOf = (id: string) => (claimsById.get(id) ?? []).flatMap(({ evidence }) => evidence);
  return open
    .map((conflict) => {
      const evidence = conflict.variants.map(({ id }) => [id, evidenceOf(id)] as const);
      return { ...conflict, evidence: new Map(evidence) };
    })
    .sort((a, b) => (leastId(a) < leastId(b) ? -1 : 1));
}

function leastId({ variants }: Conflict): string {
  return variants.map(({ id }) => id).sort()[0] ?? '';
}
