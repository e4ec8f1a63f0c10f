import { z } from 'zod';
import type { planQuery } from '../../project/answer/query.ts';
import type { Project } from '../../project/open/open.ts';
import { findSavedQuery } from '../../project/saved/saved-queries.ts';
import { querySchema, type SemanticQuery } from '../../semantic/query/query.ts';
import { changeQuery } from '../../semantic/query/saved-query.ts';

/** What `query_metrics` takes. */
export const metricsInputSchema = querySchema.extend({
  saved: z.string().optional().describe('A saved query; the rest changes it.'),
  connection: z.string().optional(),
  dry_run: z.boolean().default(false).describe('Only plan, SQL and receipt.'),
});

/** The query, or the saved one with what the call adds and replaces. */
export async function metricsRequest(
  project: Project,
  { connection, saved: name, ...query }: Omit<z.infer<typeof metricsInputSchema>, 'dry_run'>,
): Promise<Parameters<typeof planQuery>[1]> {
  if (name === undefined) return { connection, query };
  const saved = await findSavedQuery(project, name, connection);
  const given = Object.entries(query).filter(
    ([key, value]) =>
      JSON.stringify(value) !== JSON.stringify(unchanged[key as keyof SemanticQuery]),
  );
  const changed = querySchema.parse(changeQuery(saved.query, Object.fromEntries(given)));
  return { connection: saved.connection, query: changed, saved };
}

/** What a query is that says nothing. */
const unchanged = querySchema.parse({});
