import { z } from 'zod';
import { bodySchemas } from '../../../context/claims/claim.ts';
import type { Conflict } from '../../../context/compile/conflicts.ts';
import type { UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { canonicalJson } from '../../../lib/json.ts';
import type { StepFinished } from '../../../llm/port/runtime.ts';
import {
  inPages,
  ruleOnPage,
  stageReport,
  type Rulings,
  type RulingStage,
} from '../decision-loop.ts';
import { contestedIn, type Contested } from './open-conflicts.ts';
import {
  isDecided,
  openReconciliationSession,
  reconciliation,
  rulingOf,
  type Finding,
  type ReconciliationSession,
} from './reconciliation-session.ts';

/** Conflicts of one loop. */
const pageSize = 10;

interface Reconciliation extends RulingStage {
  readonly conflicts: readonly Conflict[];
  readonly compare: Parameters<typeof openReconciliationSession>[0]['compare'];
  readonly textOf: (path: string) => string | undefined;
}

/**
 * A model looks at each conflict once: versions that mean the same stop to be one, a contradiction stays one and is a person's. It
 * never says which version is right.
 */
export async function reconcile(input: Reconciliation): Promise<Rulings> {
  const { model, claims, pins, conflicts, compare, textOf, emit, signal } = input;
  const contested = contestedIn(conflicts, claims, pins);
  if (contested.length === 0) return { rulings: [], isOver: input.isOver };
  const { journal } = model;
  const found = new Map<Contested, readonly Finding[]>();
  for (const conflict of contested)
    found.set(conflict, findingsSchema.safeParse(journal.result(keyOf(conflict))).data ?? []);
  const before = (conflict: Contested) => found.get(conflict) ?? [];
  const isOpen = (conflict: Contested) => !isDecided(conflict, before(conflict));
  const failures: UserError[] = [];
  let [calls, isOver] = [0, input.isOver];
  const onStepFinish = (step: StepFinished) => emit({ type: 'reconcile_step', ...step });
  for (const page of inPages(contested.filter(isOpen), pageSize)) {
    if (isOver) break;
    const keep = (conflict: Contested, findings: readonly Finding[]) =>
      journal.keep(keyOf(conflict), [...findings]);
    const session: ReconciliationSession = openReconciliationSession({
      page,
      compare,
      textOf,
      before,
      keep,
      snapshot: await input.snapshot(),
    });
    const toolSet = model.tools.reconcile(session, signal);
    calls += 1;
    const ended = await ruleOnPage({
      model,
      role: 'reconcile',
      stage: 'reconcile',
      waiting: page.length,
      toolSet,
      onStepFinish,
      signal,
    });
    for (const [conflict, findings] of session.found()) found.set(conflict, findings);
    if (ended.failure !== undefined) failures.push(ended.failure);
    isOver ||= ended.isOver;
  }
  const done = contested.filter((conflict) => !isOpen(conflict)).length;
  const rulings = contested.flatMap((conflict) =>
    before(conflict).map((finding) => rulingOf(conflict, finding)),
  );
  return {
    rulings,
    report: stageReport('reconcile', { total: contested.length, done, calls }, failures),
    isOver,
  };
}

/** Changes with the versions. */
function keyOf({ subject, kind, variants }: Contested): string {
  return `${reconciliation} ${shortHash(canonicalJson([subject, kind, variants.map(({ id }) => id).sort()]), 32)}`;
}

const findingsSchema = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('same_meaning'), body: bodySchemas.same_meaning }),
    z.object({ kind: z.literal('contradiction'), body: bodySchemas.contradiction }),
  ]),
);
