import type { LoopTools } from '../../../ingest/loop-tools.ts';
import type { Snapshot } from '../../../ingest/project-snapshot.ts';
import { readJob } from '../../../ingest/workers/read-job.ts';
import { receiveSnapshot } from '../../../ingest/workers/sent-snapshot.ts';
import { type UnitJob, unitJobSchema, type UnitReply } from '../../../ingest/workers/unit-job.ts';
import { UserError } from '../../../lib/error.ts';
import { newId } from '../../../lib/id.ts';
import type { Json } from '../../../lib/json.ts';
import type { LlmRuntime } from '../../../llm/governor/govern.ts';
import {
  openSharedSpending,
  type SharedSpending,
} from '../../../llm/governor/money/shared-spending.ts';
import type { CallRecord } from '../../../llm/governor/usage.ts';
import type { QueuedJob } from '../../../store/shared/job-queue.ts';
import type { Project } from '../../open/open.ts';
import { requireRunModels } from '../open-run-models.ts';
import { callKey } from './run-workers.ts';
import { openWorkState, type WorkState } from './work-state.ts';

interface WorkOptions {
  /** Units at a time. */
  readonly concurrency: number;
  readonly tools: LoopTools;
  readonly signal: AbortSignal;
  readonly onReady: (queue: string) => void;
  readonly onRead: (reply: UnitReply) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads units for ingests of this project until the signal. Writes nothing into the project. Throws
 * if no model can be asked.
 */
export async function workForIngests(project: Project, options: WorkOptions): Promise<void> {
  const { concurrency, signal, onError, onReady } = options;
  await using state = await openWorkState(project, { signal, onError });
  const { queue, queueName } = state;
  await requireModel(project, signal);
  await queue.create(queueName);
  onReady(queueName);
  const broken = new AbortController();
  const until = AbortSignal.any([signal, broken.signal]);
  await using runs = openRuns(project, state);
  const worker = { ...options, project, state, runs, signal: until };
  await queue.work(queueName, {
    concurrency,
    signal: until,
    run: (job) => workOn(worker, job),
    onError(error) {
      // What ends this worker may not end others: its unit goes to one of them.
      if (error instanceof UnusableModel) broken.abort(error.failure);
      else if (!until.aborted) onError(error);
    },
  });
  if (broken.signal.aborted) throw broken.signal.reason;
}

/** The model cannot be asked from here: of its account or of this machine. */
class UnusableModel extends Error {
  readonly failure: UserError;

  constructor(failure: UserError) {
    super(failure.message);
    this.failure = failure;
  }
}

async function requireModel(project: Project, signal: AbortSignal): Promise<void> {
  const runtime = await project.llmRun({ id: project.runId });
  if (runtime === undefined)
    throw new UserError('llm_missing', 'A worker needs a model, and ktx.yaml has none.', {
      hint: 'ktx setup --llm-backend … adds one',
      exitCode: 2,
    });
  try {
    await requireRunModels(project, runtime, signal);
  } finally {
    await runtime.close();
  }
}

interface Worker extends Omit<WorkOptions, 'onReady'> {
  readonly project: Project;
  readonly state: WorkState;
  readonly runs: ReturnType<typeof openRuns>;
}

async function workOn(worker: Worker, { data }: QueuedJob): Promise<void> {
  const { project, state, runs, tools, signal, onRead } = worker;
  const { shared, queue } = state;
  const job = unitJobSchema.parse(data);
  const run = await runs.open(job);
  const snapshot = await run.snapshot(job, (name) => project.loginWarehouse(name, signal));
  // Of a run that is over.
  if (snapshot === undefined) return;
  const { runtime } = run;
  const { concurrency } = runtime;
  const { steps_per_unit: stepBudget } = project.config.ingest;
  const model = { runtime, concurrency, stepBudget, tools, send: project.config.scan };
  const reply = await readJob(job, { results: shared.results, snapshot, model, signal });
  await run.written();
  if (reply === undefined) return;
  const fatal = reply.isOver ? reply.failures.find(isOfWorker) : undefined;
  if (fatal !== undefined) throw new UnusableModel(new UserError(fatal.code, fatal.message, fatal));
  const { unit } = reply;
  await queue.put(job.replies, [{ key: unit, data: reply }]);
  onRead(reply);
}

/** A spent budget is that of the run. */
function isOfWorker({ code }: UnitReply['failures'][number]): boolean {
  return !code.startsWith('llm_budget_');
}

interface OpenRun {
  readonly runtime: LlmRuntime;
  snapshot(job: UnitJob, warehouse: Snapshot['warehouse']): Promise<Snapshot | undefined>;
  /** Resolves when what the calls used is noted. */
  written(): Promise<void>;
  close(): Promise<void>;
}

/** The model of the run that is worked for, with the budget of that run. */
function openRuns(project: Project, { shared }: WorkState) {
  const open = new Map<string, Promise<OpenRun>>();
  const holder = newId('run');
  return {
    async open({ run, limit }: UnitJob): Promise<OpenRun> {
      const known = open.get(run);
      if (known !== undefined) return known;
      const earlier = [...open.values()];
      open.clear();
      const opening = openRun(project, shared, { run, limit, holder });
      open.set(run, opening);
      opening.catch(() => open.delete(run));
      for (const old of earlier) await old.then((each) => each.close()).catch(() => undefined);
      return opening;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const each of await Promise.allSettled(open.values()))
        if (each.status === 'fulfilled') await each.value.close();
    },
  };
}

async function openRun(
  project: Project,
  { results, budget }: WorkState['shared'],
  { run, limit, holder }: Pick<UnitJob, 'run' | 'limit'> & { readonly holder: string },
): Promise<OpenRun> {
  const writing = new Set<Promise<void>>();
  const onCall = (call: CallRecord): void => {
    const key = `${callKey(run)}${newId('call')}`;
    const record = JSON.parse(JSON.stringify(call)) as Json;
    const written = results.keep(key, record);
    writing.add(written);
    written.catch(() => undefined).finally(() => writing.delete(written));
  };
  const { prices } = project.config.llm;
  const spending: SharedSpending | undefined =
    limit &&
    openSharedSpending(
      { limit: limit.usd, key: limit.key, prices },
      budget({ run, most: limit.usd, holder }),
    );
  const runtime = await project.llmRun({ id: run, budget: limit?.usd, spending, onCall });
  if (runtime === undefined) throw new Error('a worker has a model');
  const snapshots = new Map<string, Promise<Snapshot | undefined>>();
  return {
    runtime,
    snapshot({ snapshot: key }, warehouse) {
      const opening = snapshots.get(key) ?? receiveSnapshot(results, key, warehouse);
      snapshots.set(key, opening);
      opening.catch(() => snapshots.delete(key));
      return opening;
    },
    written: async () => void (await Promise.all(writing)),
    async close() {
      await runtime.close();
      await spending?.[Symbol.asyncDispose]();
    },
  };
}
