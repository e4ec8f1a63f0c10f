import type { TokenUsage } from '../../port/runtime.ts';
import { listPrice } from './list-prices.ts';

/** What is known of a turn before it begins. */
export interface TurnAhead {
  /** Role and stage of its call. Turns of one kind cost about the same. */
  readonly kind: string;
  readonly model: string;
  /** Characters of the prompt and the system text. */
  readonly promptLength: number;
}

export interface TurnEstimates {
  /** US dollars; infinite if nothing is known. */
  of(turn: TurnAhead): number;
  /** A turn of this kind has cost so much. */
  learn(kind: string, costUsd: number): void;
}

/** The longest answer that Claude Code asks for, and about what others allow. */
const mostOutput = 32_000;
const charactersPerToken = 3;

/**
 * The estimate of one turn, in this order:
 * 1. Turns of its kind have ended in this run: the dearest of them, or the price of the prompt
 *    alone if that is more.
 * 2. The model has a price (`llm.prices`, else the list price of its family): the prompt written to
 *    the cache and the longest answer, which is more than nearly every turn costs.
 * 3. Else everything that is left: the first turn of the kind then runs alone.
 */
export function openTurnEstimates(
  priceOf: (model: string, usage: TokenUsage) => number | undefined,
): TurnEstimates {
  const dearest = new Map<string, number>();
  return {
    of({ kind, model, promptLength }) {
      const prompt = Math.ceil(promptLength / charactersPerToken);
      const price = (input: number, output: number): number | undefined => {
        const usage = { input: 0, output, cacheRead: 0, cacheWrite: input };
        return priceOf(model, usage) ?? listPrice(model, usage);
      };
      const known = dearest.get(kind);
      if (known !== undefined) return Math.max(known, price(prompt, 0) ?? 0);
      return price(prompt, mostOutput) ?? Number.POSITIVE_INFINITY;
    },
    learn(kind, costUsd) {
      dearest.set(kind, Math.max(dearest.get(kind) ?? 0, costUsd));
    },
  };
}
