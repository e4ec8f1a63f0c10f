import { readFile } from 'node:fs/promises';
import { runQuery, resolveQueryLimits, type QueryAnswer } from '../../project/answer/query.ts';
import type { Project } from '../../project/open/open.ts';
import { querySchema } from '../../semantic/query/query.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import { connection } from './demo-folder.ts';

export const metric = 'orders.revenue';
export const dimensions = ['orders.buyer.regions.rgn_nm', 'orders.placed_at.month'] as const;

/** The totals that one SQL statement gives. */
export interface StatementTotals {
  readonly sql: string;
  /** Euros. */
  readonly total: number;
  /** Revenue in euros, largest first; then the orders without a region (null). */
  readonly by_region: readonly { readonly region: string | null; readonly revenue: number }[];
}

/** Goes into the `--json` envelope as it is. */
export interface NaiveComparison {
  readonly answer: Pick<QueryAnswer, 'sql' | 'receipt' | 'columns' | 'rows'>;
  readonly comparison: Readonly<
    Record<'semantic_layer' | 'inner_join' | 'wrong_role', StatementTotals>
  > & {
    /** The sum over the table alone, without a join. */
    readonly table_total: number;
  };
}

/** Runs the query through the semantic layer, then the SQL that people would write without it. */
export async function compareWithNaiveSql(
  project: Project,
  signal: AbortSignal,
): Promise<NaiveComparison> {
  const query = querySchema.parse({ metrics: [metric], dimensions });
  const { sql, receipt, columns, rows } = await runQuery(project, { connection, query }, signal);
  const warehouse = await project.warehouse(connection, signal);
  const run = async (statement: string) =>
    (await warehouse.query(statement, resolveQueryLimits(project), signal)).rows;
  const runFile = async (file: string) => {
    const statement = await readFile(new URL(file, import.meta.url), 'utf8');
    return sumByRegion(statement, await run(statement));
  };
  const [[total] = []] = await run("SELECT sum(amount) FROM orders WHERE status = 'paid'");
  const comparison = {
    table_total: Number(total),
    semantic_layer: sumByRegion(sql, rows),
    inner_join: await runFile('inner-join.sql'),
    wrong_role: await runFile('wrong-role.sql'),
  };
  return { answer: { sql, receipt, columns, rows }, comparison };
}

type RevenueRow = readonly Cell[];

/** Each row is region, month, revenue. */
function sumByRegion(sql: string, rows: readonly RevenueRow[]): StatementTotals {
  const regions = Map.groupBy(rows, ([region = null]) => (region === null ? null : String(region)));
  const by_region = [...regions]
    .map(([region, ownRows]) => ({ region, revenue: sumRevenue(ownRows) }))
    .sort((a, b) => Number(a.region === null) - Number(b.region === null) || b.revenue - a.revenue);
  return { sql, by_region, total: sumRevenue(rows) };
}

/** Adds up cents, so that the sum has no rounding error. */
function sumRevenue(rows: readonly RevenueRow[]): number {
  const cents = rows.reduce((sum, [, , revenue]) => sum + Number(revenue) * 100, 0);
  return Math.round(cents) / 100;
}
