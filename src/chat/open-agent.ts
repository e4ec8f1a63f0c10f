import { durationMs } from '../lib/time/duration.ts';
import { newId } from '../lib/id.ts';
import { wrongCitations } from './grounding/names/wrong-citations.ts';
import type { QueryEvidence } from '../llm/port/tool-call.ts';
import type { BackendName } from '../llm/backends.ts';
import type { LlmConfig } from '../llm/config.ts';
import type { LlmRuntime } from '../llm/governor/govern.ts';
import { ignoredSettingsWarning } from '../llm/ignored-settings.ts';
import { noBackendError } from '../llm/no-backend.ts';
import type { AgentEvent, AgentSession, PastTurn, SendOptions } from '../llm/port/session.ts';
import type { Project } from '../project/open/open.ts';
import { agentLlmConfig } from '../project/agents/agent-llm.ts';
import { restrictProject } from './agent-project.ts';
import type { ReadSecret } from '../store/secrets.ts';
import { agentTools, type AgentTools } from './tools/agent-tools.ts';
import type { Agent } from '../project/agents/agent.ts';
import { openServers, type ExternalServers } from './mcp-client/servers.ts';
import { openPermissions, type PermissionPolicy, type Permissions } from './tools/permissions.ts';
import { systemPrompt } from './system-prompt.ts';
import { openTelemetry } from './telemetry/telemetry.ts';
import {
  openTranscript,
  readTranscript,
  type PastConversation,
  type Transcript,
} from './transcript.ts';

export interface OpenAgentOptions {
  readonly agent: Agent;
  readonly policy: PermissionPolicy;
  /** Id of the conversation to continue. */
  readonly resume?: string | undefined;
  /** False to keep no transcript, as tests and evals do. Default true. */
  readonly isKept?: boolean;
  readonly signal: AbortSignal;
}

