import type { z } from 'zod';
import type { UserError } from '../../lib/error.ts';
import type { ToolCall, ToolOutput } from './tool-call.ts';

/** A tool as every surface sees it: MCP, agent loops and chat adapt from this one shape. */
export interface KtxRuntimeToolDescriptor<TInput = unknown, TOutput = unknown> {
  readonly name: string;
  /** Product copy for a model: what it answers, when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject<z.ZodRawShape>;
  execute(input: TInput, call?: ToolCall): Promise<ToolOutput<TOutput>>;
}

/** The final tools of one call; each key is the name of its descriptor. */
export type KtxToolSet = Readonly<Record<string, KtxRuntimeToolDescriptor>>;

/** What a call is for; `llm.models` binds each to a model, and a missing one falls back to `default`. */
export const modelRoles = [
  'default',
  'triage',
  'candidateExtraction',
  'curator',
  'reconcile',
  'repair',
] as const;
export type KtxModelRole = (typeof modelRoles)[number];

/** Tokens; `input` is without those that came from the cache or went into it. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What one call took, filled on failure too. */
export interface CallMetrics {
  readonly durationMs: number;
  /** Assistant turns. */
  readonly steps: number;
  /** Requests to the model that ktx can see. */
  readonly apiCalls: number;
  /** By the model's full id, as the backend reports it. */
  readonly usage: Readonly<Record<string, TokenUsage>>;
  /** US dollars; null where they are unknown, and `costReason` says why. */
  readonly costUsd: number | null;
  readonly costReason?: string | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once, when the call has ended, however it ended. */
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
}

export interface KtxGenerateTextInput extends CallOptions {
  readonly role: KtxModelRole;
  /** May hold text from outside inside marked blocks; never begins with it. */
  readonly prompt: string;
  readonly system?: string | undefined;
  readonly tools?: KtxToolSet | undefined;
  /** 0 where none is given. Claude Code cannot set it and warns once. */
  readonly temperature?: number | undefined;
}

export interface KtxGenerateObjectInput<T> extends KtxGenerateTextInput {
  readonly schema: z.ZodType<T>;
}

/** One assistant turn of a loop has ended. */
export interface StepFinished {
  /** From 1. */
  readonly stepIndex: number;
  readonly stepBudget: number;
}

export interface RunLoopParams extends CallOptions {
  readonly modelRole: KtxModelRole;
  readonly systemPrompt: string;
  readonly userPrompt: string;
  readonly toolSet: KtxToolSet;
  /** Assistant turns at most. */
  readonly stepBudget: number;
  /** Names of the stage and its subject, for telemetry and logs. */
  readonly telemetryTags?: Readonly<Record<string, string>> | undefined;
  /** Once per assistant turn; what it throws is warned about and changes nothing. */
  readonly onStepFinish?: ((step: StepFinished) => void) | undefined;
}

export interface RunLoopResult {
  /** `budget`: the steps ran out before the model was done. */
  readonly stopReason: 'budget' | 'natural' | 'error';
  /** With `error` only: an `LlmError`, or that the run's budget of money is spent. */
  readonly error?: UserError | undefined;
  /** The text of the last turn; empty where there was none. */
  readonly text: string;
  readonly metrics: CallMetrics;
  /** Tool calls that failed, by tool name: refused input and handlers that threw. */
  readonly toolFailures: Readonly<Record<string, number>>;
}

/**
 * Every LLM call of ktx, whatever the backend. `generateText` and `generateObject` throw an `LlmError`;
 * `runAgentLoop` never throws for a failure of the provider: it is in the result.
 */
export interface KtxLlmRuntimePort {
  generateText(input: KtxGenerateTextInput): Promise<string>;
  generateObject<T>(input: KtxGenerateObjectInput<T>): Promise<T>;
  runAgentLoop(params: RunLoopParams): Promise<RunLoopResult>;
}

/** The loop alone, for callers that only loop. */
export interface AgentRunnerPort {
  runLoop(params: RunLoopParams): Promise<RunLoopResult>;
}
