import { z } from 'zod';
import { fullTableName } from '../sql/dialect.ts';
import { UserError } from '../lib/error.ts';
import { formatCount } from '../lib/format-count.ts';
import { lintStatement } from '../project/answer/lint.ts';
import { runStatement } from '../project/answer/statement.ts';
import { type ToolDefinition, warehouseWarns } from './tool.ts';
import { valuesOfRows } from './answers/values-of-rows.ts';

const inputSchema = z.strictObject({
  sql: z.string().describe('One SELECT in the dialect of the warehouse.'),
  connection: z.string().optional(),
});

export const runSql: ToolDefinition<typeof inputSchema> = {
  name: 'run_sql',
  description:
    'Runs one read-only SELECT. Last resort if no metric fits: get joins and grain right yourself.',
  effect: 'query',
  inputSchema,
  itemsName: 'rows',
  offered: ({ config }) => config.query.run_sql !== 'off',
  async run({ sql, connection }, { project, signal }) {
    const name = project.connection(connection).name;
    if (project.config.query.run_sql === 'semantic_layer_only') throw notAllowedError();
    const [result, { findings, proposal }, sources] = await Promise.all([
      runStatement(project, { connection: name, sql }, signal),
      lintStatement(project, name, sql),
      project.warehouse(name, signal).then((warehouse) => warehouse.reads(sql)),
    ]);
    const { columns, rows, queryId, ms, truncated } = result;
    const warnings = findings.map(({ message, hint }) => `${message}. ${hint}`);
    const summary = [
      `${formatCount(rows.length, 'row')} from ${name} in ${ms} ms; SQL as written, without a metric definition.`,
      ...(warnings.length > 0 ? ['Likely wrong: see warnings.'] : []),
      ...(result.warnings.length > 0 ? [warehouseWarns] : []),
    ];
    return {
      summary: summary.join(' '),
      trust: { status: 'ad_hoc' },
      queryId,
      ran: { connection: name, sql },
      details: {
        columns,
        ...(warnings.length > 0 && { warnings }),
        ...(proposal && { query_metrics: proposal }),
      },
      warnings: result.warnings,
      items: rows,
      truncated,
      values: valuesOfRows(name, sources.map(fullTableName), columns),
    };
  },
};

function notAllowedError(): UserError {
  const message = 'This project allows queries only through its semantic layer (query.run_sql).';
  const hint = 'Use query_metrics; it also takes your own aggregates, like sum(orders.amount).';
  return new UserError('sql_not_allowed', message, { hint });
}
