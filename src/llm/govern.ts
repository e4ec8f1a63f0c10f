import { messageOf, UserError } from '../lib/error.ts';
import type { AccountReport, BackendCall, ModelBackend, ProbeReport } from './backend.ts';
import { openCallWatch, type Watching } from './call-watch.ts';
import type { CallGate } from './call-gate.ts';
import type { LlmConfig } from './config.ts';
import { LlmError } from './error.ts';
import type {
  AgentRunnerPort,
  CallMetrics,
  KtxGenerateObjectInput,
  KtxGenerateTextInput,
  KtxLlmRuntimePort,
  KtxModelRole,
  KtxToolSet,
} from './runtime.ts';
import type { RunLoopParams, RunLoopResult } from './runtime.ts';
import type { Spending } from './spending.ts';
import { checkToolSet } from './tool-set.ts';
import type { CallRecord } from './usage.ts';

/** The port with what commands need around it. */
export interface LlmRuntime extends KtxLlmRuntimePort, AgentRunnerPort {
  readonly backend: string;
  /** Calls that may run at once. */
  readonly concurrency: number;
  /** One minimal paid call; throws where the backend or the model cannot be used. */
  probe(signal: AbortSignal, role?: KtxModelRole): Promise<ProbeReport>;
  /** Who pays, asked for free; undefined where that cannot be said. */
  account(signal: AbortSignal): Promise<AccountReport | undefined>;
  close(): Promise<void>;
}

export interface GovernOptions {
  readonly config: LlmConfig;
  readonly adapter: ModelBackend;
  readonly gate: CallGate;
  readonly spending: Spending;
  readonly run: string;
  readonly concurrency: number;
  readonly record: (record: CallRecord) => void;
  readonly warn: (message: string) => void;
}

/** A text or object call with tools may take this many turns. */
const turnsWithTools = 12;
/** An object takes a turn for the answer, one to end, and some to mend what the schema refused. */
const turnsOfObject = 6;
const probeSeconds = 60;

/** What holds for every backend alike: role to model, the gate, timeouts, budget, one retry after a reset, metrics, usage. */
export function govern(options: GovernOptions): LlmRuntime {
  const { adapter, config } = options;
  const backend = config.provider.backend;
  const runAgentLoop = (params: RunLoopParams) => loop(options, params);
  return {
    backend,
    concurrency: options.concurrency,
    generateText: (input) =>
      single(options, input, (call) => adapter.text({ ...call, stepBudget: hasTools(input.tools) ? turnsWithTools : 1 })),
    generateObject: <T>(input: KtxGenerateObjectInput<T>) =>
      single(options, input, (call) => {
        const stepBudget = turnsOfObject + (hasTools(input.tools) ? turnsWithTools : 0);
        return adapter.object<T>({ ...call, stepBudget, schema: input.schema });
      }),
    runAgentLoop,
    runLoop: runAgentLoop,
    probe: (signal, role = 'default') => {
      const limit = AbortSignal.timeout(probeSeconds * 1000);
      const both = AbortSignal.any([signal, limit]);
      return adapter.probe(modelOf(config, role), both).catch((error: unknown) => {
        if (limit.aborted) throw new LlmError('timeout', `${backend} did not answer within ${probeSeconds} s.`);
        throw error;
      });
    },
    account: (signal) => adapter.account(signal),
    close: () => adapter.close(),
  };
}

function hasTools(tools: KtxToolSet | undefined): boolean {
  return Object.keys(tools ?? {}).length > 0;
}

export function modelOf({ provider: { backend }, models }: LlmConfig, role: KtxModelRole): string {
  const model = models[role] ?? models.default;
  if (model !== undefined) return model;
  throw new UserError('llm_model_missing', `llm.models.default is missing; the backend ${backend} needs it.`, {
    hint: `ktx setup --llm-backend ${backend} --llm-model <model>`,
    exitCode: 2,
  });
}

