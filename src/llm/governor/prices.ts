import type { DatabaseSync } from 'node:sqlite';
import type { LlmConfig } from '../config.ts';
import { modelOf } from './governed-call.ts';
import type { KtxModelRole, TokenUsage } from '../port/runtime.ts';
import { openSpending } from './spending.ts';
import { usageReport } from './usage.ts';

/** US dollars of tokens that a role would use: by `llm.prices`, else by what such calls have cost here; undefined where neither knows. */
export function pricesOf(config: LlmConfig, journal: DatabaseSync | undefined) {
  const { backend } = config.provider;
  const spending = openSpending({ limit: undefined, key: '', prices: config.prices });
  const past =
    journal === undefined
      ? []
      : usageReport(journal).filter((line) => line.backend === backend && (line.costUsd ?? 0) > 0);
  return (role: KtxModelRole, usage: TokenUsage): number | undefined => {
    const known = spending.priced(modelOf(config, role), usage);
    if (known !== undefined) return known;
    const own = past.filter((line) => line.role === role);
    const lines = own.length > 0 ? own : past;
    const cost = lines.reduce((sum, line) => sum + (line.costUsd ?? 0), 0);
    // Output is several times dearer than input with every provider.
    const worth = (used: TokenUsage) =>
      used.input + used.cacheRead + used.cacheWrite + 5 * used.output;
    const paid = lines.reduce((sum, line) => sum + worth(line), 0);
    return paid === 0 ? undefined : (cost / paid) * worth(usage);
  };
}
