import { openChannel } from '../../lib/channel.ts';
import { checkSchema, problemText } from '../../lib/schema-check.ts';
import { untrustedBlock } from '../../lib/untrusted.ts';
import type { BackendSession, SessionTurn } from '../port/backend.ts';
import type { Watching } from './call-watch.ts';
import { LlmError } from '../port/error.ts';
import { governed, modelOf, type Ended, type GovernOptions } from './governed-call.ts';
import { readPrompt } from '../prompt.ts';
import { recordOf } from './history-prompt.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../port/runtime.ts';
import type {
  AgentEvent,
  AgentSession,
  AgentSessionSpec,
  PastTurn,
  StopReason,
  TurnResult,
} from '../port/session.ts';
import { bothOf, checkPrices, openSpending, type Spending } from './spending.ts';
import { TurnRecord } from './turn-record.ts';

interface State {
  readonly options: GovernOptions;
  readonly spec: AgentSessionSpec;
  readonly backend: BackendSession;
  readonly spending: Spending;
  readonly past: PastTurn[];
  /** What the backend has seen is not all of `past`. */
  isFresh: boolean;
  isStarted: boolean;
  model: string;
  current: Current | undefined;
}

interface Current {
  readonly record: TurnRecord;
  readonly watching: Watching;
}

interface Answered {
  readonly stopReason: 'budget' | 'natural';
  readonly text: string;
  readonly structured?: unknown;
}

/** A conversation on one backend, with everything that holds for all of them: limits, money, events, what is kept. */
export function openSession(options: GovernOptions, spec: AgentSessionSpec): AgentSession {
  const { backend } = options.config.provider;
  const { maxBudgetUsd: limit } = spec.limits;
  const model = spec.model?.name ?? modelOf(options.config, 'default');
  const money = { limit, key: 'limits.max_budget_usd', prices: options.config.prices };
  checkPrices(backend, [model], money);
  const spending = bothOf(options.spending, openSpending(money));
  const current = (): Current | undefined => state.current;
  const adapter = options.adapter.session({
    system: spec.system,
    tools: bound(spec.tools, current),
    effort: spec.model?.effort,
    schema: spec.answer?.json,
    budgetLeft: () => spending.left(),
  });
  const past = [...(spec.history ?? [])];
  const state: State = {
    options,
    spec,
    backend: adapter,
    spending,
    past,
    isFresh: true,
    isStarted: false,
    model,
    current: undefined,
  };
  return {
    id: spec.id,
    send: (message, { signal } = {}) => turnEvents(state, message, signal),
    close: () => adapter.reset(),
  };
}

/** The tools as the backend has them for the whole session; each call goes to the turn that is under way. */
function bound(tools: KtxToolSet, current: () => Current | undefined): KtxToolSet {
  const boundTool = (tool: KtxRuntimeToolDescriptor): KtxRuntimeToolDescriptor => ({
    ...tool,
    execute(input, call) {
      const { record, watching } = current() ?? {};
      if (record === undefined || watching === undefined || call === undefined)
        throw new Error('no turn is under way');
      const { signal } = watching.watch;
      const ask: NonNullable<typeof call.ask> = (request, answer) => {
        record.tell({ type: 'permission_request', id: call.id, ...request });
        return watching.asking(answer);
      };
      return watching.during(() => record.run(tool, input, { id: call.id, signal, ask }));
    },
  });
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, boundTool(tool)]));
}

