import type { Claim } from '../../context/claims/claim.ts';
import type { Pin } from '../../context/claims/pins.ts';
import { UserError } from '../../lib/error.ts';
import { noValues } from '../../llm/egress/sent-values.ts';
import { isContextTooLong, isFatalToRun } from '../../llm/port/error.ts';
import type { KtxModelRole, KtxToolSet, StepFinished } from '../../llm/port/runtime.ts';
import { readPrompt } from '../../llm/prompt.ts';
import { listSkills } from '../../llm/skills.ts';
import type { IngestEvent } from '../event.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';
import { type StageReport, toFailure } from '../report.ts';

/** What a stage needs in which a model decides about claims. */
export interface DecisionInput {
  readonly model: IngestModel;
  /** All claims, with the decisions of earlier runs. */
  readonly claims: readonly Claim[];
  readonly pins: readonly Pin[];
  /** What the loops see of the project; made when it is first needed. */
  readonly snapshot: () => Promise<Snapshot>;
  /** No further call can succeed. Decisions in the journal still count. */
  readonly isOver: boolean;
  readonly emit: (event: IngestEvent) => void;
  readonly signal: AbortSignal;
}

export interface DecisionResult {
  readonly decisions: readonly Claim[];
  /** Undefined if there was nothing to decide. */
  readonly report?: StageReport | undefined;
  /** No further call can succeed. */
  readonly isOver: boolean;
}

interface DecisionPage {
  readonly model: IngestModel;
  readonly role: KtxModelRole;
  readonly stage: 'curate' | 'reconcile';
  /** How many entries of the session are undecided. */
  readonly waiting: number;
  readonly toolSet: KtxToolSet;
  readonly onStepFinish: (step: StepFinished) => void;
  readonly signal: AbortSignal;
}

/**
 * Lets a model decide one page of entries in a loop. However the loop ends, the session behind the
 * tools has what was decided. After a failure the next page can be tried, unless `isOver`.
 */
export async function decidePage(page: DecisionPage): Promise<{
  readonly failure: UserError | undefined;
  readonly isOver: boolean;
}> {
  const { model, role, stage, waiting, toolSet, onStepFinish, signal } = page;
  const skills = listSkills(stage)
    .map(({ name, description }) => `- \`${name}\`: ${description}`)
    .join('\n');
  const entries = waiting === 1 ? 'entry waits' : 'entries wait';
  const { error } = await model.runtime.runAgentLoop({
    modelRole: role,
    systemPrompt: readPrompt(stage, { skills }),
    userPrompt: `${waiting} ${entries} for a decision. List them, and decide every one.`,
    toolSet,
    values: noValues,
    stepBudget: model.stepBudget,
    telemetryTags: { stage },
    onStepFinish,
    signal,
  });
  signal.throwIfAborted();
  return { failure: error, isOver: error !== undefined && isFatalToRun(error) };
}

export function decisionReport(
  stage: StageReport['stage'],
  { total, done, calls }: { readonly total: number; readonly done: number; readonly calls: number },
  failures: readonly UserError[],
): StageReport {
  return { stage, done, pending: total - done, calls, failures: failures.map(toFailure) };
}

interface EndedPage<Entry> {
  readonly page: readonly Entry[];
  /** Entries of the page about which nothing was decided. */
  readonly rest: readonly Entry[];
  readonly failure: UserError | undefined;
}

/**
 * The pages of a stage. What is left of a page that is too long for the model is tried again by
 * halves; an entry that is too long alone is named. `nameOf` names an entry for a person.
 */
export function openPages<Entry>(
  entries: readonly Entry[],
  { size, nameOf }: { readonly size: number; readonly nameOf: (entry: Entry) => string },
) {
  const waiting = splitIntoPages(entries, size);
  const failures: UserError[] = [];
  return {
    failures,
    next: (): readonly Entry[] | undefined => waiting.shift(),
    end({ page, rest, failure }: EndedPage<Entry>): void {
      if (failure === undefined) return;
      const isTooLong = isContextTooLong(failure);
      const [only] = page;
      if (isTooLong && page.length > 1)
        waiting.unshift(...splitIntoPages(rest, Math.ceil(page.length / 2)));
      else if (isTooLong && only !== undefined) failures.push(aboutEntry(nameOf(only), failure));
      else failures.push(failure);
    },
  };
}

function aboutEntry(name: string, { code, message, hint, exitCode }: UserError): UserError {
  return new UserError(code, `${name}: ${message}`, { hint, exitCode });
}

function splitIntoPages<Entry>(entries: readonly Entry[], size: number): (readonly Entry[])[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  );
}
