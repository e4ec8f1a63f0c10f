import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../../lib/error.ts';
import { newId } from '../../../lib/id.ts';
import type {
  BudgetHold,
  BudgetState,
  SharedBudget,
} from '../../../store/shared/shared-budgets.ts';
import { patiently } from '../../../store/shared/patiently.ts';
import { openSpending, type Spending, type SpendingLimit } from '../spending.ts';
import type { Release } from './reservations.ts';
import type { TurnAhead } from './turn-estimate.ts';

/** Milliseconds between two tries to reserve. */
const retryMs = 200;
/** Milliseconds between two signs of life. */
const extendMs = 5_000;

/** Spending whose limit holds for several processes together. */
export interface SharedSpending extends Spending, AsyncDisposable {}

/**
 * The limit holds for all processes with the same budget: each turn reserves there what it may
 * cost. What a turn has cost and what it had reserved change together, so that no other process
 * sees money that is spent. A database that is away makes calls wait.
 */
export function openSharedSpending(limit: SpendingLimit, budget: SharedBudget): SharedSpending {
  const { limit: most = 0 } = limit;
  // Prices and estimates.
  const local = openSpending({ ...limit, limit: undefined });
  const closed = new AbortController();
  const settling = openSettling(budget, closed.signal);
  const holds = openHolds(budget, settling, closed.signal);
  let isAtMost = false;
  /** At most everything, so that a turn of which nothing is known runs alone. */
  const holdFor = (turn: TurnAhead): BudgetHold => ({
    id: newId('call'),
    amount: Math.min(local.estimate(turn), most),
  });
  const stop = (): UserError | undefined => stopOf(limit, settling.state(), isAtMost);
  return {
    priceOf: (model, usage) => local.priceOf(model, usage),
    estimate: (turn) => local.estimate(turn),
    learn: (kind, costUsd) => local.learn(kind, costUsd),
    add(costUsd, reason = 'the backend does not report it') {
      if (costUsd === null) settling.add(0, reason);
      else settling.add(costUsd);
    },
    addAtMost(costUsd) {
      isAtMost = true;
      settling.add(costUsd);
    },
    stop,
    left: () => Math.max(0, most - settling.state().spent),
    async reserve(turn, signal) {
      for (;;) {
        signal.throwIfAborted();
        await settling.settled();
        const release = await holds.reserve(holdFor(turn), signal);
        if (release !== undefined) return release;
        // The call finds out by itself why it may not start.
        if (stop() !== undefined) return () => undefined;
        await sleep(retryMs, undefined, { signal });
      }
    },
    take: (turn) => holds.take(holdFor(turn)),
    settled: () => settling.settled(),
    async [Symbol.asyncDispose](): Promise<void> {
      holds.stop();
      await settling.settled();
      closed.abort();
    },
  };
}

/** Tells the budget in order what this process has spent and no longer holds. */
function openSettling(budget: SharedBudget, signal: AbortSignal) {
  const ended: Promise<BudgetHold>[] = [];
  let known: BudgetState = { spent: 0, lost: 0, holds: {} };
  let cost = 0;
  let unknown: string | undefined;
  let settling: Promise<void> | undefined;
  const settleAll = async (): Promise<void> => {
    // What happens in one turn of the event loop belongs together.
    await new Promise((resolve) => void setImmediate(resolve));
    while (ended.length > 0 || cost !== 0 || unknown !== undefined) {
      const holds = await Promise.all(ended.splice(0));
      const [amount, reason] = [cost, unknown];
      known = await patiently(() => budget.settle(holds, amount, reason), signal);
      cost -= amount;
      unknown = unknown === reason ? undefined : unknown;
    }
    settling = undefined;
  };
  const settled = (): Promise<void> => (settling ??= settleAll());
  return {
    settled,
    /** With what the budget does not know yet. */
    state: (): BudgetState => ({
      ...known,
      spent: known.spent + cost,
      unknown: known.unknown ?? unknown,
    }),
    heard: (state: BudgetState): void => void (known = state),
    end(hold: Promise<BudgetHold>): void {
      ended.push(hold);
      void settled();
    },
    add(costUsd: number, reason?: string): void {
      cost += costUsd;
      unknown ??= reason;
      void settled();
    },
  };
}

/** What this process has reserved. It says now and then that it is still there. */
function openHolds(
  budget: SharedBudget,
  settling: ReturnType<typeof openSettling>,
  closed: AbortSignal,
) {
  const held = new Set<string>();
  const begin = (hold: BudgetHold, ready: Promise<unknown>): Release => {
    held.add(hold.id);
    return () => {
      if (held.delete(hold.id)) settling.end(ready.then(() => hold));
    };
  };
  const timer = setInterval(() => {
    if (held.size > 0) void budget.extend().catch(() => undefined);
  }, extendMs);
  timer.unref();
  return {
    /** Undefined if the amount is not covered. */
    async reserve(hold: BudgetHold, signal: AbortSignal): Promise<Release | undefined> {
      try {
        const { state, isGranted } = await budget.reserve(hold);
        settling.heard(state);
        return isGranted ? begin(hold, Promise.resolve()) : undefined;
      } catch (error) {
        if (!(error instanceof UserError && error.retryable)) throw error;
        // It may have been reserved all the same.
        settling.heard(await patiently(() => budget.settle([hold], 0), signal));
        return undefined;
      }
    },
    take(hold: BudgetHold): Release {
      const taking = patiently(() => budget.take(hold), closed);
      return begin(hold, taking);
    },
    stop: (): void => clearInterval(timer),
  };
}

/** As the spending of one process says it. */
function stopOf(
  limit: SpendingLimit,
  { spent, lost, unknown }: BudgetState,
  isAtMost: boolean,
): UserError | undefined {
  const told = openSpending(limit);
  if (unknown !== undefined) told.add(null, unknown);
  if (isAtMost || lost > 0) told.addAtMost(spent);
  else told.add(spent);
  return told.stop();
}
