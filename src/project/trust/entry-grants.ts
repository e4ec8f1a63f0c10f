import { isAbsolute } from 'node:path';
import { embeddingProviders, type EmbeddingsConfig } from '../../llm/ai-sdk/embedding-providers.ts';
import { providers } from '../../llm/ai-sdk/providers.ts';
import {
  backendProfiles,
  backends,
  isApiProvider,
  takesAuthMode,
  usesLocalSession,
} from '../../llm/backends.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { TelemetryConfig } from '../../llm/telemetry/telemetry-config.ts';
import type { SendSettings } from '../../scan/profile/send-policy.ts';
import type { SecretSources } from '../../store/secrets.ts';
import { driverNamed } from '../../warehouse/config.ts';
import type { ServerConfig } from '../agents/agent-schema.ts';
import type { Agent } from '../agents/agent.ts';
import { isWarehouse, type ConnectionConfig } from '../open/config.ts';
import { gitHostAddress } from '../propose/host/git-host-config.ts';
import type { ServeConfig } from '../open/serve-config.ts';
import { draftGrant, type Grant, type GrantDraft } from './grant.ts';
import { agentReach, configReach, reachOf, type KeyReach } from './reach.ts';

interface ReachTable {
  readonly table: Readonly<Record<string, KeyReach>>;
  /** The path of the entry in the table. */
  readonly prefix: string;
}

/** Adds every key of an entry as the table classifies it. */
function draftKeys(draft: GrantDraft, entry: object, { table, prefix }: ReachTable): void {
  for (const [key, value] of Object.entries(entry)) {
    if (value === undefined) continue;
    const reach = reachOf(table, `${prefix}.${key}`);
    for (const [name, text] of namedTexts(key, value)) draftKey(draft, reach, { name, text });
  }
}

/** The texts of a value: those of a list, those of a map by name, or the value itself. */
function namedTexts(key: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((text: unknown) => [key, text] as const);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([name, text]) => [`${key}.${name}`, text] as const);
  return [[key, value]];
}

function draftKey(
  draft: GrantDraft,
  reach: KeyReach,
  { name, text }: { readonly name: string; readonly text: unknown },
): void {
  if (reach === 'none') return;
  if (typeof text !== 'string') return draft.setting(name, text);
  switch (reach) {
    case 'address':
      return draft.address(name, text);
    case 'path':
      return draft.path(name, text);
    case 'secret':
      return draft.secret(name, text);
    case 'value':
      return draft.value(name, text);
    case 'variable':
      return draft.variable(name, text);
    case 'program':
      return draft.program(text, []);
    case 'setting':
      return draft.setting(name, text);
  }
  return reach satisfies never;
}

/** Undefined for a connection that only reads files of the project. */
export function connectionGrant(
  name: string,
  config: ConnectionConfig,
  sources: SecretSources,
): Grant | undefined {
  const draft = draftGrant(sources);
  const place = { table: configReach, prefix: 'connections.*' };
  const settings: Record<string, unknown> = { ...config };
  const { host, port, path, git } = settings;
  const server = isWarehouse(config) ? driverNamed(config.driver).server : undefined;
  if (server !== undefined && settings['url'] === undefined) {
    const own = server.address?.(settings) ?? 'localhost';
    const address = typeof host === 'string' ? host : own;
    draft.address('host', address, typeof port === 'number' ? port : server.defaultPort);
    delete settings['host'];
  }
  const machineLogin = server?.machineLogin?.(settings);
  if (machineLogin !== undefined) draft.effect({ kind: 'secret', text: machineLogin });
  if (typeof git === 'string' && typeof path === 'string') {
    // The path is one in the repository.
    draft.setting('path', path);
    delete settings['path'];
  }
  draftKeys(draft, settings, place);
  return draft.finish(`connection ${name}`);
}

/** What decides about a model, and what of a warehouse it may get. */
export interface LlmReach extends Pick<LlmConfig, 'provider' | 'send_rows'> {
  readonly scan: SendSettings;
}

/**
 * Undefined without a backend. A backend spends money or the allowance of a session, and gets text
 * of the project.
 */
export function llmGrant(
  { provider, send_rows: sendRows, scan }: LlmReach,
  sources: SecretSources,
): Grant | undefined {
  const { backend } = provider;
  if (backend === 'none') return undefined;
  const draft = draftGrant(sources);
  draft.effect({ kind: 'money', text: `${backend} (${backendProfiles[backend].title})` });
  if (usesLocalSession(backend))
    draft.effect({ kind: 'secret', text: 'the login of your Claude Code session' });
  if (takesAuthMode(backend)) {
    const auth = provider.auth ?? 'api_key';
    draft.effect({ kind: 'secret', text: `the credentials of your environment for ${auth}` });
  }
  const prefix = 'llm.provider';
  if (isApiProvider(backend)) {
    const { isAmbient = false, title }: { isAmbient?: boolean; title: string } = providers[backend];
    if (isAmbient)
      draft.effect({ kind: 'secret', text: `the credentials of this machine for ${title}` });
    draftKeys(draft, provider[backend] ?? {}, {
      table: configReach,
      prefix: `${prefix}.${backend}`,
    });
  }
  // A choice between the programs that this machine has anyway is not the project's program.
  const { program = '', ...others } = provider;
  if (isAbsolute(program)) draft.program(program, []);
  const rest = Object.entries(others).filter(([key]) => !isBackendName(key));
  draftKeys(draft, Object.fromEntries(rest), { table: configReach, prefix });
  if (sendRows === 'off') draft.setting('llm.send_rows', 'off');
  draftSendSettings(draft, scan);
  return draft.finish('llm');
}

