import type { CallMetrics, TokenUsage } from '../port/runtime.ts';
import { listPrice } from './money/list-prices.ts';
import type { TurnAhead } from './money/turn-estimate.ts';
import type { Spending } from './spending.ts';

const noTokens: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Counts steps, requests, tokens, money and tool failures of one call. */
export class CallMeter {
  readonly #spending: Spending;
  readonly #turn: TurnAhead;
  readonly #startedAt = performance.now();
  readonly #usage: Record<string, TokenUsage> = {};
  readonly #failuresByTool = new Map<string, number>();
  readonly #failedCallIds = new Set<string>();
  #steps = 0;
  #requests = 0;
  #costUsd: number | null = 0;
  #costReason: string | undefined;
  /** What turns cost whose usage the backend has not added yet. */
  #expectedUsd = 0;

  constructor(spending: Spending, turn: TurnAhead) {
    this.#spending = spending;
    this.#turn = turn;
  }

  /** Returns the number of the step that has ended, from 1. */
  addStep(): number {
    this.#steps += 1;
    return this.#steps;
  }

  addRequest(): void {
    this.#requests += 1;
  }

  /**
   * A turn has ended, and `addUsage` follows at the end of the call. Until then its price counts
   * against the budget. Returns the price, null if it is unknown.
   */
  expectUsage(model: string, tokens: TokenUsage): number | null {
    const costUsd = this.#spending.priceOf(model, tokens) ?? listPrice(model, tokens);
    if (costUsd === undefined) return null;
    this.#expectedUsd += costUsd;
    this.#spending.add(costUsd);
    return costUsd;
  }

  /** True while `addUsage` has to follow. */
  get expectsUsage(): boolean {
    return this.#expectedUsd > 0;
  }

  /** `reportedUsd` as in `CallMonitor.addUsage`. */
  addUsage(model: string, tokens: TokenUsage, reportedUsd: number | null | undefined): void {
    this.#usage[model] = sumTokens(this.#usage[model] ?? noTokens, tokens);
    const costUsd =
      reportedUsd === undefined ? (this.#spending.priceOf(model, tokens) ?? null) : reportedUsd;
    const unknownReason =
      reportedUsd === null
        ? 'an answer broke off before it reported its usage'
        : `no cost from the backend, and no price for ${model} in llm.prices`;
    // The real cost takes the place of the expected one, in one step: between two, other calls
    // would see money that is spent.
    const mostUsd =
      costUsd ?? (reportedUsd === null ? this.#mostOfTurn() : listPrice(model, tokens));
    const expectedUsd = Math.min(this.#expectedUsd, mostUsd ?? 0);
    this.#expectedUsd -= expectedUsd;
    if (mostUsd === undefined) this.#spending.add(null, unknownReason);
    else if (costUsd === null) this.#spending.addAtMost(mostUsd - expectedUsd);
    else this.#spending.add(costUsd - expectedUsd);
    if (costUsd === null) {
      this.#costUsd = null;
      this.#costReason ??= unknownReason;
    } else if (this.#costUsd !== null) this.#costUsd += costUsd;
  }

  /** The most that an answer that broke off can have cost; undefined if nothing is known. */
  #mostOfTurn(): number | undefined {
    const estimate = this.#spending.estimate(this.#turn);
    return Number.isFinite(estimate) ? estimate : undefined;
  }

  /** The call is over: what it was expected to cost beyond its usage does not count. */
  settle(): void {
    this.#spending.add(-this.#expectedUsd);
    this.#expectedUsd = 0;
  }

  /** Counts a failed tool call once, by its id if it has one. */
  addToolFailure(tool: string, callId: string | undefined): void {
    if (callId !== undefined && this.#failedCallIds.has(callId)) return;
    if (callId !== undefined) this.#failedCallIds.add(callId);
    this.#failuresByTool.set(tool, (this.#failuresByTool.get(tool) ?? 0) + 1);
  }

  get steps(): number {
    return this.#steps;
  }

  metrics(): CallMetrics {
    return {
      durationMs: performance.now() - this.#startedAt,
      steps: this.#steps,
      apiCalls: this.#requests,
      usage: this.#usage,
      costUsd: this.#costUsd,
      costReason: this.#costReason,
    };
  }

  toolFailures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failuresByTool);
  }
}

/** The metrics of two attempts at one call. */
export function addMetrics(first: CallMetrics, second: CallMetrics): CallMetrics {
  const usage = { ...first.usage };
  for (const [model, tokens] of Object.entries(second.usage))
    usage[model] = sumTokens(usage[model] ?? noTokens, tokens);
  const isKnown = first.costUsd !== null && second.costUsd !== null;
  return {
    durationMs: first.durationMs + second.durationMs,
    steps: first.steps + second.steps,
    apiCalls: first.apiCalls + second.apiCalls,
    usage,
    costUsd: isKnown ? (first.costUsd ?? 0) + (second.costUsd ?? 0) : null,
    costReason: first.costReason ?? second.costReason,
  };
}

function sumTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
