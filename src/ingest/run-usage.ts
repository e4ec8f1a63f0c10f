import { watchMetrics } from '../llm/count-requests.ts';
import type { CallMetrics, DeclaringRuntime } from '../llm/port/runtime.ts';
import type { IngestEvent } from './event.ts';

/** Wraps a runtime: after each call it emits what all calls have used so far. */
export function reportRunUsage(
  runtime: DeclaringRuntime,
  emit: (event: IngestEvent) => void,
): DeclaringRuntime {
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
  return watchMetrics(runtime, add);
}
