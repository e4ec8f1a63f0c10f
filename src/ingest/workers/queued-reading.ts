import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../lib/error.ts';
import type { Json } from '../../lib/json.ts';
import type { JobQueue } from '../../store/shared/job-queue.ts';
import type { SharedResults } from '../../store/shared/shared-results.ts';
import { type ReadingStage, type ReadingWorkers } from '../extract/reading-stage.ts';
import { type PendingItem, pendingPath, type WorkUnit } from '../extract/work-units.ts';
import type { IngestModel } from '../model.ts';
import type { Snapshot } from '../project-snapshot.ts';
import { sendSnapshot } from './sent-snapshot.ts';
import {
  journalKeys,
  sendUnit,
  type UnitJob,
  unitKey,
  type UnitReply,
  unitReplySchema,
} from './unit-job.ts';

export interface QueuedReadingOptions extends Pick<UnitJob, 'run' | 'limit'> {
  readonly queue: JobQueue;
  /** The name of the queue that the workers of this version and these models read. */
  readonly name: string;
  readonly results: SharedResults;
  /** Takes what workers have read: of this machine, since the others have it. */
  readonly journal: IngestModel['journal'];
}

/** Milliseconds between two looks for answers. */
const pollMs = 250;
/** Milliseconds after which what has no answer is put into the queue again, if it is not there. */
const repeatMs = 20_000;
const repliesAtOnce = 50;
const jobsAtOnce = 500;

/**
 * Lets workers read the units of a run. A unit that is being read already, for a run that was
 * killed, is waited for; its reader finds what others have read, so that nothing is paid for twice.
 */
export async function openQueuedReading(options: QueuedReadingOptions) {
  const { queue, name, run, results } = options;
  const replies = `replies-${run}`;
  await queue.create(replies);
  await queue.create(name, { deadLetter: replies });
  // Of runs that were killed. What is being read goes on.
  await queue.clear(name);
  await results.tidy();
  let sent: Promise<string> | undefined;
  const snapshotKey = (snapshot: ReadingStage['snapshot']): Promise<string> =>
    (sent ??= snapshot().then((opened: Snapshot) => sendSnapshot(results, opened)));
  const workers: ReadingWorkers = {
    recall: (items) => recallItems(results, items, options.journal),
    async read(stage, step, units) {
      if (units.length === 0 || stage.isOver) return;
      const snapshot = await snapshotKey(stage.snapshot);
      const job = { run, step, snapshot, replies, limit: options.limit };
      await readUnits({ ...options, replies }, stage, { job, units });
    },
  };
  return {
    workers,
    async [Symbol.asyncDispose](): Promise<void> {
      // What stays behind, the next run removes, or nobody asks for.
      await queue.clear(name).catch(() => undefined);
      await queue.remove(replies).catch(() => undefined);
    },
  };
}

interface UnitsToRead {
  readonly job: Omit<UnitJob, 'unit'>;
  readonly units: readonly WorkUnit[];
}

async function readUnits(
  { queue, name, results, replies, journal }: QueuedReadingOptions & { readonly replies: string },
  stage: ReadingStage,
  { job, units }: UnitsToRead,
): Promise<void> {
  const { signal } = stage;
  const open = new Map(units.map((unit) => [unitKey(job.step, unit), unit]));
  for (const [key, unit] of open) await results.keep(key, sendUnit(unit));
  let nextPut = 0;
  while (open.size > 0 && !stage.isOver) {
    signal.throwIfAborted();
    if (Date.now() >= nextPut) {
      await putJobs({ queue, name }, job, [...open.keys()]);
      nextPut = Date.now() + repeatMs;
    }
    const jobs = await queue.take(replies, repliesAtOnce);
    for (const { data } of jobs) {
      const reply = readReply(data);
      const unit = reply && open.get(reply.unit);
      if (reply === undefined || unit === undefined) continue;
      open.delete(reply.unit);
      await recallItems(results, unit.items, journal);
      applyReply(stage, unit, reply);
    }
    if (jobs.length > 0) {
      const ids = jobs.map(({ id }) => id);
      await queue.done(replies, ids);
    } else await sleep(pollMs, undefined, { signal });
  }
  if (stage.isOver) await queue.clear(name);
  await results.take(`unit ${job.step} `);
}

async function putJobs(
  { queue, name }: Pick<QueuedReadingOptions, 'queue' | 'name'>,
  job: UnitsToRead['job'],
  keys: readonly string[],
): Promise<void> {
  for (let start = 0; start < keys.length; start += jobsAtOnce) {
    const some = keys.slice(start, start + jobsAtOnce);
    await queue.put(
      name,
      some.map((key) => ({ key, data: { ...job, unit: key } })),
    );
  }
}

/** A job that was given up comes back as it was. */
function readReply(data: unknown): UnitReply | undefined {
  const { data: reply } = unitReplySchema.safeParse(data);
  if (reply !== undefined) return reply;
  const { unit, step } = data as Partial<UnitJob>;
  if (unit === undefined || step === undefined) return undefined;
  const message = 'Every worker that began with a unit ended before it was read.';
  const failure = {
    code: 'work_lost',
    message,
    hint: undefined,
    retryable: true,
    exitCode: 3,
  } as const;
  return { unit, step, done: 0, calls: 0, failures: [failure], refused: [], isOver: false };
}

async function recallItems(
  results: SharedResults,
  items: readonly PendingItem[],
  journal: IngestModel['journal'],
): Promise<void> {
  const found = await results.find(items.flatMap(journalKeys));
  for (const [key, result] of found)
    if (!isEqual(journal.result(key), result)) journal.keep(key, result);
}

function isEqual(left: Json | undefined, right: Json): boolean {
  return left !== undefined && JSON.stringify(left) === JSON.stringify(right);
}

function applyReply(stage: ReadingStage, unit: WorkUnit, reply: UnitReply): void {
  const { step, done, calls, failures, refused, isOver } = reply;
  stage.counts[step].done += done;
  stage.counts[step].calls += calls;
  for (const { code, message, ...options } of failures)
    stage.counts[step].failures.push(new UserError(code, message, options));
  stage.refused.push(...refused);
  if (isOver) stage.isOver = true;
  const outcome = failures.length > 0 ? 'error' : 'natural';
  const finished = { type: 'work_unit_finished', stage: step, outcome, claims: 0 } as const;
  const ids = step === 'extract' ? [unit.id] : unit.items.map(pendingPath);
  for (const id of ids) stage.emit({ ...finished, unit: id });
}
