import type { z } from 'zod';
import type { UserError } from '../../lib/error.ts';
import type { SentValues } from '../egress/sent-values.ts';
import type { FinishedCall } from '../telemetry/call-spans.ts';
import type { ToolCall, ToolOutput } from './tool-call.ts';

/** A tool. MCP, agent loops and chat all adapt this one shape. */
export interface KtxRuntimeToolDescriptor<TInput = unknown, TOutput = unknown> {
  readonly name: string;
  /** Written for a model: what the tool answers and when to use it. */
  readonly description: string;
  readonly inputSchema: z.ZodObject<z.ZodRawShape>;
  execute(input: TInput, call?: ToolCall): Promise<ToolOutput<TOutput>>;
}

/** The tools of one call. Each key is the name of its descriptor. */
export type KtxToolSet = Readonly<Record<string, KtxRuntimeToolDescriptor>>;

/** The purpose of a call. `llm.models` binds each role to a model; a missing one uses `default`. */
export const modelRoles = [
  'default',
  'triage',
  'candidateExtraction',
  'curator',
  'reconcile',
  'repair',
] as const;
export type KtxModelRole = (typeof modelRoles)[number];

/** Tokens. `input` excludes tokens read from the cache or written to it. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What one call used. Filled for failed calls too. */
export interface CallMetrics {
  readonly durationMs: number;
  /** Assistant turns. */
  readonly steps: number;
  /** Requests to the model, as far as ktx can see them. */
  readonly apiCalls: number;
  /** Tokens by the full model id that the backend reports. */
  readonly usage: Readonly<Record<string, TokenUsage>>;
  /** US dollars; null if unknown, and `costReason` says why. */
  readonly costUsd: number | null;
  readonly costReason?: string | undefined;
}

interface RuntimeCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called once when the call has ended, also if it failed. */
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
  /** Called once when the call has ended, with what telemetry shows of it. */
  readonly onCall?: ((call: FinishedCall) => void) | undefined;
}

export interface KtxGenerateTextInput extends RuntimeCallOptions {
  readonly role: KtxModelRole;
  /** May contain foreign text inside marked blocks, but never starts with it. */
  readonly prompt: string;
  readonly system?: string | undefined;
  readonly tools?: KtxToolSet | undefined;
  /** The values of warehouses in `prompt` and `system`. Recorded before they are sent. */
  readonly values?: readonly SentValues[] | undefined;
  /** What the call is for, as the ledger of what leaves the machine names it. */
  readonly stage?: string | undefined;
  /** Default 0. A backend that cannot set it warns once. */
  readonly temperature?: number | undefined;
}

export interface KtxGenerateObjectInput<T> extends KtxGenerateTextInput {
  readonly schema: z.ZodType<T>;
}

/** Reported after each assistant turn of a loop. */
export interface StepFinished {
  /** Counts from 1. */
  readonly stepIndex: number;
  readonly stepBudget: number;
}

export interface RunLoopParams extends RuntimeCallOptions {
  readonly modelRole: KtxModelRole;
  readonly systemPrompt: string;
  readonly userPrompt: string;
  readonly toolSet: KtxToolSet;
  /** The values of warehouses in the prompts. Recorded before they are sent. */
  readonly values?: readonly SentValues[] | undefined;
  /** Maximum number of assistant turns. */
  readonly stepBudget: number;
  /** Stage and subject of the call, for telemetry and logs. */
  readonly telemetryTags?: Readonly<Record<string, string>> | undefined;
  /** Called once per assistant turn. If it throws, ktx warns and goes on. */
  readonly onStepFinish?: ((step: StepFinished) => void) | undefined;
}

export interface RunLoopResult {
  /** `budget`: the step budget ran out before the model was done. */
  readonly stopReason: 'budget' | 'natural' | 'error';
  /** Set with `error`: an `LlmError`, or a `UserError` if the run's money is spent. */
  readonly error?: UserError | undefined;
  /** Text of the last turn; empty if there was none. */
  readonly text: string;
  readonly metrics: CallMetrics;
  /** Number of failed tool calls by tool name: invalid input, or the handler threw. */
  readonly toolFailures: Readonly<Record<string, number>>;
}

/**
 * Every LLM call of ktx goes through this port, on every backend. `generateText` and
 * `generateObject` throw an `LlmError`. `runAgentLoop` returns a provider's failure in its result.
 */
export interface KtxLlmRuntimePort {
  generateText(input: KtxGenerateTextInput): Promise<string>;
  generateObject<T>(input: KtxGenerateObjectInput<T>): Promise<T>;
  runAgentLoop(params: RunLoopParams): Promise<RunLoopResult>;
}

type Declared<Input> = Input & { readonly values: readonly SentValues[] };
type DeclaredCall<Input> = Declared<Input> & { readonly stage: string };

/**
 * The runtime as the stages of ktx get it: each call has to say what it is for and which values of
 * warehouses its prompt has, so that a new call cannot forget the ledger.
 */
export interface DeclaringRuntime {
  generateText(input: DeclaredCall<KtxGenerateTextInput>): Promise<string>;
  generateObject<T>(input: DeclaredCall<KtxGenerateObjectInput<T>>): Promise<T>;
  runAgentLoop(params: Declared<RunLoopParams>): Promise<RunLoopResult>;
}

/** Only the loop, for callers that need nothing else. */
export interface AgentRunnerPort {
  runLoop(params: RunLoopParams): Promise<RunLoopResult>;
}
