import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { openAuditHead } from './audit-head.ts';
import type { AuditEntry } from './audit-line.ts';
import type { AuditReply, AuditThread } from './audit-thread.ts';
import { openBatches } from './batches.ts';

/** Records calls. */
export interface AuditLog {
  /** On disk when the promise resolves. Rejects if it cannot be written; then nothing may leave. */
  append(entry: AuditEntry): Promise<void>;
  /** A hash that shows whether two values are equal, and nothing else to whoever has no key. */
  hash(value: unknown): string;
  [Symbol.dispose](): void;
}

/**
 * Opens the audit of a project: `.ktx/audit/<day>.jsonl`, each line with the hash of the line
 * before. Several servers may append. Lines that come while others are written are flushed
 * together. Those of days that are older than `keepDays` are removed; undefined keeps all.
 */
export function openAuditLog(dir: string, env: HostEnvironment, keepDays?: number): AuditLog {
  const head = openAuditHead(dir, env);
  const { key } = head;
  head.close();
  const thread = openThread({ dir, env: { ...env }, keepDays });
  return {
    append: openBatches(thread.write),
    hash: (value) => createHmac('sha256', key).update(canonicalJson(value)).digest('hex'),
    [Symbol.dispose]: thread.close,
  };
}

/**
 * Writes in a thread: a line is on disk only after the disk has said so twice, and a server has
 * other things to do meanwhile. The thread starts with the first line.
 */
function openThread(data: AuditThread) {
  let worker: Worker | undefined;
  const start = (): Worker => {
    const file = new URL(`audit-thread${extname(import.meta.url)}`, import.meta.url);
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    return new Worker(file, { workerData: data, execArgv });
  };
  const write = async (entries: readonly AuditEntry[]): Promise<void> => {
    const running = (worker ??= start());
    // The process must not end before the lines are there.
    running.ref();
    const { failure } = await replyOf(running, entries).catch((error: unknown): AuditReply => {
      if (worker === running) worker = undefined;
      void running.terminate();
      return { failure: { code: 'audit_unwritten', message: String(error), hint: undefined } };
    });
    running.unref();
    if (failure === undefined) return;
    const { code, message, hint } = failure;
    throw new UserError(code, message, { hint, retryable: code === 'audit_unwritten' });
  };
  const close = (): void => {
    worker?.postMessage(undefined, []);
    worker = undefined;
  };
  return { write, close };
}

/** Rejects if the thread ends without one. */
async function replyOf(worker: Worker, entries: readonly AuditEntry[]): Promise<AuditReply> {
  const over = new AbortController();
  const { signal } = over;
  // `once` rejects with the error of a thread that fails.
  const replied = once(worker, 'message', { signal });
  const ended = once(worker, 'exit', { signal });
  worker.postMessage(entries, []);
  try {
    const [reply] = (await Promise.race([replied, ended])) as [AuditReply | number];
    if (typeof reply === 'number') throw new Error('the thread of the audit ended');
    return reply;
  } finally {
    over.abort();
    void Promise.allSettled([replied, ended]);
  }
}
