import type { z } from 'zod';
import type { UserError } from '../../lib/error.ts';
import type { Effort } from './roles.ts';
import type { KtxModelRole, KtxToolSet, RunLoopResult, TokenUsage } from './runtime.ts';

/** One call as a backend gets it: the role is resolved to a model. */
export interface BackendCall {
  readonly role: KtxModelRole;
  readonly model: string;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly tools: KtxToolSet;
  readonly temperature: number | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly monitor: CallMonitor;
  /** US dollars that are left when it is asked; undefined without a limit. */
  readonly budgetLeft?: (() => number | undefined) | undefined;
}

export interface LoopCall extends BackendCall {
  readonly stepBudget: number;
}

/** A backend reports here while a call runs. */
export interface CallMonitor {
  /**
   * Aborted by the caller, a timeout or the budget. Its reason is an `LlmError` or a `UserError`.
   */
  readonly signal: AbortSignal;
  /** Something arrived from the model. Restarts the idle clock. */
  heartbeat(): void;
  /** One assistant turn has ended, and its usage is reported. `isLast`: it is the whole answer. */
  stepFinished(isLast?: boolean): void;
  /** A request was sent to the model. `isAnswering`: the backend hears of it only afterwards. */
  requestSent(isAnswering?: boolean): void;
  /** The provider has begun to answer the request. */
  answerBegan(): void;
  /** The tokens of a turn that has ended, if `addUsage` comes only at the end of the call. */
  turnUsed?(model: string, usage: TokenUsage): void;
  /**
   * Adds to what the model used. `costUsd` in US dollars: undefined if the backend does not report
   * it, null if part of the usage is unknown.
   */
  addUsage(model: string, usage: TokenUsage, costUsd?: number | null): void;
  toolFailed(tool: string, callId: string | undefined): void;
  /**
   * A request failed. Resolves when it may be sent again, after a pause that the user sees. Throws
   * the failure if it may not. Backends never repeat a request without it.
   */
  retry(failure: UserError): Promise<void>;
  /** The provider reported the state of one of its limits. */
  limitReported(limit: LimitReport): void;
  /** Shown once per run and text. */
  warn(message: string): void;
  /** Set in sessions: gets what the model writes and calls, as it arrives. */
  readonly listener?: SessionListener | undefined;
}

/**
 * Streaming callbacks of a session. An event may be reported more than once; the first time counts.
 */
export interface SessionListener {
  text(delta: string): void;
  thinking(delta: string): void;
  /** The answer broke off and is asked for again. What came of it does not count. */
  startedAgain(): void;
  toolStarted(call: { readonly id: string; readonly name: string; readonly input: unknown }): void;
  /** `text` is the answer that the model got. */
  toolEnded(end: { readonly id: string; readonly isError: boolean; readonly text: string }): void;
}

/** One message of a session as a backend gets it. */
export interface SessionTurn {
  readonly model: string;
  readonly message: string;
  readonly stepBudget: number;
  readonly monitor: CallMonitor;
}

/** The settings that stay the same for a whole session. */
export interface BackendSessionSpec {
  readonly system: string;
  readonly tools: KtxToolSet;
  readonly effort: Effort | undefined;
  /** JSON Schema that every answer has to fit. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  /** US dollars that the session may still spend; undefined without a limit. */
  readonly budgetLeft: () => number | undefined;
}

/** The result of one message of a session. */
interface BackendTurnResult {
  readonly stopReason: 'budget' | 'natural';
  readonly text: string;
  /** The answer that the model gave for the schema. Not validated yet. */
  readonly object?: unknown;
}

/** One conversation. A turn sees all earlier turns, back to the last `reset`. */
export interface BackendSession {
  /** Throws as `ModelBackend.loop` does. */
  turn(turn: SessionTurn): Promise<BackendTurnResult>;
  /** Forgets all turns. */
  reset(): Promise<void>;
}

/** The state of one limit, as a provider reported it. */
export interface LimitReport {
  /** The provider's name of the limit: `five_hour`, `requests`, `tokens`… */
  readonly window: string;
  readonly state: 'open' | 'near' | 'closed';
  /** Share of the window that is used, 0 to 1, if known. */
  readonly utilization?: number | undefined;
  readonly resetsAt?: Date | undefined;
}

/**
 * A model provider. `governor/` adds the rate gate, timeouts, budget, retries, metrics and usage,
 * the same way for every backend. `text` and `object` throw an `LlmError`. So does `loop`, except
 * when the step budget runs out: that is a result.
 */
export interface ModelBackend {
  text(call: LoopCall): Promise<string>;
  /** Asks once. Returns what the model gave, not validated; undefined if it gave no object. */
  object(call: LoopCall & { readonly schema: z.ZodType }): Promise<unknown>;
  loop(
    call: LoopCall,
  ): Promise<Pick<RunLoopResult, 'text'> & { readonly stopReason: 'budget' | 'natural' }>;
  session(spec: BackendSessionSpec): BackendSession;
  /** Makes one minimal paid call. Throws if the backend or the model cannot be used. */
  probe(model: string, signal: AbortSignal): Promise<ProbeReport>;
  /**
   * Costs nothing. Undefined if the account cannot be told for free. `model` is the one that is
   * probed next, if one is.
   */
  account(signal: AbortSignal, model?: string): Promise<AccountReport | undefined>;
  /** Ends everything that the backend keeps running, such as pre-warmed children. */
  close(): Promise<void>;
}

export interface ProbeReport {
  /** Full id of the model that answered. */
  readonly model: string;
  readonly account: AccountReport | undefined;
}

/** Who pays, as far as a free check can tell. */
export interface AccountReport {
  /** Shown to a person, for example `the API key in ANTHROPIC_API_KEY`. */
  readonly source: string;
  readonly provider: string | undefined;
  /** Differs between accounts, and names none. */
  readonly id?: string | undefined;
  /** What a person has to know about the backend on this machine, one line each. */
  readonly notes?: readonly string[] | undefined;
  /** Set by backends that run a program. */
  readonly program?: ProgramReport | undefined;
}

/** The program that a backend runs. */
export interface ProgramReport {
  /** Absolute, with all links followed. */
  readonly path: string;
  /**
   * `own`: found on this machine. `bundled`: came with ktx. `named`: named by the configuration.
   */
  readonly kind: 'own' | 'bundled' | 'named';
  readonly version: string | undefined;
  /** Why this one, shown to a person. */
  readonly reason: string;
  /** What a person can do so that their own program runs, if there is something. */
  readonly advice?: string | undefined;
}
