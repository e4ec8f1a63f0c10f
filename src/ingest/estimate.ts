import type { KtxModelRole, TokenUsage } from '../llm/port/runtime.ts';
import type { Estimate, Range } from './report.ts';
import { isSorted } from './extract/triage-page.ts';
import { type PendingItem, unitsOf } from './extract/work-units.ts';

/** What is known before anything is asked. */
export interface EstimateInput {
  /** Tables that a model would describe, and how many columns they have. */
  readonly tables: readonly number[];
  readonly items: readonly PendingItem[];
  /** Assistant turns of one loop at most. */
  readonly stepBudget: number;
  /** US dollars of such tokens; undefined where nobody knows. */
  readonly priced: (role: KtxModelRole, usage: TokenUsage) => number | undefined;
}

/** Some calls of one role, or the turns of one loop. */
interface Work {
  readonly role: KtxModelRole;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
}

const charactersPerToken = 4;
/** Instructions and tools of a loop, and what a turn adds to what is sent again. */
const [loopFrame, perTurn] = [6500, 700];

/**
 * What the run will take, as a range. At least: every page is skipped, every loop is done in its second turn. At most: everything is
 * read in a loop that uses all of its turns, and nothing of it comes from a cache.
 */
export function estimateCost({ tables, items, stepBudget, priced }: EstimateInput): Estimate {
  const described = tables.map((columns): Work => ({
    role: 'candidateExtraction',
    calls: 1,
    input: 500 + 40 * columns,
    output: 60 + 25 * columns,
  }));
  const [pages, others] = [items.filter(isSorted), items.filter((one) => !isSorted(one))];
  const sorted = pages.map((one): Work => ({
    role: 'triage',
    calls: 1,
    input: 350 + tokensIn([one]),
    output: 5,
  }));
  const loops = (of: readonly PendingItem[], turns: number) =>
    unitsOf(of).map((unit) => loopOf(tokensIn(unit.items), turns));
  const ruled: Work[] =
    items.length === 0
      ? []
      : (['curator', 'reconcile'] as const).map((role) => ({ ...loopOf(2000, stepBudget), role }));
  const low = [...described, ...sorted, ...loops(others, 2)];
  const high = [...described, ...sorted, ...loops(items, stepBudget), ...ruled];
  const range = (of: (work: readonly Work[]) => number): Range => [of(low), of(high)];
  const sum = (key: 'calls' | 'input' | 'output') => (work: readonly Work[]) =>
    work.reduce((total, one) => total + one[key], 0);
  const [least, most] = [low, high].map((work) => priceOf(work, priced));
  return {
    calls: range(sum('calls')),
    input: range(sum('input')),
    output: range(sum('output')),
    costUsd: least === undefined || most === undefined ? null : [least, most],
  };
}

function tokensIn(items: readonly PendingItem[]): number {
  const characters = items
    .flatMap(({ unread }) => unread)
    .reduce((sum, { text }) => sum + text.length, 0);
  return Math.ceil(characters / charactersPerToken);
}

function loopOf(tokens: number, turns: number): Work {
  const input = turns * (loopFrame + tokens) + (perTurn * turns * (turns - 1)) / 2;
  return { role: 'candidateExtraction', calls: 1, input, output: 250 * turns };
}

function priceOf(work: readonly Work[], priced: EstimateInput['priced']): number | undefined {
  const costs = work.map(({ role, input, output }) =>
    priced(role, { input, output, cacheRead: 0, cacheWrite: 0 }),
  );
  return costs.every((cost) => cost !== undefined)
    ? costs.reduce((sum, cost) => sum + cost, 0)
    : undefined;
}
