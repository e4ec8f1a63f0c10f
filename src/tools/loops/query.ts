import { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals-session.ts';
import { refusal } from '../../ingest/extract/resolve-names.ts';
import { checkRowRules } from '../../project/answer/statement.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { type LoopTool, defineLoopTool } from '../loop-tool.ts';

const limits = { maxRows: 20, timeoutMs: 30_000 };

/** A few queries with a few rows each. Offered only if values may be sent to the model. */
export const queryTool: LoopTool<ProposalsSession> = defineLoopTool({
  name: 'run_sql',
  description: `Runs one read-only SELECT and shows at most ${limits.maxRows} rows. A work unit has only a few queries: use them for questions that only the data answers.`,
  inputSchema: z.object({ sql: z.string(), connection: z.string().optional() }),
  offered: ({ config }) => config.query.run_sql === 'on' && config.scan.send_samples,
  async run({ sql, connection }, { session, project, signal }) {
    const connections = session.snapshot.catalogs.map((catalog) => catalog.connection);
    const name = connection ?? (connections.length === 1 ? connections[0] : undefined);
    if (name === undefined || !connections.includes(name))
      throw refusal(`Pass \`connection\`: one of ${connections.join(', ')}.`);
    session.spendQuery();
    const warehouse = await session.snapshot.warehouse(name);
    // Every role can read what an ingest writes, so no role's rows are used.
    await checkRowRules({ project, role: undefined }, warehouse, sql);
    const { columns, rows, truncated, warnings } = await warehouse.query(sql, limits, signal);
    const names = columns.map((column) => column.name);
    const json = JSON.stringify({ columns: names, rows, ...(warnings.length > 0 && { warnings }) });
    return `${untrustedBlock(name, json)}${truncated ? '\nThere are more rows.' : ''}`;
  },
});
