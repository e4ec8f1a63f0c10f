import { snowflake } from '../../../sql/dialects/snowflake.ts';
import { readRecordedRow } from '../../history/recorded-rows.ts';
import {
  type LoggedStatement,
  longestLogged,
  mostLogged,
  type StatementHistory,
} from '../../history/statement-history.ts';
import { accessByAttempt, queryHistory } from '../../history/query-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';

/** In days. */
const period = 90;

/** Finished SELECTs of people in the connection's database; ktx's own have its tag. */
const asked = (database: string): string =>
  `query_type = 'SELECT' AND execution_status = 'SUCCESS' AND COALESCE(query_tag, '') != 'ktx'
    AND database_name = ${snowflake.literal(database)} AND start_time >= DATEADD(day, -${period}, CURRENT_TIMESTAMP())`;
const log = 'SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY';

const unreadable = {
  why: 'the role may not read SNOWFLAKE.ACCOUNT_USAGE.QUERY_HISTORY',
  remedy: ['GRANT DATABASE ROLE SNOWFLAKE.GOVERNANCE_VIEWER TO ROLE KTX_READER;'],
};

/** The statements of `ACCOUNT_USAGE.QUERY_HISTORY`, which is up to 45 minutes late. */
export function snowflakeHistory(database: string, run: RunCatalogQueries): StatementHistory {
  return queryHistory(run, {
    access: (query) =>
      accessByAttempt(query(`SELECT 1 AS "one" FROM ${log} LIMIT 1`), {
        missing_object: unreadable,
        warehouse_privilege: unreadable,
      }),
    async read(query) {
      const rows = (await query(
        `SELECT ANY_VALUE(query_text) AS "query_text", user_name AS "user_name", 'SELECT' AS "query_type",
             COUNT(*) AS "query_count"
           FROM ${log} WHERE ${asked(database)} AND LENGTH(query_text) <= ${longestLogged}
           GROUP BY query_parameterized_hash, user_name
           ORDER BY "query_count" DESC, query_parameterized_hash LIMIT ${mostLogged}`,
      )) as Record<string, unknown>[];
      const [counts] = (await query(
        `SELECT COUNT_IF(LENGTH(query_text) > ${longestLogged}) AS "hidden",
             TO_VARCHAR(MIN(start_time), 'YYYY-MM-DD') AS "since"
           FROM ${log} WHERE ${asked(database)}`,
      )) as { hidden: number; since: string | null }[];
      const { hidden = 0, since } = counts ?? {};
      return { statements: statementsIn(rows), hidden, since: since ?? undefined };
    },
  });
}

/** One statement for each row, with how often its login ran it. */
function statementsIn(rows: readonly Record<string, unknown>[]): readonly LoggedStatement[] {
  return rows.flatMap((row) => {
    const statement = readRecordedRow(row);
    return statement === undefined || statement === 'unknown' ? [] : [statement];
  });
}
