import { aggregateRows } from '../../ingest/aggregate/aggregate-rows.ts';
import { fewestRows } from '../../ingest/aggregate/disclose.ts';
import { aggregateRequestSchema } from '../../ingest/aggregate/request-schema.ts';
import type { ProposalsSession } from '../../ingest/extract/proposals/proposals-session.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { checkRowRules } from '../../project/answer/statement.ts';
import { openState } from '../../store/state.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

/** A few numbers about rows, in place of SQL. Offered only if values may be sent to the model. */
export const aggregateTool: LoopTool<ProposalsSession> = defineLoopTool({
  name: 'aggregate_rows',
  description: `Counts rows of a dataset, and adds up or averages its numbers, all rounded, over groups of at least ${fewestRows} rows. A work unit has only a few calls: use them for questions that only the data answers.`,
  inputSchema: aggregateRequestSchema,
  offered: ({ config }) => config.query.run_sql === 'on' && config.scan.send_samples,
  carries: 'values',
  async run(request, { session, project, signal }) {
    session.spendQuery();
    const { snapshot } = session;
    const state = openState(project.dir);
    try {
      const { values, ...answer } = await aggregateRows(request, {
        snapshot,
        state,
        signal,
        send: project.config.scan,
        // Every role can read what an ingest writes, so no role's rows are used.
        check: (warehouse, sql) => checkRowRules({ project, role: undefined }, warehouse, sql),
      });
      return { markdown: untrustedBlock(request.dataset, JSON.stringify(answer, null, 1)), values };
    } finally {
      state.close();
    }
  },
});
