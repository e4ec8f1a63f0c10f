import { UserError } from '../../../lib/error.ts';
import {
  type HistoryAccess,
  type LoggedStatement,
  longestLogged,
  mostLogged,
  requireReadable,
  type StatementHistory,
} from '../../history/statement-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';

/** Finished queries of others; the server remembers the last hundred or so. */
const asked = `state = 'FINISHED' AND coalesce(source, '') <> 'ktx' AND regexp_like(lower(query), '^[\\s(]*(?:select|with|table)\\b')`;

interface LogRow {
  readonly query: string;
  readonly login: string;
  readonly runs: number;
}

/** The statements of `system.runtime.queries`. */
export function trinoHistory(run: RunCatalogQueries): StatementHistory {
  const readAccess = (signal: AbortSignal): Promise<HistoryAccess> =>
    run(signal, async (query): Promise<HistoryAccess> => {
      try {
        await query('SELECT 1 AS one FROM system.runtime.queries LIMIT 1');
        return { isReadable: true };
      } catch (error) {
        const isDenied =
          error instanceof UserError &&
          ['warehouse_privilege', 'missing_object', 'warehouse_not_found'].includes(error.code);
        if (!isDenied) throw error;
        return {
          isReadable: false,
          why: 'the login may not read system.runtime.queries',
          remedy: ['Let the login read the catalog system, and view the queries of others.'],
        };
      }
    });
  return {
    access: readAccess,
    async read(signal) {
      requireReadable(await readAccess(signal));
      return run(signal, async (query) => {
        const rows = (await query(
          `SELECT query, "user" AS login, count(*) AS runs FROM system.runtime.queries
           WHERE ${asked} AND length(query) <= ${longestLogged}
           GROUP BY query, "user" ORDER BY runs DESC, query LIMIT ${mostLogged}`,
        )) as LogRow[];
        const [counts] = (await query(
          `SELECT count_if(length(query) > ${longestLogged}) AS hidden, CAST(CAST(min(created) AS DATE) AS VARCHAR) AS since
           FROM system.runtime.queries WHERE ${asked}`,
        )) as { readonly hidden: number; readonly since: string | null }[];
        return {
          statements: rows.map(loggedStatement),
          hidden: counts?.hidden ?? 0,
          since: counts?.since ?? undefined,
        };
      });
    },
  };
}

function loggedStatement({ query, login, runs }: LogRow): LoggedStatement {
  return { sql: query, runs, runsByUser: new Map([[login, runs]]) };
}
