import {
  type LoggedStatement,
  longestLogged,
  mostLogged,
  type StatementHistory,
} from '../../history/statement-history.ts';
import { accessByAttempt, queryHistory } from '../../history/query-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';

/** Finished queries of others; the server remembers the last hundred or so. */
const asked = `state = 'FINISHED' AND coalesce(source, '') <> 'ktx' AND regexp_like(lower(query), '^[\\s(]*(?:select|with|table)\\b')`;

interface LogRow {
  readonly query: string;
  readonly login: string;
  readonly runs: number;
}

const unreadable = {
  why: 'the login may not read system.runtime.queries',
  remedy: ['Let the login read the catalog system, and view the queries of others.'],
};

/** The statements of `system.runtime.queries`. */
export function trinoHistory(run: RunCatalogQueries): StatementHistory {
  return queryHistory(run, {
    access: (query) =>
      accessByAttempt(query('SELECT 1 AS one FROM system.runtime.queries LIMIT 1'), {
        warehouse_privilege: unreadable,
        missing_object: unreadable,
        warehouse_not_found: unreadable,
      }),
    async read(query) {
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
    },
  });
}

function loggedStatement({ query, login, runs }: LogRow): LoggedStatement {
  return { sql: query, runs, runsByUser: new Map([[login, runs]]) };
}
