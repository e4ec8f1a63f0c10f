import { readFile } from 'node:fs/promises';
import { runQuery, queryLimits, type QueryAnswer } from '../../project/answer/query.ts';
import type { Project } from '../../project/open/open.ts';
import { querySchema } from '../../semantic/query/query.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import { connection } from './folder.ts';

export const metric = 'orders.revenue';
export const dimensions = ['orders.buyer.regions.rgn_nm', 'orders.placed_at.month'] as const;

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
  readonly comparison: Readonly<Record<'semantic_layer' | 'inner_join' | 'wrong_role', Asked>> & {
    readonly table_total: number;
  };
}

/** Asks the semantic layer, then sends what one would type without it through the same gate. */
export async function askAll(project: Project, signal: AbortSignal): Promise<Answers> {
  const query = querySchema.parse({ metrics: [metric], dimensions });
  const { sql, receipt, columns, rows } = await runQuery(project, { connection, query }, signal);
  const warehouse = await project.warehouse(connection, signal);
  const run = async (statement: string) =>
    (await warehouse.query(statement, queryLimits(project), signal)).rows;
  const naive = async (file: string) => {
    const statement = await readFile(new URL(file, import.meta.url), 'utf8');
    return totals(statement, await run(statement));
  };
  const [[total] = []] = await run("SELECT sum(amount) FROM orders WHERE status = 'paid'");
  const comparison = {
    table_total: Number(total),
    semantic_layer: totals(sql, rows),
    inner_join: await naive('inner-join.sql'),
    wrong_role: await naive('wrong-role.sql'),
  };
  return { answer: { sql, receipt, columns, rows }, comparison };
}

/** Rows are region, month, revenue. */
function totals(sql: string, rows: readonly (readonly Cell[])[]): Asked {
  const sum = (some: typeof rows) =>
    Math.round(some.reduce((all, [, , revenue]) => all + Number(revenue) * 100, 0)) / 100;
  const regions = Map.groupBy(rows, ([region = null]) => (region === null ? null : String(region)));
  const by_region = [...regions]
    .map(([region, own]) => ({ region, revenue: sum(own) }))
    .sort((a, b) => Number(a.region === null) - Number(b.region === null) || b.revenue - a.revenue);
  return { sql, by_region, total: sum(rows) };
}
