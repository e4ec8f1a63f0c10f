import type { DatabaseSync } from 'node:sqlite';
import { modelIdForRole, type LlmConfig } from '../../config.ts';
import type { KtxModelRole, TokenUsage } from '../../port/runtime.ts';
import { openSpending } from '../spending.ts';
import { usageReport } from '../usage.ts';

/**
 * Estimates the cost in US dollars of tokens that a role would use; undefined if nothing is known.
 */
type CostEstimate = (role: KtxModelRole, usage: TokenUsage) => number | undefined;

/** Estimates costs by `llm.prices`, else by what calls of this project have cost so far. */
export function costEstimate(config: LlmConfig, journal: DatabaseSync | undefined): CostEstimate {
  const { backend } = config.provider;
  const spending = openSpending({ limit: undefined, key: '', prices: config.prices });
  const past = journal === undefined ? [] : usageReport(journal);
  const paid = past.filter((line) => line.backend === backend && (line.costUsd ?? 0) > 0);
  return (role, usage) => {
    const listPrice = spending.priceOf(modelIdForRole(config, role), usage);
    if (listPrice !== undefined) return listPrice;
    const paidByRole = paid.filter((line) => line.role === role);
    const lines = paidByRole.length > 0 ? paidByRole : paid;
    const cost = lines.reduce((sum, line) => sum + (line.costUsd ?? 0), 0);
    const weight = lines.reduce((sum, line) => sum + tokenWeight(line), 0);
    return weight === 0 ? undefined : (cost / weight) * tokenWeight(usage);
  };
}

/** With every provider, output costs several times as much as input. */
function tokenWeight(usage: TokenUsage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite + 5 * usage.output;
}
