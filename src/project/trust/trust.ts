import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import { configHome } from './config-home.ts';
import { readEnvFile } from './env-file.ts';
import { openSecrets, type ReadSecret, type SecretSources } from '../../store/secrets.ts';
import { agentLlmConfig } from '../agents/agent-llm.ts';
import { agentNames, loadAgent, type Agent } from '../agents/agent.ts';
import { findConnection, type ProjectConfig } from '../open/config.ts';
import { openApprovals, type Approval } from './approvals.ts';
import {
  connectionGrant,
  embeddingsGrant,
  gitHostGrant,
  llmGrant,
  type LlmReach,
  queryLogsGrant,
  serveGrant,
  serverGrants,
  telemetryGrant,
} from './entry-grants.ts';
import type { Grant } from './grant.ts';
import { trustRequired } from './trust-required.ts';

/** Everything that a project would do on this machine, and what of it a person has approved. */
export interface TrustReport {
  readonly dir: string;
  /** The value of KTX_TRUST that approves exactly this list. */
  readonly hash: string;
  readonly isApproved: boolean;
  readonly grants: readonly (Grant & { readonly isApproved: boolean })[];
  /** Approved once, and not in the project any more. */
  readonly removed: readonly Approval[];
}

/** Shows the report to a person. True if the person approves it. */
export type AskForTrust = (report: TrustReport) => Promise<boolean>;

export interface TrustOptions {
  readonly dir: string;
  readonly config: ProjectConfig;
  readonly env: HostEnvironment;
  /** `--trust` or KTX_TRUST. */
  readonly hash?: string | undefined;
  /** Set if a person can answer. */
  readonly ask?: AskForTrust | undefined;
  /** True if the caller handed in a model runtime: the configured one is never opened. */
  readonly hasRuntime?: boolean;
}

/** Checks grants against what a person has approved. */
interface ApprovalCheck {
  report(): Promise<TrustReport>;
  approve(shown: TrustReport): Promise<void>;
  isApproved(grants: readonly Grant[]): Promise<boolean>;
  /** Asks a person, if one can answer and was not asked yet. */
  askOnce(): Promise<void>;
  /** Throws `trust_required` unless all are approved. */
  requireAll(grants: readonly Grant[]): Promise<void>;
}

function openApprovalCheck(
  { dir, env, hash, ask }: TrustOptions,
  listGrants: () => Promise<readonly Grant[]>,
): ApprovalCheck {
  const report = async (): Promise<TrustReport> => {
    // Before the list: what another process adds and approves meanwhile is not taken for removed.
    const approvals = openApprovals(dir, env);
    const approved = { ids: approvals.ids(), list: approvals.list() };
    return reportTrust(dir, await listGrants(), approved);
  };
  const approve = async (shown: TrustReport): Promise<void> => {
    const approvals = openApprovals(dir, env);
    await approvals.add(shown.grants);
    // Not everything else: another process may have approved more meanwhile.
    approvals.remove(shown.removed.map(({ id }) => id));
  };
  let isDeclined = false;
  const askPerson = async (): Promise<void> => {
    const shown = await report();
    if (shown.isApproved) return;
    if ((await ask?.(shown)) === true) await approve(shown);
    else isDeclined = ask !== undefined;
  };
  let asking: Promise<void> | undefined;
  const askOnce = async (): Promise<void> => {
    if (ask !== undefined) await (asking ??= askPerson());
  };
  const missing = (grants: readonly Grant[]): readonly Grant[] => {
    const approved = openApprovals(dir, env).ids();
    return grants.filter(({ id }) => !approved.has(id));
  };
  /** What the given hash approves; nothing if it is not the hash of the list. */
  let listed: ReadonlySet<string> | undefined;
  const isApprovedByHash = async (grants: readonly Grant[]): Promise<boolean> => {
    if (hash === undefined) return false;
    const isListed = ({ id }: Grant) => listed?.has(id) === true;
    if (!grants.every(isListed)) {
      // An agent's file may have changed since.
      const all = await listGrants();
      listed = new Set(hashOfGrants(all) === hash ? all.map(({ id }) => id) : []);
    }
    return grants.every(isListed);
  };
  const isApproved = async (grants: readonly Grant[]): Promise<boolean> =>
    grants.length === 0 || (await isApprovedByHash(grants)) || missing(grants).length === 0;
  return {
    report,
    approve,
    isApproved,
    askOnce,
    async requireAll(grants) {
      if (await isApproved(grants)) return;
      await askOnce();
      const unapproved = missing(grants);
      if (unapproved.length === 0) return;
      const listHash = hashOfGrants(await listGrants());
      throw trustRequired({ dir, listHash, grants: unapproved, hash, isDeclined });
    },
  };
}

