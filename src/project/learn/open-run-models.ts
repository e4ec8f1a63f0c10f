import type { IngestEvent } from '../../ingest/event.ts';
import { reportRunUsage } from '../../ingest/run-usage.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import { openSpending, runSpendingLimit, type Spending } from '../../llm/governor/spending.ts';
import { modelRoles } from '../../llm/port/runtime.ts';
import { traceEmbeddings, traceRuntime } from '../../llm/telemetry/trace-runtime.ts';
import type { Journal } from '../../store/journal.ts';
import type { Project } from '../open/open.ts';
import { openTrace } from './open-trace.ts';

export interface RunModelsOptions {
  readonly id: string;
  readonly budget: number | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
  /** False for a run that asks no model. */
  readonly isUsed: boolean;
  /** What the run spends, if other processes spend it too. */
  readonly spending?: Spending | undefined;
  /** Keeps what is paid for; undefined: on this machine. */
  readonly journal?: Pick<Journal, 'result' | 'keep'> | undefined;
}

/**
 * The language model and the embeddings of one run, each undefined if it is not configured. They
 * share one budget. A model that cannot be used fails here, before any work is done.
 */
export async function openRunModels(
  project: Project,
  { id, budget, signal, emit, isUsed, spending: shared, journal }: RunModelsOptions,
) {
  const spending = shared ?? openSpending(runSpendingLimit(project.config.llm, budget));
  const run = { id, budget, spending };
  const runtime = isUsed ? await project.llmRun(run) : undefined;
  const embeddings = isUsed ? await project.embeddings(run) : undefined;
  if (runtime !== undefined) await requireRunModels(project, runtime, signal);
  const hasCalls = runtime !== undefined || embeddings !== undefined;
  const trace = hasCalls ? await openTrace(project, 'ingest', id) : undefined;
  return {
    model: runtime && {
      runtime: reportRunUsage(traceRuntime(runtime, trace), emit),
      concurrency: runtime.concurrency,
      journal: journal ?? project.journal(),
    },
    embeddings: embeddings && traceEmbeddings(embeddings, trace),
    async [Symbol.asyncDispose]() {
      await runtime?.close();
      embeddings?.close();
      await trace?.[Symbol.asyncDispose]();
    },
  };
}

/** A runtime that was handed in has models of its own. */
export async function requireRunModels(
  { config, dir }: Project,
  runtime: LlmRuntime,
  signal: AbortSignal,
): Promise<void> {
  if (config.llm.provider.backend === 'none') return void (await runtime.account(signal));
  const { requireModels } = await import('../../llm/model-checks.ts');
  const roles = modelRoles.filter((role) => role !== 'default');
  await requireModels({ config: config.llm, runtime, dir }, roles, signal);
}
