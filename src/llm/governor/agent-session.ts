import { openChannel } from '../../lib/channel.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import { modelIdForRole } from '../config.ts';
import type { BackendSession, CallMonitor } from '../port/backend.ts';
import { isContextTooLong, LlmError } from '../port/error.ts';
import type {
  AgentEvent,
  AgentSession,
  AgentSessionSpec,
  PastTurn,
  SendOptions,
  StopReason,
  TurnResult,
} from '../port/session.ts';
import type { KtxToolSet } from '../port/runtime.ts';
import { readPrompt } from '../prompt.ts';
import type { ActiveCall } from './active-call.ts';
import { askChecked, askForAnswer, type SessionAnswer } from './answers/formatted-answer.ts';
import { addMetrics } from './call-meter.ts';
import { historyLimits, writeHistoryPrompt } from './history-prompt.ts';
import { openCallRecord, recordAnswers, type RecordValues } from './record-values.ts';
import { runCall, type CallOutcome, type GovernorContext } from './run-call.ts';
import { bindTools, type ActiveTurn } from './session-tools.ts';
import { checkPrices, combineSpending, openSpending, type Spending } from './spending.ts';
import { TurnRecorder } from './turn-recorder.ts';

/** Opens a conversation. Limits, money, events and history work the same on every backend. */
export function openSession(context: GovernorContext, spec: AgentSessionSpec): AgentSession {
  return new GovernedSession(context, spec);
}

interface SessionMessage {
  readonly message: string;
  readonly signal: AbortSignal;
  readonly onCall: SendOptions['onCall'];
  /** Steps of earlier attempts at this message. */
  readonly stepsUsed?: number;
}

/** How often a message is sent if the conversation does not fit the context of the model. */
const mostAttempts = 6;

class GovernedSession implements AgentSession {
  readonly id: string;
  readonly #context: GovernorContext;
  readonly #spec: AgentSessionSpec;
  readonly #spending: Spending;
  readonly #backendSession: BackendSession;
  readonly #past: PastTurn[];
  #model: string;
  /**
   * False if the backend has not seen all of `#past`; the next message brings the history along.
   */
  #backendKnowsPast = false;
  /** How much of the history fits the context of the model: an index of `historyLimits`. */
  #historyLimit = 0;
  #isStarted = false;
  #isBusy = false;
  #activeTurn: ActiveTurn | undefined;
  readonly #record: RecordValues;