/**
 * Guards what a project's author could make this machine do. Every method that requires something
 * throws `trust_required` until a person has approved it, and then gives the secrets: who has them
 * has asked. The approvals are read on every call, so that one that is given or revoked in another
 * terminal counts at once.
 */
export type ProjectTrust = ReturnType<typeof openTrust>;

export function openTrust(options: TrustOptions) {
  const { dir, config, env, hasRuntime } = options;
  let opening: Promise<SecretSources> | undefined;
  // Read once: what is checked is what is used.
  const sources = () => (opening ??= openSources(dir, env));
  const check = openApprovalCheck(options, async () => grantsOfProject(config, await sources()));
  const requireGrants = async (candidates: readonly (Grant | undefined)[]): Promise<ReadSecret> => {
    const grants = candidates.filter((grant) => grant !== undefined);
    await check.requireAll(grants);
    return openApprovedSecrets(await sources(), grants);
  };
  const grantsOf = async (name: string): Promise<readonly Grant[]> => {
    const found = findConnection(config, name);
    const grant = found && connectionGrant(name, found, await sources());
    return grant === undefined ? [] : [grant];
  };
  return {
    report: () => check.report(),
    /** Asks now what would be asked later, for commands that read the keyboard themselves. */
    askNow: () => check.askOnce(),
    /** Approves the whole report, and forgets what is not in it. */
    approve: (shown: TrustReport) => check.approve(shown),
    /** Forgets everything. */
    revoke(): void {
      const approvals = openApprovals(dir, env);
      approvals.remove([...approvals.ids()]);
    },
    /** For connections of `ktx.yaml`: warehouses and sources. */
    requireConnections: async (names: readonly string[]) =>
      requireGrants((await Promise.all(names.map(grantsOf))).flat()),
    requireLlm: async (llm: LlmConfig) =>
      requireGrants([llmGrant({ ...llm, scan: config.scan }, await sources())]),
    /** For the spans of a run. */
    requireTelemetry: async () =>
      requireGrants([telemetryGrant(config.telemetry, await sources())]),
    /** For `ingest.embeddings`. */
    requireEmbeddings: async () => requireGrants([embeddingsGrantOf(config, await sources())]),
    /** For files outside of the project that `scan.query_logs` names. */
    requireQueryLogs: async () =>
      requireGrants([queryLogsGrant(config.scan.query_logs, await sources())]),
    /** For the OpenID provider that lets people into the server. */
    requireServe: async () => requireGrants([serveGrant(config.serve, await sources())]),
    /** For the host where changes of a team are proposed. */
    requireGitHost: async () => requireGrants([gitHostGrant(config.serve, await sources())]),
    /** For a conversation: the model of the agent, its MCP servers, and telemetry. */
    requireAgent: async (agent: Agent) =>
      requireGrants([
        hasRuntime ? undefined : llmGrant(agentReachOf(config, agent), await sources()),
        telemetryGrant(config.telemetry, await sources()),
        ...serverGrants(agent, await sources()),
      ]),
    isConnectionApproved: async (name: string) => check.isApproved(await grantsOf(name)),
    async isLlmApproved(): Promise<boolean> {
      const grant = hasRuntime ? undefined : llmGrant(llmReachOf(config), await sources());
      return grant === undefined || check.isApproved([grant]);
    },
    async isEmbeddingsApproved(): Promise<boolean> {
      const grant = embeddingsGrantOf(config, await sources());
      return grant === undefined || check.isApproved([grant]);
    },
    /** The secrets of a connection if it is approved. Asks nobody. */
    async connectionSecrets(name: string): Promise<ReadSecret | undefined> {
      const grants = await grantsOf(name);
      return (await check.isApproved(grants))
        ? openApprovedSecrets(await sources(), grants)
        : undefined;
    },
  };
}

