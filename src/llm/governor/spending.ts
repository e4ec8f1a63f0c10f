import { UserError } from '../../lib/error.ts';
import { capabilities } from '../capabilities.ts';
import type { BackendName } from '../backends.ts';
import type { LlmConfig } from '../config.ts';
import type { TokenUsage } from '../port/runtime.ts';

/** The money of one run, and its hard limit. */
export interface Spending {
  /** US dollars of these tokens by `llm.prices`; undefined where the model has none. */
  priced(model: string, usage: TokenUsage): number | undefined;
  /** Adds what a call cost; null where that is unknown. */
  add(costUsd: number | null, reason?: string): void;
  /** Set once the limit is reached, or cannot be kept: nothing more may be called. */
  stop(): UserError | undefined;
  /** US dollars; undefined without a limit. */
  left(): number | undefined;
}

interface SpendingLimit {
  readonly limit: number | undefined;
  /** Where a person changes it. */
  readonly key: string;
  readonly prices: LlmConfig['prices'];
}

export function openSpending({ limit, key, prices }: SpendingLimit): Spending {
  let spent = 0;
  let unknown: string | undefined;
  return {
    priced(model, usage) {
      const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
      if (price === undefined) return undefined;
      const { input, output, cache_read: read = input, cache_write: write = input } = price;
      return (
        (usage.input * input +
          usage.output * output +
          usage.cacheRead * read +
          usage.cacheWrite * write) /
        1_000_000
      );
    },
    add(costUsd, reason = 'the backend does not say') {
      if (costUsd === null) unknown ??= reason;
      else spent += costUsd;
    },
    stop() {
      if (limit === undefined) return undefined;
      if (unknown !== undefined) {
        const message = `${key} is set, but what a call costs is unknown: ${unknown}.`;
        return new UserError('llm_budget_unknown', message, {
          hint: 'Give the model a price in llm.prices, go on in a new run or conversation, or take the limit away.',
          exitCode: 2,
        });
      }
      if (spent < limit) return undefined;
      const message = `This run has spent $${spent.toFixed(4)} of the $${limit} that ${key} allows.`;
      const hint = 'What is finished is kept: run again, or raise the limit.';
      return new UserError('llm_budget_spent', message, {
        hint,
        exitCode: 3,
        details: { limit: key },
      });
    },
    left: () => (limit === undefined ? undefined : Math.max(0, limit - spent)),
  };
}

/** Spending that counts on both, and ends at the first limit. */
export function bothOf(run: Spending, own: Spending): Spending {
  const lefts = (): number[] => [own.left(), run.left()].filter((left) => left !== undefined);
  return {
    priced: (model, usage) => run.priced(model, usage),
    add(costUsd, reason) {
      run.add(costUsd, reason);
      own.add(costUsd, reason);
    },
    stop: () => own.stop() ?? run.stop(),
    left: () => (lefts().length === 0 ? undefined : Math.min(...lefts())),
  };
}

/** A limit in money needs to know what calls cost, before the first is paid for. */
export function checkPrices(
  backend: BackendName,
  models: readonly string[],
  { limit, key, prices }: SpendingLimit,
): void {
  if (limit === undefined || backend === 'none' || capabilities[backend].budget === 'reported')
    return;
  const unknown = models.find((model) => !Object.hasOwn(prices, model));
  if (unknown === undefined) return;
  throw new UserError(
    'llm_budget_unknown',
    `${key} is set, and llm.prices has no price for ${unknown}.`,
    {
      hint: 'Add it (US dollars per million tokens: input, output, cache_read, cache_write), or take the limit away.',
      exitCode: 2,
    },
  );
}
