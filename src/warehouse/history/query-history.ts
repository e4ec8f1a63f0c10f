import { UserError } from '../../lib/error.ts';
import type { RunCatalogQueries, RunCatalogQuery } from '../table-schemas.ts';
import type { WarehouseErrorCode } from '../warehouse-error.ts';
import {
  type HistoryAccess,
  requireReadable,
  type StatementHistory,
  type StatementLog,
} from './statement-history.ts';

interface QueriedHistory {
  readonly access: (query: RunCatalogQuery) => Promise<HistoryAccess>;
  /** Called only where the login can read the log. */
  readonly read: (query: RunCatalogQuery) => Promise<StatementLog>;
}

/** A history that statements over a log of the engine read. */
export function queryHistory(
  run: RunCatalogQueries,
  { access, read }: QueriedHistory,
): StatementHistory {
  const readAccess = (signal: AbortSignal): Promise<HistoryAccess> => run(signal, access);
  return {
    access: readAccess,
    async read(signal) {
      requireReadable(await readAccess(signal));
      return run(signal, read);
    },
  };
}

type Unreadable = Omit<Extract<HistoryAccess, { isReadable: false }>, 'isReadable'>;

/**
 * Whether a statement over the log succeeds. `unreadable` says what an error of the engine means;
 * others are thrown.
 */
export async function accessByAttempt(
  attempt: Promise<unknown>,
  unreadable: Readonly<Partial<Record<WarehouseErrorCode, Unreadable>>>,
): Promise<HistoryAccess> {
  try {
    await attempt;
    return { isReadable: true };
  } catch (error) {
    const known: Readonly<Record<string, Unreadable | undefined>> = unreadable;
    const found = error instanceof UserError ? known[error.code] : undefined;
    if (found === undefined) throw error;
    return { isReadable: false, ...found };
  }
}
