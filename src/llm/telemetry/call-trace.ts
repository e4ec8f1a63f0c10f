import type { TokenUsage } from '../port/runtime.ts';

/** One request to the model, as the backend reported it. Times are milliseconds since 1970. */
export interface TracedRequest {
  readonly startedAt: number;
  /** When the model was last heard, before a tool ran or the next request began. */
  readonly endedAt: number;
  /** False if it was tried again, or failed. */
  readonly isAnswered: boolean;
  /** Full id of the model that answered. */
  readonly model: string | undefined;
  readonly tokens: TokenUsage | undefined;
  /** US dollars; null if unknown. */
  readonly costUsd: number | null | undefined;
}

/** When a call did what. It has no text of prompts or answers. */
export interface TracedCall {
  readonly startedAt: number;
  readonly endedAt: number;
  /** How long it waited for a place among the other calls, and for limits. */
  readonly waitedMs: number;
  readonly requests: readonly TracedRequest[];
}

type OpenRequest = { -readonly [Key in keyof TracedRequest]: TracedRequest[Key] } & {
  /** True once a tool runs: what follows is no longer the model's time. */
  isFrozen: boolean;
};

const noTokens: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/**
 * Follows the requests of one call. Every backend reports the same few events, so every backend is
 * traced alike.
 */
export class CallTrace {
  readonly #startedAt = Date.now();
  readonly #requests: OpenRequest[] = [];
  /** When the next request could begin. */
  #readyAt = this.#startedAt;
  #waitedMs = 0;
  /** True if the backend tells the tokens of each request at once, and costs later. */
  #hasTurnUsage = false;
  /** What all requests cost together. */
  #costUsd: number | null | undefined;

  /** The call has its place among the others. */
  entered(waitedMs: number): void {
    this.#waitedMs += waitedMs;
    this.#readyAt = Date.now();
  }

  /** `isAnswering` as in `CallMonitor.requestSent`. */
  requestSent(isAnswering = false): void {
    const now = Date.now();
    this.#requests.push({
      startedAt: isAnswering ? this.#readyAt : now,
      endedAt: now,
      isAnswered: false,
      isFrozen: false,
      model: undefined,
      tokens: undefined,
      costUsd: undefined,
    });
    this.#readyAt = now;
  }

  /** Something arrived from the model. */
  heard(): void {
    const request = this.#requests.at(-1);
    if (request === undefined || request.isFrozen) return;
    request.endedAt = Date.now();
    this.#readyAt = request.endedAt;
  }

  toolStarted(): void {
    const request = this.#requests.at(-1);
    if (request !== undefined) request.isFrozen = true;
  }

  toolEnded(): void {
    this.#readyAt = Date.now();
  }

  answered(): void {
    this.heard();
    const request = this.#requests.at(-1);
    if (request !== undefined) request.isAnswered = true;
  }

  /** The tokens of the current request, from a backend that adds usage up later. */
  turnUsed(model: string, tokens: TokenUsage): void {
    const request = this.#requests.at(-1);
    if (request === undefined) return;
    this.#hasTurnUsage = true;
    request.model = model;
    request.tokens = tokens;
  }

  used(model: string, tokens: TokenUsage, costUsd: number | null): void {
    this.#costUsd = addCosts(this.#costUsd, costUsd);
    const request = this.#requests.at(-1);
    if (request === undefined || this.#hasTurnUsage) return;
    request.model = model;
    request.tokens = addTokens(request.tokens ?? noTokens, tokens);
    request.costUsd = addCosts(request.costUsd, costUsd);
  }

  end(): TracedCall {
    const last = this.#requests.at(-1);
    // A request that nothing came back from lasted until it was given up.
    if (last !== undefined && !last.isAnswered && !last.isFrozen) last.endedAt = Date.now();
    if (this.#hasTurnUsage) this.#divideCost();
    const requests = this.#requests.map(({ isFrozen: _isFrozen, ...request }) => request);
    return { startedAt: this.#startedAt, endedAt: Date.now(), waitedMs: this.#waitedMs, requests };
  }

  /** A cost that was told for all requests together is divided by their tokens. */
  #divideCost(): void {
    const weightOf = ({ tokens = noTokens }: OpenRequest): number =>
      tokens.input + tokens.cacheRead / 10 + tokens.cacheWrite + 5 * tokens.output;
    const total = this.#requests.reduce((sum, request) => sum + weightOf(request), 0);
    for (const request of this.#requests) {
      if (request.tokens === undefined) continue;
      const share = total === 0 ? 0 : weightOf(request) / total;
      request.costUsd = typeof this.#costUsd === 'number' ? this.#costUsd * share : this.#costUsd;
    }
  }
}

/** Null, which is unknown, if one of them is. */
function addCosts(sum: number | null | undefined, cost: number | null): number | null {
  return sum === null || cost === null ? null : (sum ?? 0) + cost;
}

function addTokens(sum: TokenUsage, tokens: TokenUsage): TokenUsage {
  return {
    input: sum.input + tokens.input,
    output: sum.output + tokens.output,
    cacheRead: sum.cacheRead + tokens.cacheRead,
    cacheWrite: sum.cacheWrite + tokens.cacheWrite,
  };
}
