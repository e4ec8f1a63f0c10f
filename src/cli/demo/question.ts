import { runQuery, queryLimits, type QueryAnswer } from '../../project/query.ts';
import type { Project } from '../../project/project.ts';
import { querySchema } from '../../semantic/query.ts';
import type { Cell } from '../../warehouse/warehouse.ts';
import { connection } from './folder.ts';

export const metric = 'orders.revenue';
export const dimensions = ['orders.buyer.regions.rgn_nm', 'orders.placed_at.month'] as const;

/** What one would type without a semantic layer. */
export const naiveJoins = {
  inner_join: 'JOIN customers c ON c.id = o.buyer_id',
  wrong_role: 'LEFT JOIN customers c ON c.id = o.recipient_id',
};

function naiveSql(customers: string): string {
  return [
    "SELECT r.rgn_nm, date_trunc('month', o.placed_at) AS month, sum(o.amount) AS revenue",
    `FROM orders o ${customers} ${customers.split(' c ')[0]?.replace('customers', 'regions')} r ON r.rgn_cd = c.cust_rgn`,
    "WHERE o.status = 'paid' GROUP BY 1, 2",
  ].join('\n');
}

/** Revenue in euros; `null` is the region of orders that have none. */
export interface Asked {
  readonly sql: string;
  readonly total: number;
  readonly byRegion: ReadonlyMap<string | null, number>;
}

export interface Answers {
  readonly answer: QueryAnswer;
  readonly curated: Asked;
  readonly innerJoin: Asked;
  readonly wrongRole: Asked;
  /** The sum over the table alone, without any join. */
  readonly check: number;
}

/** Asks the semantic layer, then sends the naive statements through the same gate. */
export async function askAll(project: Project, signal: AbortSignal): Promise<Answers> {
  const query = querySchema.parse({ metrics: [metric], dimensions });
  const answer = await runQuery(project, { connection, query }, signal);
  const warehouse = await project.warehouse(connection, signal);
  const run = async (sql: string) => (await warehouse.query(sql, queryLimits(project), signal)).rows;
  const [[check] = []] = await run("SELECT sum(amount) FROM orders WHERE status = 'paid'");
  const ask = async (sql: string): Promise<Asked> => totals(sql, await run(sql));
  return {
    answer,
    curated: totals(answer.sql, answer.rows),
    innerJoin: await ask(naiveSql(naiveJoins.inner_join)),
    wrongRole: await ask(naiveSql(naiveJoins.wrong_role)),
    check: Number(check),
  };
}

/** Rows are region, month, revenue. */
function totals(sql: string, rows: readonly (readonly Cell[])[]): Asked {
  const byRegion = new Map<string | null, number>();
  for (const [region = null, , revenue] of rows) {
    const key = region === null ? null : String(region);
    byRegion.set(key, cents((byRegion.get(key) ?? 0) + Number(revenue)));
  }
  return { sql, byRegion, total: cents([...byRegion.values()].reduce((sum, value) => sum + value, 0)) };
}

function cents(value: number): number {
  return Math.round(value * 100) / 100;
}
