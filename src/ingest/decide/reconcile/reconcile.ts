import { countRequests } from '../../../llm/count-requests.ts';
import { z } from 'zod';
import { bodySchemas } from '../../../context/claims/claim.ts';
import type { Conflict } from '../../../context/compile/conflicts.ts';
import { shortHash } from '../../../lib/hash.ts';
import { canonicalJson } from '../../../lib/json.ts';
import {
  decidePage,
  type DecisionInput,
  decisionReport,
  type DecisionResult,
  openPages,
} from '../decision-loop.ts';
import { listOpenConflicts, type OpenConflict } from './open-conflicts.ts';
import {
  isDecided,
  openReconciliationSession,
  reconciliationClaim,
  type ReconciliationDecision,
  type ReconciliationOptions,
  reconciliationVersion,
} from './reconciliation-session.ts';

/** Conflicts of one loop. */
const conflictsPerPage = 10;

interface ReconcileInput
  extends DecisionInput, Pick<ReconciliationOptions, 'compare' | 'itemText'> {
  readonly conflicts: readonly Conflict[];
}

/**
 * A model looks at each conflict once. It merges versions that mean the same, or records a
 * contradiction, which a person then decides. It never decides which version is right.
 */
export async function reconcile(input: ReconcileInput): Promise<DecisionResult> {
  const { claims, pins, compare, itemText, emit, signal } = input;
  const { model, requests } = countRequests(input.model);
  const { journal } = model;
  const conflicts = listOpenConflicts(input.conflicts, claims, pins);
  if (conflicts.length === 0) return { decisions: [], refused: [], isOver: input.isOver };
  const decisions = new Map<OpenConflict, readonly ReconciliationDecision[]>(
    conflicts.map((conflict) => [conflict, parseJournaled(journal.result(conflictKey(conflict)))]),
  );
  const decisionsOf = (conflict: OpenConflict) => decisions.get(conflict) ?? [];
  const isOpen = (conflict: OpenConflict) => !isDecided(conflict, decisionsOf(conflict));
  let { isOver } = input;
  const pages = openPages(conflicts.filter(isOpen), {
    stage: 'reconcile',
    size: conflictsPerPage,
    nameOf: ({ subject, kind }) => `${kind} of ${subject}`,
    keyOf: conflictKey,
    model,
    isAnew: input.isAnew,
  });
  const isAsked = pages.hasPages;
  for (let page = pages.next(); page !== undefined && !isOver; page = pages.next()) {
    const session = openReconciliationSession({
      page,
      compare,
      itemText,
      earlier: decisionsOf,
      save: (conflict, all) => journal.keep(conflictKey(conflict), [...all]),
      snapshot: await input.snapshot(),
    });
    const ended = await decidePage({
      model,
      role: 'reconcile',
      stage: 'reconcile',
      waiting: page.length,
      toolSet: model.tools.reconcile(session, signal),
      onStepFinish: (step) => emit({ type: 'reconcile_step', ...step }),
      signal,
    });
    for (const [conflict, all] of session.decisions()) decisions.set(conflict, all);
    pages.end({ ...ended, page, rest: page.filter(isOpen) });
    isOver ||= ended.isOver;
  }
  const done = conflicts.filter((conflict) => !isOpen(conflict)).length;
  const counts = { total: conflicts.length, done, calls: requests() };
  return {
    decisions: conflicts.flatMap((conflict) =>
      decisionsOf(conflict).map((decision) => reconciliationClaim(conflict, decision)),
    ),
    report: isAsked || done > 0 ? decisionReport('reconcile', counts, pages.failures) : undefined,
    refused: pages.refused,
    isOver,
  };
}

/** Changes with the versions of the conflict. */
function conflictKey({ subject, kind, variants }: OpenConflict): string {
  const ids = variants.map(({ id }) => id).sort();
  return `${reconciliationVersion} ${shortHash(canonicalJson([subject, kind, ids]), 32)}`;
}

const journaledDecisionsSchema = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('same_meaning'), body: bodySchemas.same_meaning }),
    z.object({ kind: z.literal('contradiction'), body: bodySchemas.contradiction }),
  ]),
);

/** The decisions of a run that did not publish them. */
function parseJournaled(stored: unknown): readonly ReconciliationDecision[] {
  return journaledDecisionsSchema.safeParse(stored).data ?? [];
}
