import { runQuery, queryLimits, type QueryAnswer } from '../../project/query.ts';
import type { Project } from '../../project/project.ts';
import { querySchema } from '../../semantic/query.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import { connection } from './folder.ts';

export const metric = 'orders.revenue';
export const dimensions = ['orders.buyer.regions.rgn_nm', 'orders.placed_at.month'] as const;

/** What one would type without a semantic layer. */
export const naive = {
  innerJoin: naiveStatement('JOIN', 'buyer_id'),
  wrongRole: naiveStatement('LEFT JOIN', 'recipient_id'),
};

function naiveStatement(join: string, column: string): { readonly customers: string; readonly sql: string } {
  const customers = `${join} customers c ON c.id = o.${column}`;
  const select = "SELECT r.rgn_nm, date_trunc('month', o.placed_at) AS month, sum(o.amount) AS revenue";
  const from = `FROM orders o ${customers} ${join} regions r ON r.rgn_cd = c.cust_rgn`;
  return { customers, sql: `${select}\n${from}\nWHERE o.status = 'paid' GROUP BY 1, 2` };
}

/** One way to ask; `revenue` is in euros, `region` null for orders that have none. Largest first, null last. */
export interface Asked {
  readonly sql: string;
  readonly total: number;
  readonly by_region: readonly { readonly region: string | null; readonly revenue: number }[];
}

/** As it goes into the envelope of `--json`. */
export interface Answers {
  readonly answer: Pick<QueryAnswer, 'sql' | 'receipt' | 'columns' | 'rows'>;
  /** `table_total` is the sum over the table alone, without any join. */
  readonly comparison: Readonly<Record<'semantic_layer' | 'inner_join' | 'wrong_role', Asked>> & { readonly table_total: number };
}

/** Asks the semantic layer, then sends the naive statements through the same gate. */
export async function askAll(project: Project, signal: AbortSignal): Promise<Answers> {
  const query = querySchema.parse({ metrics: [metric], dimensions });
  const { sql, receipt, columns, rows } = await runQuery(project, { connection, query }, signal);
  const warehouse = await project.warehouse(connection, signal);
  const run = async (statement: string) => (await warehouse.query(statement, queryLimits(project), signal)).rows;
  const [[total] = []] = await run("SELECT sum(amount) FROM orders WHERE status = 'paid'");
  const ask = async (statement: string): Promise<Asked> => totals(statement, await run(statement));
  const comparison = {
    table_total: Number(total),
    semantic_layer: totals(sql, rows),
    inner_join: await ask(naive.innerJoin.sql),
    wrong_role: await ask(naive.wrongRole.sql),
  };
  return { answer: { sql, receipt, columns, rows }, comparison };
}

/** Rows are region, month, revenue. */
function totals(sql: string, rows: readonly (readonly Cell[])[]): Asked {
  const sums = new Map<string | null, number>();
  for (const [cell = null, , revenue] of rows) {
    const region = cell === null ? null : String(cell);
    sums.set(region, cents((sums.get(region) ?? 0) + Number(revenue)));
  }
  const by_region = [...sums]
    .map(([region, revenue]) => ({ region, revenue }))
    .sort((a, b) => Number(a.region === null) - Number(b.region === null) || b.revenue - a.revenue);
  return { sql, by_region, total: cents(by_region.reduce((sum, { revenue }) => sum + revenue, 0)) };
}

function cents(value: number): number {
  return Math.round(value * 100) / 100;
}
