import { z } from 'zod';
import { claimKinds, evidenceSchema, anyJsonSchema } from '../../context/claims/claim.ts';
import { UserError } from '../../lib/error.ts';
import type { Json } from '../../lib/json.ts';
import { isFatalToRun, LlmError } from '../../llm/port/error.ts';
import type { IngestEvent } from '../event.ts';
import type { Quarantined } from '../report.ts';
import type { ProjectFindings } from '../fetch/findings.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';
import type { ItemOutcome } from './proposals-session.ts';
import type { PendingItem } from './work-units.ts';

export interface ReadingRun {
  readonly findings: ProjectFindings;
  readonly model: IngestModel;
  /** What loops read; made at first use. */
  readonly snapshot: () => Promise<Snapshot>;
  /** Sources whose items are read. */
  readonly asked: ReadonlySet<string>;
  /** Reads again what is read already. */
  readonly isAnew: boolean;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

export interface Counted {
  done: number;
  calls: number;
  readonly failures: UserError[];
}

/** A run of the stage: what is read so far, and whether it is of any use to go on. */
export interface Stage extends ReadingRun {
  readonly outcomes: Map<PendingItem, ItemOutcome>;
  readonly counts: Record<'triage' | 'light' | 'extract', Counted>;
  /** Items that a model would not read, or could not. */
  readonly refused: Quarantined[];
  isOver: boolean;
}

/** A unit of one of the parts that the stage has. */
interface Part {
  readonly name: keyof Stage['counts'];
  readonly unit: string;
}

export function openStage(run: ReadingRun): Stage {
  return {
    ...run,
    outcomes: new Map(),
    counts: { triage: nothing(), light: nothing(), extract: nothing() },
    refused: [],
    isOver: false,
  };
}

const nothing = (): Counted => ({ done: 0, calls: 0, failures: [] });

const claimSchema = z.object({
  subject: z.string(),
  kind: z.enum(claimKinds),
  body: anyJsonSchema,
  evidence: z.array(evidenceSchema),
});
/** As the journal keeps it. */
const outcomeSchema = z.object({
  claims: z.array(claimSchema),
  unmapped: z.array(z.object({ reason: z.string(), what: z.string() })),
  /** Of the tables that it speaks of, when it was read. */
  slice: z.string(),
});

/**
 * What was paid for in a run that did not come to its end. Its own claims say which tables it is about, not those on disk: a run that
 * was killed while it published has written some of them.
 */
export function paidOutcome(
  journal: Pick<IngestModel['journal'], 'result'>,
  { readingKey, slice }: PendingItem,
): ItemOutcome | undefined {
  const { data } = outcomeSchema.safeParse(journal.result(readingKey));
  return data === undefined || data.slice !== slice(data.claims)
    ? undefined
    : { claims: data.claims, unmapped: data.unmapped };
}

/** Paid for: it counts, also where the journal does not take it; then nothing more is asked. */
export function settle(
  stage: Stage,
  name: Part['name'],
  { one, outcome }: { readonly one: PendingItem; readonly outcome: ItemOutcome },
): void {
  stage.outcomes.set(one, outcome);
  const kept = { ...outcome, slice: one.slice(outcome.claims) };
  keep(stage, name, { key: one.readingKey, result: JSON.parse(JSON.stringify(kept)) as Json });
}

export function keep(
  stage: Stage,
  name: Part['name'],
  { key, result }: { readonly key: string; readonly result: Json },
): void {
  try {
    stage.model.journal.keep(key, result);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    failed(stage, { name }, error);
  }
}

/** One call of the stage; undefined where it failed, which is noted. */
export async function attempted<T>(
  stage: Stage,
  { name, unit }: Part,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    stage.counts[name].calls += 1;
    return await call();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    stage.signal.throwIfAborted();
    failed(stage, { name, unit }, error);
    stage.emit({ type: 'work_unit_finished', unit, stage: name, outcome: 'error', claims: 0 });
    return undefined;
  }
}

/** `unit` is the path of the item where it is of one alone: then what is the matter with it is told by name. */
export function failed(
  stage: Stage,
  { name, unit }: Pick<Part, 'name'> & Partial<Part>,
  error: UserError,
): void {
  stage.counts[name].failures.push(error);
  if (unit !== undefined && isOfItem(error))
    stage.refused.push({ subject: unit, kind: 'reading', reason: error.message });
  if (isFatalToRun(error)) stage.isOver = true;
}

/** Whether the text that was sent is what the model would not answer to, and another text may well be answered. */
export function isOfItem(error: UserError): boolean {
  return (
    error instanceof LlmError &&
    (error.kind === 'execution' || error.kind === 'context_too_long') &&
    !isFatalToRun(error)
  );
}

/** So many at once, in their order; no further one once the stage is over. */
export async function atOnce<T>(
  stage: Stage,
  tasks: readonly T[],
  run: (task: T) => Promise<void>,
): Promise<void> {
  const queue = [...tasks];
  const next = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      stage.signal.throwIfAborted();
      if (!stage.isOver) await run(task);
    }
  };
  await Promise.all(Array.from({ length: Math.min(stage.model.concurrency, tasks.length) }, next));
}
