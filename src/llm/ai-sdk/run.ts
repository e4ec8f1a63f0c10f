import { isStepCount, streamText } from 'ai';
import type { FinishReason, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import { errorMessage } from '../../lib/error.ts';
import type { BackendCall, SessionEar } from '../port/backend.ts';
import { LlmError, type LlmErrorKind } from '../port/error.ts';
import { roleSettings, type Effort } from '../port/roles.ts';
import type { TokenUsage } from '../port/runtime.ts';
import { llmError } from './failure.ts';
import { watchedModel, type Session } from './request.ts';
import { sdkTools, type AskRepair } from './tools.ts';

interface RunOptions {
  readonly stepBudget: number;
  /** JSON Schema of the object that is wanted in place of text. */
  readonly schema?: object;
  readonly maxOutputTokens?: number;
  readonly maxRetries?: number;
  /** Takes an answer that was cut off for one that ended. */
  readonly isProbe?: boolean;
  /** What was said before the prompt. */
  readonly history?: readonly ModelMessage[];
  /** In place of that of the role. */
  readonly effort?: Effort | undefined;
}

export interface Answer {
  /** Of the last turn. */
  readonly text: string;
  /** Full id of the model that answered. */
  readonly model: string;
  readonly stopReason: 'budget' | 'natural';
  /** What came of it, for whoever goes on. */
  readonly messages: () => Promise<readonly ModelMessage[]>;
}

type Part = TextStreamPart<ToolSet>;
type StepEnd = Extract<Part, { type: 'finish-step' }>;

/** What has come of a run so far. */
interface Progress {
  text: string;
  steps: number;
  /** Answers that have begun; one more than `steps` where the last broke off. */
  begun: number;
  end: StepEnd | undefined;
  failure: unknown;
}

/** One call from its first request to its end, streamed; throws an `LlmError` for everything but a spent step budget. */
export async function run(
  session: Session,
  call: BackendCall,
  options: RunOptions,
): Promise<Answer> {
  const progress: Progress = { text: '', steps: 0, begun: 0, end: undefined, failure: undefined };
  const { signal } = call.watch;
  let started: Awaited<ReturnType<typeof start>> | undefined;
  try {
    started = await start(session, call, options);
    for await (const part of started.stream) follow(part, call, progress);
  } catch (error) {
    progress.failure ??= error;
  }
  const { text, steps, end } = progress;
  if (progress.begun > steps)
    call.watch.used(call.model, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, null);
  // An answer that is complete stays one, whatever happened after it.
  const isDone = end !== undefined && end.finishReason !== 'tool-calls';
  if (signal.aborted ? !isDone : progress.failure !== undefined)
    throw llmError(progress.failure, signal, session.secrets);
  if (end === undefined) throw new LlmError('network', 'The answer ended before it began.');
  const isSpent = !isDone && steps >= options.stepBudget;
  if (!isSpent && !options.isProbe) checkEnd(end);
  const messages = async () => (await started?.responseMessages) ?? [];
  return {
    text,
    model: end.response.modelId,
    stopReason: isSpent ? 'budget' : 'natural',
    messages,
  };
}

/** Takes one part of the stream into the progress, and tells the watch. */
function follow(
  part: Part,
  { watch, tools, model, temperature }: BackendCall,
  progress: Progress,
): void {
  watch.alive();
  if (part.type === 'start-step') {
    progress.text = '';
    progress.begun += 1;
    const isLeftOut = part.warnings.some(
      (warning) => warning.type === 'unsupported' && warning.feature === 'temperature',
    );
    if (isLeftOut && temperature !== undefined)
      watch.warn(`${model} does not take a temperature here; it is left out.`);
  }
  if (part.type === 'text-delta') progress.text += part.text;
  if (watch.ear !== undefined) hear(part, watch.ear);
  if (part.type === 'error')
    progress.failure ??= part.error ?? new Error('The provider ended the answer with an error.');
  if (part.type === 'tool-error' && Object.hasOwn(tools, part.toolName))
    watch.toolFailed(part.toolName, part.toolCallId);
  if (part.type !== 'finish-step') return;
  watch.used(part.response.modelId, usageOf(part.usage), costOf(part));
  progress.end = part;
  progress.steps += 1;
  if (progress.failure === undefined && !watch.signal.aborted) watch.step();
}

/** Calls that ran are told by the tools themselves; these are the others too: refused, or of a tool that is not there. */
function hear(part: Part, ear: SessionEar): void {
  if (part.type === 'text-delta') ear.text(part.text);
  if (part.type === 'reasoning-delta') ear.thinking(part.text);
  if (part.type === 'tool-call')
    ear.toolStarted({ id: part.toolCallId, name: part.toolName, input: part.input });
  if (part.type === 'tool-result')
    ear.toolEnded({ id: part.toolCallId, isError: false, text: String(part.output) });
  if (part.type === 'tool-error')
    ear.toolEnded({ id: part.toolCallId, isError: true, text: errorMessage(part.error) });
}

async function start(session: Session, call: BackendCall, options: RunOptions) {
  const { stepBudget, schema, maxOutputTokens, maxRetries, history } = options;
  const { thinking, effort: usual } = roleSettings[call.role];
  const { effort = usual } = options;
  const model = await watchedModel(session, call, schema);
  return streamText({
    model,
    ...(call.system !== undefined && { instructions: call.system }),
    ...(history === undefined
      ? { prompt: call.prompt }
      : { messages: [...history, { role: 'user', content: call.prompt }] }),
    ...sdkTools(call.tools, askRepair(session, call)),
    stopWhen: isStepCount(stepBudget),
    // The SDK leaves it out where the model refuses it, as most do while they think.
    temperature: call.temperature ?? 0,
    reasoning: thinking ? effort : 'none',
    abortSignal: call.watch.signal,
    ...(session.provider.options && { providerOptions: session.provider.options }),
    maxOutputTokens,
    maxRetries,
    // What was asked and answered stays out of traces: it holds rows of the warehouse.
    telemetry: {
      functionId: `ktx.${call.role}`,
      recordInputs: false,
      recordOutputs: false,
      includeRuntimeContext: allOf(call.tags),
    },
    runtimeContext: { ...call.tags },
    onError: () => undefined,
  });
}

const allOf = (tags: BackendCall['tags']) =>
  Object.fromEntries(Object.keys(tags).map((key) => [key, true]));

/** The repair belongs to the turn that it repairs, so it is no step; what it costs counts. */
function askRepair(session: Session, call: BackendCall): AskRepair {
  return async (prompt, schema) => {
    const [model, watch] = [session.repairModel, { ...call.watch, step: () => undefined }];
    const repair = {
      ...call,
      role: 'repair',
      model,
      prompt,
      system: undefined,
      tools: {},
      temperature: 0,
      watch,
    } as const;
    try {
      return JSON.parse((await run(session, repair, { stepBudget: 1, schema })).text);
    } catch {
      // Then the tool refuses the input, and the model that made it sees why.
      return undefined;
    }
  };
}

/** Throws where a turn did not come to its own end. */
function checkEnd({ finishReason, rawFinishReason: raw }: StepEnd): void {
  const failures: Partial<Record<FinishReason, readonly [LlmErrorKind, string]>> = {
    length: [
      'execution',
      'The answer was cut off at the most tokens that the model may write at once.',
    ],
    'content-filter': ['execution', 'The model refused to answer.'],
    interrupted: ['network', 'The connection ended in the middle of the answer.'],
    error: ['overloaded', 'The provider ended the answer with an error.'],
    other: [
      raw === undefined ? 'network' : 'execution',
      `The answer ended early (${raw ?? 'no reason given'}).`,
    ],
  };
  const isFull = raw === 'model_context_window_exceeded';
  const failure = isFull
    ? (['context_too_long', 'The answer ran into the end of the context.'] as const)
    : failures[finishReason];
  if (failure !== undefined) throw new LlmError(...failure);
}

function usageOf({
  inputTokens = 0,
  outputTokens = 0,
  inputTokenDetails: details,
}: LanguageModelUsage): TokenUsage {
  const [cacheRead, cacheWrite] = [details.cacheReadTokens ?? 0, details.cacheWriteTokens ?? 0];
  return {
    input: details.noCacheTokens ?? Math.max(0, inputTokens - cacheRead - cacheWrite),
    output: outputTokens,
    cacheRead,
    cacheWrite,
  };
}

/** The gateway tells what a request cost, in US dollars, as text. */
function costOf({ providerMetadata }: StepEnd): number | undefined {
  const cost = providerMetadata?.['gateway']?.['cost'];
  return cost === undefined || cost === null || cost === '' || !Number.isFinite(Number(cost))
    ? undefined
    : Number(cost);
}
