import { z } from 'zod';
import { redshift } from '../../../sql/dialects/redshift.ts';
import {
  type HistoryAccess,
  mostLogged,
  requireReadable,
  type StatementHistory,
} from '../../history/statement-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';

/** Redshift keeps this much of a statement, in bytes. */
const longestKept = 4000;

const accessSql = `SELECT u.user_name AS "login", u.superuser AS "isSuperuser", u.syslog_access AS "access"
  FROM svv_user_info u WHERE u.user_name = current_user`;
const accessSchema = z.object({
  login: z.string(),
  isSuperuser: z.union([z.boolean(), z.string()]),
  access: z.string().nullable(),
});

/** Finished SELECTs of this database; ktx's own carry its mark. */
const asked = `h.query_type = 'SELECT' AND h.status = 'success' AND h.database_name = current_database()
  AND h.query_text NOT LIKE '%/* ktx */%'`;
const statementsSql = `SELECT h.query_text AS "sql", u.usename AS "login", count(*) AS "runs"
  FROM sys_query_history h LEFT JOIN pg_user u ON u.usesysid = h.user_id
  WHERE ${asked} AND OCTET_LENGTH(h.query_text) < ${longestKept}
  GROUP BY h.query_text, u.usename ORDER BY 3 DESC, 1, 2 LIMIT ${mostLogged}`;
const countsSql = `SELECT sum(CASE WHEN OCTET_LENGTH(h.query_text) >= ${longestKept} THEN 1 ELSE 0 END) AS "hidden",
    TO_CHAR(min(h.start_time), 'YYYY-MM-DD') AS "since"
  FROM sys_query_history h WHERE ${asked}`;

const rowSchema = z.object({
  sql: z.string(),
  login: z.string().nullable(),
  runs: z.coerce.number(),
});
const countsSchema = z.object({
  hidden: z.coerce.number().nullable(),
  since: z.string().nullish(),
});

/** The statements of SYS_QUERY_HISTORY, which remembers seven days. */
export function redshiftHistory(run: RunCatalogQueries): StatementHistory {
  const readAccess = (signal: AbortSignal): Promise<HistoryAccess> =>
    run(signal, async (query) => accessOf(accessSchema.parse((await query(accessSql))[0])));
  return {
    access: readAccess,
    async read(signal) {
      requireReadable(await readAccess(signal));
      return run(signal, async (query) => {
        const rows = await query(statementsSql);
        const counts = countsSchema.parse((await query(countsSql))[0]);
        const statements = rows.map((row) => {
          const { sql, login, runs } = rowSchema.parse(row);
          const users = login === null ? undefined : new Map([[login, runs]]);
          return { sql, runs, runsByUser: users };
        });
        return { statements, hidden: counts.hidden ?? 0, since: counts.since ?? undefined };
      });
    },
  };
}

function accessOf({ login, isSuperuser, access }: z.infer<typeof accessSchema>): HistoryAccess {
  const seesAll = /^(?:t|true)$/i.test(String(isSuperuser)) || /^unrestricted$/i.test(access ?? '');
  if (seesAll) return { isReadable: true };
  return {
    isReadable: false,
    why: `${login} sees only its own statements`,
    remedy: [`ALTER USER ${redshift.quote(login)} SYSLOG ACCESS UNRESTRICTED;`],
  };
}
