import { z } from 'zod';
import { bodySchemas } from '../../../context/claims/claim.ts';
import type { UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { canonicalJson } from '../../../lib/json.ts';
import {
  inPages,
  ruleOnPage,
  stageReport,
  type Rulings,
  type RulingStage,
} from '../decision-loop.ts';
import { wikiToCurate, type Candidate, type Wiki } from './candidates.ts';
import {
  curation,
  decisionFault,
  openCurationSession,
  rulingOf,
  type Decision,
} from './curation-session.ts';

/** Candidates of one loop. */
const pageSize = 20;

/**
 * A model says where each new term and rule belongs: on a page, in another one that is the same, or nowhere. Candidates go in pages, in
 * the order of their ids; what a page leaves undecided waits for the next run.
 */
export async function curate(input: RulingStage): Promise<Rulings> {
  const { model, claims, pins, emit, signal } = input;
  const wiki = wikiToCurate(claims, pins);
  const { candidates } = wiki;
  if (candidates.length === 0) return { rulings: [], isOver: input.isOver };
  const { journal } = model;
  const decided = new Map<Candidate, Decision>();
  for (const candidate of candidates) {
    const paid = paidDecision(wiki, candidate, journal.result(keyOf(candidate)));
    if (paid !== undefined) decided.set(candidate, paid);
  }
  const failures: UserError[] = [];
  let [calls, isOver] = [0, input.isOver];
  const open = candidates.filter((candidate) => !decided.has(candidate));
  for (const page of inPages(open, pageSize)) {
    if (isOver) break;
    const keep = (candidate: Candidate, decision: Decision) =>
      journal.keep(keyOf(candidate), decision);
    const session = openCurationSession({ wiki, page, keep, snapshot: await input.snapshot() });
    const onStepFinish = (step: { stepIndex: number; stepBudget: number }) =>
      emit({ type: 'curate_step', ...step });
    const toolSet = model.tools.curate(session, signal);
    calls += 1;
    const ended = await ruleOnPage({
      model,
      role: 'curator',
      stage: 'curate',
      waiting: page.length,
      toolSet,
      onStepFinish,
      signal,
    });
    for (const [candidate, decision] of session.decided()) decided.set(candidate, decision);
    if (ended.failure !== undefined) failures.push(ended.failure);
    isOver ||= ended.isOver;
  }
  const report = stageReport(
    'curate',
    { total: candidates.length, done: decided.size, calls },
    failures,
  );
  return {
    rulings: candidates.flatMap((candidate) => decidedOf(candidate, decided.get(candidate))),
    report,
    isOver,
  };
}

function decidedOf(candidate: Candidate, decision: Decision | undefined) {
  return decision === undefined ? [] : [rulingOf(candidate, decision)];
}

/** Changes with what is said of the candidate. */
function keyOf({ subject, claims }: Candidate): string {
  return `${curation} ${shortHash(canonicalJson([subject, claims]), 32)}`;
}

const decisionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('page'), body: bodySchemas.page }),
  z.object({ kind: z.literal('same_as'), body: bodySchemas.same_as }),
  z.object({ kind: z.literal('rejected'), body: bodySchemas.rejected }),
]);

/** Of a run that was killed before it could publish; what does not hold any more is asked again. */
function paidDecision(wiki: Wiki, candidate: Candidate, kept: unknown): Decision | undefined {
  const { data } = decisionSchema.safeParse(kept);
  return data === undefined || decisionFault(wiki, candidate, data) !== undefined
    ? undefined
    : data;
}
