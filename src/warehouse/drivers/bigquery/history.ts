import { z } from 'zod';
import { readRecordedRow } from '../../history/recorded-rows.ts';
import {
  type HistoryAccess,
  type LoggedStatement,
  longestLogged,
  mostLogged,
  ownStatementMark,
  requireReadable,
  type StatementHistory,
} from '../../history/statement-history.ts';
import { type BigqueryApi, projectPath } from './api.ts';
import { BigqueryError, throwTranslated } from './errors.ts';

/** In days. The list of jobs goes back half a year. */
const period = 90;
const day = 24 * 3_600_000;

const jobSchema = z.looseObject({
  user_email: z.string().optional(),
  configuration: z.looseObject({
    query: z.looseObject({ query: z.string().optional() }).optional(),
    jobType: z.string().optional(),
  }),
  statistics: z.looseObject({
    creationTime: z.string().optional(),
    query: z.looseObject({ statementType: z.string().optional() }).optional(),
  }),
  status: z.looseObject({ state: z.string(), errorResult: z.unknown().optional() }).optional(),
});
type ListedJob = z.infer<typeof jobSchema>;

/** The jobs of all logins of the project, which the API lists for free. */
export function bigqueryHistory(
  api: BigqueryApi,
  { project }: { readonly project: string },
): StatementHistory {
  const list = (atMost: number, signal: AbortSignal): Promise<readonly ListedJob[]> =>
    api.list(
      {
        path: projectPath(project, 'jobs'),
        query: {
          allUsers: 'true',
          projection: 'full',
          stateFilter: 'done',
          minCreationTime: String(Date.now() - period * day),
          maxResults: String(Math.min(1000, atMost)),
        },
        key: 'jobs',
        element: jobSchema,
        atMost,
      },
      signal,
    );
  const access = async (signal: AbortSignal): Promise<HistoryAccess> => {
    try {
      await list(1, signal);
      return { isReadable: true };
    } catch (error) {
      if (!(error instanceof BigqueryError && error.status === 403)) return throwTranslated(error);
      return {
        isReadable: false,
        why: 'the login may not list the jobs of others (bigquery.jobs.listAll)',
        remedy: [
          `gcloud projects add-iam-policy-binding ${project} --member=serviceAccount:… --role=roles/bigquery.resourceViewer`,
        ],
      };
    }
  };
  return {
    access,
    async read(signal) {
      requireReadable(await access(signal));
      const jobs = await list(mostLogged, signal).catch((error: unknown) => throwTranslated(error));
      const texts = jobs.filter(({ configuration }) => configuration.query !== undefined);
      const isTooLong = ({ configuration: { query } }: ListedJob): boolean =>
        (query?.query?.length ?? 0) > longestLogged;
      const days = jobs.flatMap(({ statistics: { creationTime } }) =>
        creationTime === undefined ? [] : [Number(creationTime)],
      );
      return {
        statements: countRuns(texts.filter((job) => !isTooLong(job))),
        hidden: texts.filter(isTooLong).length,
        since:
          days.length === 0 ? undefined : new Date(Math.min(...days)).toISOString().slice(0, 10),
      };
    },
  };
}

/** Equal statements become one, with how often each login ran it. */
function countRuns(jobs: readonly ListedJob[]): readonly LoggedStatement[] {
  const statements = jobs.flatMap((job) => {
    const sql = job.configuration.query?.query ?? '';
    const row = {
      query: sql,
      user_email: job.user_email ?? '',
      job_type: job.configuration.jobType ?? 'QUERY',
      statement_type: job.statistics.query?.statementType ?? null,
      state: job.status?.state ?? null,
      error_result: job.status?.errorResult ?? null,
    };
    const statement = sql.includes(ownStatementMark) ? undefined : readRecordedRow(row);
    return statement === undefined || statement === 'unknown' ? [] : [statement];
  });
  const bySql = Map.groupBy(statements, ({ sql }) => sql);
  const counted = [...bySql].map(([sql, same]): LoggedStatement => {
    const users = Map.groupBy(
      same.flatMap(({ runsByUser }) => [...(runsByUser?.keys() ?? [])]),
      (user) => user,
    );
    const runsByUser = new Map([...users].map(([user, runs]) => [user, runs.length]));
    return { sql, runs: same.length, runsByUser };
  });
  return counted.toSorted((a, b) => b.runs - a.runs || (a.sql < b.sql ? -1 : 1));
}
