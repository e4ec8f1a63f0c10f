import { z } from 'zod';
import type { ProposalsSession } from '../../ingest/extract/proposals-session.ts';
import { refusal } from '../../ingest/extract/resolve-names.ts';
import { checkRowRules } from '../../project/answer/statement.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { type LoopTool, loopTool } from '../loop-tool.ts';

const limits = { maxRows: 20, timeoutMs: 30_000 };

/** A few rows, a few times; only where values may leave the machine. */
export const queryTool: LoopTool<ProposalsSession> = loopTool({
  name: 'run_sql',
  description: `Runs one read-only SELECT and shows at most ${limits.maxRows} rows; a work unit has a few of them. For what only the data answers.`,
  inputSchema: z.object({ sql: z.string(), connection: z.string().optional() }),
  offered: ({ config }) => config.query.run_sql === 'on' && config.scan.send_samples,
  async run({ sql, connection }, { session, project, signal }) {
    const names = session.snapshot.catalogs.map((catalog) => catalog.connection);
    const name = connection ?? (names.length === 1 ? names[0] : undefined);
    if (name === undefined || !names.includes(name))
      throw refusal(`Say with \`connection\` which warehouse: ${names.join(', ')}.`);
    session.spendQuery();
    const warehouse = await session.snapshot.warehouse(name);
    // What an ingest writes is read by every role.
    await checkRowRules({ project, role: undefined }, warehouse, sql);
    const { columns, rows, truncated } = await warehouse.query(sql, limits, signal);
    const shown = JSON.stringify({ columns: columns.map((column) => column.name), rows });
    return `${untrustedBlock(name, shown)}${truncated ? '\nThere are more rows.' : ''}`;
  },
});
