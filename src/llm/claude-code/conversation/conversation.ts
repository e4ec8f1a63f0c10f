import type {
  Query,
  SDKAPIRetryMessage,
  SDKAssistantMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { unfinishedAnswer } from '../../faults/stop-reasons.ts';
import type { CallMonitor } from '../../port/backend.ts';
import { isTransient, LlmError } from '../../port/error.ts';
import type { TokenUsage } from '../../port/runtime.ts';
import { readPrompt } from '../../prompt.ts';
import type { AccountPolicy } from '../account-policy.ts';
import { checkInit, type ExpectedInit, outputTool } from '../isolation.ts';
import { exceededWindow, limitsFromEvent } from './limits.ts';
import { asksAfterObject } from './asks-after-object.ts';
import { announcedFailure, classifyResult, type ResultFacts } from './outcome.ts';
import { completeFacts, resultFacts } from './result-facts.ts';
import { streamedTokens, usageSince, type UsageTotals } from './token-usage.ts';
import { toolResultText } from './tool-result-text.ts';
import { TurnTracker } from './turn-tracker.ts';

export interface ReadOptions {
  readonly expected: ExpectedInit;
  readonly policy: AccountPolicy;
  readonly stepBudget: number;
  readonly monitor: CallMonitor;
  /** What the child had used before this prompt: its results count from its start. */
  readonly totalsBefore?: UsageTotals | undefined;
  /** True if the child gets another prompt later, so that its output has to be read to the end. */
  readonly readsToEnd?: boolean;
  /** Sends the next prompt of the conversation. */
  readonly ask: (prompt: string) => Promise<unknown>;
  /** True if a call that failed before it did anything is made again with another child. */
  readonly startsOver?: boolean;
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
  /** Set with `startsOver`: why a request failed before anything was done. */
  readonly unanswered?: LlmError | undefined;
}

/**
 * Reads a conversation to its result and reports to the monitor. A result that was read counts,
 * whatever the program throws after it. A request that fails for a reason that passes is sent again
 * when the governor allows it.
 */
export async function readConversation(
  query: Query,
  options: ReadOptions,
): Promise<ConversationResult> {
  const { monitor, ask, startsOver = false } = options;
  const reader = new ConversationReader(options);
  try {
    for (;;) {
      await readUntil(() => reader.isOver(), query, { reader, monitor });
      const failure = reader.requestFailure();
      if (failure === undefined) break;
      if (startsOver && !reader.hasActed) return { ...reader.state(), unanswered: failure };
      if (!reader.hasResult) {
        // The program waits to send the request by itself. It is told not to, and says so with a result.
        await query.interrupt();
        await readUntil(() => reader.hasResult, query, { reader, monitor });
      }
      await monitor.retry(failure);
      reader.goOn();
      await ask(readPrompt('request-repeated'));
    }
  } finally {
    reader.reportUsage();
  }
  return reader.result();
}

async function readUntil(
  isOver: () => boolean,
  query: Query,
  { reader, monitor }: { readonly reader: ConversationReader; readonly monitor: CallMonitor },
): Promise<void> {
  while (!isOver()) {
    // Not `for await`: leaving that loop would wait for the end of the child.
    const next = await query.next();
    if (next.done === true) break;
    monitor.heartbeat();
    reader.readMessage(next.value);
    const resumed = reader.takeResumed();
    if (resumed !== undefined) await monitor.retry(resumed, { isUnderWay: true });
  }
}

/** How the conversation ended. Throws if it failed. */
export function checkedStopReason(
  { facts, object }: ConversationResult,
  policy: AccountPolicy,
): 'natural' | 'budget' {
  if (facts === undefined) return object === undefined ? 'budget' : 'natural';
  // Whoever asked checks the object, and asks again.
  if (facts.subtype === 'error_max_structured_output_retries') return 'natural';
  const outcome = classifyResult(facts, policy);
  if (outcome.kind === 'failed') throw outcome.failure;
  return outcome.kind;
}

interface StreamedUsage {
  readonly model: string;
  readonly tokens: TokenUsage;
  /** False if the answer broke off before it reported its output. */
  readonly isComplete: boolean;
}

class ConversationReader {
  readonly #options: ReadOptions;
  readonly #usageByMessage = new Map<string, StreamedUsage>();
  readonly #turns: TurnTracker;
  readonly #toolCalls = new Map<string, { readonly name: string; readonly input: unknown }>();
  /** Release of the program; set by the `init` message. */
  #version: readonly number[] | undefined;
  #result: SDKResultMessage | undefined;
  #text = '';
  #model: string | undefined;
  #error: string | undefined;
  #limit: ResultFacts['limit'];
  #object: ConversationResult['object'];
  /** The last object that the program refused. */
  #refused: ConversationResult['object'];
  /** The request that the program is about to send again. */
  #failure: LlmError | undefined;
  /** A broken turn with which the program goes on by itself. */
  #resumed: LlmError | undefined;
  /** The answer ended before it was complete. */
  #unfinished: LlmError | undefined;
  #hasGoneOn = false;
  #isBudgetSpent = false;
  /** True once a turn has ended that asks for nothing more. */
  #isAnswerComplete = false;
  /** The object that the model gave last, before the program has checked it. */
  #givenObject: ConversationResult['object'];

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#turns = new TurnTracker((isLast) => {
      if (!this.#isOverBudget()) options.monitor.stepFinished(isLast);
    });
  }

  readMessage(message: SDKMessage): void {
    const { expected, policy } = this.#options;
    if (message.type === 'system') {
      if (message.subtype === 'init') {
        checkInit(message, expected, policy);
        this.#version = message.claude_code_version.split('.').map(Number);
      } else if (message.subtype === 'api_retry') this.#readRetry(message);
    } else if (message.type === 'rate_limit_event') this.#readLimit(message.rate_limit_info);
    else if (this.#version !== undefined) this.#readAnswer(message);
    else if (message.type === 'assistant' || message.type === 'result') {
      throw new LlmError('isolation', 'Claude Code answered before it reported its configuration.');
    }
  }

  isOver(): boolean {
    const { readsToEnd = false } = this.#options;
    const canStopAtObject =
      !readsToEnd && this.#object !== undefined && asksAfterObject(this.#version);
    return (
      canStopAtObject ||
      this.hasResult ||
      this.#failure !== undefined ||
      this.#unfinished !== undefined ||
      this.#isBudgetSpent ||
      this.#isOverBudget()
    );
  }

  get hasResult(): boolean {
    return this.#result !== undefined;
  }

  /** True once a turn was whole or a tool was called: the call cannot be made again then. */
  get hasActed(): boolean {
    return this.#turns.steps > 0 || this.#toolCalls.size > 0;
  }

  /** Why the last request failed, if the reason passes. */
  requestFailure(): LlmError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#result === undefined || this.#object !== undefined) return undefined;
    const facts = resultFacts(this.#result, this.#error, this.#limit);
    const outcome = classifyResult(facts, this.#options.policy);
    const failure = outcome.kind === 'failed' ? outcome.failure : undefined;
    return failure instanceof LlmError && isTransient(failure) ? failure : undefined;
  }

  /** The failure of a turn with which the program has just gone on by itself, once. */
  takeResumed(): LlmError | undefined {
    const resumed = this.#resumed;
    this.#resumed = undefined;
    return resumed;
  }

  /** The failed request is sent again. */
  goOn(): void {
    this.#failure = undefined;
    this.#result = undefined;
    this.#error = undefined;
    this.#limit = undefined;
    this.#hasGoneOn = true;
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
    if (this.#unfinished !== undefined) throw this.#unfinished;
    const state = this.state();
    const isEnded = this.#isBudgetSpent || this.#isOverBudget();
    if (state.facts === undefined && state.object === undefined && !isEnded)
      throw this.#noResultError();
    return state;
  }

  /** What is known so far. */
  state(): ConversationResult {
    const result = this.#result;
    const facts = result && this.#readFacts(result);
    const finalObject = result?.subtype === 'success' ? result.structured_output : undefined;
    const object = finalObject === undefined ? this.#object : { value: finalObject };
    return {
      facts,
      text: this.#text,
      model: this.#model,
      object: object ?? this.#refused,
      totals: result?.modelUsage,
      version: this.#version,
    };
  }

  #readFacts(result: SDKResultMessage): ResultFacts {
    const facts = resultFacts(result, this.#error, this.#limit);
    if (result.subtype !== 'error_max_budget_usd') return facts;
    this.#object ??= this.#givenObject;
    return this.#isAnswerComplete || this.#object !== undefined
      ? completeFacts(facts, this.#text)
      : facts;
  }

  /** A second lock: Claude Code enforces the budget itself. */
  #isOverBudget(): boolean {
    return this.#turns.begun > this.#options.stepBudget;
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

  /** The program would send the request again by itself. */
  #readRetry(retry: SDKAPIRetryMessage): void {
    if (!this.#turns.breakOff()) this.#options.monitor.requestSent();
    this.#failure = announcedFailure(retry, this.#limit, this.#options.policy);
  }

  #readResult(result: SDKResultMessage): void {
    this.#result = result;
    const isAnswered = this.#turns.breakOff();
    const hasStatus = result.subtype === 'success' && typeof result.api_error_status === 'number';
    const isRefused = result.is_error && (hasStatus || this.requestFailure() !== undefined);
    // A request that failed without an answer was sent all the same, unless it was reported before.
    if (isRefused && !isAnswered && this.#failure === undefined)
      this.#options.monitor.requestSent();
  }

  #readAnswer(message: SDKMessage): void {
    if (message.type === 'result') this.#readResult(message);
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
      this.#resumed = this.#turns.startStream(event.message.id);
      this.#usageByMessage.set(event.message.id, {
        model: event.message.model,
        tokens: streamedTokens(event.message.usage),
        isComplete: false,
      });
    } else if (event.type === 'message_delta') {
      const { stop_reason: reason } = event.delta;
      // The program would ask the model to go on, in the same full context or with a limit as short.
      this.#unfinished = reason === null ? undefined : unfinishedAnswer(reason);
      if (reason === null) return;
      const id = this.#turns.streamingId;
      const usage = this.#usageByMessage.get(id);
      const started = usage?.tokens ?? streamedTokens({});
      const model = usage?.model ?? '';
      const tokens = { ...started, output: event.usage.output_tokens };
      this.#usageByMessage.set(id, { model, tokens, isComplete: true });
      monitor.turnUsed?.(model, tokens);
      this.#isAnswerComplete = reason === 'end_turn';
      this.#turns.endStream(reason !== 'tool_use');
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
    if (this.#turns.addBlock(id)) this.#text = '';
    this.#model = model;
    for (const block of content) {
      if (block.type === 'text') this.#text += block.text;
      if (block.type === 'tool_use') this.#startToolCall(block.id, block.name, block.input);
    }
  }

  #startToolCall(id: string, toolName: string, input: unknown): void {
    this.#toolCalls.set(id, { name: toolName, input });
    this.#givenObject = toolName === outputTool ? { value: input } : undefined;
    if (toolName === outputTool) return;
    const { expected, monitor } = this.#options;
    const name = expected.tools.get(toolName) ?? toolName;
    monitor.listener?.toolStarted({ id, name, input });
  }

  #readToolResults({ message: { content } }: SDKUserMessage): void {
    if (typeof content === 'string') return;
    const hasTools = content.some(({ type }) => type === 'tool_result');
    if (hasTools) this.#turns.ranTools();
    else this.#resumed = this.#turns.askedForMore();
    // The program counts the turns of each prompt anew.
    if (this.#hasGoneOn && hasTools)
      this.#isBudgetSpent = this.#turns.steps >= this.#options.stepBudget;
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
      this.#givenObject = undefined;
      this.#object = isError ? undefined : { value: call.input };
      this.#refused = isError ? { value: call.input } : undefined;
      return;
    }
    const { expected, monitor } = this.#options;
    const ownName = expected.tools.get(call.name);
    monitor.listener?.toolEnded({ id, isError, text });
    if (isError && ownName !== undefined) monitor.toolFailed(ownName, id);
  }
}