/**
 * What keeps values on this machine, as far as it differs from the default: who approved a model
 * under these settings did not approve one that gets more.
 */
function draftSendSettings(draft: GrantDraft, scan: SendSettings): void {
  if (!scan.send_samples) draft.setting('scan.send_samples', false);
  for (const rule of scan.no_values) draft.setting('scan.no_values', rule);
  for (const rule of scan.not_personal) draft.setting('scan.not_personal', rule);
}

function isBackendName(key: string): boolean {
  return backends.some((name) => name === key);
}

/**
 * Undefined without a provider. A provider spends money, and gets texts of the project and values
 * of the warehouse.
 */
export function embeddingsGrant(
  config: EmbeddingsConfig | undefined,
  scan: SendSettings,
  sources: SecretSources,
): Grant | undefined {
  if (config === undefined) return undefined;
  const draft = draftGrant(sources);
  const { isAmbient = false, title } = embeddingProviders[config.provider];
  draft.effect({ kind: 'money', text: `embeddings by ${config.provider} (${title})` });
  if (isAmbient)
    draft.effect({ kind: 'secret', text: `the credentials of this machine for ${title}` });
  draftKeys(draft, config, { table: configReach, prefix: 'ingest.embeddings' });
  draftSendSettings(draft, scan);
  return draft.finish('ingest.embeddings');
}

export function telemetryGrant(config: TelemetryConfig, sources: SecretSources): Grant | undefined {
  if (config.exporter === 'none') return undefined;
  const draft = draftGrant(sources);
  draftKeys(draft, config, { table: configReach, prefix: 'telemetry' });
  return draft.finish('telemetry');
}

/**
 * Undefined without an OpenID provider and shared state. Whom it lets in, and as which role,
 * belongs to it.
 */
export function serveGrant(
  { auth, state, state_key: stateKey, roles, default_role: defaultRole }: ServeConfig,
  sources: SecretSources,
): Grant | undefined {
  if ([auth, state, stateKey].every((key) => key === undefined)) return undefined;
  const draft = draftGrant(sources);
  const { broker, ...login } = auth ?? {};
  draftKeys(draft, login, { table: configReach, prefix: 'serve.auth' });
  draftKeys(draft, broker ?? {}, { table: configReach, prefix: 'serve.auth.broker' });
  draftKeys(draft, { state, state_key: stateKey }, { table: configReach, prefix: 'serve' });
  for (const { group, role } of roles) draft.setting('serve.roles', `${group} is ${role}`);
  if (defaultRole !== undefined) draft.setting('serve.default_role', defaultRole);
  return draft.finish('serve.auth');
}

/** Undefined if no changes are proposed anywhere. */
export function gitHostGrant(
  { changes, git }: Pick<ServeConfig, 'changes' | 'git'>,
  sources: SecretSources,
): Grant | undefined {
  if (git === undefined) return undefined;
  const draft = draftGrant(sources);
  draft.setting('serve.changes', changes);
  const settings = { ...git, url: gitHostAddress(git) };
  draftKeys(draft, settings, { table: configReach, prefix: 'serve.git' });
  return draft.finish('serve.git');
}

/** Undefined if all query logs are in the project. */
export function queryLogsGrant(
  queryLogs: readonly string[],
  sources: SecretSources,
): Grant | undefined {
  const draft = draftGrant(sources);
  for (const path of queryLogs) draft.path('scan.query_logs', path);
  return draft.finish('scan.query_logs');
}

/** The MCP servers that an agent connects to or starts. */
export function serverGrants(
  {
    name: agent,
    mcp_servers: servers,
    permissions,
  }: Pick<Agent, 'name' | 'mcp_servers' | 'permissions'>,
  sources: SecretSources,
): readonly Grant[] {
  return Object.entries(servers).flatMap(([name, config]) => {
    const draft = draftGrant(sources);
    draftServer(draft, config);
    if (permissions.mode === 'acceptAll')
      draft.setting('permissions.mode', 'acceptAll: its tools run without asking');
    return draft.finish(`MCP server ${name} of agents/${agent}.yaml`) ?? [];
  });
}

function draftServer(draft: GrantDraft, config: ServerConfig): void {
  const place = { table: agentReach, prefix: 'mcp_servers.*' };
  if (config.transport === 'http') return draftKeys(draft, config, place);
  const { command, args, ...rest } = config;
  draft.program(command, args);
  draftKeys(draft, rest, place);
}
