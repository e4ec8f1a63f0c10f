import type { CallMetrics, TokenUsage } from '../port/runtime.ts';
import type { Spending } from './spending.ts';

const nothing: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** The counters of one call. */
export function openMeter(spending: Spending) {
  const started = performance.now();
  const usage: Record<string, TokenUsage> = {};
  const failures = new Map<string, number>();
  const failedCalls = new Set<string>();
  let [steps, apiCalls] = [0, 0];
  let cost: { readonly usd: number | null; readonly reason?: string } = { usd: 0 };
  return {
    /** Index of the turn that has ended, from 1. */
    step: () => (steps += 1),
    apiCall(): void {
      apiCalls += 1;
    },
    used(model: string, tokens: TokenUsage, costUsd: number | null | undefined): void {
      const before = usage[model] ?? nothing;
      usage[model] = {
        input: before.input + tokens.input,
        output: before.output + tokens.output,
        cacheRead: before.cacheRead + tokens.cacheRead,
        cacheWrite: before.cacheWrite + tokens.cacheWrite,
      };
      const usd = costUsd === undefined ? (spending.priced(model, tokens) ?? null) : costUsd;
      const unpriced = `no cost from the backend, and no price for ${model} in llm.prices`;
      const reason =
        costUsd === null ? 'an answer broke off before it was told what it used' : unpriced;
      spending.add(usd, reason);
      cost =
        usd === null || cost.usd === null
          ? { usd: null, reason: cost.reason ?? reason }
          : { usd: cost.usd + usd };
    },
    /** A call is counted once, by its id where it has one. */
    toolFailed(tool: string, callId: string | undefined): void {
      if (callId !== undefined && failedCalls.has(callId)) return;
      if (callId !== undefined) failedCalls.add(callId);
      failures.set(tool, (failures.get(tool) ?? 0) + 1);
    },
    metrics: (): CallMetrics => {
      const durationMs = performance.now() - started;
      return { durationMs, steps, apiCalls, usage, costUsd: cost.usd, costReason: cost.reason };
    },
    toolFailures: () => Object.fromEntries(failures),
  };
}
