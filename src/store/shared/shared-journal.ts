import type { Json } from '../../lib/json.ts';
import type { Journal } from '../journal.ts';
import type { SharedResults } from './shared-results.ts';

/** Apart from what workers read, which they find by the keys of its items. */
const prefix = 'decided ';

/**
 * A journal whose results are also those of every other machine with this database: another one may
 * go on where this one ended. What others have is here from the beginning.
 */
export async function openSharedJournal(
  local: Journal,
  results: Pick<SharedResults, 'list' | 'keep'>,
) {
  const missing = [...(await results.list(prefix))]
    .map(([key, result]) => [key.slice(prefix.length), result] as const)
    .filter(([key]) => local.result(key) === undefined);
  // One wait for the disk.
  local.db.exec('BEGIN IMMEDIATE');
  try {
    for (const [key, result] of missing) local.keep(key, result);
    local.db.exec('COMMIT');
  } catch (error) {
    if (local.db.isTransaction) local.db.exec('ROLLBACK');
    throw error;
  }
  const writing = new Set<Promise<void>>();
  return {
    result: (key: string): Json | undefined => local.result(key),
    keep(key: string, result: Json): void {
      local.keep(key, result);
      const written = results.keep(`${prefix}${key}`, result);
      writing.add(written);
      written.catch(() => undefined).finally(() => writing.delete(written));
    },
    /** Waits for the database. What it did not take, this machine has. */
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.allSettled(writing);
    },
  };
}
