import { z } from 'zod';
import type { RunCatalogQueries } from '../../table-schemas.ts';
import {
  type HistoryAccess,
  mostLogged,
  requireReadable,
  type StatementHistory,
} from '../../history/statement-history.ts';

const rowSchema = z.object({ text: z.string(), runs: z.coerce.number() });
const countsSchema = z.object({ hidden: z.coerce.number(), since: z.string().nullish() });

const digests = 'performance_schema.events_statements_summary_by_digest';
/** A digest that is cut off ends in three dots. */
const isCut = `DIGEST_TEXT LIKE '%...'`;

/**
 * The statements whose default database was this one, as the digests of `performance_schema` count
 * them: without literals and comments. The digests do not tell who ran a statement.
 */
export function mysqlHistory(database: string, run: RunCatalogQueries): StatementHistory {
  const literal = `'${database.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
  const isHere = `SCHEMA_NAME = ${literal} AND DIGEST_TEXT IS NOT NULL`;
  const readAccess = (signal: AbortSignal): Promise<HistoryAccess> =>
    run(signal, async (query): Promise<HistoryAccess> => {
      const [setting] = await query(
        'SELECT @@performance_schema AS is_on, current_user() AS login',
      );
      const { is_on: isOn, login } = z
        .object({ is_on: z.coerce.number(), login: z.string() })
        .parse(setting);
      if (isOn !== 1)
        return {
          isReadable: false,
          why: 'the server does not count statements: performance_schema is off',
          remedy: ['Start the server with performance_schema=ON.'],
        };
      try {
        await query(`SELECT 1 FROM ${digests} LIMIT 1`);
        return { isReadable: true };
      } catch (error) {
        if (!(error instanceof Error && 'sqlState' in error)) throw error;
        const [user = '', host = '%'] = login.split('@');
        return {
          isReadable: false,
          why: `${user} may not read performance_schema`,
          remedy: [`GRANT SELECT ON ${digests} TO '${user}'@'${host}';`],
        };
      }
    });
  return {
    access: readAccess,
    async read(signal) {
      requireReadable(await readAccess(signal));
      return run(signal, async (query) => {
        const rows = await query(
          `SELECT DIGEST_TEXT AS text, COUNT_STAR AS runs FROM ${digests}
           WHERE ${isHere} AND NOT ${isCut} AND (DIGEST_TEXT LIKE 'SELECT%' OR DIGEST_TEXT LIKE 'WITH%' OR DIGEST_TEXT LIKE '(%')
           ORDER BY COUNT_STAR DESC, DIGEST_TEXT LIMIT ${mostLogged}`,
        );
        const [counts] = await query(
          `SELECT coalesce(sum(${isCut}), 0) AS hidden, date_format(min(FIRST_SEEN), '%Y-%m-%d') AS since FROM ${digests} WHERE ${isHere}`,
        );
        const { hidden, since } = countsSchema.parse(counts);
        const statements = rows.map((row) => {
          const { text, runs } = rowSchema.parse(row);
          return { sql: readableDigest(text), runs };
        });
        return { statements, hidden, since: since ?? undefined };
      });
    },
  };
}

/** `IN (...)` stands for a list of literals; some servers write DISTINCT as its synonym. */
function readableDigest(digest: string): string {
  return digest.replaceAll('...', '?').replaceAll('DISTINCTROW', 'DISTINCT');
}
