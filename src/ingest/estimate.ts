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
  readonly usage: TokenUsage;
}

const charactersPerToken = 4;
/** Tokens of a loop's instructions and tools. */
const loopFrameTokens = 6500;
/** Tokens that each turn adds to what is sent again. */
const tokensPerTurn = 700;
/** Turns of a loop that reads one unit: it looks names up, proposes, corrects, and ends. */
const turns = { few: 2, many: 6 } as const;
/** Pages whose terms and rules one loop decides. */
const pagesPerDecision = 25;
/** A range is at most so many times as wide: what is likely, and not what is possible. */
const widest = 9;

/**
 * The calls, tokens and price of a run, as a range of what is likely. Lower end: tables share
 * calls, half of the pages are skipped and the others read in one call, loops are short, and turns
 * after the first read most from a cache. Upper end: everything is read in longer loops, decided
 * about, and nothing comes from a cache. A range that is wider than `widest` is narrowed to its
 * middle.
 */
export function estimateCost({
  tables,
  items: whole,
  stepBudget,
  priced,
}: EstimateInput): Estimate {
  const items = whole.flatMap(splitItem);
  const pages = items.filter(needsTriage);
  const others = items.filter((item) => !needsTriage(item));
  const [few, many] = [Math.min(turns.few, stepBudget), Math.min(turns.many, stepBudget)];
  const loops = (pending: readonly PendingItem[], loopTurns: number, isCached: boolean) =>
    groupIntoUnits(pending).map((unit) =>
      estimateLoop({ content: countTokens(unit.items), turns: loopTurns, isCached }),
    );
  const triage = pages.map(estimateTriage);
  const least = [
    ...estimateDescriptions(tables, leastCalls(tables)),
    ...triage,
    ...pages.filter((_, index) => index % 2 === 0).map(estimateSkim),
    ...loops(others, few, true),
  ];
  const decisions = Math.ceil(items.length / pagesPerDecision);
  const most = [
    ...estimateDescriptions(tables, Math.ceil(leastCalls(tables) * mostBatches)),
    ...triage,
    ...loops(items, many, false),
    ...(['curator', 'reconcile'] as const).flatMap((role) =>
      Array.from({ length: decisions }, () => ({
        ...estimateLoop({ content: 2000, turns: many, isCached: false }),
        role,
      })),
    ),
  ];
  const rangeOf = (count: (cost: ModelCost) => number): Range =>
    narrow([sumOf(least, count), sumOf(most, count)]);
  const wholes = ([low, high]: Range): Range => [Math.floor(low), Math.ceil(high)];
  const prices = [totalPrice(least, priced), totalPrice(most, priced)] as const;
  return {
    calls: wholes(rangeOf(({ calls }) => calls)),
    input: wholes(rangeOf(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite)),
    output: wholes(rangeOf(({ usage }) => usage.output)),
    costUsd:
      prices[0] === undefined || prices[1] === undefined ? null : narrow([prices[0], prices[1]]),
  };
}

/** At most so many times the calls that tables could share: schemas and columns keep some apart. */
const mostBatches = 2;

function estimateDescriptions(tables: readonly number[], calls: number): ModelCost[] {
  if (calls === 0) return [];
  const columns = tables.reduce((sum, count) => sum + count, 0);
  const output = 60 * tables.length + 25 * columns;
  const input = 350 * calls + 150 * tables.length + 40 * columns;
  return [{ role: 'candidateExtraction', calls, usage: { ...noUsage, input, output } }];
}

const noUsage: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function estimateTriage(page: PendingItem): ModelCost {
  const input = 350 + countTokens([page]);
  return { role: 'triage', calls: 1, usage: { ...noUsage, input, output: 5 } };
}

function estimateSkim(page: PendingItem): ModelCost {
  const input = 900 + countTokens([page]);
  return { role: 'triage', calls: 1, usage: { ...noUsage, input, output: 150 } };
}

/** The range, or one around its middle that is as wide as it may be. */
function narrow([low, high]: Range): Range {
  if (low <= 0 || high <= low * widest) return [low, high];
  const middle = Math.sqrt(low * high);
  return [middle / Math.sqrt(widest), middle * Math.sqrt(widest)];
}

function countTokens(items: readonly PendingItem[]): number {
  const characters = items
    .flatMap(({ unread }) => unread)
    .reduce((sum, { text }) => sum + text.length, 0);
  return Math.ceil(characters / charactersPerToken);
}

interface LoopAhead {
  /** Tokens of its items. */
  readonly content: number;
  readonly turns: number;
  /** True if turns after the first read from a cache what was sent before. */
  readonly isCached: boolean;
}

/**
 * The cost of a loop: every turn sends again the frame, the content and what the turns before
 * added.
 */
function estimateLoop({ content, turns: loopTurns, isCached }: LoopAhead): ModelCost {
  const first = loopFrameTokens + content;
  const added = tokensPerTurn * (loopTurns - 1);
  const resent = (loopTurns - 1) * first + (tokensPerTurn * (loopTurns - 1) * (loopTurns - 2)) / 2;
  const usage = isCached
    ? { ...noUsage, input: first + added, cacheRead: resent }
    : { ...noUsage, input: first + added + resent };
  return {
    role: 'candidateExtraction',
    calls: loopTurns,
    usage: { ...usage, output: 250 * loopTurns },
  };
}

function sumOf(costs: readonly ModelCost[], count: (cost: ModelCost) => number): number {
  return costs.reduce((sum, cost) => sum + count(cost), 0);
}

/** Undefined if a price is unknown. */
function totalPrice(
  costs: readonly ModelCost[],
  priced: EstimateInput['priced'],
): number | undefined {
  const prices = costs.map(({ role, usage }) => priced(role, usage));
  return prices.every((price) => price !== undefined)
    ? prices.reduce((sum, price) => sum + price, 0)
    : undefined;
}
