import type { CallMetrics, KtxLlmRuntimePort } from '../llm/port/runtime.ts';
import type { IngestEvent } from './event.ts';

/** The same runtime; after each call it tells what all of them took so far. */
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
  const add = ({ usage, costUsd }: CallMetrics) => {
    totals.calls += 1;
    for (const used of Object.values(usage)) {
      for (const kind of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
        totals[kind] += used[kind];
    }
    totals.costUsd = totals.costUsd === null || costUsd === null ? null : totals.costUsd + costUsd;
    emit({ type: 'llm_usage', ...totals });
  };
  const counted = <
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
    generateText: (input) => runtime.generateText(counted(input)),
    generateObject: (input) => runtime.generateObject(counted(input)),
    runAgentLoop: (params) => runtime.runAgentLoop(counted(params)),
  };
}
