import { UserError } from '../../lib/error.ts';
import type { BackendName } from '../backends.ts';
import { capabilities } from '../capabilities.ts';
import type { LlmConfig } from '../config.ts';
import type { TokenUsage } from '../port/runtime.ts';
import { openReservations, type Release } from './money/reservations.ts';
import { openTurnEstimates, type TurnAhead } from './money/turn-estimate.ts';

/** Adds up what one run costs, in US dollars, and enforces its limit. */
export interface Spending {
  /** The price of these tokens by `llm.prices`; undefined if the model has no price there. */
  priceOf(model: string, usage: TokenUsage): number | undefined;
  /** Adds the cost of a call; null if it is unknown, with the reason. */
  add(costUsd: number | null, reason?: string): void;
  /** Adds the most that an answer can have cost that broke off before it reported its usage. */
  addAtMost(costUsd: number): void;
  /** The most that one turn costs, as far as is known; infinite if nothing is known. */
  estimate(turn: TurnAhead): number;
  /** Set once the limit is reached or can no longer be checked. No further call may start then. */
  stop(): UserError | undefined;
  /** The rest of the limit; undefined without a limit. */
  left(): number | undefined;
  /** Waits until what is left covers the turn, or until no other turn runs. */
  reserve(turn: TurnAhead, signal: AbortSignal): Promise<Release>;
  /** Reserves without waiting. */
  take(turn: TurnAhead): Release;
  /** A turn of this kind has cost so much. */
  learn(kind: string, costUsd: number): void;
  /** Once the money is spent: resolves when the calls that still run have told their cost. */
  settled(): Promise<void>;
}

export interface SpendingLimit {
  readonly limit: number | undefined;
  /** The setting or flag of the limit, for messages. */
  readonly key: string;
  readonly prices: LlmConfig['prices'];
}

/** The limit of a run: the one of its command line, else the one in `ktx.yaml`. */
export function runSpendingLimit(
  { max_usd_per_run: perRun, prices }: Pick<LlmConfig, 'max_usd_per_run' | 'prices'>,
  budget: number | undefined,
): SpendingLimit {
  return budget === undefined
    ? { limit: perRun, key: 'llm.max_usd_per_run', prices }
    : { limit: budget, key: '--budget', prices };
}

export function openSpending({ limit, key, prices }: SpendingLimit): Spending {
  let spent = 0;
  let unknownReason: string | undefined;
  /** Some of it is the most that an answer can have cost. */
  let isAtMost = false;
  const priceOf: Spending['priceOf'] = (model, usage) => priceByList(prices, model, usage);
  const stop = (): UserError | undefined => {
    if (limit === undefined) return undefined;
    if (unknownReason !== undefined) return unknownCostError(key, unknownReason);
    return spent < limit ? undefined : budgetSpentError(key, limit, { spent, isAtMost });
  };
  const left = (): number | undefined =>
    limit === undefined ? undefined : Math.max(0, limit - spent);
  const estimates = openTurnEstimates(priceOf);
  // Once the money is spent, calls fail at once and need not wait.
  const reservations = openReservations(() => (stop() === undefined ? left() : undefined));
  return {
    priceOf,
    add(costUsd, reason = 'the backend does not report it') {
      if (costUsd === null) unknownReason ??= reason;
      else spent += costUsd;
      reservations.update();
    },
    addAtMost(costUsd) {
      isAtMost = true;
      spent += costUsd;
      reservations.update();
    },
    estimate: (turn) => estimates.of(turn),
    stop,
    left,
    reserve: (turn, signal) => reservations.reserve(() => estimates.of(turn), signal),
    take: (turn) => reservations.take(estimates.of(turn)),
    learn: (kind, costUsd) => estimates.learn(kind, costUsd),
    settled: () => (stop() === undefined ? Promise.resolve() : reservations.idle()),
  };
}

function priceByList(
  prices: LlmConfig['prices'],
  model: string,
  usage: TokenUsage,
): number | undefined {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return undefined;
  const { input, output, cache_read: read = input, cache_write: write = input } = price;
  const perMillion =
    usage.input * input + usage.output * output + usage.cacheRead * read + usage.cacheWrite * write;
  return perMillion / 1_000_000;
}

function unknownCostError(key: string, reason: string): UserError {
  const message = `${key} is set, but the cost of a call is unknown: ${reason}.`;
  return new UserError('llm_budget_unknown', message, {
    hint: 'Add a price for the model to llm.prices, start a new run or conversation, or remove the limit.',
    exitCode: 2,
  });
}

interface Spent {
  readonly spent: number;
  readonly isAtMost: boolean;
}

function budgetSpentError(key: string, limit: number, { spent, isAtMost }: Spent): UserError {
  const amount = `$${spent.toFixed(4)} of the $${limit} that ${key} allows`;
  const message = isAtMost
    ? `This run may have spent up to ${amount}: an answer broke off before it reported its cost.`
    : `This run has spent ${amount}.`;
  return new UserError('llm_budget_spent', message, {
    hint: 'Finished work is kept. Run again, or raise the limit.',
    exitCode: 3,
    details: { limit: key },
  });
}

/** Counts on both. The limit that is reached first stops the calls. */
export function combineSpending(run: Spending, session: Spending): Spending {
  return {
    priceOf: (model, usage) => run.priceOf(model, usage),
    add(costUsd, reason) {
      run.add(costUsd, reason);
      session.add(costUsd, reason);
    },
    addAtMost(costUsd) {
      run.addAtMost(costUsd);
      session.addAtMost(costUsd);
    },
    estimate: (turn) => run.estimate(turn),
    stop: () => session.stop() ?? run.stop(),
    left() {
      const amounts = [session.left(), run.left()].filter((amount) => amount !== undefined);
      return amounts.length === 0 ? undefined : Math.min(...amounts);
    },
    // A conversation has one turn at a time: only calls of the run can compete.
    reserve: (turn, signal) => run.reserve(turn, signal),
    take: (turn) => run.take(turn),
    learn: (kind, costUsd) => run.learn(kind, costUsd),
    settled: () => run.settled(),
  };
}

/** Throws if there is a limit and the cost of one of the models would be unknown. */
export function checkPrices(
  backend: BackendName,
  models: readonly string[],
  { limit, key, prices }: SpendingLimit,
): void {
  if (limit === undefined || backend === 'none') return;
  if (capabilities[backend].budget === 'reported') return;
  const unpriced = models.find((model) => !Object.hasOwn(prices, model));
  if (unpriced === undefined) return;
  const message = `${key} is set, and llm.prices has no price for ${unpriced}.`;
  throw new UserError('llm_budget_unknown', message, {
    hint: 'Add it (US dollars per million tokens: input, output, cache_read, cache_write), or remove the limit.',
    exitCode: 2,
  });
}
