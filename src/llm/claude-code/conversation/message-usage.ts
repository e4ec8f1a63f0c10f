import type { CallMonitor } from '../../port/backend.ts';
import type { TokenUsage } from '../../port/runtime.ts';
import {
  type StreamedApiUsage,
  streamedTokens,
  usageSince,
  type UsageTotals,
} from './token-usage.ts';

interface UsedMessage {
  readonly model: string;
  readonly tokens: TokenUsage;
  /** False if the answer broke off before it reported its output. */
  readonly isComplete: boolean;
}

/** What the messages of one conversation used. */
export class MessageUsage {
  readonly #messages = new Map<string, UsedMessage>();
  /** A message that reported no output, and that the totals of the program count in full. */
  #counted: string | undefined;

  start(id: string, model: string, usage: StreamedApiUsage): void {
    this.#messages.set(id, { model, tokens: streamedTokens(usage), isComplete: false });
  }

  /** The message has reported its output. */
  end(id: string, output: number): Pick<UsedMessage, 'model' | 'tokens'> {
    const { model, tokens } = this.#messages.get(id) ?? { model: '', tokens: streamedTokens({}) };
    const used = { model, tokens: { ...tokens, output }, isComplete: true };
    this.#messages.set(id, used);
    return used;
  }

  /** The totals of the program count a message in full. */
  countedInTotals(id: string): void {
    this.#counted = id;
  }

  /**
   * Reports the totals of the program, or what the single messages reported: without totals, and if
   * an answer broke off. The program counts such an answer sometimes, and never what it wrote.
   */
  report(monitor: CallMonitor, totals: UsageTotals = {}, before: UsageTotals = {}): void {
    const messages = [...this.#messages.values()];
    const isCounted = ([id, { isComplete }]: readonly [string, UsedMessage]) =>
      isComplete || id === this.#counted;
    if (Object.keys(totals).length > 0 && [...this.#messages].every(isCounted)) {
      for (const [model, total] of Object.entries(totals)) {
        const { tokens, costUsd } = usageSince(total, before[model]);
        if (costUsd > 0 || Object.values(tokens).some((count) => count > 0))
          monitor.addUsage(model, tokens, costUsd);
      }
      return;
    }
    for (const { model, tokens, isComplete } of messages) {
      if (isComplete) monitor.addUsage(model, tokens);
      else monitor.addUsage(model, streamedTokens({}), null);
    }
  }
}
