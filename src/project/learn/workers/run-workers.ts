import { setTimeout as sleep } from 'node:timers/promises';
import type { IngestEvent } from '../../../ingest/event.ts';
import { openQueuedReading } from '../../../ingest/workers/queued-reading.ts';
import { UserError } from '../../../lib/error.ts';
import { openSharedSpending } from '../../../llm/governor/money/shared-spending.ts';
import { runSpendingLimit } from '../../../llm/governor/spending.ts';
import { type CallRecord, usageRecorder } from '../../../llm/governor/usage.ts';
import type { SharedCounters } from '../../../store/shared/shared-counters.ts';
import { openSharedJournal } from '../../../store/shared/shared-journal.ts';
import type { Project } from '../../open/open.ts';
import { openWorkState } from './work-state.ts';

interface QueuedRun {
  readonly id: string;
  readonly budget: number | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** The key of what a call used, until its run has noted it. */
export const callKey = (run: string): string => `call ${run} `;

/**
 * What a run needs to let processes of `ktx worker` read for it. One ingest of a project at a time
 * does, on whatever machine.
 */
export async function openRunWorkers(project: Project, { id, budget, signal, emit }: QueuedRun) {
  await using opened = new AsyncDisposableStack();
  const state = opened.use(await openWorkState(project, { signal, onError: () => undefined }));
  const { shared, queue, queueName: name } = state;
  opened.use(await takeTurn(shared.counters, { id, signal, emit }));
  const limit = runSpendingLimit(project.config.llm, budget);
  const { limit: usd, key } = limit;
  const spending =
    usd === undefined
      ? undefined
      : opened.use(openSharedSpending(limit, shared.budget({ run: id, most: usd, holder: id })));
  const { results } = shared;
  opened.defer(async () => {
    const record = usageRecorder(project.journal().db);
    const calls = await results.take(callKey(id)).catch(() => []);
    for (const call of calls) record(call as unknown as CallRecord);
    await results.take('snapshot ').catch(() => []);
  });
  const local = project.journal();
  const journal = opened.use(await openSharedJournal(local, results));
  const jobLimit = usd === undefined ? undefined : { usd, key };
  const of = { queue, name, results, run: id, limit: jobLimit, journal: local };
  const reading = await openQueuedReading(of);
  opened.use(reading);
  const disposal = opened.move();
  return {
    workers: reading.workers,
    spending,
    journal,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

const leaseMs = 30_000;
const extendMs = 10_000;
const longestWaitMs = 600_000;

/** Waits until no other ingest of the project uses the workers. */
async function takeTurn(
  counters: SharedCounters,
  { id, signal, emit }: Pick<QueuedRun, 'id' | 'signal' | 'emit'>,
): Promise<AsyncDisposable> {
  const wanted = { most: 1, leaseMs, holder: id };
  const deadline = Date.now() + longestWaitMs;
  const message = 'Another ingest of this project uses the workers';
  for (let isFirst = true; (await counters.takeSlot('ingest', wanted)) === undefined;) {
    if (Date.now() > deadline)
      throw new UserError('lock_busy', `${message}.`, {
        hint: 'Try again when it has finished.',
        retryable: true,
      });
    if (isFirst) emit({ type: 'lock_awaited', message: `${message}; waiting for it.` });
    isFirst = false;
    await sleep(1000, undefined, { signal });
  }
  const extend = () => counters.keepSlot('ingest', 0, wanted).catch(() => undefined);
  const timer = setInterval(() => void extend(), extendMs);
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      clearInterval(timer);
      // Otherwise the lease ends by itself.
      await counters.freeSlot('ingest', 0, id).catch(() => undefined);
    },
  };
}
