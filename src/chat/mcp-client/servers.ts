import { errorMessage, UserError } from '../../lib/error.ts';
import type { ServerConfig } from '../../project/agents/agent-schema.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { externalTool, type ExternalTool } from './external-tool.ts';
import { connectServer, type ListedTool, type ServerConnection } from './connection.ts';
import { invalidServerError, serverFailedError } from './errors.ts';

export interface ExternalServers {
  readonly tools: readonly ExternalTool[];
  /** Servers and tools that are missing although the agent may use them. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

interface ServersOptions {
  readonly projectDir: string;
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly secrets: ReadSecret;
  /** Time for all servers together to connect and list their tools. */
  readonly waitMs?: number;
}

const preflightMs = 30_000;

/**
 * Connects to every server and checks that it has the tools that the agent may use, before a model
 * is asked. ktx is the client, so a backend's child sees only the tools that the agent's file
 * names, in the form that they had at this time.
 */
export async function openServers(
  { projectDir, servers, secrets, waitMs = preflightMs }: ServersOptions,
  signal: AbortSignal,
): Promise<ExternalServers> {
  const connections: ServerConnection[] = [];
  const limit = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  const entries = Object.entries(servers);
  const results = await Promise.allSettled(
    entries.map(async ([name, config]) => {
      const connection = await connectServer({ projectDir, name, config, secrets }, limit);
      connections.push(connection);
      return serverTools(connection, limit);
    }),
  );
  const failures = entries.flatMap(([, config], index) => {
    const result = results[index];
    if (result?.status !== 'rejected') return [];
    const reason: unknown = result.reason;
    return [{ reason, isFatal: config.required || !(reason instanceof UserError) }];
  });
  const found = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const tools = found.flatMap((server) => server.tools);
  const close = async (): Promise<void> =>
    void (await Promise.allSettled(connections.map((connection) => connection.close())));
  const fatal = failures.find(({ isFatal }) => isFatal)?.reason ?? duplicateNameError(tools);
  if (fatal !== undefined || signal.aborted) {
    await close();
    signal.throwIfAborted();
    throw fatal;
  }
  return {
    tools,
    warnings: [
      ...failures.map(({ reason }) => errorMessage(reason)),
      ...found.flatMap(({ warnings }) => warnings),
    ],
    close,
  };
}

interface ServerTools {
  readonly tools: readonly ExternalTool[];
  readonly warnings: readonly string[];
}

/** The tools of one server that the agent may use. */
async function serverTools(connection: ServerConnection, limit: AbortSignal): Promise<ServerTools> {
  const { name, config } = connection;
  const listed = await connection.list(limit).catch((error: unknown) => {
    const reason = limit.aborted
      ? 'it took too long to list its tools'
      : connection.errorText(error);
    throw serverFailedError(name, reason, error);
  });
  const tools: ExternalTool[] = [];
  const warnings: string[] = [];
  for (const toolName of config.tools) {
    const tool = findTool(connection, listed, toolName);
    if (typeof tool !== 'string') tools.push(tool);
    else if (!config.required) warnings.push(`mcp server ${name}: ${tool}; going on without it.`);
    else {
      const hint = `correct mcp_servers.${name}.tools of the agent, or set required: false`;
      throw invalidServerError(name, tool, hint);
    }
  }
  return { tools, warnings };
}

/** The tool, or why it cannot be used. */
function findTool(
  connection: ServerConnection,
  listed: readonly ListedTool[],
  toolName: string,
): ExternalTool | string {
  const [tool, duplicate] = listed.filter(({ name }) => name === toolName);
  if (tool === undefined) return `it has no tool ${toolName}`;
  if (duplicate !== undefined) return `it lists ${toolName} twice`;
  return externalTool(connection, tool);
}

/** Server `a` with tool `b__c` and server `a__b` with tool `c` give the same name. */
function duplicateNameError(tools: readonly ExternalTool[]): UserError | undefined {
  const names = tools.map((tool) => tool.name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return undefined;
  const message = `Two tools of mcp_servers would have the name ${duplicate}.`;
  return new UserError('mcp_server_invalid', message, {
    hint: 'rename one of the servers',
    exitCode: 2,
  });
}
