import { setTimeout as sleep } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import { errorMessage } from '../../lib/error.ts';
import { requireExtra } from '../extras/require-extra.ts';
import { patiently } from './patiently.ts';
import { lostOr } from './postgres-state.ts';

/** A job as a worker gets it. */
export interface QueuedJob {
  readonly id: string;
  readonly data: unknown;
}

/** Jobs in a Postgres database, for any number of processes. */
export interface JobQueue {
  /** Creates a queue if there is none. What is given up is copied to `deadLetter`. */
  create(name: string, options?: { readonly deadLetter?: string }): Promise<void>;
  /**
   * Adds jobs; one whose key is waiting or being worked on already is not added again. False if the
   * queue was removed.
   */
  put(name: string, jobs: readonly NewJob[]): Promise<boolean>;
  /** Jobs that nobody else gets until they are done, or until their worker is gone. */
  take(name: string, most: number): Promise<readonly QueuedJob[]>;
  done(name: string, ids: readonly string[]): Promise<void>;
  /** Removes what no worker has begun. */
  clear(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Works on jobs, `concurrency` at a time, until the signal; then waits for those that run. */
  work(name: string, options: JobWork): Promise<void>;
  close(): Promise<void>;
}

interface NewJob {
  readonly key: string;
  readonly data: object;
}

const schema = 'ktx_queue';
/** Seconds after which a job whose worker said nothing goes to another one. The least possible. */
const heartbeatSeconds = 10;
const touchMs = 3_000;
/** Milliseconds between two looks for jobs where there were none. */
const idleMs = 300;
/** After so many workers ended with it, a job is given up. */
const retryLimit = 20;
const longestJobSeconds = 6 * 3_600;

/**
 * Opens the queues of a database, and creates their tables. A database that is away makes all wait
 * until it is back, or the signal. Throws `extra_missing`.
 */
export async function openJobQueue(
  url: string,
  { signal, onError }: { readonly signal: AbortSignal; readonly onError: (error: Error) => void },
): Promise<JobQueue> {
  requireExtra('queue');
  const { PgBoss: Boss } = await import('pg-boss');
  const boss = new Boss({
    connectionString: url,
    schema,
    application_name: 'ktx',
    max: 4,
    schedule: false,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    monitorVacuum: false,
    reindex: false,
  });
  boss.on('error', onError);
  const reach = <T>(work: () => Promise<T>): Promise<T> =>
    patiently(
      () =>
        work().catch((error: unknown) => {
          throw lostOr(url, error);
        }),
      signal,
    );
  await reach(() => boss.start());
  return {
    create: (name, { deadLetter } = {}) =>
      reach(() =>
        boss.createQueue(name, {
          policy: 'exclusive',
          retryLimit,
          expireInSeconds: longestJobSeconds,
          heartbeatSeconds,
          deleteAfterSeconds: 60,
          ...(deadLetter !== undefined && { deadLetter }),
        }),
      ),
    async put(name, jobs) {
      const rows = jobs.map(({ key, data }) => ({ singletonKey: key, data }));
      try {
        await reach(() => boss.insert(name, rows));
        return true;
      } catch (error) {
        if (/queue .* does not exist/i.test(errorMessage(error))) return false;
        throw error;
      }
    },
    take: (name, most) => reach(() => boss.fetch<unknown>(name, { batchSize: most })),
    done: async (name, ids) => void (await reach(() => boss.complete(name, [...ids]))),
    clear: async (name) => void (await reach(() => boss.deleteQueuedJobs(name))),
    remove: (name) => reach(() => boss.deleteQueue(name)),
    work: (name, options) => workOn(boss, name, options),
    close: () => boss.stop({ graceful: false }),
  };
}

interface JobWork {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Never rejects, except if the job should go to another worker. */
  readonly run: (job: QueuedJob) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

async function workOn(boss: PgBoss, name: string, options: JobWork): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!options.signal.aborted) {
      const isIdle = await workOnce(boss, name, options).catch((error: unknown) => {
        options.onError(error);
        return true;
      });
      if (isIdle) await sleep(idleMs, undefined, { signal: options.signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, loop));
}

/** True if there was nothing to do. */
async function workOnce(boss: PgBoss, name: string, { run }: JobWork): Promise<boolean> {
  const [job] = await boss.fetch<unknown>(name);
  if (job === undefined) return true;
  // Of a database that is away for a while: the next one may succeed.
  const touch = setInterval(() => void boss.touch(name, job.id).catch(() => undefined), touchMs);
  try {
    await run(job);
    await boss.complete(name, job.id);
  } catch (error) {
    await boss.fail(name, job.id).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(touch);
  }
  return false;
}
