import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import { planQuery, type QueryReceipt, runQuery } from '../project/answer/query.ts';
import { querySchema } from '../semantic/query/query.ts';
import type { ToolDefinition, Trust } from './tool.ts';

const inputSchema = querySchema.extend({
  connection: z.string().optional(),
  dry_run: z.boolean().default(false).describe('Plan, SQL, receipt; nothing is run.'),
});

export const queryMetrics: ToolDefinition<typeof inputSchema> = {
  name: 'query_metrics',
  description:
    'Answers with curated metrics: right joins and grain, SQL, receipt; or an error that names the choices. Prefer it to run_sql.',
  effect: 'query',
  inputSchema,
  itemsName: 'rows',
  async run({ connection, dry_run: isDry, ...query }, { project, signal }) {
    const asked = { connection, query };
    if (isDry) {
      const { plan, sql, receipt } = await planQuery(project, asked);
      return {
        summary: 'The plan; nothing was run.',
        trust: trustOf(receipt),
        beside: { sql, receipt, plan },
        items: [],
      };
    }
    const { name } = project.connection(connection);
    // Beside the model, ahead of its use; what fails fails again there.
    void Promise.allSettled([project.warehouse(name, signal)]);
    const { columns, receipt, sql, outline, rows, queryId, ms, truncated } = await runQuery(
      project,
      asked,
      signal,
    );
    const summary = `${formatCount(rows.length, 'row')} from ${name} in ${ms} ms.`;
    return {
      summary,
      trust: trustOf(receipt),
      queryId,
      ran: { connection: name, sql, outline },
      beside: { columns, receipt, sql },
      items: rows,
      truncated,
    };
  },
};

function trustOf({ metrics, files, contested, stale, commit, uncommitted }: QueryReceipt): Trust {
  return {
    status: metrics.every(({ curated }) => curated) ? 'curated' : 'ad_hoc',
    files,
    ...(contested.length === 0 ? {} : { contested }),
    ...(stale.length === 0 ? {} : { stale }),
    commit,
    uncommitted,
  };
}
