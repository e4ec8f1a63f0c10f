import type { z } from 'zod';
import type { Effort } from './roles.ts';
import type { KtxModelRole, KtxToolSet, RunLoopResult, TokenUsage } from './runtime.ts';

/** One call as an adapter sees it: the role resolved to a model, timeouts and the caller's signal in one signal. */
export interface BackendCall {
  readonly role: KtxModelRole;
  readonly model: string;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly tools: KtxToolSet;
  readonly temperature: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly watch: CallWatch;
}

export interface LoopCall extends BackendCall {
  readonly stepBudget: number;
}

/** What an adapter tells while a call runs. */
export interface CallWatch {
  /** Aborted by the caller, a timeout or the run's budget; its reason is an `LlmError` or a `UserError`. */
  readonly signal: AbortSignal;
  /** Something arrived from the model: the idle clock starts anew. */
  alive(): void;
  /** One assistant turn has ended. */
  step(): void;
  apiCall(): void;
  /** Adds to what the model used. `costUsd` undefined where the backend does not say; null where not all that was used is known. */
  used(model: string, usage: TokenUsage, costUsd?: number | null): void;
  toolFailed(tool: string, callId: string | undefined): void;
  /** What the provider said of its limits. */
  limit(limit: LimitReport): void;
  /** Shown once per run and text. */
  warn(message: string): void;
  /** What a session hears beside, as it comes. */
  readonly ear?: SessionEar | undefined;
}

/** What a call may be told more than once of; the first time counts. */
export interface SessionEar {
  text(delta: string): void;
  thinking(delta: string): void;
  toolStarted(call: { readonly id: string; readonly name: string; readonly input: unknown }): void;
  /** `text` is what the model was told. */
  toolEnded(end: { readonly id: string; readonly isError: boolean; readonly text: string }): void;
}

/** One message of a session as an adapter sees it. */
export interface SessionTurn {
  readonly model: string;
  readonly message: string;
  readonly stepBudget: number;
  readonly watch: CallWatch;
}

/** What does not change within a session. */
export interface SessionCall {
  readonly system: string;
  readonly tools: KtxToolSet;
  readonly effort: Effort | undefined;
  /** JSON Schema of every answer. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  /** US dollars that are left to the session; undefined without a limit. */
  readonly budgetLeft: () => number | undefined;
}

/** The state of one conversation. A turn sees all before it, back to the last `reset`. */
export interface BackendSession {
  /** Throws as `ModelBackend.loop` does. `object` is what the model gave in the form of the schema, unchecked. */
  turn(turn: SessionTurn): Promise<{
    readonly stopReason: 'budget' | 'natural';
    readonly text: string;
    readonly object?: unknown;
  }>;
  /** Forgets everything. */
  reset(): Promise<void>;
}

/** What a response said of a limit. */
export interface LimitReport {
  readonly window: string;
  readonly state: 'open' | 'near' | 'closed';
  /** 0..1 of the window used, where known. */
  readonly utilization?: number | undefined;
  readonly resetsAt?: Date | undefined;
}

/**
 * What each adapter implements; `llm/govern.ts` puts the rate gate, timeouts, the budget, retries, metrics and usage
 * around it, the same for all. `text` and `object` throw `LlmError`; so does `loop`, except for a spent step budget.
 */
export interface ModelBackend {
  text(call: BackendCall & { readonly stepBudget: number }): Promise<string>;
  object<T>(
    call: BackendCall & { readonly stepBudget: number; readonly schema: z.ZodType<T> },
  ): Promise<T>;
  loop(
    call: LoopCall,
  ): Promise<Pick<RunLoopResult, 'text'> & { readonly stopReason: 'budget' | 'natural' }>;
  session(call: SessionCall): BackendSession;
  /** One minimal paid call, or what tells as much: resolves where the backend and model can be used, else throws. */
  probe(model: string, signal: AbortSignal): Promise<ProbeReport>;
  /** Answers without spending anything; undefined where nothing can be said for free. */
  account(signal: AbortSignal): Promise<AccountReport | undefined>;
  /** Ends what the backend keeps running (pre-warmed children). */
  close(): Promise<void>;
}

export interface ProbeReport {
  /** Full id of the model that answered. */
  readonly model: string;
  readonly account: AccountReport | undefined;
}

/** Who pays, as far as a free check tells. */
export interface AccountReport {
  /** For a person: `your own local Claude Code session (subscription)`, `API key from ANTHROPIC_API_KEY`… */
  readonly source: string;
  readonly provider: string | undefined;
}
