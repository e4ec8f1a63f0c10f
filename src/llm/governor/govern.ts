import { modelIdForRole } from '../config.ts';
import type { AccountReport, BackendCall, ProbeReport } from '../port/backend.ts';
import { LlmError } from '../port/error.ts';
import type {
  AgentRunnerPort,
  KtxGenerateObjectInput,
  KtxGenerateTextInput,
  KtxLlmRuntimePort,
  KtxModelRole,
  KtxToolSet,
  RunLoopParams,
  RunLoopResult,
} from '../port/runtime.ts';
import type { AgentSessionPort } from '../port/session.ts';
import type { ActiveCall } from './active-call.ts';
import { openSession } from './agent-session.ts';
import { askForObject } from './answers/object-answer.ts';
import { openCallRecord, recordAnswers } from './record-values.ts';
import { runCall, type GovernorContext } from './run-call.ts';

/** The runtime port, and what commands need beside it. */
export interface LlmRuntime extends KtxLlmRuntimePort, AgentRunnerPort {
  readonly backend: string;
  readonly sessions: AgentSessionPort;
  /** Maximum number of calls at once. */
  readonly concurrency: number;
  /** Makes one minimal paid call. Throws if the backend or the model cannot be used. */
  probe(signal: AbortSignal, role?: KtxModelRole): Promise<ProbeReport>;
  /**
   * Who pays. Costs nothing; undefined if the backend cannot tell. `role` is the one that is probed
   * next, if one is.
   */
  account(signal: AbortSignal, role?: KtxModelRole): Promise<AccountReport | undefined>;
  close(): Promise<void>;
}

/** Turns of a text or object call that has tools. */
const turnsWithTools = 12;
/** Turns of an object call without tools: each answer is a call of its own. */
const turnsForObject = 1;
const probeSeconds = 60;
/** `llm.timeouts` is for calls of a run, not for a check. */
export const slowProbeHint =
  'Run the command again. If it happens again, the network, the provider or this machine is too slow.';
const accountSeconds = 45;

/**
 * Wraps a backend with what all backends have in common: models by role, the gate, timeouts, the
 * budget, retries, metrics and usage.
 */
export function govern(context: GovernorContext): LlmRuntime {
  const { modelBackend, config, concurrency } = context;
  const runLoop = (params: RunLoopParams) => runAgentLoop(context, params);
  return {
    backend: config.provider.backend,
    concurrency,
    generateText(input) {
      const stepBudget = hasTools(input.tools) ? turnsWithTools : 1;
      return generate(context, input, (call) => modelBackend.text({ ...call, stepBudget }));
    },
    generateObject<T>(input: KtxGenerateObjectInput<T>) {
      const stepBudget = turnsForObject + (hasTools(input.tools) ? turnsWithTools : 0);
      const { schema } = input;
      return generate(context, input, (call) =>
        askForObject(schema, call.prompt, (prompt) =>
          modelBackend.object({ ...call, prompt, stepBudget, schema }),
        ),
      );
    },
    runAgentLoop: runLoop,
    runLoop,
    sessions: { open: (spec) => openSession(context, spec) },
    probe: (signal, role = 'default') => probe(context, role, signal),
    account: (signal, role = 'default') => account(context, role, signal),
    close: () => modelBackend.close(),
  };
}

async function generate<T>(
  context: GovernorContext,
  input: KtxGenerateTextInput,
  ask: (call: BackendCall) => Promise<T>,
): Promise<T> {
  const { role, prompt, system, tools = {}, temperature, values, stage } = input;
  const model = modelIdForRole(context.config, role);
  const record = openCallRecord(context, { stage, model: () => model });
  const attempt = (call: ActiveCall): Promise<T> =>
    ask({
      role,
      model,
      prompt,
      system,
      tools: recordAnswers(call.timedTools(tools), record),
      temperature,
      tags: {},
      monitor: call.monitor,
      budgetLeft: () => context.spending.left(),
    });
  const promptLength = prompt.length + (system ?? '').length;
  const request = { ...input, role, tools, promptLength, recordPrompt: () => record(values) };
  const { value, failure } = await runCall(context, request, attempt);
  if (failure !== undefined) throw failure;
  return value as T;
}

async function runAgentLoop(
  context: GovernorContext,
  params: RunLoopParams,
): Promise<RunLoopResult> {
  const { modelRole: role, toolSet: tools, stepBudget, telemetryTags: tags = {}, values } = params;
  const model = modelIdForRole(context.config, role);
  const record = openCallRecord(context, { stage: tags['stage'], model: () => model });
  const attempt = (call: ActiveCall) =>
    context.modelBackend.loop({
      role,
      model,
      prompt: params.userPrompt,
      system: params.systemPrompt,
      tools: recordAnswers(call.timedTools(tools), record),
      temperature: undefined,
      tags,
      monitor: call.monitor,
      budgetLeft: () => context.spending.left(),
      stepBudget,
    });
  const { stage } = tags;
  const promptLength = params.userPrompt.length + params.systemPrompt.length;
  const recordPrompt = (): void => record(values);
  const request = { ...params, role, stage, tools, promptLength, recordPrompt };
  const outcome = await runCall(context, request, attempt);
  const { metrics, toolFailures, failure, value } = outcome;
  if (failure !== undefined || value === undefined)
    return { stopReason: 'error', error: failure, text: '', metrics, toolFailures };
  return { ...value, metrics, toolFailures };
}

async function probe(
  { modelBackend, config }: GovernorContext,
  role: KtxModelRole,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const timeout = AbortSignal.timeout(probeSeconds * 1000);
  try {
    return await modelBackend.probe(
      modelIdForRole(config, role),
      AbortSignal.any([signal, timeout]),
    );
  } catch (error) {
    if (!timeout.aborted) throw error;
    const { backend } = config.provider;
    const message = `${backend} did not answer within ${probeSeconds} s.`;
    throw new LlmError('timeout', message, { hint: slowProbeHint });
  }
}

/** Bounded, because a program that hangs would keep every command waiting. */
async function account(
  { modelBackend, config }: GovernorContext,
  role: KtxModelRole,
  signal: AbortSignal,
): Promise<AccountReport | undefined> {
  const timeout = AbortSignal.timeout(accountSeconds * 1000);
  try {
    return await modelBackend.account(
      AbortSignal.any([signal, timeout]),
      modelIdForRole(config, role),
    );
  } catch (error) {
    if (!timeout.aborted) throw error;
    const { backend } = config.provider;
    const message = `${backend} did not say within ${accountSeconds} s which account it uses.`;
    throw new LlmError('timeout', message, { hint: 'To see what is there, run: ktx doctor' });
  }
}

function hasTools(tools: KtxToolSet | undefined): boolean {
  return Object.keys(tools ?? {}).length > 0;
}
