import type { KtxModelRole, TokenUsage } from '../llm/port/runtime.ts';
import { leastCalls } from '../scan/describe/description-batches.ts';
import { splitItem } from './extract/item-parts.ts';
import { needsTriage } from './extract/triage-page.ts';
import { groupIntoUnits, type PendingItem } from './extract/work-units.ts';
import type { Estimate, Range } from './report.ts';

/** What a run would send to models. */
export interface EstimateInput {
  /** The number of columns of each table that a model would describe. */
  readonly tables: readonly number[];
  readonly items: readonly PendingItem[];
  /** The maximum number of assistant turns of one loop. */
  readonly stepBudget: number;
  /** The price of tokens in US dollars; undefined if it is unknown. */
  readonly priced: (role: KtxModelRole, usage: TokenUsage) => number | undefined;
}

/** The calls and tokens of one piece of work. */
interface ModelCost {
  readonly role: KtxModelRole;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
}

const charactersPerToken = 4;
/** Tokens of a loop's instructions and tools. */
const loopFrameTokens = 6500;
/** Tokens that each turn adds to what is sent again. */
const tokensPerTurn = 700;

/**
 * The calls, tokens and price of a run, as a range. Minimum: tables share calls, every page is
 * skipped, and every loop ends in its second turn. Maximum: each table has a call of its own,
 * everything is read in a loop that uses all its turns, and nothing comes from a cache.
 */
export function estimateCost({
  tables,
  items: whole,
  stepBudget,
  priced,
}: EstimateInput): Estimate {
  const items = whole.flatMap(splitItem);
  const descriptions = (calls: number): ModelCost => {
    const columns = tables.reduce((sum, count) => sum + count, 0);
    const output = 60 * tables.length + 25 * columns;
    const input = 350 * calls + 150 * tables.length + 40 * columns;
    return { role: 'candidateExtraction', calls, input, output };
  };
  const pages = items.filter(needsTriage);
  const others = items.filter((item) => !needsTriage(item));
  const triage = pages.map((page): ModelCost => ({
    role: 'triage',
    calls: 1,
    input: 350 + countTokens([page]),
    output: 5,
  }));
  const loops = (pending: readonly PendingItem[], turns: number) =>
    groupIntoUnits(pending).map((unit) => estimateLoop(countTokens(unit.items), turns));
  const decisions: ModelCost[] =
    items.length === 0
      ? []
      : (['curator', 'reconcile'] as const).map((role) => ({
          ...estimateLoop(2000, stepBudget),
          role,
        }));
  const minimum = [descriptions(leastCalls(tables)), ...triage, ...loops(others, 2)];
  const maximum = [
    descriptions(tables.length),
    ...triage,
    ...loops(items, stepBudget),
    ...decisions,
  ];
  const rangeOf = (key: 'calls' | 'input' | 'output'): Range => [
    sumOf(minimum, key),
    sumOf(maximum, key),
  ];
  const [least, most] = [totalPrice(minimum, priced), totalPrice(maximum, priced)];
  return {
    calls: rangeOf('calls'),
    input: rangeOf('input'),
    output: rangeOf('output'),
    costUsd: least === undefined || most === undefined ? null : [least, most],
  };
}

function countTokens(items: readonly PendingItem[]): number {
  const characters = items
    .flatMap(({ unread }) => unread)
    .reduce((sum, { text }) => sum + text.length, 0);
  return Math.ceil(characters / charactersPerToken);
}

/**
 * The cost of a loop: every turn sends again the frame, the content and what the turns before
 * added.
 */
function estimateLoop(contentTokens: number, turns: number): ModelCost {
  const resent = (tokensPerTurn * turns * (turns - 1)) / 2;
  const input = turns * (loopFrameTokens + contentTokens) + resent;
  return { role: 'candidateExtraction', calls: 1, input, output: 250 * turns };
}

function sumOf(costs: readonly ModelCost[], key: 'calls' | 'input' | 'output'): number {
  return costs.reduce((sum, cost) => sum + cost[key], 0);
}

/** Undefined if a price is unknown. */
function totalPrice(
  costs: readonly ModelCost[],
  priced: EstimateInput['priced'],
): number | undefined {
  const prices = costs.map(({ role, input, output }) =>
    priced(role, { input, output, cacheRead: 0, cacheWrite: 0 }),
  );
  return prices.every((price) => price !== undefined)
    ? prices.reduce((sum, price) => sum + price, 0)
    : undefined;
}
