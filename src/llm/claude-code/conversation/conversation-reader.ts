import type {
  SDKAPIRetryMessage,
  SDKAssistantMessage,
  SDKMessage,
  SDKPartialAssistantMessage,
  SDKResultMessage,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { callWithoutTool, unfinishedAnswer } from '../../faults/stop-reasons.ts';
import type { CallMonitor } from '../../port/backend.ts';
import { isTransient, LlmError } from '../../port/error.ts';
import type { AccountPolicy } from '../account-policy.ts';
import { checkInit, type ExpectedInit } from '../isolation.ts';
import type { AnswerGate } from './answer-gate.ts';
import { asksAfterObject } from './asks-after-object.ts';
import { exceededWindow, limitsFromEvent } from './limits.ts';
import { MessageUsage } from './message-usage.ts';
import {
  announcedFailure,
  brokenAnswer,
  classifyResult,
  isRequestFailure,
  noResultError,
  type ResultFacts,
} from './outcome.ts';
import { completeFacts, type ConversationResult, resultFacts } from './result-facts.ts';
import type { UsageTotals } from './token-usage.ts';
import { ToolCalls } from './tool-calls.ts';
import { toolResultText } from './tool-result-text.ts';
import { trackedBlock, TurnTracker } from './turn-tracker.ts';

export interface ReadOptions {
  readonly expected: ExpectedInit;
  readonly policy: AccountPolicy;
  readonly stepBudget: number;
  readonly monitor: CallMonitor;
  /** Holds the tools of the child back until their answer is whole. */
  readonly gate: AnswerGate;
  /** What the child had used before this prompt: its results count from its start. */
  readonly totalsBefore?: UsageTotals | undefined;
  /** True if the child gets another prompt later, so that its output has to be read to the end. */
  readonly readsToEnd?: boolean;
}

/**
 * The program reports at once what it makes of an answer that broke off, or waits before it asks
 * again.
 */
const brokenPatienceMs = 200;

/** Reads the messages of one conversation, and knows at any time how it stands. */
export class ConversationReader {
  readonly #options: ReadOptions;
  readonly #usage = new MessageUsage();
  readonly #turns: TurnTracker;
  readonly #tools: ToolCalls;
  /** Release of the program; set by the `init` message. */
  #version: readonly number[] | undefined;
  #result: SDKResultMessage | undefined;
  #text = '';
  #model: string | undefined;
  #error: string | undefined;
  #limit: ResultFacts['limit'];
  /** The request that has to be sent again. */
  #failure: LlmError | undefined;
  /** The answer ended before it was complete. */
  #unfinished: LlmError | undefined;
  /** The program has announced a request, and nothing has come of it yet. */
  #isRequesting = false;
  /** The request that is under way is counted. */
  #isCounted = false;
  /** The program was told to stop: only its result counts. */
  #isDraining = false;
  /** The provider failed after it had said why its answer ends. */
  #hasLateFailure = false;
  /** Turns that are whole and have to be reported. */
  #finishedTurns: (() => void)[] = [];
  #hasGoneOn = false;
  #isBudgetSpent = false;
  /** True once a turn has ended that asks for nothing more. */
  #isAnswerComplete = false;
  /** The model has answered with nothing. The program would ask it for more. */
  #isEmptyAnswer = false;

  constructor(options: ReadOptions) {
    const { monitor, gate } = options;
    this.#options = options;
    this.#tools = new ToolCalls(options.expected, monitor);
    this.#turns = new TurnTracker((isLast) => {
      this.#tools.start();
      gate.pass(this.#turns.calls);
      if (!this.#isOverBudget()) this.#finishedTurns.push(() => monitor.stepFinished(isLast));
    });
  }

  readMessage(message: SDKMessage): void {
    const { expected, policy } = this.#options;
    if (this.#isDraining) {
      if (message.type === 'result') this.#result = message;
      return;
    }
    if (message.type === 'system') {
      if (message.subtype === 'init') {
        checkInit(message, expected, policy);
        this.#version = message.claude_code_version.split('.').map(Number);
      } else if (message.subtype === 'api_retry') this.#readRetry(message);
      else if (message.subtype === 'status')
        this.#isRequesting = message.status === 'requesting' && !this.#isCounted;
    } else if (message.type === 'rate_limit_event') this.#readLimit(message.rate_limit_info);
    else if (this.#version !== undefined) this.#readAnswer(message);
    else if (message.type === 'assistant' || message.type === 'result') {
      throw new LlmError('isolation', 'Claude Code answered before it reported its configuration.');
    }
  }

  isOver(): boolean {
    const { readsToEnd = false } = this.#options;
    const canStopAtObject =
      !readsToEnd && this.#tools.accepted !== undefined && asksAfterObject(this.#version);
    return (
      canStopAtObject ||
      this.hasResult ||
      this.#failure !== undefined ||
      this.isAtWork ||
      this.#isBudgetSpent ||
      this.#isOverBudget()
    );
  }

  get hasResult(): boolean {
    return this.#result !== undefined;
  }

  /** True if the program is about to ask for more than the answer that counts. */
  get isAtWork(): boolean {
    return this.#unfinished !== undefined || this.#isEmptyAnswer;
  }

  /** True once a turn was whole: the call cannot be made again then. */
  get hasActed(): boolean {
    return this.#turns.steps > 0 || this.#tools.hasStarted;
  }

  /** True if the program has ended although the model has more to do. */
  get isCutShort(): boolean {
    if (this.#hasLateFailure && this.hasResult) return !this.#hasAnswer;
    const { steps, hasBroken } = this.#turns;
    const isSpent = this.#result?.subtype === 'error_max_turns';
    return isSpent && hasBroken && steps < this.#options.stepBudget;
  }

  /** How long to wait for what the program makes of a broken answer; undefined without a limit. */
  get patienceMs(): number | undefined {
    // After an error of its own, the program ends.
    const isUndecided = this.#turns.isBroken && this.#error === undefined && !this.#isDraining;
    return isUndecided && this.#failure === undefined ? brokenPatienceMs : undefined;
  }

  /** The calls of a broken answer, if the program waits for one of them. */
  get heldCalls(): readonly string[] {
    return this.#turns.isBroken && !this.hasResult ? [...this.#turns.calls] : [];
  }

  /** The program says nothing about the broken answer: it waits to ask again. */
  giveUpBroken(): void {
    this.#failure = brokenAnswer();
  }

  /** What reports the turns that are whole now. It may end the call, so their tools run before. */
  takeFinishedTurns(): readonly (() => void)[] {
    return this.#finishedTurns.splice(0);
  }

  /** The program is told to stop. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why the last request failed, if the reason passes. */
  requestFailure(): LlmError | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#result === undefined || this.#tools.accepted !== undefined) return undefined;
    if (this.#hasLateFailure) return undefined;
    const facts = resultFacts(this.#result, this.#error, this.#limit);
    const outcome = classifyResult(facts, this.#options.policy);
    const failure = outcome.kind === 'failed' ? outcome.failure : undefined;
    return failure instanceof LlmError && isTransient(failure) ? failure : undefined;
  }

  /** The failed request is sent again. */
  goOn(): void {
    this.#failure = undefined;
    this.#result = undefined;
    this.#error = undefined;
    this.#limit = undefined;
    this.#isCounted = false;
    this.#isDraining = false;
    this.#hasLateFailure = false;
    this.#hasGoneOn = true;
    this.#turns.forget();
  }

  reportUsage(): void {
    const { monitor, totalsBefore } = this.#options;
    // It was sent, and nobody waited for its answer.
    if (this.#isRequesting && !this.hasResult) this.#countRequest(true);
    this.#usage.report(monitor, this.#result?.modelUsage, totalsBefore);
  }

  result(): ConversationResult {
    if (this.#unfinished !== undefined) throw this.#unfinished;
    const state = this.state();
    const isEnded = this.#isBudgetSpent || this.#isOverBudget() || state.isAnswered;
    if (state.facts === undefined && state.object === undefined && !isEnded)
      throw noResultError(this.#version !== undefined);
    return state;
  }

  /** What is known so far. */
  state(): ConversationResult {
    const result = this.#result;
    const facts = result && this.#readFacts(result);
    const finalObject = result?.subtype === 'success' ? result.structured_output : undefined;
    const { accepted, refused } = this.#tools;
    const checked = finalObject === undefined ? accepted : { value: finalObject };
    const object = checked ?? (this.#isEndedEarly ? this.#tools.given : undefined);
    return {
      facts,
      isAnswered: this.#isEmptyAnswer,
      text: this.#text,
      model: this.#model,
      object: object ?? refused,
      totals: result?.modelUsage,
      version: this.#version,
    };
  }

  #readFacts(result: SDKResultMessage): ResultFacts {
    const facts = resultFacts(result, this.#error, this.#limit);
    return this.#isEndedEarly && this.#hasAnswer ? completeFacts(facts, this.#text) : facts;
  }

  /** The program ended after an answer without using it. */
  get #isEndedEarly(): boolean {
    return this.#result?.subtype === 'error_max_budget_usd' || this.#hasLateFailure;
  }

  /** True if the last turn is the whole answer, or has the object that was asked for. */
  get #hasAnswer(): boolean {
    const { accepted, given } = this.#tools;
    return this.#isAnswerComplete || (accepted ?? given) !== undefined;
  }

  /** A second lock: Claude Code enforces the budget itself. */
  #isOverBudget(): boolean {
    return this.#turns.begun > this.#options.stepBudget;
  }

  #readLimit(info: unknown): void {
    const reports = limitsFromEvent(info);
    reports.forEach((report) => this.#options.monitor.limitReported(report));
    this.#limit = exceededWindow(reports) ?? this.#limit;
  }

  #countRequest(isAnswering = false): void {
    this.#options.monitor.requestSent(isAnswering);
    this.#isCounted = true;
    this.#isRequesting = false;
  }

  /** The program would send the request again by itself. */
  #readRetry(retry: SDKAPIRetryMessage): void {
    if (!this.#isCounted) this.#countRequest();
    this.#turns.stopStream();
    this.#failure = announcedFailure(retry, this.#limit, this.#options.policy);
  }

  #readResult(result: SDKResultMessage): void {
    this.#result = result;
    this.#turns.stopStream();
    if (result.subtype === 'error_max_budget_usd') this.#takeBackObject();
    // A request that failed without an answer was sent all the same.
    const isSent = isRequestFailure(resultFacts(result, this.#error, this.#limit));
    if (isSent && !this.#isCounted && !this.#hasLateFailure) this.#countRequest();
  }

  /**
   * The program stops reading the answer that spends its money as soon as the object is whole. Its
   * totals have the cost.
   */
  #takeBackObject(): void {
    if (!this.#turns.isBroken || !this.#tools.takeBackObject()) return;
    this.#usage.countedInTotals(this.#turns.streamingId);
    this.#turns.takeBack();
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
    const { listener } = this.#options.monitor;
    if (event.type === 'message_start') {
      const { id, model, usage } = event.message;
      this.#countRequest(true);
      this.#options.monitor.answerBegan();
      this.#turns.startStream(id);
      this.#tools.drop();
      this.#usage.start(id, model, usage);
    } else if (event.type === 'message_delta') {
      const { stop_reason: reason } = event.delta;
      if (reason !== null) this.#endAnswer(reason, event.usage.output_tokens);
    } else if (event.type === 'message_stop') this.#stopAnswer();
    else if (event.type === 'content_block_delta') {
      const { delta } = event;
      if (delta.type === 'text_delta') listener?.text(delta.text);
      if (delta.type === 'thinking_delta') listener?.thinking(delta.thinking);
    }
  }

  /** The provider said why the answer ends. */
  #endAnswer(reason: string, output: number): void {
    const { monitor } = this.#options;
    const { model, tokens } = this.#usage.end(this.#turns.streamingId, output);
    monitor.turnUsed?.(model, tokens);
    // The program would ask the model to go on, in the same full context or with a limit as short.
    this.#unfinished = unfinishedAnswer(reason);
    if (reason === 'tool_use' && this.#turns.calls.size === 0) {
      this.#turns.stopStream();
      this.#failure = callWithoutTool();
      return;
    }
    this.#isCounted = false;
    this.#isAnswerComplete = reason === 'end_turn';
    this.#isEmptyAnswer = this.#unfinished === undefined && this.#turns.isEmpty;
    this.#turns.endStream(reason !== 'tool_use');
  }

  /** No more of the answer comes. */
  #stopAnswer(): void {
    if (!this.#turns.stopStream()) return;
    this.#tools.drop();
    // The program asks at once for the rest of a text. It is asked for the whole answer instead.
    if (this.#turns.hasText && this.#turns.calls.size === 0) this.#failure ??= brokenAnswer();
  }

  /** The program sends one message for each block of a turn. All have the id of the turn. */
  #readTurn({ message, error }: SDKAssistantMessage): void {
    const { id, model, content } = message;
    this.#error = error;
    if (error !== undefined) return this.#readError(toolResultText(content));
    for (const block of content)
      if (block.type === 'tool_use')
        this.#tools.add({ id: block.id, name: block.name, input: block.input });
    // Without a stream, nothing has told of the request.
    if (this.#turns.streamingId !== id) {
      this.#countRequest(true);
      this.#usage.start(id, model, message.usage);
      this.#usage.end(id, message.usage.output_tokens);
    }
    if (this.#turns.addBlocks(id, content.map(trackedBlock))) this.#text = '';
    this.#model = model;
    for (const block of content) if (block.type === 'text') this.#text += block.text;
  }

  /** What the program says about a request that failed. */
  #readError(words: string): void {
    const { calls, isBroken, isEnding } = this.#turns;
    if (isEnding) this.#hasLateFailure = true;
    // The program goes on with the tools of the broken answer.
    else if (isBroken && calls.size > 0) this.#failure = brokenAnswer(words);
    // It ends, once these tools have.
    else if (this.#turns.stopStream()) this.#options.gate.refuse(calls);
  }

  #readToolResults({ message: { content } }: SDKUserMessage): void {
    if (typeof content === 'string') return;
    const hasTools = content.some(({ type }) => type === 'tool_result');
    // Older releases do not report the end of a broken answer before they ask for the rest.
    if (!hasTools) this.#stopAnswer();
    // The program counts the turns of each prompt anew.
    if (this.#hasGoneOn && hasTools)
      this.#isBudgetSpent = this.#turns.steps >= this.#options.stepBudget;
    for (const block of content) {
      if (block.type !== 'tool_result') continue;
      const { tool_use_id: id, is_error: isError = false } = block;
      this.#tools.end(id, { isError, text: toolResultText(block.content) });
    }
  }
}
