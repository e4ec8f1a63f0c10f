import { z } from 'zod';
import { planQuery, type QueryReceipt, runQuery } from '../project/query.ts';
import { querySchema } from '../semantic/query.ts';
import type { ToolDefinition, Trust } from './tool.ts';

const inputSchema = querySchema.extend({
  connection: z.string().optional(),
  dry_run: z.boolean().default(false).describe('Plan, SQL and receipt only; nothing is run.'),
});

export const queryMetrics: ToolDefinition<typeof inputSchema> = {
  name: 'query_metrics',
  description:
    'Answers with curated metrics: correct joins and grain, or an error that names the choices. Returns rows, SQL and a receipt. Prefer it to run_sql.',
  effect: 'query',
  inputSchema,
  itemsName: 'rows',
  async run({ connection, dry_run: isDry, ...query }, { project, signal }) {
    if (isDry) {
      const { plan, sql, receipt, ...about } = await planQuery(project, { connection, query });
      const beside = { sql, receipt, plan };
      return { summary: `Plan for ${about.connection}; nothing was run.`, trust: trustOf(receipt), beside, items: [] };
    }
    const answer = await runQuery(project, { connection, query }, signal);
    const { receipt, columns, rows, sql } = answer;
    return {
      summary: `${rows.length} rows from ${answer.connection} in ${Math.round(answer.ms)} ms.`,
      trust: trustOf(receipt),
      facts: { query_id: answer.queryId },
      beside: { columns, receipt, sql },
      items: rows,
      incomplete: answer.truncated ? 'more rows exist than query.max_rows of ktx.yaml lets through; group or filter.' : undefined,
    };
  },
};

function trustOf({ metrics, files, commit, uncommitted }: QueryReceipt): Trust {
  return { status: metrics.every(({ curated }) => curated) ? 'curated' : 'ad_hoc', files, commit, uncommitted };
}