/** An agent that is ready for its first message. */
export interface OpenAgent {
  readonly id: string;
  readonly about: AgentAbout;
  readonly permissions: Permissions;
  /** As `AgentSession.send`. */
  send(message: string, options?: SendOptions): AsyncIterable<AgentEvent>;
  /** Who pays. Costs nothing; undefined if the backend cannot tell. */
  payer(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What is known before the first turn. */
interface AgentAbout {
  readonly agent: string;
  readonly backend: BackendName;
  readonly model: string;
  readonly mode: PermissionPolicy['mode'];
  readonly tools: AgentTools['list'];
  readonly connections: readonly string[];
  /** The turns that this conversation continues. */
  readonly past: PastConversation['turns'];
  readonly warnings: readonly string[];
}

/**
 * Opens a conversation: checks the configuration and connects to all servers before a model is
 * asked. The caller closes the project.
 */
export async function openAgent(
  fullProject: Project,
  options: OpenAgentOptions,
): Promise<OpenAgent> {
  const { agent, policy, resume, signal } = options;
  const config = agentLlmConfig(fullProject.config.llm, agent);
  const project = restrictProject(fullProject, agent);
  const past =
    resume === undefined ? { turns: [], evidence: 0 } : await readTranscript(project.dir, resume);
  const secrets = await project.trust.requireAgent(agent);
  const runtime = await openRuntime(fullProject, config);
  const permissions = openPermissions(policy);
  const servers = await openServers(
    { projectDir: project.dir, servers: agent.mcp_servers, secrets },
    signal,
  );
  try {
    const parts = { project, config, past, runtime, permissions, servers, secrets };
    return await openConversation(parts, options);
  } catch (error) {
    await servers.close();
    throw error;
  }
}

async function openRuntime(project: Project, config: LlmConfig): Promise<LlmRuntime> {
  const isDefault = config === project.config.llm;
  const runtime = await (isDefault ? project.llm() : project.llmOf(config));
  if (runtime === undefined) throw noBackendError('An agent needs a model');
  return runtime;
}

interface ConversationParts {
  /** Restricted to what the agent may see. */
  readonly project: Project;
  readonly config: LlmConfig;
  readonly past: PastConversation;
  readonly runtime: LlmRuntime;
  readonly permissions: Permissions;
  readonly servers: ExternalServers;
  readonly secrets: ReadSecret;
}

async function openConversation(
  parts: ConversationParts,
  { agent, policy, resume, isKept = true }: OpenAgentOptions,
): Promise<OpenAgent> {
  const { project, config, past, runtime, permissions, servers } = parts;
  const id = resume ?? newId('chat');
  const tools = agentTools({
    project,
    agent,
    permissions,
    external: servers.tools,
    firstEvidence: past.evidence,
  });
  const session = await openAgentSession(parts, { agent, id, tools });
  const ignored = ignoredSettingsWarning(config, agent.model.effort);
  const about: AgentAbout = {
    agent: agent.name,
    backend: config.provider.backend,
    model: config.models.default ?? '',
    mode: policy.mode,
    tools: tools.list,
    connections: project.warehouses,
    past: past.turns,
    warnings: ignored === undefined ? servers.warnings : [...servers.warnings, ignored],
  };
  const transcript = isKept ? openTranscript(project.dir, id) : undefined;
  const telemetry = openTelemetry({
    config: project.config.telemetry,
    secrets: parts.secrets,
    conversation: id,
    agent: agent.name,
    backend: about.backend,
  });
  return {
    id,
    permissions,
    about,
    send(message, options = {}) {
      const turn = { session, tools, transcript, about };
      return telemetry.watch({ message, model: about.model }, (heard) =>
        sendAndKeep(turn, message, { ...options, ...heard }),
      );
    },
    payer: async (signal) => (await runtime.account(signal))?.source,
    async close() {
      await session.close();
      await Promise.all([servers.close(), telemetry.close()]);
    },
  };
}

async function openAgentSession(
  { project, config, past, runtime }: ConversationParts,
  { agent, id, tools }: { readonly agent: Agent; readonly id: string; readonly tools: AgentTools },
): Promise<AgentSession> {
  const { model, limits, answer } = agent;
  // An answer may cite the queries of earlier turns.
  const kept: QueryEvidence[] = [];
  return runtime.sessions.open({
    id,
    stage: 'chat',
    system: await systemPrompt(project, agent),
    tools: tools.set,
    limits: {
      maxTurns: limits.max_turns,
      timeoutSeconds: durationMs(limits.timeout) / 1000,
      maxBudgetUsd: limits.max_budget_usd,
    },
    model: { name: config.models.default, effort: model.effort, fallback: model.fallback },
    answer,
    check: ({ text, message, evidence }) => {
      const earlier = past.turns.map((turn) => turn.message).join('\n');
      const rows = [...past.turns.flatMap((turn) => turn.evidence), ...kept, ...evidence];
      kept.push(...evidence.filter((query) => !kept.includes(query)));
      return wrongCitations(text, `${earlier}\n${message}`, rows);
    },
    history: config.send_rows === 'on' ? past.turns : past.turns.map(withoutAnswers),
  });
}

/** A turn as a model may see it that must see no rows. */
function withoutAnswers(turn: PastTurn): PastTurn {
  const answer = 'The answer stays on this machine (llm.send_rows: off).';
  const toolCalls = turn.toolCalls.map((call) => ({ ...call, answer, values: undefined }));
  return { ...turn, toolCalls };
}

interface KeptTurn {
  readonly session: AgentSession;
  readonly tools: AgentTools;
  readonly transcript: Transcript | undefined;
  readonly about: AgentAbout;
}

/** Sends a message. The turn is on disk before its `turn_end` is yielded. */
async function* sendAndKeep(
  { session, tools, transcript, about }: KeptTurn,
  message: string,
  options: SendOptions,
): AsyncGenerator<AgentEvent> {
  tools.begin();
  const { agent, backend, model } = about;
  for await (const event of session.send(message, options)) {
    if (event.type === 'turn_end') {
      const turn = { agent, backend, model, message, result: event.result };
      const failure = await transcript?.keep(turn);
      if (failure !== undefined)
        yield { type: 'warning', message: `This turn could not be saved: ${failure}` };
    }
    yield event;
  }
}
