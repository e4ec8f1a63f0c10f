import type { AuditEntry } from './audit-line.ts';

/** Lines that are written at once. */
const mostAtOnce = 500;

interface QueuedLine extends PromiseWithResolvers<void> {
  readonly entry: AuditEntry;
}

/** Appends by `write`, one batch after the other: lines that come meanwhile are the next batch. */
export function openBatches(write: (entries: readonly AuditEntry[]) => Promise<void>) {
  const queued: QueuedLine[] = [];
  let isWriting = false;
  const writeAll = async (): Promise<void> => {
    while (queued.length > 0) {
      const batch = queued.splice(0, mostAtOnce);
      try {
        await write(batch.map(({ entry }) => entry));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  };
  return (entry: AuditEntry): Promise<void> => {
    const turn = { entry, ...Promise.withResolvers<void>() };
    queued.push(turn);
    if (isWriting) return turn.promise;
    isWriting = true;
    // Lines of the same moment are one batch.
    setImmediate(() => void writeAll());
    return turn.promise;
  };
}
