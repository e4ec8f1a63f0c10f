import { UserError } from '../../../lib/error.ts';
import type { CallLimits } from '../../time-limit.ts';
import type { DryRun } from './jobs.ts';

/** What BigQuery said about statements that are about to run, so that it is asked once. */
interface CheckedStatements {
  /** Asks, and keeps the answer, or the error, for the run that follows. */
  check(sql: string, limits: CallLimits): Promise<DryRun>;
  /** What is kept; asks if there is nothing. */
  known(sql: string, limits: CallLimits): Promise<DryRun>;
  /** The same for the run itself: what is kept is used once. */
  take(sql: string, limits: CallLimits): Promise<DryRun>;
}

/** Statements that are checked and never run are forgotten behind so many others. */
const mostKept = 32;

export function openCheckedStatements(
  dryRun: (sql: string, limits: CallLimits) => Promise<DryRun>,
): CheckedStatements {
  const kept = new Map<string, DryRun | UserError>();
  const keep = (sql: string, said: DryRun | UserError): void => {
    kept.delete(sql);
    kept.set(sql, said);
    for (const oldest of kept.keys()) {
      if (kept.size <= mostKept) break;
      kept.delete(oldest);
    }
  };
  const check: CheckedStatements['check'] = async (sql, limits) => {
    try {
      const said = await dryRun(sql, limits);
      keep(sql, said);
      return said;
    } catch (error) {
      if (error instanceof UserError) keep(sql, error);
      throw error;
    }
  };
  const known: CheckedStatements['known'] = async (sql, limits) => {
    const said = kept.get(sql);
    if (said instanceof UserError) throw said;
    return said ?? check(sql, limits);
  };
  return {
    check,
    known,
    async take(sql, limits) {
      try {
        return await known(sql, limits);
      } finally {
        kept.delete(sql);
      }
    },
  };
}
