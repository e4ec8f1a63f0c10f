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
import { addAttempt, mostAttempts, readAttempts, reasonToWait } from '../extract/attempt-record.ts';
import { isFaultOfText } from '../extract/reading-stage.ts';
import { type Quarantined, type StageReport, toFailure } from '../report.ts';

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
  /** True if also that is asked about which a model said nothing three times. */
  readonly isAnew: boolean;
  readonly emit: (event: IngestEvent) => void;
  readonly signal: AbortSignal;
}

export interface DecisionResult {
  readonly decisions: readonly Claim[];
  /** Undefined if there was nothing to decide, or nothing that a model is asked again. */
  readonly report?: StageReport | undefined;
  /** About what a model was asked in vain, for a person. */
  readonly refused: readonly Quarantined[];
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

interface PageEnd {
  readonly failure: UserError | undefined;
  /** True if the steps of the loop were spent before the model was done. */
  readonly isCut: boolean;
  /** No further call can succeed. */
  readonly isOver: boolean;
}

/**
 * Lets a model decide one page of entries in a loop. However the loop ends, the session behind the
 * tools has what was decided. After a failure the next page can be tried, unless `isOver`.
 */
export async function decidePage(page: DecisionPage): Promise<PageEnd> {
  const { model, role, stage, waiting, toolSet, onStepFinish, signal } = page;
  const skills = listSkills(stage)
    .map(({ name, description }) => `- \`${name}\`: ${description}`)
    .join('\n');
  const entries = waiting === 1 ? 'entry waits' : 'entries wait';
  const { error, stopReason } = await model.runtime.runAgentLoop({
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
  const isOver = error !== undefined && isFatalToRun(error);
  return { failure: error, isCut: stopReason === 'budget', isOver };
}

export function decisionReport(
  stage: StageReport['stage'],
  { total, done, calls }: { readonly total: number; readonly done: number; readonly calls: number },
  failures: readonly UserError[],
): StageReport {
  return { stage, done, pending: total - done, calls, failures: failures.map(toFailure) };
}

interface PagesOptions<Entry> extends Pick<DecisionInput, 'model' | 'isAnew'> {
  readonly stage: DecisionPage['stage'];
  readonly size: number;
  /** How a person calls the entry. */
  readonly nameOf: (entry: Entry) => string;
  /** Changes with all that a model is shown of the entry. */
  readonly keyOf: (entry: Entry) => string;
}

interface EndedPage<Entry> extends Pick<PageEnd, 'failure' | 'isCut'> {
  readonly page: readonly Entry[];
  /** Entries of the page about which nothing was decided. */
  readonly rest: readonly Entry[];
}

/**
 * The pages of a stage. What is left of a page that is too long for the model is tried again by
 * halves; an entry that is too long alone is named. An entry that a model leaves undecided is asked
 * about in three runs, then set aside until something about it changes.
 */
export function openPages<Entry>(
  entries: readonly Entry[],
  { size, nameOf, keyOf, model, isAnew, stage }: PagesOptions<Entry>,
) {
  const { journal } = model;
  const failures: UserError[] = [];
  const refused: Quarantined[] = [];
  const refuse = (entry: Entry, reason: string) =>
    void refused.push({ subject: nameOf(entry), kind: stage, reason });
  const isAsked = (entry: Entry) => {
    const attempts = isAnew ? undefined : readAttempts(journal, keyOf(entry));
    const wait = attempts && reasonToWait(attempts);
    if (attempts === undefined || wait === undefined) return true;
    refuse(entry, `${attempts.reason}; ${waitTexts[wait](attempts.count)}`);
    return false;
  };
  const waiting = splitIntoPages(entries.filter(isAsked), size);
  const noteAttempt = (entry: Entry, reason: string) => {
    try {
      const count = addAttempt(journal, keyOf(entry), reason);
      refuse(entry, `${reason} (attempt ${count} of ${mostAttempts})`);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.push(error);
    }
  };
  return {
    failures,
    refused,
    hasPages: waiting.length > 0,
    next: (): readonly Entry[] | undefined => waiting.shift(),
    end({ page, rest, failure, isCut }: EndedPage<Entry>): void {
      const isTooLong = failure !== undefined && isContextTooLong(failure);
      const [only] = page;
      if (isTooLong && page.length > 1)
        return void waiting.unshift(...splitIntoPages(rest, Math.ceil(page.length / 2)));
      if (isTooLong && only !== undefined) failures.push(aboutEntry(nameOf(only), failure));
      else if (failure !== undefined) failures.push(failure);
      // A loop that decided something and had no step left did not come to the rest.
      const cameToRest = !isCut || rest.length === page.length;
      const isOfEntries = failure === undefined ? cameToRest : isFaultOfText(failure);
      for (const entry of isOfEntries ? rest : [])
        noteAttempt(entry, failure?.message ?? 'the model ended without a decision about it');
    },
  };
}

const waitTexts = {
  'set aside': (count: number) =>
    `set aside after ${count} attempts, until something about it changes or with --re-extract`,
  'too early': (count: number) => `it is asked again an hour after attempt ${count}`,
};

function aboutEntry(name: string, { code, message, hint, exitCode }: UserError): UserError {
  return new UserError(code, `${name}: ${message}`, { hint, exitCode });
}

function splitIntoPages<Entry>(entries: readonly Entry[], size: number): (readonly Entry[])[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) =>
    entries.slice(index * size, (index + 1) * size),
  );
}
