import type { Emitted, Receipt } from '../semantic/emit.ts';
import type { Plan } from '../semantic/plan.ts';
import type { SemanticQuery } from '../semantic/query.ts';
import type { QueryLimits, QueryResult } from '../warehouse/warehouse.ts';
import { commitState, type CommitState } from './commit.ts';
import type { Project } from './project.ts';

interface Asked {
  readonly connection?: string | undefined;
  readonly query: SemanticQuery;
}

/** What one call may ask instead of the configured limits. */
export interface WantedLimits {
  readonly maxRows?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** Where the numbers come from: per metric, and the files with their commit. */
export interface QueryReceipt extends Receipt, CommitState {
  readonly files: readonly string[];
}

/** The answer before it is run: what would be sent, and where it comes from. */
export interface QueryPlan {
  readonly connection: string;
  readonly sql: string;
  readonly plan: Plan;
  readonly receipt: QueryReceipt;
}

export interface QueryAnswer extends Omit<QueryPlan, 'plan'>, Omit<QueryResult, 'columns'> {
  readonly columns: readonly (QueryResult['columns'][number] & Pick<Emitted['columns'][number], 'kind' | 'grain' | 'unit'>)[];
}

/** Plans and compiles a semantic query; sends nothing. */
export async function planQuery(project: Project, asked: Asked): Promise<QueryPlan> {
  const { planned, plan } = await compile(project, asked);
  return { ...planned, plan };
}

/** The one way to run a semantic query, whoever asks: model → plan → SQL → rows with their receipt. */
export async function runQuery(project: Project, asked: Asked & WantedLimits, signal: AbortSignal): Promise<QueryAnswer> {
  const { planned, columns } = await compile(project, asked);
  const warehouse = await project.warehouse(planned.connection, signal);
  const result = await warehouse.query(planned.sql, queryLimits(project, asked), signal);
  const described = result.columns.map((column, index) => {
    const { name = column.name, type = column.type, kind = 'metric', grain, unit } = columns[index] ?? {};
    return { name, type, kind, grain, unit };
  });
  return { ...planned, ...result, columns: described };
}

export function queryLimits({ config }: Project, wanted: WantedLimits = {}): QueryLimits {
  const { max_rows, timeout_seconds } = config.query;
  return { maxRows: wanted.maxRows ?? max_rows, timeoutMs: (wanted.timeoutSeconds ?? timeout_seconds) * 1000 };
}

async function compile(project: Project, { connection: asked, query }: Asked) {
  // The planner and its parser load for semantic queries only; plain SQL does without.
  const [{ emit }, { plan: planOf }] = await Promise.all([import('../semantic/emit.ts'), import('../semantic/plan.ts')]);
  const connection = project.warehouseName(asked);
  const { model } = await project.model(connection);
  const plan = planOf(model, query);
  const { sql, receipt, columns } = emit(plan, model.dialect);
  const files = [...new Set(receipt.metrics.flatMap((metric) => metric.files))].sort();
  const planned = { connection, sql, receipt: { ...receipt, files, ...(await commitState(project.dir, files)) } };
  return { planned, plan, columns };
}