async function single<T>(options: GovernOptions, input: KtxGenerateTextInput, run: (call: BackendCall) => Promise<T>): Promise<T> {
  const { role, prompt, system, tools = {}, temperature } = input;
  const attempt = (watching: Watching) =>
    run({ role, model: modelOf(options.config, role), prompt, system, tools: watching.timed(tools), temperature, tags: {}, watch: watching.watch }); // prettier-ignore
  const { value, failure } = await governed(options, { ...input, role, tools }, attempt);
  if (failure !== undefined) throw failure;
  return value as T;
}

async function loop(options: GovernOptions, params: RunLoopParams): Promise<RunLoopResult> {
  const { modelRole: role, systemPrompt: system, userPrompt: prompt, toolSet, stepBudget, telemetryTags: tags = {} } = params;
  const attempt = ({ watch, timed }: Watching) => {
    const call = { role, model: modelOf(options.config, role), prompt, system, tools: timed(toolSet), temperature: undefined, tags, watch };
    return options.adapter.loop({ ...call, stepBudget });
  };
  const outcome = await governed(options, { ...params, role, tools: toolSet }, attempt);
  const { metrics, toolFailures, failure, value } = outcome;
  if (failure !== undefined || value === undefined) return { stopReason: 'error', error: failure, text: '', metrics, toolFailures };
  return { ...value, metrics, toolFailures };
}

interface Governed {
  readonly role: KtxModelRole;
  readonly tools: KtxToolSet;
  readonly signal?: AbortSignal | undefined;
  readonly onMetrics?: ((metrics: CallMetrics) => void) | undefined;
  readonly stepBudget?: number;
  readonly onStepFinish?: RunLoopParams['onStepFinish'];
}

interface Ended<T> {
  readonly value?: T;
  readonly failure?: UserError;
  readonly metrics: CallMetrics;
  readonly toolFailures: Readonly<Record<string, number>>;
}

/** One call from the gate to its record. Only mistakes of the caller are thrown: an invalid tool set, a missing model. */
async function governed<T>(options: GovernOptions, call: Governed, attempt: (watching: Watching) => Promise<T>): Promise<Ended<T>> {
  const { config, gate, spending, run, warn } = options;
  checkToolSet(call.tools);
  const model = modelOf(config, call.role);
  const watching = openCallWatch({ ...call, timeouts: config.timeouts, gate, spending, warn });
  const end = (rest: Pick<Ended<T>, 'value' | 'failure'>): Ended<T> => {
    const metrics = watching.metrics();
    const outcome = rest.failure instanceof LlmError ? rest.failure.kind : (rest.failure?.code ?? 'ok');
    const record = { run, role: call.role, backend: config.provider.backend, model, outcome, metrics };
    // What was paid for is not lost with its bill.
    attempted(() => options.record(record), (reason) => warn(`What a call used could not be kept: ${reason}`)); // prettier-ignore
    attempted(() => call.onMetrics?.(metrics), (reason) => warn(`The metrics callback failed: ${reason}`)); // prettier-ignore
    return { ...rest, metrics, toolFailures: watching.toolFailures() };
  };
  try {
    return end({ value: await afterReset(watching, gate, () => admitted(gate, watching, attempt)) });
  } catch (error) {
    return end({ failure: watching.failure(error) });
  } finally {
    watching.close();
  }
}

function attempted(run: () => void, onFailure: (reason: string) => void): void {
  try {
    run();
  } catch (error) {
    onFailure(messageOf(error));
  }
}

async function admitted<T>(gate: CallGate, watching: Watching, attempt: (watching: Watching) => Promise<T>): Promise<T> {
  const leave = await gate.enter(watching.watch.signal);
  try {
    watching.start();
    watching.watch.signal.throwIfAborted();
    return await attempt(watching);
  } finally {
    watching.pause();
    leave();
  }
}

/** A call that met a limit before it did anything is made once more, after the reset. */
async function afterReset<T>(watching: Watching, gate: CallGate, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const failure = watching.failure(error);
    const isAgain = failure instanceof LlmError && failure.kind === 'rate_limit' && failure.resetsAt !== undefined && !watching.hasActed();
    if (!isAgain) throw failure;
    gate.report({ window: failure.window ?? 'requests', state: 'closed', resetsAt: failure.resetsAt });
    return run();
  }
}
