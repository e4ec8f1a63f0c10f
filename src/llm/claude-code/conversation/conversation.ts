import type {
  Query,
  SDKAssistantMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { CallMonitor } from '../../port/backend.ts';
import { fullContextError, LlmError } from '../../port/error.ts';
import type { TokenUsage } from '../../port/runtime.ts';
import type { AccountPolicy } from '../account-policy.ts';
import { checkInit, type ExpectedInit, outputTool } from '../isolation.ts';
import { exceededWindow, limitsFromEvent } from './limits.ts';
import { classifyResult, type ResultFacts } from './outcome.ts';
import { streamedTokens, usageSince, type UsageTotals } from './token-usage.ts';

export interface ReadOptions {
  readonly expected: ExpectedInit;
  readonly policy: AccountPolicy;
  readonly stepBudget: number;
  readonly monitor: CallMonitor;
  /** What the child had used before this prompt: its results count from its start. */
  readonly totalsBefore?: UsageTotals | undefined;
  /** True if the child gets another prompt later, so that its output has to be read to the end. */
  readonly readsToEnd?: boolean;
}

export interface ConversationResult {
  /** Undefined if ktx ended the conversation: after an accepted object, or past the step budget. */
  readonly facts: ResultFacts | undefined;
  /** Text of the last turn. */
  readonly text: string;
  /** Full id of the model that answered last. */
  readonly model: string | undefined;
  /** The object that the program accepted. */
  readonly object: { readonly value: unknown } | undefined;
  /** What the child has used since its start; undefined without a result. */
  readonly totals: UsageTotals | undefined;
  /** Release of the program. */
  readonly version: readonly number[] | undefined;
}

/**
 * Reads a conversation to its result and reports to the monitor. A result that was read counts,
 * whatever the program throws after it.
 */
export async function readConversation(
  query: Query,
  options: ReadOptions,
): Promise<ConversationResult> {
  const reader = new ConversationReader(options);
  try {
    while (!reader.isOver()) {
      // Not `for await`: leaving that loop would wait for the end of the child.
      const next = await query.next();
      if (next.done === true) break;
      options.monitor.heartbeat();
      reader.readMessage(next.value);
    }
  } finally {
    reader.reportUsage();
  }
  return reader.result();
}

/** How the conversation ended. Throws if it failed. */
export function checkedStopReason(
  { facts, object }: ConversationResult,
  policy: AccountPolicy,
): 'natural' | 'budget' {
  if (facts === undefined) return object === undefined ? 'budget' : 'natural';
  const outcome = classifyResult(facts, policy);
  if (outcome.kind === 'failed') throw outcome.failure;
  return outcome.kind;
}

/** From this release on the turn ends after an accepted object. Older ones call the model once more. */
const endsAtObject = [2, 1, 325];

interface StreamedUsage {
  readonly model: string;
  readonly tokens: TokenUsage;
  /** False if the answer broke off before it reported its output. */
  readonly isComplete: boolean;
}

class ConversationReader {
  readonly #options: ReadOptions;
  readonly #usageByMessage = new Map<string, StreamedUsage>();
  readonly #turnIds = new Set<string>();
  readonly #toolCalls = new Map<string, { readonly name: string; readonly input: unknown }>();
  /** Release of the program; set by the `init` message. */
  #version: readonly number[] | undefined;
  #result: SDKResultMessage | undefined;
  #text = '';
  #model: string | undefined;
  #streamingId = '';
  #error: string | undefined;
  #limit: ResultFacts['limit'];
  #object: ConversationResult['object'];
  #isContextFull = false;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  readMessage(message: SDKMessage): void {
    const { expected, policy, monitor } = this.#options;
    if (message.type === 'system') {
      if (message.subtype === 'init') {
        checkInit(message, expected, policy);
        this.#version = message.claude_code_version.split('.').map(Number);
      } else if (message.subtype === 'api_retry') monitor.requestSent();
    } else if (message.type === 'rate_limit_event') this.#readLimit(message.rate_limit_info);
    else if (this.#version !== undefined) this.#readAnswer(message);
    else if (message.type === 'assistant' || message.type === 'result') {
      throw new LlmError('isolation', 'Claude Code answered before it reported its configuration.');
    }
  }

  isOver(): boolean {
    const { readsToEnd = false } = this.#options;
    const canStopAtObject =
      !readsToEnd && this.#object !== undefined && isOlder(this.#version, endsAtObject);
    return (
      canStopAtObject || this.#result !== undefined || this.#isContextFull || this.#isOverBudget()
    );
  }

  reportUsage(): void {
    const { monitor, totalsBefore } = this.#options;
    const totals = Object.entries(this.#result?.modelUsage ?? {});
    for (const [model, total] of totals) {
      const { tokens, costUsd } = usageSince(total, totalsBefore?.[model]);
      if (costUsd > 0 || Object.values(tokens).some((count) => count > 0))
        monitor.addUsage(model, tokens, costUsd);
    }
    if (totals.length > 0) return;
    // Without a result, the usage is what the single turns reported.
    for (const { model, tokens, isComplete } of this.#usageByMessage.values()) {
      if (isComplete) monitor.addUsage(model, tokens);
      else monitor.addUsage(model, streamedTokens({}), null);
    }
  }

  result(): ConversationResult {
    if (this.#isContextFull) throw fullContextError();
    const result = this.#result;
    const facts = result && resultFacts(result, this.#error, this.#limit);
    if (facts === undefined && this.#object === undefined && !this.#isOverBudget())
      throw this.#noResultError();
    const finalObject = result?.subtype === 'success' ? result.structured_output : undefined;
    return {
      facts,
      text: this.#text,
      model: this.#model,
      object: finalObject === undefined ? this.#object : { value: finalObject },
      totals: result?.modelUsage,
      version: this.#version,
    };
  }

  /** A second lock: Claude Code enforces the budget itself. */
  #isOverBudget(): boolean {
    return this.#turnIds.size > this.#options.stepBudget;
  }

  #noResultError(): LlmError {
    return this.#version === undefined
      ? new LlmError('spawn', 'Claude Code ended without any output.', {
          hint: 'Check whether it runs by itself: claude -p hello',
        })
      : new LlmError('execution', 'Claude Code ended without a result.');
  }

  #readLimit(info: unknown): void {
    const reports = limitsFromEvent(info);
    reports.forEach((report) => this.#options.monitor.limitReported(report));
    this.#limit = exceededWindow(reports) ?? this.#limit;
  }

  #readAnswer(message: SDKMessage): void {
    if (message.type === 'result') this.#result = message;
    // Messages of a sub-agent are not turns of this call. There should be none.
    if (!('parent_tool_use_id' in message) || message.parent_tool_use_id !== null) return;
    if (message.type === 'stream_event') this.#readStreamEvent(message);
    else if (message.type === 'assistant') this.#readTurn(message);
    else if (message.type === 'user') this.#readToolResults(message);
  }

  #readStreamEvent({ event }: SDKPartialAssistantMessage): void {
    const { monitor } = this.#options;
    if (event.type === 'message_start') {
      monitor.requestSent(true);
      this.#streamingId = event.message.id;
      this.#usageByMessage.set(this.#streamingId, {
        model: event.message.model,
        tokens: streamedTokens(event.message.usage),
        isComplete: false,
      });
    } else if (event.type === 'message_delta') {
      // The program would ask the model to go on, in the same full context.
      this.#isContextFull = event.delta.stop_reason === 'model_context_window_exceeded';
      const usage = this.#usageByMessage.get(this.#streamingId);
      const started = usage?.tokens ?? streamedTokens({});
      const model = usage?.model ?? '';
      const tokens = { ...started, output: event.usage.output_tokens };
      this.#usageByMessage.set(this.#streamingId, { model, tokens, isComplete: true });
      monitor.turnUsed?.(model, tokens);
    } else if (event.type === 'content_block_delta') {
      const { delta } = event;
      if (delta.type === 'text_delta') monitor.listener?.text(delta.text);
      if (delta.type === 'thinking_delta') monitor.listener?.thinking(delta.thinking);
    }
  }

  /** The program sends one message for each block of a turn. All have the id of the turn. */
  #readTurn({ message: { id, model, content }, error }: SDKAssistantMessage): void {
    this.#error = error;
    if (error !== undefined) return;
    if (!this.#turnIds.has(id)) {
      this.#turnIds.add(id);
      this.#text = '';
      this.#model = model;
      if (!this.#isOverBudget()) this.#options.monitor.stepFinished();
    }
    for (const block of content) {
      if (block.type === 'text') this.#text += block.text;
      if (block.type === 'tool_use') this.#startToolCall(block.id, block.name, block.input);
    }
  }

  #startToolCall(id: string, toolName: string, input: unknown): void {
    this.#toolCalls.set(id, { name: toolName, input });
    if (toolName === outputTool) return;
    const { expected, monitor } = this.#options;
    const name = expected.tools.get(toolName) ?? toolName;
    monitor.listener?.toolStarted({ id, name, input });
  }

  #readToolResults({ message: { content } }: SDKUserMessage): void {
    if (typeof content === 'string') return;
    for (const block of content) {
      if (block.type !== 'tool_result') continue;
      const { tool_use_id: id, is_error: isError = false } = block;
      this.#endToolCall(id, { isError, text: toolResultText(block.content) });
    }
  }

  #endToolCall(id: string, { isError, text }: { isError: boolean; text: string }): void {
    const call = this.#toolCalls.get(id);
    if (call === undefined) return;
    if (call.name === outputTool) {
      this.#object = isError ? undefined : { value: call.input };
      return;
    }
    const { expected, monitor } = this.#options;
    monitor.listener?.toolEnded({ id, isError, text });
    const ownName = expected.tools.get(call.name);
    if (isError && ownName !== undefined) monitor.toolFailed(ownName, id);
  }
}

function toolResultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (part instanceof Object && 'text' in part ? String(part.text) : ''))
    .join('\n');
}

function resultFacts(
  result: SDKResultMessage,
  error: string | undefined,
  limit: ResultFacts['limit'],
): ResultFacts {
  const isSuccess = result.subtype === 'success';
  return {
    subtype: result.subtype,
    isError: result.is_error,
    terminalReason: result.terminal_reason,
    stopReason: result.stop_reason,
    status: isSuccess ? (result.api_error_status ?? undefined) : undefined,
    error,
    limit,
    text: isSuccess ? result.result : result.errors.join('; '),
  };
}

/** True if the version is older. Both are lists of numbers. */
function isOlder(version: readonly number[] = [], other: readonly number[]): boolean {
  const index = other.findIndex((part, at) => (version[at] ?? 0) !== part);
  return index >= 0 && (version[index] ?? 0) < (other[index] ?? 0);
}
