import {
  longestLogged,
  mostLogged,
  ownStatementMark,
  type StatementHistory,
} from '../../history/statement-history.ts';
import { accessByAttempt, queryHistory } from '../../history/query-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';

/** Queries of people that ended without an error, with how often they ran. */
const source = `FROM sys.query_store_query_text AS t
  JOIN sys.query_store_query AS q ON q.query_text_id = t.query_text_id
  JOIN sys.query_store_plan AS p ON p.query_id = q.query_id
  JOIN sys.query_store_runtime_stats AS s ON s.plan_id = p.plan_id
  WHERE q.is_internal_query = 0 AND q.object_id = 0 AND s.execution_type = 0
  AND CHARINDEX(N'${ownStatementMark}', t.query_sql_text) = 0
  AND (t.query_sql_text LIKE N'SELECT%' OR t.query_sql_text LIKE N'WITH%' OR t.query_sql_text LIKE N'(%')`;

const unreadable = {
  why: 'the login may not read the Query Store',
  remedy: ['GRANT VIEW DATABASE STATE TO ktx_reader;'],
};

/**
 * The statements of the Query Store of the database. It does not tell who ran them, and leaves out
 * those inside of procedures here.
 */
export function sqlserverHistory(run: RunCatalogQueries): StatementHistory {
  return queryHistory(run, {
    async access(query) {
      let state: string | undefined;
      const asked = query(
        'SELECT o.actual_state_desc AS state FROM sys.database_query_store_options AS o',
      ).then((rows) => {
        const [options] = rows as { readonly state: string }[];
        state = options?.state;
      });
      const access = await accessByAttempt(asked, {
        warehouse_privilege: unreadable,
        missing_object: unreadable,
      });
      if (!access.isReadable || state?.startsWith('READ') === true) return access;
      return {
        isReadable: false,
        why: 'the Query Store of the database is off',
        remedy: ['ALTER DATABASE CURRENT SET QUERY_STORE = ON;'],
      };
    },
    async read(query) {
      const rows = (await query(
        `SELECT TOP (${mostLogged}) t.query_sql_text AS sql, SUM(s.count_executions) AS runs
          ${source}
           AND LEN(t.query_sql_text) <= ${longestLogged} GROUP BY t.query_text_id, t.query_sql_text
           ORDER BY runs DESC, t.query_sql_text`,
      )) as { readonly sql: string; readonly runs: number }[];
      const [counts] = (await query(
        `SELECT SUM(CASE WHEN LEN(t.query_sql_text) > ${longestLogged} THEN 1 ELSE 0 END) AS hidden,
           CAST(MIN(s.first_execution_time) AS date) AS since ${source}`,
      )) as { readonly hidden: number | null; readonly since: string | null }[];
      return {
        statements: rows.map(({ sql, runs }) => ({ sql: withoutParameters(sql), runs })),
        hidden: counts?.hidden ?? 0,
        since: counts?.since ?? undefined,
      };
    },
  });
}

/** Of a statement with parameters the text begins with their types: `(@p1 int)SELECT …`. */
function withoutParameters(sql: string): string {
  const declared = /^\((?:@\w+ [\w@()., ]+?)\)(?=\s*(?:SELECT|WITH)\b)/i;
  return declared.test(sql) ? sql.replace(declared, '').replaceAll(/@\w+/g, '?') : sql;
}
