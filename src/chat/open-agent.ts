import { newId } from '../lib/id.ts';
import { checkSchema, problemText } from '../lib/schema-check.ts';
import { UserError } from '../lib/error.ts';
import { ignoredSettingsWarning } from '../llm/ignored-settings.ts';
import { llmConfigSchema, type LlmConfig } from '../llm/config.ts';
import { noBackendError } from '../llm/no-backend.ts';
import { defaultModel } from '../llm/presets.ts';
import type { LlmRuntime } from '../llm/governor/govern.ts';
import type { AgentEvent, AgentSession } from '../llm/port/session.ts';
import type { Project } from '../project/open/open.ts';
import type { Agent } from './agent.ts';
import { agentProject } from './agent-project.ts';
import { agentTools, type AgentTools } from './agent-tools.ts';
import { openServers } from './mcp-servers.ts';
import { openPermissions, type PermissionPolicy, type Permissions } from './permissions.ts';
import { systemPrompt } from './system-prompt.ts';
import { openTelemetry } from './telemetry.ts';
import { openTranscript, readTranscript, type Past, type Transcript } from './transcript.ts';

export interface OpenAgentOptions {
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  /** Id of the conversation to go on from. */
  readonly resume?: string | undefined;
  /** False where nothing is to be kept of it: tests and evals. Default true. */
  readonly isKept?: boolean;
  readonly signal: AbortSignal;
}

/** An agent that is ready to be asked. */
export interface OpenAgent {
  readonly id: string;
  readonly about: AgentAbout;
  readonly permissions: Permissions;
  /** As `AgentSession.send`. */
  send(
    message: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<AgentEvent>;
  /** Who pays, asked for free; undefined where that cannot be said. */
  payer(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What is known before the first turn. */
interface AgentAbout {
  readonly agent: string;
  readonly backend: string;
  readonly model: string;
  readonly mode: PermissionPolicy['mode'];
  readonly tools: AgentTools['list'];
  readonly connections: readonly string[];
  /** Turns that it goes on from. */
  readonly past: Past['turns'];
  readonly warnings: readonly string[];
}

/** Everything that a conversation needs, checked and connected before anything is asked. The caller closes the project. */
export async function openAgent(whole: Project, options: OpenAgentOptions): Promise<OpenAgent> {
  const { agent, policy, resume, isKept = true, signal } = options;
  const config = agentLlm(whole.config.llm, agent);
  const project = agentProject(whole, agent);
  const past =
    resume === undefined ? { turns: [], evidence: 0 } : await readTranscript(project.dir, resume);
  const runtime = await runtimeOf(whole, config);
  const permissions = openPermissions(policy);
  const servers = await openServers(
    { projectDir: project.dir, servers: agent.mcp_servers },
    signal,
  );
  try {
    const tools = agentTools({
      project,
      agent,
      permissions,
      external: servers.tools,
      firstEvidence: past.evidence,
    });
    const id = resume ?? newId('chat');
    const { model, limits, answer } = agent;
    const session = runtime.sessions.open({
      id,
      system: await systemPrompt(project, agent),
      tools: tools.set,
      limits: {
        maxTurns: limits.max_turns,
        timeoutSeconds: secondsOf(limits.timeout),
        maxBudgetUsd: limits.max_budget_usd,
      },
      model: { name: config.models.default, effort: model.effort, fallback: model.fallback },
      answer,
      history: past.turns,
    });
    const about = {
      agent: agent.name,
      backend: config.provider.backend,
      model: config.models.default ?? '',
    };
    const transcript = isKept ? openTranscript(project.dir, id) : undefined;
    const ignored = ignoredSettingsWarning(config, model.effort);
    const spans = {
      config: whole.config.telemetry,
      projectDir: project.dir,
      conversation: id,
      agent: agent.name,
      backend: about.backend,
    };
    const telemetry = openTelemetry(spans);
    return {
      id,
      permissions,
      about: {
        ...about,
        mode: policy.mode,
        tools: tools.list,
        connections: project.warehouses,
        past: past.turns,
        warnings: [...servers.warnings, ...(ignored === undefined ? [] : [ignored])],
      },
      send: (message, { signal: stop } = {}) =>
        telemetry.watch(kept({ session, tools, transcript, about }, message, stop), {
          message,
          model: about.model,
        }),
      payer: async (stop) => (await runtime.account(stop))?.source,
      async close() {
        await session.close();
        await Promise.all([servers.close(), telemetry.close()]);
      },
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}

interface Keeping {
  readonly session: AgentSession;
  readonly tools: AgentTools;
  readonly transcript: Transcript | undefined;
  readonly about: Pick<AgentAbout, 'agent' | 'backend' | 'model'>;
}

/** The events of one turn; it is on the disk before its end is told. */
async function* kept(
  { session, tools, transcript, about }: Keeping,
  message: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<AgentEvent> {
  tools.begin();
  for await (const event of session.send(message, { signal })) {
    if (event.type === 'turn_end') {
      const failure = await transcript?.keep({ ...about, message, result: event.result });
      if (failure !== undefined)
        yield { type: 'warning', message: `This turn could not be kept for later: ${failure}` };
    }
    yield event;
  }
}

async function runtimeOf(project: Project, config: LlmConfig): Promise<LlmRuntime> {
  const runtime = await (config === project.config.llm ? project.llm() : project.llmOf(config));
  if (runtime === undefined) throw noBackendError('Asking takes a model');
  return runtime;
}

/** The configuration of `ktx.yaml` with what the agent's file says otherwise. */
function agentLlm(llm: LlmConfig, { name: agent, model }: Agent): LlmConfig {
  const { inherit, backend = llm.provider.backend, name, auth } = model;
  if (
    inherit === true ||
    (backend === llm.provider.backend && name === undefined && auth === undefined)
  )
    return llm;
  const isOther = backend !== llm.provider.backend;
  const fallback = isOther ? defaultModel(backend) : llm.models.default;
  const provider = {
    ...llm.provider,
    backend,
    auth: auth ?? (isOther ? undefined : llm.provider.auth),
  };
  const wanted = {
    ...llm,
    provider,
    models: { ...(isOther ? {} : llm.models), default: name ?? fallback },
  };
  const { data, problems } = checkSchema(llmConfigSchema, wanted);
  if (problems === undefined) return data;
  const hint = 'correct model of the agent, or llm of ktx.yaml';
  throw new UserError(
    'agent_invalid',
    `agents/${agent}.yaml, with llm of ktx.yaml: ${problems.map(problemText).join('; ')}.`,
    {
      hint,
      exitCode: 2,
    },
  );
}

const unitSeconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

function secondsOf(duration: string): number {
  const [, count, unit = 's'] = /^([\d.]+)\s*(\w+)$/.exec(duration) ?? [];
  return Number(count) * (unitSeconds[unit] ?? 1);
}
