import type { Conflict } from '../context/conflicts.ts';
import { subjectParts } from '../context/subject.ts';
import { UserError } from '../lib/error.ts';
import type { SemanticQuery } from '../semantic/query.ts';
import { withAnalyzer } from '../sql/analyzer.ts';
import type { QueryLimits } from '../warehouse/warehouse.ts';
import { commitState } from './commit.ts';
import { conflictsIn } from './conflicts.ts';
import type { Project } from './open.ts';

interface Asked {
  readonly connection?: string | undefined;
  readonly query: SemanticQuery;
}

/** What one call may ask instead of the configured limits. */
type WantedLimits = Readonly<Partial<Record<'maxRows' | 'timeoutSeconds', number | undefined>>>;

export type QueryAnswer = Awaited<ReturnType<typeof runQuery>>;
/** Where the numbers come from: per metric, and the files with their commit. */
export type QueryReceipt = QueryAnswer['receipt'];

/** Plans and compiles a semantic query: what would be sent, and where it comes from. Sends nothing. */
export async function planQuery(project: Project, asked: Asked) {
  const { receipt, ...compiled } = await compile(project, asked);
  return { ...compiled, receipt: { ...receipt, ...(await commitState(project.dir, receipt.files)) } };
}

/** The one way to run a semantic query, whoever asks: model → plan → SQL → rows with their receipt. */
export async function runQuery(project: Project, asked: Asked & WantedLimits, signal: AbortSignal) {
  const { connection, sql, receipt, columns } = await compile(project, asked);
  const warehouse = await project.warehouse(connection, signal);
  const [result, state] = await Promise.all([
    warehouse.query(sql, queryLimits(project, asked), signal),
    commitState(project.dir, receipt.files),
  ]);
  const described = result.columns.map((column, index) => {
    const { name = column.name, type = column.type, kind = 'metric', grain, unit } = columns[index] ?? {};
    return { name, type, kind, grain, unit };
  });
  return { connection, sql, receipt: { ...receipt, ...state }, ...result, columns: described };
}

async function compile(project: Project, { connection: asked, query }: Asked) {
  // The planner and its parser load for semantic queries only; plain SQL does without.
  const [{ emit }, { plan: planOf }] = await Promise.all([import('../semantic/emit.ts'), import('../semantic/plan.ts')]);
  const connection = project.connection(asked).name;
  const { model } = await project.model(connection);
  if (model.datasets.size === 0) {
    const hint = model.excluded.size === 0 ? 'ktx ingest' : 'ktx sl validate';
    throw new UserError('no_datasets', `${connection} has no valid dataset to ask.`, { hint });
  }
  const plan = await withAnalyzer(() => planOf(model, query));
  const files = [...new Set(plan.receipt.metrics.flatMap((metric) => metric.files))].sort();
  const named = new Set(plan.receipt.metrics.flatMap(({ metric }) => (metric === undefined ? [] : [`metric:${connection}.${metric}`])));
  // Of what the numbers stand on, beside the metrics themselves: the keys and joins of the datasets.
  const isMeant = ({ subject, kind }: Conflict) => {
    const parts = subjectParts(subject);
    const isUsed = parts?.connection === connection && files.some((file) => file.endsWith(`/${parts.dataset}.yaml`));
    return named.has(subject) || (isUsed && (kind === 'primary_key' || kind === 'relationship'));
  };
  const contested = (await conflictsIn(project.dir)).filter(isMeant).map(({ subject }) => subject);
  return { connection, sql: emit(plan, model.dialect), columns: plan.columns, plan, receipt: { ...plan.receipt, files, contested } };
}

export function queryLimits({ config }: Project, wanted: WantedLimits = {}): QueryLimits {
  const { max_rows, timeout_seconds } = config.query;
  return { maxRows: wanted.maxRows ?? max_rows, timeoutMs: (wanted.timeoutSeconds ?? timeout_seconds) * 1000 };
}
