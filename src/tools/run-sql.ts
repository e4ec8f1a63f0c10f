import { z } from 'zod';
import { formatCount } from '../lib/format-count.ts';
import { UserError } from '../lib/error.ts';
import { lintStatement } from '../project/answer/lint.ts';
import { runStatement } from '../project/answer/statement.ts';
import type { ToolDefinition } from './tool.ts';

const inputSchema = z.strictObject({
  sql: z.string().describe('One SELECT in the dialect of the warehouse.'),
  connection: z.string().optional(),
});

export const runSql: ToolDefinition<typeof inputSchema> = {
  name: 'run_sql',
  description:
    'Runs one read-only SELECT: the last resort, where no metric fits; joins and grain are your own care.',
  effect: 'query',
  inputSchema,
  itemsName: 'rows',
  offered: ({ config }) => config.query.run_sql !== 'off',
  async run({ sql, connection }, { project, signal }) {
    const name = project.connection(connection).name;
    if (project.config.query.run_sql === 'semantic_layer_only') {
      throw new UserError(
        'sql_not_allowed',
        'This project answers through its semantic layer only (query.run_sql).',
        {
          hint: 'Use query_metrics; it takes aggregates of your own too, like sum(orders.amount).',
        },
      );
    }
    const [result, { findings, proposal }] = await Promise.all([
      runStatement(project, { connection: name, sql }, signal),
      lintStatement(project, name, sql),
    ]);
    const { columns, rows, queryId, ms, truncated } = result;
    const warnings = findings.map(({ message, hint }) => `${message}. ${hint}`);
    const beside = {
      columns,
      ...(warnings.length > 0 && { warnings }),
      ...(proposal && { query_metrics: proposal }),
    };
    const summary = `${formatCount(rows.length, 'row')} from ${name} in ${ms} ms; SQL as written, no metric definition stands behind it.${warnings.length > 0 ? ' Likely wrong: see warnings.' : ''}`;
    return {
      summary,
      trust: { status: 'ad_hoc' },
      queryId,
      ran: { connection: name, sql },
      beside,
      items: rows,
      truncated,
    };
  },
};
