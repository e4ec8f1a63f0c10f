import { z } from 'zod';
import type { Project } from '../../project/open/open.ts';
import {
  type AskedQuery,
  givenParts,
  resolveQueryCall,
} from '../../project/saved/saved-request.ts';
import { querySchema } from '../../semantic/query/query.ts';

/** What `query_metrics` takes. */
export const metricsInputSchema = querySchema.extend({
  saved: z.string().optional().describe('Saved query or question; the rest changes it.'),
  connection: z.string().optional(),
  dry_run: z.boolean().default(false).describe('Only plan, SQL and receipt.'),
});

/** The query, or the saved or verified one with what the call adds and replaces. */
export function metricsRequest(
  project: Project,
  { connection, saved, ...query }: Omit<z.infer<typeof metricsInputSchema>, 'dry_run'>,
): Promise<AskedQuery> {
  return resolveQueryCall(project, { connection, saved, query: givenParts(query) });
}
