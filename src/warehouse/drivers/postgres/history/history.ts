import { z } from 'zod';
import { postgres } from '../../../../sql/dialects/postgres.ts';
import type { RunCatalogQueries } from '../../../table-schemas.ts';
import {
  type HistoryAccess,
  longestLogged,
  mostLogged,
  requireReadable,
  type StatementHistory,
  type StatementLog,
} from '../../../history/statement-history.ts';

const factsSql = `SELECT (SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'pg_stat_statements') AS schema,
  pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees_all,
  current_user AS login`;
const factsSchema = z.object({
  /** Quoted where it has to be. */
  schema: z.string().nullable(),
  sees_all: z.boolean(),
  login: z.string(),
});

const rowSchema = z.object({
  query: z.string(),
  runs: z.coerce.number(),
  runs_by_user: z.record(z.string(), z.coerce.number()),
});

/**
 * The statements of this database that `pg_stat_statements` counts. It has replaced their literals
 * by `$1`, `$2`, ….
 */
export function postgresHistory(run: RunCatalogQueries): StatementHistory {
  const readFacts = (signal: AbortSignal) =>
    run(signal, async (query) => {
      const facts = factsSchema.parse((await query(factsSql))[0]);
      if (facts.schema === null) return { ...facts, isLoaded: true };
      // Who may not see the list of loaded libraries learns it from the error.
      const isLoaded = await query(`SELECT 1 FROM ${facts.schema}.pg_stat_statements LIMIT 1`).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && 'code' in error && error.code === '55000') return false;
          throw error;
        },
      );
      return { ...facts, isLoaded };
    });
  return {
    access: async (signal) => accessOf(await readFacts(signal)),
    async read(signal): Promise<StatementLog> {
      const facts = await readFacts(signal);
      requireReadable(accessOf(facts));
      const { rows, hidden, since } = await run(signal, async (query) => {
        const [counts] = await query(countsSql(facts.schema ?? 'public'));
        return {
          rows: await query(statementsSql(facts.schema ?? 'public')),
          ...z.object({ hidden: z.coerce.number(), since: z.string().nullish() }).parse(counts),
        };
      });
      const statements = rows.map((row) => {
        const { query: sql, runs, runs_by_user: byUser } = rowSchema.parse(row);
        return { sql, runs, runsByUser: new Map(Object.entries(byUser)) };
      });
      return { statements, hidden, since: since ?? undefined };
    },
  };
}

interface HistoryFacts extends z.infer<typeof factsSchema> {
  /** False if the extension is there and the server does not count. */
  readonly isLoaded: boolean;
}

function accessOf({ schema, sees_all: seesAll, login, isLoaded }: HistoryFacts): HistoryAccess {
  if (!isLoaded)
    return {
      isReadable: false,
      why: 'the server does not count statements: pg_stat_statements is not loaded',
      remedy: ["Set shared_preload_libraries = 'pg_stat_statements' and restart the server."],
    };
  if (schema === null)
    return {
      isReadable: false,
      why: 'this database has no extension pg_stat_statements',
      remedy: ['CREATE EXTENSION pg_stat_statements;'],
    };
  if (seesAll) return { isReadable: true };
  return {
    isReadable: false,
    why: `${login} sees only its own statements`,
    remedy: [`GRANT pg_read_all_stats TO ${postgres.quote(login)};`],
  };
}

/** Statements of extensions and of functions run inside of others: they count as those. */
const isCounted = `s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND coalesce((to_jsonb(s) ->> 'toplevel')::boolean, true)`;

/** `to_jsonb` because older versions have no column `toplevel`. */
const statementsSql = (schema: string): string => `
  WITH counted AS (
    SELECT s.query, coalesce(r.rolname::text, s.userid::text) AS login, sum(s.calls) AS calls
    FROM ${schema}.pg_stat_statements AS s LEFT JOIN pg_roles AS r ON r.oid = s.userid
    WHERE ${isCounted} AND length(s.query) <= ${longestLogged} AND s.query ~* '^[\\s(]*(--|/[*]|select|with)'
    GROUP BY 1, 2)
  SELECT query, sum(calls)::text AS runs, json_object_agg(login, calls::text) AS runs_by_user
  FROM counted GROUP BY query ORDER BY sum(calls) DESC, query LIMIT ${mostLogged}`;

const countsSql = (schema: string): string => `
  SELECT count(*)::text AS hidden,
    (SELECT to_char(stats_reset AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM ${schema}.pg_stat_statements_info) AS since
  FROM ${schema}.pg_stat_statements AS s
  WHERE ${isCounted} AND (s.query = '<insufficient privilege>' OR length(s.query) > ${longestLogged})`;
