import { isStepCount, streamText } from 'ai';
import type { LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import { errorMessage } from '../../lib/error.ts';
import type { BackendCall, SessionListener } from '../port/backend.ts';
import { answerEnds, unfinishedAnswer } from '../faults/stop-reasons.ts';
import { LlmError } from '../port/error.ts';
import { roleSettings, type Effort } from '../port/roles.ts';
import type { TokenUsage } from '../port/runtime.ts';
import { toLlmError } from './failure.ts';
import { modelForCall, type AiSdkContext } from './request.ts';
import { toSdkTools, type AskRepair } from './tools.ts';

interface StreamOptions {
  readonly stepBudget: number;
  /** JSON Schema, if the answer has to be an object. */
  readonly schema?: object;
  readonly maxOutputTokens?: number;
  /** True if an answer that was cut off is good enough, as for a probe. */
  readonly acceptsCutAnswer?: boolean;
  /** The messages before the prompt. */
  readonly history?: readonly ModelMessage[];
  /** Overrides the effort of the role. */
  readonly effort?: Effort | undefined;
}

export interface StreamedAnswer {
  /** Text of the last turn. */
  readonly text: string;
  /** Full id of the model that answered. */
  readonly model: string;
  readonly stopReason: 'budget' | 'natural';
  /** The messages of this answer, to continue the conversation with. */
  readonly messages: () => Promise<readonly ModelMessage[]>;
}

type StreamPart = TextStreamPart<ToolSet>;
type StepEnd = Extract<StreamPart, { type: 'finish-step' }>;

interface StreamProgress {
  text: string;
  steps: number;
  /**
   * Answers that have begun, and those whose usage is known: one less if the last one broke off.
   */
  begun: number;
  used: number;
  lastStep: StepEnd | undefined;
  failure: unknown;
}

/** Streams one call to its end. Throws an `LlmError`, except when the step budget runs out. */
export async function streamCall(
  context: AiSdkContext,
  call: BackendCall,
  options: StreamOptions,
): Promise<StreamedAnswer> {
  const { signal } = call.monitor;
  const progress: StreamProgress = {
    text: '',
    steps: 0,
    begun: 0,
    used: 0,
    lastStep: undefined,
    failure: undefined,
  };
  let started: Awaited<ReturnType<typeof startStream>> | undefined;
  try {
    started = await startStream(context, call, { ...options, progress });
    for await (const part of started.stream) readPart(part, call, progress);
  } catch (error) {
    progress.failure ??= error;
  }
  const { text, steps, lastStep } = progress;
  if (progress.begun > progress.used)
    call.monitor.addUsage(call.model, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, null);
  // A complete answer counts, whatever happens after it.
  const isDone = lastStep !== undefined && lastStep.finishReason !== 'tool-calls';
  const hasFailed = signal.aborted ? !isDone : progress.failure !== undefined;
  if (hasFailed) throw toLlmError(progress.failure, signal, context.secrets);
  if (lastStep === undefined) throw new LlmError('network', 'The answer ended before it began.');
  const isBudgetSpent = !isDone && steps >= options.stepBudget;
  const incomplete = isBudgetSpent || options.acceptsCutAnswer ? undefined : unfinished(lastStep);
  if (incomplete !== undefined) throw incomplete;
  return {
    text,
    model: lastStep.response.modelId,
    stopReason: isBudgetSpent ? 'budget' : 'natural',
    messages: async () => (await started?.responseMessages) ?? [],
  };
}

async function startStream(
  context: AiSdkContext,
  call: BackendCall,
  options: StreamOptions & { readonly progress: StreamProgress },
) {
  const { stepBudget, schema, maxOutputTokens, history } = options;
  const { thinking, effort: roleEffort } = roleSettings[call.role];
  const { effort = roleEffort } = options;
  const model = await modelForCall(context, call, schema);
  return streamText({
    model,
    ...(call.system !== undefined && { instructions: call.system }),
    ...(history === undefined
      ? { prompt: call.prompt }
      : { messages: [...history, { role: 'user', content: call.prompt }] }),
    ...toSdkTools(call.tools, repairAsker(context, call)),
    stopWhen: [isStepCount(stepBudget), ({ steps }) => isUnfinished(steps.at(-1))],
    // The SDK omits it for models that refuse it, as most do while they think.
    temperature: call.temperature ?? 0,
    reasoning: thinking ? effort : 'none',
    abortSignal: call.monitor.signal,
    ...(context.provider.options && { providerOptions: context.provider.options }),
    maxOutputTokens,
    // The governor decides about each request (`request.ts`).
    maxRetries: 0,
    // Prompts and answers hold rows of the warehouse, so they stay out of traces.
    telemetry: {
      functionId: `ktx.${call.role}`,
      recordInputs: false,
      recordOutputs: false,
      includeRuntimeContext: Object.fromEntries(Object.keys(call.tags).map((tag) => [tag, true])),
    },
    runtimeContext: { ...call.tags },
    onError: () => undefined,
    // Before the tools of the turn run: one of them may never return.
    onLanguageModelCallEnd: ({ finishReason, modelId, usage, providerMetadata }) => {
      if (finishReason === 'interrupted') return;
      addTurnUsage({ modelId, usage, providerMetadata }, call, options.progress);
    },
  });
}

type TurnUsage = Pick<StepEnd, 'usage' | 'providerMetadata'> & { readonly modelId: string };

function addTurnUsage(turn: TurnUsage, { monitor }: BackendCall, progress: StreamProgress): void {
  progress.used += 1;
  monitor.addUsage(turn.modelId, tokenUsage(turn.usage), reportedCost(turn));
}

/** Adds one part of the stream to the progress and reports it to the monitor. */
function readPart(part: StreamPart, call: BackendCall, progress: StreamProgress): void {
  const { monitor, tools } = call;
  monitor.heartbeat();
  if (part.type === 'start-step') {
    progress.text = '';
    progress.begun += 1;
    warnIfTemperatureOmitted(part, call);
  }
  if (part.type === 'text-delta') progress.text += part.text;
  if (monitor.listener !== undefined) forwardPart(part, monitor.listener);
  if (part.type === 'error')
    progress.failure ??= part.error ?? new Error('The provider ended the answer with an error.');
  if (part.type === 'tool-error' && Object.hasOwn(tools, part.toolName))
    monitor.toolFailed(part.toolName, part.toolCallId);
  if (part.type === 'finish-step') finishStep(part, call, progress);
}

function finishStep(step: StepEnd, call: BackendCall, progress: StreamProgress): void {
  const { monitor } = call;
  const { modelId } = step.response;
  if (progress.used <= progress.steps) addTurnUsage({ ...step, modelId }, call, progress);
  progress.lastStep = step;
  progress.steps += 1;
  if (progress.failure === undefined && !monitor.signal.aborted)
    monitor.stepFinished(step.finishReason !== 'tool-calls');
}

function warnIfTemperatureOmitted(
  { warnings }: Extract<StreamPart, { type: 'start-step' }>,
  { monitor, model, temperature }: BackendCall,
): void {
  const isOmitted = warnings.some(
    (warning) => warning.type === 'unsupported' && warning.feature === 'temperature',
  );
  if (isOmitted && temperature !== undefined)
    monitor.warn(`${model} does not take a temperature here. It is left out.`);
}

/**
 * Calls of tools, those included that no tool of the session ran: refused ones, and tools that do
 * not exist.
 */
function forwardPart(part: StreamPart, listener: SessionListener): void {
  if (part.type === 'tool-call')
    listener.toolStarted({ id: part.toolCallId, name: part.toolName, input: part.input });
  if (part.type === 'tool-result')
    listener.toolEnded({ id: part.toolCallId, isError: false, text: String(part.output) });
  if (part.type === 'tool-error')
    listener.toolEnded({ id: part.toolCallId, isError: true, text: errorMessage(part.error) });
}

/**
 * The repair belongs to the turn that it repairs: it is not a step of its own, but its cost counts.
 */
function repairAsker(context: AiSdkContext, call: BackendCall): AskRepair {
  return async (prompt, schema) => {
    const repairCall = {
      ...call,
      role: 'repair',
      model: context.repairModel,
      prompt,
      system: undefined,
      tools: {},
      temperature: 0,
      monitor: { ...call.monitor, stepFinished: () => undefined },
    } as const;
    try {
      const { text } = await streamCall(context, repairCall, { stepBudget: 1, schema });
      return JSON.parse(text);
    } catch {
      // The tool then refuses the input and tells the model why.
      return undefined;
    }
  };
}

type FinishReasons = Pick<StepEnd, 'finishReason' | 'rawFinishReason'>;

/** Why the answer is not complete, by the provider's word for it, else by that of the SDK. */
function unfinished({ finishReason, rawFinishReason: raw }: FinishReasons): LlmError | undefined {
  const isKnown = raw !== undefined && Object.hasOwn(answerEnds, raw);
  return unfinishedAnswer(isKnown || finishReason === 'other' ? (raw ?? '') : finishReason);
}

function isUnfinished(end: FinishReasons | undefined): boolean {
  return end !== undefined && unfinished(end) !== undefined;
}

function tokenUsage({
  inputTokens = 0,
  outputTokens = 0,
  inputTokenDetails: details,
}: LanguageModelUsage): TokenUsage {
  const { cacheReadTokens: cacheRead = 0, cacheWriteTokens: cacheWrite = 0 } = details;
  return {
    input: details.noCacheTokens ?? Math.max(0, inputTokens - cacheRead - cacheWrite),
    output: outputTokens,
    cacheRead,
    cacheWrite,
  };
}

/** US dollars. The gateway reports the cost of a request as text. */
function reportedCost({ providerMetadata }: Pick<StepEnd, 'providerMetadata'>): number | undefined {
  const cost = providerMetadata?.['gateway']?.['cost'];
  if (cost === undefined || cost === null || cost === '') return undefined;
  return Number.isFinite(Number(cost)) ? Number(cost) : undefined;
}
