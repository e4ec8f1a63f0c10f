import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { parseJson } from '../../lib/json.ts';
import type { StateDatabase } from './state-database.ts';

/** What the processes of one run spend together. */
export type SharedBudget = ReturnType<ReturnType<typeof openSharedBudgets>>;

export const budgetTables = [
  `CREATE TABLE IF NOT EXISTS ktx_run_budgets (
    run TEXT PRIMARY KEY, body TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL)`,
];

const budgetSchema = z.object({
  /** US dollars. */
  spent: z.number(),
  /** Calls that count with what was reserved for them, because their process is gone. */
  lost: z.number(),
  /** Why the cost of a call is unknown. */
  unknown: z.string().optional(),
  /** What is reserved for calls that run, by an id of the call. */
  holds: z.record(
    z.string(),
    z.object({ amount: z.number(), holder: z.string(), expires: z.number() }),
  ),
});
export type BudgetState = Readonly<z.infer<typeof budgetSchema>>;

export interface BudgetHold {
  readonly id: string;
  /** US dollars. */
  readonly amount: number;
}

interface BudgetOptions {
  readonly run: string;
  /** US dollars. */
  readonly most: number;
  /** This process. */
  readonly holder: string;
}

/** Milliseconds after which a process that said nothing counts as gone. */
const holdLease = 30_000;
const mostTries = 1000;

/** Milliseconds after which the budget of a run is removed. */
const longestRun = 30 * 86_400_000;

const insert = `INSERT INTO ktx_run_budgets (run, body, version, at) VALUES ($1, $2, 0, $3)
  ON CONFLICT (run) DO NOTHING`;
const swap = `UPDATE ktx_run_budgets SET body = $2, version = version + 1, at = $4
  WHERE run = $1 AND version = $3 RETURNING version`;
const removeOld = 'DELETE FROM ktx_run_budgets WHERE at < $1';

export function openSharedBudgets(db: StateDatabase, now: () => number = () => Date.now()) {
  /** Each change is made for the state that it replaces. */
  const change = async (
    run: string,
    make: (state: BudgetState) => BudgetState | undefined,
  ): Promise<BudgetState> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const [row] = await db.run('SELECT body, version FROM ktx_run_budgets WHERE run = $1', [run]);
      if (row === undefined) {
        await db.run(removeOld, [now() - longestRun]);
        await db.run(insert, [run, JSON.stringify(emptyBudget), now()]);
        continue;
      }
      const read = budgetSchema.parse(parseJson(String(row['body'])));
      const state = withoutLost(read, now());
      const next = make(state) ?? state;
      if (next === read) return read;
      const body = JSON.stringify(next);
      const swapped = await db.run(swap, [run, body, Number(row['version']), now()]);
      if (swapped.length > 0) return next;
    }
    throw new UserError('state_busy', 'The budget of the run is changed all the time.', {
      hint: 'Use fewer workers.',
      retryable: true,
    });
  };
  return ({ run, most, holder }: BudgetOptions) => {
    const held = ({ amount }: BudgetHold) => ({ amount, holder, expires: now() + holdLease });
    const put = (state: BudgetState, hold: BudgetHold): BudgetState => ({
      ...state,
      holds: { ...state.holds, [hold.id]: held(hold) },
    });
    return {
      /** Reserves the amount if it is covered, or if nothing else is reserved. */
      async reserve(hold: BudgetHold): Promise<{ isGranted: boolean; state: BudgetState }> {
        const state = await change(run, (before) =>
          isCovered(before, hold, most) ? put(before, hold) : undefined,
        );
        return { isGranted: Object.hasOwn(state.holds, hold.id), state };
      },
      /** Reserves for a call that has begun. */
      take: (hold: BudgetHold): Promise<BudgetState> => change(run, (before) => put(before, hold)),
      /**
       * Gives back what was reserved, and counts what was spent, both at once. What counted already
       * because this process seemed to be gone is not counted again.
       */
      settle: (holds: readonly BudgetHold[], cost: number, unknown?: string) =>
        change(run, (before) => settle(before, holds, { cost, unknown })),
      /** This process is still there. */
      extend: (): Promise<BudgetState> =>
        change(run, (before) => {
          const own = Object.entries(before.holds).filter(([, hold]) => hold.holder === holder);
          if (own.length === 0) return undefined;
          const extended = own.map(([id, hold]) => [id, held({ id, ...hold })]);
          return { ...before, holds: { ...before.holds, ...Object.fromEntries(extended) } };
        }),
    };
  };
}

const emptyBudget: BudgetState = { spent: 0, lost: 0, holds: {} };

function isCovered(
  { spent, unknown, holds }: BudgetState,
  { amount }: BudgetHold,
  most: number,
): boolean {
  if (spent >= most || unknown !== undefined) return false;
  const held = Object.values(holds);
  const reserved = held.reduce((sum, hold) => sum + hold.amount, 0);
  return held.length === 0 || spent + reserved + amount <= most;
}

interface SettledCost {
  readonly cost: number;
  readonly unknown: string | undefined;
}

function settle(
  before: BudgetState,
  holds: readonly BudgetHold[],
  { cost, unknown }: SettledCost,
): BudgetState {
  const ended = new Set(holds.map(({ id }) => id));
  const counted = holds
    .filter(({ id }) => !Object.hasOwn(before.holds, id))
    .reduce((sum, { amount }) => sum + amount, 0);
  const left = Object.entries(before.holds).filter(([id]) => !ended.has(id));
  return {
    ...before,
    spent: before.spent + (cost > 0 ? Math.max(0, cost - counted) : cost),
    unknown: before.unknown ?? unknown,
    holds: Object.fromEntries(left),
  };
}

/** What was reserved for a call whose process is gone may have been spent, and so it counts. */
function withoutLost(state: BudgetState, now: number): BudgetState {
  const lost = Object.entries(state.holds).filter(([, { expires }]) => expires <= now);
  if (lost.length === 0) return state;
  const gone = new Set(lost.map(([id]) => id));
  const left = Object.entries(state.holds).filter(([id]) => !gone.has(id));
  return {
    ...state,
    spent: state.spent + lost.reduce((sum, [, { amount }]) => sum + amount, 0),
    lost: state.lost + lost.length,
    holds: Object.fromEntries(left),
  };
}
