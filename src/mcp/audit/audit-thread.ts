import { parentPort, workerData } from 'node:worker_threads';
import { UserError } from '../../lib/error.ts';
import { createPrivateFolder, projectPaths } from '../../store/directories.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { appendLines } from './append-lines.ts';
import { openAuditHead } from './audit-head.ts';
import type { AuditEntry } from './audit-line.ts';
import { findOldFiles, firstKeptDay, type OldFiles, removeFiles } from './prune.ts';

/** Whose audit the thread writes. */
export interface AuditThread {
  readonly dir: string;
  readonly env: HostEnvironment;
  /** Days after which lines are removed; undefined: never. */
  readonly keepDays: number | undefined;
}

/** Whether the lines of a message are on disk. */
export interface AuditReply {
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | undefined;
  };
}

const { dir, env, keepDays } = workerData as AuditThread;
const head = openAuditHead(dir, env);

/** Without entries: the log was closed. */
parentPort?.on('message', (entries: readonly AuditEntry[] | undefined) => {
  if (entries === undefined) {
    head.close();
    parentPort?.close();
  } else parentPort?.postMessage(append(entries), []);
});

function append(entries: readonly AuditEntry[]): AuditReply {
  try {
    const { audit: folder } = projectPaths(dir);
    createPrivateFolder(folder);
    let old: OldFiles | undefined;
    head.advance((last) => {
      old = findOldOnce(folder, last.file);
      return appendLines(folder, last, old === undefined ? entries : [...entries, old.body]);
    });
    // Only now does a line say what is missing.
    removeFiles(folder, old?.files ?? []);
    prunedOn = firstKeptDay(0);
    return {};
  } catch (error) {
    const { code, message, hint } = unwritten(error);
    return { failure: { code, message, hint } };
  }
}

let prunedOn: string | undefined;

/**
 * What is too old by now; asked until a day has had its answer written. The last file may still get
 * a line about its end.
 */
function findOldOnce(folder: string, lastFile: string): OldFiles | undefined {
  if (keepDays === undefined || prunedOn === firstKeptDay(0)) return undefined;
  const [first = ''] = [firstKeptDay(keepDays), lastFile].toSorted();
  return findOldFiles(folder, first);
}

function unwritten(error: unknown): UserError {
  if (error instanceof UserError) return error;
  // Not the message: it may name folders of this machine to somebody far away.
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? '' : ` (${code})`;
  const message = `The audit could not be written${reason}, so nothing is answered.`;
  return new UserError('audit_unwritten', message, {
    hint: 'Try again later. The person who runs the server: check .ktx/audit, its disk and its rights.',
    retryable: true,
    cause: error,
  });
}
