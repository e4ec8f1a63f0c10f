import type { Claim } from '../../context/claims/claim.ts';
import type { Pin } from '../../context/claims/pins.ts';
import type { UserError } from '../../lib/error.ts';
import { isFatalToRun } from '../../llm/port/error.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { listSkills } from '../../llm/skills.ts';
import type { KtxModelRole, KtxToolSet, StepFinished } from '../../llm/port/runtime.ts';
import { type IngestEvent } from '../event.ts';
import { toFailure, type StageReport } from '../report.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';

/** What a stage works on in which models rule about claims. */
export interface RulingStage {
  readonly model: IngestModel;
  /** All that stand, with the rulings of before. */
  readonly claims: readonly Claim[];
  readonly pins: readonly Pin[];
  /** What loops read; made at first use. */
  readonly snapshot: () => Promise<Snapshot>;
  /** No call can succeed any more: what is paid for counts, the rest waits. */
  readonly isOver: boolean;
  readonly emit: (event: IngestEvent) => void;
  readonly signal: AbortSignal;
}

/** What came of it; no report where there was nothing to do. */
export interface Rulings {
  readonly rulings: readonly Claim[];
  readonly report?: StageReport | undefined;
  /** No further call can succeed. */
  readonly isOver: boolean;
}

interface Page {
  readonly model: IngestModel;
  readonly role: KtxModelRole;
  readonly stage: 'curate' | 'reconcile';
  /** How many things wait on the session. */
  readonly waiting: number;
  readonly toolSet: KtxToolSet;
  readonly onStepFinish: (step: StepFinished) => void;
  readonly signal: AbortSignal;
}

/**
 * One loop over one page of a session; what it decided is on the session, however it ended. The failure of one page leaves the next to be
 * tried, unless none can succeed any more.
 */
export async function ruleOnPage({
  model,
  role,
  stage,
  waiting,
  toolSet,
  onStepFinish,
  signal,
}: Page) {
  const skills = listSkills(stage)
    .map(({ name, description }) => `- \`${name}\`: ${description}`)
    .join('\n');
  const { error } = await model.runtime.runAgentLoop({
    modelRole: role,
    systemPrompt: readPrompt(stage, { skills }),
    userPrompt: `${waiting} ${waiting === 1 ? 'entry waits' : 'entries wait'} for a decision. List them, and decide every one.`,
    toolSet,
    stepBudget: model.stepBudget,
    telemetryTags: { stage },
    onStepFinish,
    signal,
  });
  signal.throwIfAborted();
  return { failure: error, isOver: error !== undefined && isFatalToRun(error) };
}

/** Of how many entries how many are decided, and what went wrong on the way. */
export function stageReport(
  stage: StageReport['stage'],
  { total, done, calls }: { readonly total: number; readonly done: number; readonly calls: number },
  failures: readonly UserError[],
): StageReport {
  return { stage, done, pending: total - done, calls, failures: failures.map(toFailure) };
}

export function inPages<T>(entries: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  );
}
