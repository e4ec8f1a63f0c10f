import type { z } from 'zod';
import type { UserError } from '../../lib/error.ts';
import type { SentValues } from '../egress/sent-values.ts';
import type { FinishedCall } from '../telemetry/call-spans.ts';
import type { Effort } from './roles.ts';
import type { KtxToolSet, TokenUsage } from './runtime.ts';
import type { QueryEvidence, PermissionRequest } from './tool-call.ts';

/** Conversations of several turns. The same backends implement it as `KtxLlmRuntimePort`. */
export interface AgentSessionPort {
  /** Starts nothing yet. Sessions share no state. */
  open(spec: AgentSessionSpec): AgentSession;
}

export interface AgentSession {
  readonly id: string;
  /**
   * Runs one turn and yields its events. The last event is always `turn_end`; failures are in its
   * result. Throws only if another turn is running. Leaving the iteration early ends the turn.
   */
  send(message: string, options?: SendOptions): AsyncIterable<AgentEvent>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each call of the turn, with what telemetry shows of it. */
  readonly onCall?: ((call: FinishedCall) => void) | undefined;
}

export interface AgentSessionSpec {
  readonly id: string;
  /** What the session is for, as the ledger of what leaves the machine names it. */
  readonly stage?: string | undefined;
  readonly system: string;
  readonly tools: KtxToolSet;
  readonly limits: SessionLimits;
  readonly model?: SessionModel | undefined;
  /** Schema that every answer has to fit. */
  readonly answer?: AnswerFormat | undefined;
  /**
   * What is wrong with an answer in words, or undefined. Then the model is asked once more, in the
   * same turn; what it answers then stays.
   */
  readonly check?: ((answer: CheckedAnswer) => string | undefined) | undefined;
  /** Turns of an earlier session to continue, from any backend. */
  readonly history?: readonly PastTurn[] | undefined;
}

interface CheckedAnswer {
  readonly text: string;
  readonly message: string;
  /** Of this turn. */
  readonly evidence: readonly QueryEvidence[];
}

/** Overrides of `llm.models.default`. */
interface SessionModel {
  readonly name?: string | undefined;
  readonly effort?: Effort | undefined;
  /**
   * Used, with a warning, if the first model is unavailable or overloaded before it has answered
   * anything.
   */
  readonly fallback?: string | undefined;
}

interface SessionLimits {
  /** Maximum number of assistant turns for one message. */
  readonly maxTurns: number;
  /** For one message. Time spent waiting for a person does not count. */
  readonly timeoutSeconds: number;
  /** US dollars for the whole session. */
  readonly maxBudgetUsd?: number | undefined;
}

export interface AnswerFormat {
  /** The JSON Schema that the model gets. */
  readonly json: Readonly<Record<string, unknown>>;
  /** ktx validates every answer with it. */
  readonly schema: z.ZodType;
}

/** A turn as a transcript keeps it. Independent of the backend. */
export interface PastTurn {
  readonly message: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly stopReason: StopReason;
}

/**
 * Every `tool_start` is followed by its `tool_end`; a `permission_request` comes between them. All
 * three carry the id of the call.
 */
export type AgentEvent =
  | {
      readonly type: 'session_started';
      readonly session: string;
      readonly backend: string;
      readonly model: string;
      readonly tools: readonly string[];
    }
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly text: string }
  | {
      readonly type: 'tool_start';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    }
  | ({ readonly type: 'tool_end' } & ToolCallEnd)
  | ({ readonly type: 'permission_request' } & PermissionRequest)
  | { readonly type: 'rate_limit'; readonly window: string; readonly resetsAt?: string | undefined }
  | { readonly type: 'warning'; readonly message: string }
  | ({ readonly type: 'usage'; readonly model: string } & TokenUsage)
  | { readonly type: 'turn_end'; readonly result: TurnResult };

interface ToolCallEnd {
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  /** One line for a person: the result, or the failure. */
  readonly summary: string;
  readonly evidenceId?: string | undefined;
  readonly ms: number;
}

/**
 * `denied`: the model finished, but no tool call succeeded after the last denial. `budget`: the
 * money is spent. `max_turns`: the step budget ran out.
 */
export type StopReason =
  | 'completed'
  | 'max_turns'
  | 'budget'
  | 'timeout'
  | 'interrupted'
  | 'denied'
  | 'error';

/** A finished tool call. */
export interface ToolCallRecord extends ToolCallEnd {
  readonly input: unknown;
  /** The text that the model got back. */
  readonly answer: string;
  /** If a name in the call was ambiguous: what it may mean. */
  readonly choices?: readonly string[] | undefined;
  /** The values of warehouses in `answer`. */
  readonly values?: readonly SentValues[] | undefined;
}

export interface PermissionDenial {
  readonly id: string;
  readonly tool: string;
  /** `nobody to ask` if there was no terminal. */
  readonly reason: string;
}

export interface TurnResult {
  /** Counts from 1 over the whole conversation. */
  readonly turn: number;
  /** What arrived, also if the turn was interrupted. With an answer format: the answer as JSON. */
  readonly text: string;
  /** The validated answer, if an answer format was given. */
  readonly structured?: unknown;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly evidence: readonly QueryEvidence[];
  /** Tokens by full model id. */
  readonly usage: Readonly<Record<string, TokenUsage>>;
  /** US dollars; null if unknown, and `costReason` says why. */
  readonly costUsd: number | null;
  readonly costReason?: string | undefined;
  readonly stopReason: StopReason;
  /** Set with `error`, `timeout` and `budget`. Shown to a person. */
  readonly error?: UserError | undefined;
  readonly denials: readonly PermissionDenial[];
  /**
   * True if the model got older answers of tools in a shortened form, because its context was full.
   */
  readonly shortened?: boolean | undefined;
  /** Assistant turns. */
  readonly steps: number;
  readonly durationMs: number;
  /** Time until the first text, thinking or tool call. */
  readonly firstTokenMs?: number | undefined;
}

/** Runs a turn to its end and returns its result. `onEvent` gets each event as it arrives. */
export async function readTurnResult(
  events: AsyncIterable<AgentEvent>,
  onEvent?: (event: AgentEvent) => void,
): Promise<TurnResult> {
  let result: TurnResult | undefined;
  for await (const event of events) {
    onEvent?.(event);
    if (event.type === 'turn_end') result = event.result;
  }
  if (result === undefined) throw new Error('a turn ended without turn_end');
  return result;
}
