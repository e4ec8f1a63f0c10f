import { UserError } from '../lib/error.ts';
import type { LlmConfig } from './config.ts';
import type { TokenUsage } from './runtime.ts';

/** The money of one run, and its hard limit. */
export interface Spending {
  /** US dollars of these tokens by `llm.prices`; undefined where the model has none. */
  priced(model: string, usage: TokenUsage): number | undefined;
  /** Adds what a call cost; null where that is unknown. */
  add(costUsd: number | null, reason?: string): void;
  /** Set once the limit is reached, or cannot be kept: nothing more may be called. */
  stop(): UserError | undefined;
}

export function openSpending({ max_usd_per_run: limit, prices }: Pick<LlmConfig, 'max_usd_per_run' | 'prices'>): Spending {
  let spent = 0;
  let unknown: string | undefined;
  return {
    priced(model, usage) {
      const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
      if (price === undefined) return undefined;
      const { input, output, cache_read: read = input, cache_write: write = input } = price;
      return (usage.input * input + usage.output * output + usage.cacheRead * read + usage.cacheWrite * write) / 1_000_000;
    },
    add(costUsd, reason = 'the backend does not say') {
      if (costUsd === null) unknown ??= reason;
      else spent += costUsd;
    },
    stop() {
      if (limit === undefined) return undefined;
      if (unknown !== undefined) {
        const message = `llm.max_usd_per_run is set, but what a call costs is unknown: ${unknown}.`;
        return new UserError('llm_budget_unknown', message, {
          hint: 'Give the model a price in llm.prices, or take the limit away.',
          exitCode: 2,
        });
      }
      if (spent < limit) return undefined;
      const message = `This run has spent $${spent.toFixed(4)} of the $${limit} that llm.max_usd_per_run allows.`;
      return new UserError('llm_budget_spent', message, { hint: 'What is finished is kept: run again, or raise the limit.', exitCode: 3 });
    },
  };
}
