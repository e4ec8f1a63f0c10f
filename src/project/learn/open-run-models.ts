import type { IngestEvent } from '../../ingest/event.ts';
import { reportRunUsage } from '../../ingest/run-usage.ts';
import { traceRuntime } from '../../llm/telemetry/trace-runtime.ts';
import type { Project } from '../open/open.ts';
import { openTrace } from './open-trace.ts';

interface RunModelOptions {
  readonly id: string;
  readonly budget: number | undefined;
  readonly signal: AbortSignal;
  readonly emit: (event: IngestEvent) => void;
}

/** Undefined if no model is configured. A model that cannot be used fails here, before any work is done. */
export async function openRunModel(
  project: Project,
  { id, budget, signal, emit }: RunModelOptions,
) {
  const runtime = await project.llmRun({ id, budget });
  if (runtime === undefined) return undefined;
  await runtime.account(signal);
  const trace = await openTrace(project, 'ingest', id);
  return {
    runtime: reportRunUsage(traceRuntime(runtime, trace), emit),
    concurrency: runtime.concurrency,
    journal: project.journal(),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await trace?.[Symbol.asyncDispose]();
    },
  };
}
