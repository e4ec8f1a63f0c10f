import { z } from 'zod';
import { claimKinds, evidenceSchema, anyJsonSchema } from '../../context/claims/claim.ts';
import { UserError } from '../../lib/error.ts';
import type { Json } from '../../lib/json.ts';
import { countRequests } from '../../llm/count-requests.ts';
import { isFatalToRun, LlmError } from '../../llm/port/error.ts';
import type { IngestEvent } from '../event.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';
import type { Quarantined } from '../report.ts';
import type { ItemOutcome } from './proposals/proposals-session.ts';
import type { PendingItem, WorkUnit } from './work-units.ts';

export interface ReadingInput {
  readonly findings: ProjectFindings;
  readonly model: IngestModel;
  /** What the loops see of the project; made when it is first needed. */
  readonly snapshot: () => Promise<Snapshot>;
  /** The sources whose items are read. */
  readonly asked: ReadonlySet<string>;
  /** Whether to read again what a model has read. */
  readonly isAnew: boolean;
  /** Other processes that read for this run; undefined if it reads by itself. */
  readonly workers?: ReadingWorkers | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** Reads in other processes. */
export interface ReadingWorkers {
  /** Brings into the journal what workers have read in these items. */
  recall(items: readonly PendingItem[]): Promise<void>;
  /** Resolves when each unit was read, or cannot be; what was read is then in the journal. */
  read(stage: ReadingStage, step: ReadingStep, units: readonly WorkUnit[]): Promise<void>;
}

/** The state of a run in which a model reads items. */
export interface ReadingStage extends ReadingInput {
  readonly outcomes: Map<PendingItem, ItemOutcome>;
  /** What was accepted in items that stay pending because their reading broke off. */
  readonly broken: Map<PendingItem, ItemOutcome>;
  readonly counts: Readonly<Record<ReadingStep, StepCount>>;
  /** Items that a model refused to read, or could not read. */
  readonly refused: Quarantined[];
  /** No further call can succeed, for example because the budget is spent. */
  isOver: boolean;
}

/**
 * Pages are sorted (`triage`), read in one call (`light`), or read in a loop like all other items
 * (`extract`).
 */
export type ReadingStep = 'triage' | 'light' | 'extract';

interface StepCount {
  done: number;
  /** Requests that reached the model. */
  calls: number;
  readonly failures: UserError[];
}

export function openReadingStage(input: ReadingInput): ReadingStage {
  const emptyCount = (): StepCount => ({ done: 0, calls: 0, failures: [] });
  return {
    ...input,
    outcomes: new Map(),
    broken: new Map(),
    counts: { triage: emptyCount(), light: emptyCount(), extract: emptyCount() },
    refused: [],
    isOver: false,
  };
}

/** An outcome as the journal has it. */
const journalOutcomeSchema = z.object({
  claims: z.array(
    z.object({
      subject: z.string(),
      kind: z.enum(claimKinds),
      body: anyJsonSchema,
      evidence: z.array(evidenceSchema),
    }),
  ),
  unmapped: z.array(z.object({ reason: z.string(), what: z.string() })),
  /** The hash of the tables that the item speaks of, at the time. */
  slice: z.string(),
});

/**
 * What an earlier run paid for and did not publish. Its own claims, not those on disk, say which
 * tables the item speaks of: a run that was killed while it published has written only some of
 * them.
 */
export function journaledOutcome(
  journal: Pick<IngestModel['journal'], 'result'>,
  { readingKey, slice }: PendingItem,
): ItemOutcome | undefined {
  const { data } = journalOutcomeSchema.safeParse(journal.result(readingKey));
  if (data === undefined || data.slice !== slice(data.claims)) return undefined;
  return { claims: data.claims, unmapped: data.unmapped };
}

/** Records what was accepted in an item before its reading broke off: the item stays pending. */
export function recordBroken(stage: ReadingStage, item: PendingItem, outcome: ItemOutcome): void {
  stage.broken.set(item, outcome);
  const stored = { ...outcome, slice: item.slice(outcome.claims) };
  const result = JSON.parse(JSON.stringify(stored)) as Json;
  saveResult(stage, 'extract', { key: brokenKey(item), result });
}

export const brokenKey = ({ readingKey }: PendingItem): string => `broken ${readingKey}`;

/** What an earlier reading of the item accepted before it broke off. */
export function brokenOutcome(
  journal: Pick<IngestModel['journal'], 'result'>,
  item: PendingItem,
): ItemOutcome | undefined {
  return journaledOutcome(journal, { ...item, readingKey: brokenKey(item) });
}

/**
 * Records an outcome. It counts even if the journal cannot store it; then the stage makes no
 * further calls.
 */
export function recordOutcome(
  stage: ReadingStage,
  step: ReadingStep,
  { item, outcome }: { readonly item: PendingItem; readonly outcome: ItemOutcome },
): void {
  stage.outcomes.set(item, outcome);
  const stored = { ...outcome, slice: item.slice(outcome.claims) };
  const result = JSON.parse(JSON.stringify(stored)) as Json;
  saveResult(stage, step, { key: item.readingKey, result });
}

export function saveResult(
  stage: ReadingStage,
  step: ReadingStep,
  { key, result }: { readonly key: string; readonly result: Json },
): void {
  try {
    stage.model.journal.keep(key, result);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    recordFailure(stage, { step }, error);
  }
}

/**
 * Runs one call of the stage; undefined if it failed, which is recorded. `unit` is a path of an
 * item. The caller tells the observers of the run that the unit is finished, also if its call
 * failed.
 */
export async function tryCall<Result>(
  stage: ReadingStage,
  { step, unit }: { readonly step: ReadingStep; readonly unit: string },
  call: (model: IngestModel) => Promise<Result>,
): Promise<Result | undefined> {
  const { model, requests } = countRequests(stage.model);
  try {
    return await call(model);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    stage.signal.throwIfAborted();
    recordFailure(stage, { step, unit }, error);
    return undefined;
  } finally {
    stage.counts[step].calls += requests();
  }
}

/**
 * Set `unit` to the path of the item only if the failed call was about that item alone: then a
 * fault of its text is reported.
 */
export function recordFailure(
  stage: ReadingStage,
  { step, unit }: { readonly step: ReadingStep; readonly unit?: string },
  error: UserError,
): void {
  stage.counts[step].failures.push(error);
  if (unit !== undefined && isFaultOfText(error))
    stage.refused.push({ subject: unit, kind: 'reading', reason: error.message });
  if (isFatalToRun(error)) stage.isOver = true;
}

const faultsOfText: ReadonlySet<string> = new Set([
  'execution',
  'context_too_long',
  'max_tokens',
  'refusal',
]);

/**
 * Whether the model could not answer because of the text that it was sent, so that another text may
 * well be answered.
 */
export function isFaultOfText(error: UserError): boolean {
  return error instanceof LlmError && faultsOfText.has(error.kind) && !isFatalToRun(error);
}

/**
 * Runs tasks in their order, as many at once as the model allows. Starts none after the stage is
 * over.
 */
export async function runConcurrently<Task>(
  stage: ReadingStage,
  tasks: readonly Task[],
  run: (task: Task) => Promise<void>,
): Promise<void> {
  const queue = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      stage.signal.throwIfAborted();
      if (!stage.isOver) await run(task);
    }
  };
  const workers = Math.min(stage.model.concurrency, tasks.length);
  await Promise.all(Array.from({ length: workers }, work));
}