  constructor(context: GovernorContext, spec: AgentSessionSpec) {
    const { config, modelBackend } = context;
    const limit = {
      limit: spec.limits.maxBudgetUsd,
      key: 'limits.max_budget_usd',
      prices: config.prices,
    };
    this.id = spec.id;
    this.#context = context;
    this.#spec = spec;
    this.#past = [...(spec.history ?? [])];
    this.#model = spec.model?.name ?? modelIdForRole(config, 'default');
    checkPrices(config.provider.backend, [this.#model], limit);
    this.#spending = combineSpending(context.spending, openSpending(limit));
    this.#record = openCallRecord(context, { stage: spec.stage, model: () => this.#model });
    this.#backendSession = modelBackend.session({
      system: spec.system,
      tools: bindTools(recordAnswers(spec.tools, this.#record), () => this.#activeTurn),
      effort: spec.model?.effort,
      schema: spec.answer?.json,
      budgetLeft: () => this.#spending.left(),
    });
  }

  async *send(message: string, { signal, onCall }: SendOptions = {}): AsyncGenerator<AgentEvent> {
    if (this.#isBusy) throw new Error('a session takes one message at a time');
    this.#isBusy = true;
    const events = openChannel<AgentEvent>();
    const leaving = new AbortController();
    const stop = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
    const running = this.#runTurn({ message, signal: stop, onCall }, (event) =>
      events.push(event),
    ).finally(() => events.close());
    try {
      yield* events;
    } finally {
      leaving.abort();
      await running.finally(() => (this.#isBusy = false));
    }
  }

  close(): Promise<void> {
    return this.#backendSession.reset();
  }

  async #runTurn(request: SessionMessage, emit: (event: AgentEvent) => void): Promise<void> {
    const hasFormat = this.#spec.answer !== undefined;
    const recorder = new TurnRecorder(emit, hasFormat);
    this.#announceStart(recorder);
    const outcome = await this.#attemptInContext(recorder, request);
    recorder.close();
    // If a turn was cut short, the backend's memory of it is unknown: go on from the history.
    const { value } = outcome;
    if (value?.stopReason === 'natural' && value.isForgotten !== true)
      this.#backendKnowsPast = true;
    else await this.#resetBackend();
    const { message } = request;
    const text = outcome.value?.text ?? recorder.text;
    const stopReason = turnStopReason(outcome, recorder);
    this.#past.push({ message, text, toolCalls: recorder.toolCalls, stopReason });
    if (hasFormat && outcome.value !== undefined) emit({ type: 'text_delta', text });
    for (const [model, usage] of Object.entries(outcome.metrics.usage))
      emit({ type: 'usage', model, ...usage });
    const turn = this.#past.length;
    const result = { ...turnResult(outcome, recorder), turn, text, stopReason };
    emit({ type: 'turn_end', result });
  }

  #announceStart(recorder: TurnRecorder): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    recorder.emit({
      type: 'session_started',
      session: this.id,
      backend: this.#context.config.provider.backend,
      model: this.#model,
      tools: Object.keys(this.#spec.tools).sort(),
    });
  }

  /**
   * If the conversation does not fit the context of the model, tells it again with shorter answers
   * of tools, those of this turn included. What was called is not called again.
   */
  async #attemptInContext(
    recorder: TurnRecorder,
    request: SessionMessage,
  ): Promise<CallOutcome<SessionAnswer>> {
    let hasNews = this.#backendKnowsPast;
    let callsTold = 0;
    let outcome = await this.#attemptWithFallback(recorder, request);
    for (
      let attempt = 1;
      attempt < mostAttempts && isContextTooLong(outcome.failure);
      attempt += 1
    ) {
      const { length: calls } = recorder.toolCalls;
      const stepsUsed = outcome.metrics.steps;
      if (this.#past.length + calls === 0 || stepsUsed >= this.#spec.limits.maxTurns) break;
      // If the last attempt was told all that there is, only less of it can help.
      hasNews ||= calls > callsTold;
      if (!hasNews && this.#historyLimit === historyLimits.length - 1) break;
      if (!hasNews) this.#historyLimit += 1;
      hasNews = false;
      callsTold = calls;
      recorder.startAgain();
      const again = await this.#attemptWithFallback(recorder, { ...request, stepsUsed });
      outcome = { ...again, metrics: addMetrics(outcome.metrics, again.metrics) };
    }
    return outcome;
  }

  async #attemptWithFallback(
    recorder: TurnRecorder,
    request: SessionMessage,
  ): Promise<CallOutcome<SessionAnswer>> {
    const outcome = await this.#attempt(recorder, request);
    const fallback = this.#spec.model?.fallback;
    if (fallback === undefined || fallback === this.#model) return outcome;
    if (!isModelUnavailable(outcome) || recorder.hasShown) return outcome;
    const reason = outcome.failure?.message ?? '';
    recorder.emit({
      type: 'warning',
      message: `${this.#model} is not available (${reason}); using ${fallback} instead.`,
    });
    this.#model = fallback;
    return this.#attempt(recorder, request);
  }

  /** One governed call with the current model. */
  #attempt(
    recorder: TurnRecorder,
    { message, signal, onCall, stepsUsed = 0 }: SessionMessage,
  ): Promise<CallOutcome<SessionAnswer>> {
    const { config } = this.#context;
    const { tools, limits, answer, check } = this.#spec;
    const model = this.#model;
    const stepBudget = limits.maxTurns - stepsUsed;
    const context = {
      ...this.#context,
      config: { ...config, models: { ...config.models, default: model } },
      spending: this.#spending,
      warn: (text: string): void => recorder.emit({ type: 'warning', message: text }),
    };
    const request = {
      role: 'default',
      stage: this.#spec.stage,
      tools,
      signal,
      onCall,
      promptLength: message.length + this.#spec.system.length,
      stepBudget,
      timeouts: {
        ...config.timeouts,
        call_seconds: limits.timeoutSeconds,
        callLimit: 'limits.timeout',
      },
      recordPrompt: () => this.#recordHistory(recorder),
    } as const;
    return runCall(context, request, async (call) => {
      this.#activeTurn = { recorder, call };
      try {
        const monitor = sessionMonitor(call, recorder, tools);
        const turn = { model, message: this.#withHistory(message, recorder), stepBudget, monitor };
        if (check === undefined || answer !== undefined)
          return await askForAnswer(this.#backendSession, turn, answer);
        return await askChecked(this.#backendSession, turn, {
          check: (text) => check({ text, message, evidence: recorder.evidence }),
          warn: context.warn,
          stepsUsed: () => call.meter.metrics().steps,
          isEnded: () => signal.aborted,
        });
      } catch (error) {
        await this.#resetBackend();
        throw error;
      } finally {
        this.#activeTurn = undefined;
      }
    });
  }

  /** Records the values of the turns that `#withHistory` adds to the message. */
  #recordHistory(turn: TurnRecorder): void {
    if (this.#backendKnowsPast) return;
    const toolCalls = [...this.#past, turn].flatMap((told) => told.toolCalls);
    for (const { name, values } of toolCalls) this.#record(values, name);
  }

  /**
   * The message, preceded by the turns that the backend has not seen, and by what this turn has
   * done before.
   */
  #withHistory(message: string, { text, toolCalls }: TurnRecorder): string {
    if (this.#backendKnowsPast) return message;
    const begun: readonly PastTurn[] =
      toolCalls.length === 0 ? [] : [{ message, text, toolCalls, stopReason: 'interrupted' }];
    const past = [...this.#past, ...begun];
    if (past.length === 0) return message;
    const history = writeHistoryPrompt(past, historyLimits[this.#historyLimit]);
    const record = untrustedBlock('conversation', history);
    const prompt = begun.length === 0 ? 'conversation-so-far' : 'turn-goes-on';
    return readPrompt(prompt, { record, message });
  }

  async #resetBackend(): Promise<void> {
    this.#backendKnowsPast = false;
    await this.#backendSession.reset();
  }
}

/**
 * The call's monitor, which also emits events for reached limits and for what the model streams.
 */
function sessionMonitor(
  { monitor }: ActiveCall,
  recorder: TurnRecorder,
  tools: KtxToolSet,
): CallMonitor {
  const listener = recorder.listener();
  return {
    ...monitor,
    listener: {
      ...listener,
      // The tool itself reports its input with the defaults of its schema. Either may come first.
      toolStarted(call) {
        const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : undefined;
        const { data: input = call.input } = tool?.inputSchema.safeParse(call.input) ?? {};
        listener.toolStarted({ ...call, input });
      },
    },
    limitReported(report) {
      monitor.limitReported(report);
      const { window, state, resetsAt } = report;
      if (state === 'closed')
        recorder.emit({ type: 'rate_limit', window, resetsAt: resetsAt?.toISOString() });
    },
  };
}

function isModelUnavailable({ failure }: CallOutcome<unknown>): boolean {
  if (!(failure instanceof LlmError)) return false;
  return failure.kind === 'model_unavailable' || failure.kind === 'overloaded';
}

function turnStopReason(
  { value, failure }: CallOutcome<SessionAnswer>,
  recorder: TurnRecorder,
): StopReason {
  if (value?.stopReason === 'budget') return 'max_turns';
  if (value !== undefined) return recorder.isDenied ? 'denied' : 'completed';
  if (failure?.code === 'llm_budget_spent') return 'budget';
  if (!(failure instanceof LlmError)) return 'error';
  if (failure.kind === 'timeout') return 'timeout';
  return failure.kind === 'aborted' ? 'interrupted' : 'error';
}

function turnResult(
  { value, failure, metrics }: CallOutcome<SessionAnswer>,
  recorder: TurnRecorder,
): Omit<TurnResult, 'turn' | 'text' | 'stopReason'> {
  const { toolCalls, evidence, denials, firstTokenMs, durationMs, isShortened } = recorder;
  const { usage, costUsd, costReason, steps } = metrics;
  return {
    ...(value?.structured !== undefined && { structured: value.structured }),
    toolCalls,
    evidence,
    denials,
    firstTokenMs,
    durationMs,
    ...(isShortened && { shortened: true }),
    error: failure,
    usage,
    costUsd,
    costReason,
    steps,
  };
}
