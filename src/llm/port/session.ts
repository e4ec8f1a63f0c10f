import type { z } from 'zod';
import type { UserError } from '../../lib/error.ts';
import type { Effort } from './roles.ts';
import type { KtxToolSet, TokenUsage } from './runtime.ts';
import type { QueryEvidence, PermissionRequest } from './tool-call.ts';

/** Conversations of several turns, on every backend: a sibling of `KtxLlmRuntimePort`, implemented by the same adapters. */
export interface AgentSessionPort {
  /** Starts nothing yet; the state of a session is its own, and no other session sees it. */
  open(spec: AgentSessionSpec): AgentSession;
}

export interface AgentSession {
  readonly id: string;
  /**
   * One turn: what happens while it runs, with `turn_end` as the last event, whatever happened. Failures are in its
   * result; only a second turn at the same time is thrown. Leaving the iteration early ends the turn.
   */
  send(
    message: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<AgentEvent>;
  close(): Promise<void>;
}

export interface AgentSessionSpec {
  readonly id: string;
  readonly system: string;
  readonly tools: KtxToolSet;
  readonly limits: SessionLimits;
  readonly model?: SessionModel | undefined;
  /** The form of every answer. */
  readonly answer?: AnswerFormat | undefined;
  /** Turns of an earlier session, of whichever backend, that this one goes on from. */
  readonly history?: readonly PastTurn[] | undefined;
}

/** What differs from `llm.models.default`. */
interface SessionModel {
  readonly name?: string | undefined;
  readonly effort?: Effort | undefined;
  /** Tried, with a warning, where the first is not available or overloaded before anything came of it. */
  readonly fallback?: string | undefined;
}

interface SessionLimits {
  /** Assistant turns of one message. */
  readonly maxTurns: number;
  /** Of one message; time in which a person is asked does not count. */
  readonly timeoutSeconds: number;
  /** US dollars of the whole session. */
  readonly maxBudgetUsd?: number | undefined;
}

export interface AnswerFormat {
  /** What the model is given, as JSON Schema. */
  readonly json: Readonly<Record<string, unknown>>;
  /** What ktx checks every answer with. */
  readonly schema: z.ZodType;
}

/** A turn as a transcript keeps it, without anything of a backend. */
export interface PastTurn {
  readonly message: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly stopReason: StopReason;
}

/** `tool_start` always has its `tool_end`, `permission_request` comes between them; both carry the id of the call. */
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
  | ({ readonly type: 'tool_end' } & ToolEnd)
  | ({ readonly type: 'permission_request' } & PermissionRequest)
  | { readonly type: 'rate_limit'; readonly window: string; readonly resetsAt?: string | undefined }
  | { readonly type: 'warning'; readonly message: string }
  | ({ readonly type: 'usage'; readonly model: string } & TokenUsage)
  | { readonly type: 'turn_end'; readonly result: TurnResult };

interface ToolEnd {
  readonly id: string;
  readonly name: string;
  readonly ok: boolean;
  /** One line in words of ktx, or of the failure. */
  readonly summary: string;
  readonly evidenceId?: string | undefined;
  readonly ms: number;
}

/**
 * `denied`: the model came to its end, and after the last denial no tool call succeeded. `budget` is money; the steps of
 * a loop are `max_turns`.
 */
export type StopReason =
  | 'completed'
  | 'max_turns'
  | 'budget'
  | 'timeout'
  | 'interrupted'
  | 'denied'
  | 'error';

/** A call and its end. */
export interface ToolCallRecord extends ToolEnd {
  readonly input: unknown;
  /** What the model was told. */
  readonly answer: string;
}

export interface Denial {
  readonly id: string;
  readonly tool: string;
  /** `nobody to ask`: there was no terminal. */
  readonly reason: string;
}

export interface TurnResult {
  /** From 1, over the whole conversation. */
  readonly turn: number;
  /** What arrived, also where the turn was interrupted; with an answer format its JSON. */
  readonly text: string;
  /** The answer in the form asked for, checked. */
  readonly structured?: unknown;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly evidence: readonly QueryEvidence[];
  /** By the model's full id. */
  readonly usage: Readonly<Record<string, TokenUsage>>;
  /** US dollars; null where they are unknown, and `costReason` says why. */
  readonly costUsd: number | null;
  readonly costReason?: string | undefined;
  readonly stopReason: StopReason;
  /** With `error`, `timeout` and `budget`: what a person is told. */
  readonly error?: UserError | undefined;
  readonly denials: readonly Denial[];
  /** Assistant turns. */
  readonly steps: number;
  readonly durationMs: number;
  /** Until the first token of text or thinking, or the first tool call. */
  readonly firstTokenMs?: number | undefined;
}

/** One-shot is this and nothing else: the result of a turn, whose events `onEvent` may see as they come. */
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