export async function openSources(dir: string, env: HostEnvironment): Promise<SecretSources> {
  return { projectDir: dir, configDir: configHome(env), env, envFile: await readEnvFile(dir) };
}

export function openApprovedSecrets(sources: SecretSources, grants: readonly Grant[]): ReadSecret {
  return openSecrets({
    ...sources,
    known: new Map(grants.flatMap(({ known }) => [...known])),
    files: new Set(grants.flatMap(({ files }) => [...files])),
  });
}

/** Everything that the project would do, each once. */
async function grantsOfProject(
  config: ProjectConfig,
  sources: SecretSources,
): Promise<readonly Grant[]> {
  const grants = [
    ...Object.entries(config.connections).map(([name, connection]) =>
      connectionGrant(name, connection, sources),
    ),
    llmGrant(llmReachOf(config), sources),
    embeddingsGrantOf(config, sources),
    telemetryGrant(config.telemetry, sources),
    queryLogsGrant(config.scan.query_logs, sources),
    serveGrant(config.serve, sources),
    gitHostGrant(config.serve, sources),
    ...(await grantsOfAgents(config, sources)),
  ].filter((grant) => grant !== undefined);
  return [...new Map(grants.toReversed().map((grant) => [grant.id, grant])).values()].toReversed();
}

function embeddingsGrantOf(
  { ingest, scan }: ProjectConfig,
  sources: SecretSources,
): Grant | undefined {
  return embeddingsGrant(ingest.embeddings, scan, sources);
}

function llmReachOf({ llm, scan }: ProjectConfig): LlmReach {
  return { ...llm, scan };
}

function agentReachOf({ llm, scan }: ProjectConfig, agent: Agent): LlmReach {
  return { ...agentLlmConfig(llm, agent), scan };
}

function hashOfGrants(grants: readonly Grant[]): string {
  const ids = grants.map(({ id }) => id).sort();
  return sha256(ids.join('\n')).slice(0, 32);
}

function reportTrust(
  dir: string,
  grants: readonly Grant[],
  approved: { readonly ids: ReadonlySet<string>; readonly list: readonly Approval[] },
): TrustReport {
  const present = new Set(grants.map(({ id }) => id));
  const listed = grants.map((grant) => ({ ...grant, isApproved: approved.ids.has(grant.id) }));
  return {
    dir,
    hash: hashOfGrants(grants),
    isApproved: listed.every(({ isApproved }) => isApproved),
    grants: listed,
    removed: approved.list.filter(({ id }) => !present.has(id)),
  };
}

async function grantsOfAgents(
  config: ProjectConfig,
  sources: SecretSources,
): Promise<readonly (Grant | undefined)[]> {
  const { projectDir } = sources;
  const found: (Grant | undefined)[] = [];
  for (const name of await agentNames(projectDir)) {
    try {
      const agent = await loadAgent(projectDir, name);
      found.push(llmGrant(agentReachOf(config, agent), sources));
      found.push(...serverGrants(agent, sources));
    } catch (error) {
      // An agent that cannot be read cannot be opened either.
      if (!(error instanceof UserError)) throw error;
    }
  }
  return found;
}