async function* turnEvents(
  state: State,
  message: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<AgentEvent> {
  if (state.current !== undefined) throw new Error('a session takes one message at a time');
  const events = openChannel<AgentEvent>();
  const leaving = new AbortController();
  const stop = signal === undefined ? leaving.signal : AbortSignal.any([signal, leaving.signal]);
  const running = runTurn(state, {
    message,
    signal: stop,
    emit: (event) => events.push(event),
  }).finally(() => events.close());
  try {
    yield* events;
  } finally {
    leaving.abort();
    await running;
  }
}

interface Turn {
  readonly message: string;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

async function runTurn(state: State, { message, signal, emit }: Turn): Promise<void> {
  const { spec, options } = state;
  const record = new TurnRecord(emit, spec.answer !== undefined);
  if (!state.isStarted) {
    const { backend } = options.config.provider;
    record.tell({
      type: 'session_started',
      session: spec.id,
      backend,
      model: state.model,
      tools: Object.keys(spec.tools).sort(),
    });
  }
  state.isStarted = true;
  let ended = await attempted(state, record, { message, signal });
  const { fallback } = spec.model ?? {};
  if (
    fallback !== undefined &&
    fallback !== state.model &&
    isUnavailable(ended) &&
    record.firstTokenMs === undefined
  ) {
    record.tell({
      type: 'warning',
      message: `${state.model} cannot be had (${ended.failure?.message ?? ''}); going on with ${fallback}.`,
    });
    state.model = fallback;
    ended = await attempted(state, record, { message, signal });
  }
  const { value, failure, metrics } = ended;
  record.close();
  const stopReason = reasonOf(ended, record);
  // Where a turn did not come to its own end, nobody can say what the backend made of it: the next one goes by the record.
  if (value?.stopReason !== 'natural') await forget(state);
  else state.isFresh = false;
  const text = value?.text ?? record.text;
  const { toolCalls, evidence, denials, firstTokenMs, durationMs } = record;
  state.past.push({ message, text, toolCalls, stopReason });
  if (spec.answer !== undefined && value !== undefined) emit({ type: 'text_delta', text });
  for (const [model, usage] of Object.entries(metrics.usage))
    emit({ type: 'usage', model, ...usage });
  const result: TurnResult = {
    turn: state.past.length,
    text,
    ...(value?.structured !== undefined && { structured: value.structured }),
    toolCalls,
    evidence,
    denials,
    firstTokenMs,
    durationMs,
    stopReason,
    error: failure,
    usage: metrics.usage,
    costUsd: metrics.costUsd,
    costReason: metrics.costReason,
    steps: metrics.steps,
  };
  emit({ type: 'turn_end', result });
}

function isUnavailable({ failure }: Ended<unknown>): boolean {
  return (
    failure instanceof LlmError &&
    (failure.kind === 'model_unavailable' || failure.kind === 'overloaded')
  );
}

function reasonOf({ value, failure }: Ended<Answered>, record: TurnRecord): StopReason {
  if (value?.stopReason === 'budget') return 'max_turns';
  if (value !== undefined) return record.isDenied ? 'denied' : 'completed';
  if (failure?.code === 'llm_budget_spent') return 'budget';
  if (!(failure instanceof LlmError)) return 'error';
  return failure.kind === 'timeout'
    ? 'timeout'
    : failure.kind === 'aborted'
      ? 'interrupted'
      : 'error';
}

async function forget(state: State): Promise<void> {
  state.isFresh = true;
  await state.backend.reset();
}

/** The message from the gate to its answer; a second attempt after a limit starts from the record. */
function attempted(
  state: State,
  record: TurnRecord,
  { message, signal }: Omit<Turn, 'emit'>,
): Promise<Ended<Answered>> {
  const { spec, options, model, spending } = state;
  const { maxTurns: stepBudget, timeoutSeconds } = spec.limits;
  const warn = (text: string): void => record.tell({ type: 'warning', message: text });
  const config = { ...options.config, models: { ...options.config.models, default: model } };
  const timeouts = {
    ...config.timeouts,
    call_seconds: timeoutSeconds,
    callLimit: 'limits.timeout',
  };
  const call = {
    role: 'default',
    tools: spec.tools,
    signal,
    stepBudget,
    timeouts,
    hasShown: () => record.firstTokenMs !== undefined,
  } as const;
  return governed({ ...options, config, spending, warn }, call, async (watching) => {
    state.current = { record, watching };
    try {
      const limit: Watching['watch']['limit'] = (report) => {
        watching.watch.limit(report);
        if (report.state === 'closed')
          record.tell({
            type: 'rate_limit',
            window: report.window,
            resetsAt: report.resetsAt?.toISOString(),
          });
      };
      const watch = { ...watching.watch, limit, ear: record.ear() };
      return await answered(state, { model, message: sent(state, message), stepBudget, watch });
    } catch (error) {
      await forget(state);
      throw error;
    } finally {
      state.current = undefined;
    }
  });
}

/** The message, behind the record of what the backend has not seen. */
function sent({ isFresh, past }: State, message: string): string {
  if (!isFresh || past.length === 0) return message;
  return readPrompt('conversation-so-far', {
    record: untrustedBlock('conversation', recordOf(past)),
    message,
  });
}

const triesOfAnswer = 3;

async function answered({ spec, backend }: State, turn: SessionTurn): Promise<Answered> {
  const { answer } = spec;
  if (answer === undefined) return backend.turn(turn);
  let problem = '';
  for (let tries = 0; tries < triesOfAnswer; tries += 1) {
    const message =
      tries === 0
        ? turn.message
        : readPrompt('answer-refused', { reason: untrustedBlock('reason', problem) });
    const { stopReason, text, object } = await backend.turn({ ...turn, message });
    if (stopReason === 'budget') return { stopReason, text };
    const { data, problems } = checkSchema(answer.schema, object);
    if (problems === undefined) return { stopReason, text: JSON.stringify(data), structured: data };
    problem = problems.slice(0, 5).map(problemText).join('\n');
  }
  throw new LlmError(
    'invalid_output',
    `The answer does not fit response_format: ${problem.replaceAll('\n', '; ')}.`,
  );
}
