import type { CallMetrics, KtxLlmRuntimePort } from '../llm/port/runtime.ts';
import type { IngestEvent } from './event.ts';

/** Wraps a runtime: after each call it emits what all calls have used so far. */
export function reportRunUsage(
  runtime: KtxLlmRuntimePort,
  emit: (event: IngestEvent) => void,
): KtxLlmRuntimePort {
  const totals = {
    calls: 0,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    costUsd: 0 as number | null,
  };
  const add = ({ apiCalls, usage, costUsd }: CallMetrics) => {
    totals.calls += apiCalls;
    for (const modelUsage of Object.values(usage)) {
      for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
        totals[kind] += modelUsage[kind];
    }
    totals.costUsd = totals.costUsd === null || costUsd === null ? null : totals.costUsd + costUsd;
    emit({ type: 'llm_usage', ...totals });
  };
  const withMetrics = <
    Input extends { readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined },
  >(
    input: Input,
  ): Input => ({
    ...input,
    onMetrics(metrics) {
      add(metrics);
      input.onMetrics?.(metrics);
    },
  });
  return {
    generateText: (input) => runtime.generateText(withMetrics(input)),
    generateObject: (input) => runtime.generateObject(withMetrics(input)),
    runAgentLoop: (params) => runtime.runAgentLoop(withMetrics(params)),
  };
}
