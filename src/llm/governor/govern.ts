import { openSession } from './agent-session.ts';
import type { AccountReport, BackendCall, ProbeReport } from '../port/backend.ts';
import type { Watching } from './call-watch.ts';
import { LlmError } from '../port/error.ts';
import { governed, modelOf, type GovernOptions } from './governed-call.ts';
import type {
  AgentRunnerPort,
  KtxGenerateObjectInput,
  KtxGenerateTextInput,
  KtxLlmRuntimePort,
  KtxModelRole,
  KtxToolSet,
} from '../port/runtime.ts';
import type { RunLoopParams, RunLoopResult } from '../port/runtime.ts';
import type { AgentSessionPort } from '../port/session.ts';

/** The port with what commands need around it. */
export interface LlmRuntime extends KtxLlmRuntimePort, AgentRunnerPort {
  readonly backend: string;
  readonly sessions: AgentSessionPort;
  /** Calls that may run at once. */
  readonly concurrency: number;
  /** One minimal paid call; throws where the backend or the model cannot be used. */
  probe(signal: AbortSignal, role?: KtxModelRole): Promise<ProbeReport>;
  /** Who pays, asked for free; undefined where that cannot be said. */
  account(signal: AbortSignal): Promise<AccountReport | undefined>;
  close(): Promise<void>;
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
      single(options, input, (call) =>
        adapter.text({ ...call, stepBudget: hasTools(input.tools) ? turnsWithTools : 1 }),
      ),
    generateObject: <T>(input: KtxGenerateObjectInput<T>) =>
      single(options, input, (call) => {
        const stepBudget = turnsOfObject + (hasTools(input.tools) ? turnsWithTools : 0);
        return adapter.object<T>({ ...call, stepBudget, schema: input.schema });
      }),
    runAgentLoop,
    runLoop: runAgentLoop,
    sessions: { open: (spec) => openSession(options, spec) },
    probe: (signal, role = 'default') => {
      const limit = AbortSignal.timeout(probeSeconds * 1000);
      const both = AbortSignal.any([signal, limit]);
      return adapter.probe(modelOf(config, role), both).catch((error: unknown) => {
        if (limit.aborted)
          throw new LlmError('timeout', `${backend} did not answer within ${probeSeconds} s.`);
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

async function single<T>(
  options: GovernOptions,
  input: KtxGenerateTextInput,
  run: (call: BackendCall) => Promise<T>,
): Promise<T> {
  const { role, prompt, system, tools = {}, temperature } = input;
  const attempt = (watching: Watching) =>
    run({
      role,
      model: modelOf(options.config, role),
      prompt,
      system,
      tools: watching.timed(tools),
      temperature,
      tags: {},
      watch: watching.watch,
    });
  const { value, failure } = await governed(options, { ...input, role, tools }, attempt);
  if (failure !== undefined) throw failure;
  return value as T;
}

async function loop(options: GovernOptions, params: RunLoopParams): Promise<RunLoopResult> {
  const {
    modelRole: role,
    systemPrompt: system,
    userPrompt: prompt,
    toolSet,
    stepBudget,
    telemetryTags: tags = {},
  } = params;
  const attempt = ({ watch, timed }: Watching) => {
    const call = {
      role,
      model: modelOf(options.config, role),
      prompt,
      system,
      tools: timed(toolSet),
      temperature: undefined,
      tags,
      watch,
    };
    return options.adapter.loop({ ...call, stepBudget });
  };
  const outcome = await governed(options, { ...params, role, tools: toolSet }, attempt);
  const { metrics, toolFailures, failure, value } = outcome;
  if (failure !== undefined || value === undefined)
    return { stopReason: 'error', error: failure, text: '', metrics, toolFailures };
  return { ...value, metrics, toolFailures };
}
