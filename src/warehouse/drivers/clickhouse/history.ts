import { accessByAttempt, queryHistory } from '../../history/query-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';
import { readRecordedRow } from '../../history/recorded-rows.ts';
import {
  type LoggedStatement,
  longestLogged,
  mostLogged,
  type StatementHistory,
} from '../../history/statement-history.ts';
import { clickhouse } from '../../../sql/dialects/clickhouse.ts';

/** In days. */
const period = 90;

/** Finished SELECTs of people over the connection's database; ktx's own have its comment. */
const asked = (database: string): string =>
  `type = 'QueryFinish' AND is_initial_query AND query_kind = 'Select' AND log_comment != 'ktx'
    AND has(databases, ${clickhouse.literal(database)}) AND event_date >= today() - ${period}`;

/** The statements of `system.query_log`. */
export function clickhouseHistory(database: string, run: RunCatalogQueries): StatementHistory {
  return queryHistory(run, {
    access: (query) =>
      accessByAttempt(query('SELECT 1 AS one FROM system.query_log LIMIT 1'), {
        missing_object: {
          why: 'the server keeps no log of statements: there is no system.query_log',
          remedy: [
            'Set log_queries = 1 for the logins, and a query_log section in the configuration of the server.',
          ],
        },
        warehouse_privilege: {
          why: 'the login may not read system.query_log',
          remedy: ['GRANT SELECT ON system.query_log TO ktx_reader;'],
        },
      }),
    async read(query) {
      const rows = (await query(
        `SELECT any(log.query) AS query, initial_user, query_kind,
           toString(normalized_query_hash) AS normalized_query_hash, count() AS runs
           FROM system.query_log AS log WHERE ${asked(database)}
           AND length(log.query) <= ${longestLogged}
           GROUP BY normalized_query_hash, initial_user, query_kind ORDER BY runs DESC, normalized_query_hash LIMIT ${mostLogged}`,
      )) as Record<string, unknown>[];
      const [counts] = (await query(
        `SELECT countIf(length(log.query) > ${longestLogged}) AS hidden,
           toString(min(event_date)) AS since, count() AS runs
           FROM system.query_log AS log WHERE ${asked(database)}`,
      )) as { hidden: number; since: string; runs: number }[];
      const { hidden = 0, since, runs = 0 } = counts ?? {};
      return { statements: statementsIn(rows), hidden, since: runs > 0 ? since : undefined };
    },
  });
}

/** One statement for each row, with how often its login ran it. */
function statementsIn(rows: readonly Record<string, unknown>[]): readonly LoggedStatement[] {
  return rows.flatMap((row) => {
    const statement = readRecordedRow(row);
    if (statement === undefined || statement === 'unknown') return [];
    const runs = Number(row['runs']);
    const users = [...(statement.runsByUser?.keys() ?? [])];
    return [{ sql: statement.sql, runs, runsByUser: new Map(users.map((user) => [user, runs])) }];
  });
}
