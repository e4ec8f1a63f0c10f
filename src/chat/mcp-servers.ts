import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { messageOf, UserError } from '../lib/error.ts';
import { untrustedBlock } from '../lib/untrusted.ts';
import { readVersion } from '../lib/version.ts';
import type { ToolOutput } from '../llm/tool-call.ts';
import { isSecretReference, resolveSecret } from '../store/secrets.ts';
import type { ServerConfig } from './agent-schema.ts';

/** A tool of another server, as one of the agent's own. */
export interface ExternalTool {
  /** `<server>__<tool>` */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  call(input: unknown, signal: AbortSignal): Promise<ToolOutput>;
}

export interface ExternalServers {
  readonly tools: readonly ExternalTool[];
  /** What is missing, of servers that are not required. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

interface Servers {
  readonly projectDir: string;
  readonly servers: Readonly<Record<string, ServerConfig>>;
}

const preflightMs = 20_000;
const callMs = 120_000;
const longestDescription = 1000;
const longestAnswer = 40_000;

/**
 * Connects to every server and checks that it has the tools that the agent may use, before anything is asked of a model.
 * ktx is the client: nothing of a server reaches a child of a backend but the tools that are named here.
 */
export async function openServers({ projectDir, servers }: Servers, signal: AbortSignal): Promise<ExternalServers> {
  const clients: Client[] = [];
  const opened = await Promise.allSettled(
    Object.entries(servers).map(async ([name, config]) => {
      const client = await connect({ projectDir, name, config }, signal);
      clients.push(client);
      return { name, ...(await toolsOf({ client, name, config }, signal)) };
    }),
  );
  const close = async (): Promise<void> => void (await Promise.allSettled(clients.map((client) => client.close())));
  const failed = opened.flatMap((one, index) => {
    const [name = '', config] = Object.entries(servers)[index] ?? [];
    return one.status === 'rejected' ? [{ name, isRequired: config?.required !== false, failure: failureOf(name, one.reason) }] : [];
  });
  const fatal = failed.find(({ isRequired }) => isRequired);
  if (fatal !== undefined || signal.aborted) {
    await close();
    signal.throwIfAborted();
    throw fatal?.failure ?? new Error('unreachable');
  }
  const found = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return {
    tools: found.flatMap(({ tools }) => tools),
    warnings: [...failed.map(({ failure }) => failure.message), ...found.flatMap(({ warnings }) => warnings)],
    close,
  };
}

interface Place {
  readonly projectDir: string;
  readonly name: string;
  readonly config: ServerConfig;
}

async function connect({ projectDir, name, config }: Place, signal: AbortSignal): Promise<Client> {
  const valueOf = (text: string): string => (isSecretReference(text) ? resolveSecret(text, projectDir) : text);
  const valuesOf = (values: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(values).map(([key, text]) => [key, valueOf(text)])); // prettier-ignore
  const sdk = await import('@modelcontextprotocol/client');
  const client = new sdk.Client({ name: 'ktx', version: readVersion() }, { versionNegotiation: { mode: 'auto' } });
  const options = { timeout: preflightMs, signal: AbortSignal.any([signal, AbortSignal.timeout(preflightMs)]) };
  if (config.transport === 'http') {
    const url = urlOf(name, valueOf(config.url));
    const requestInit = { headers: valuesOf(config.headers) };
    await client.connect(new sdk.StreamableHTTPClientTransport(url, { requestInit }), options);
    return client;
  }
  const { StdioClientTransport, getDefaultEnvironment } = await import('@modelcontextprotocol/client/stdio');
  const { command, args, env } = config;
  await checkCommand(name, command);
  // What it says on stderr would be in the middle of the conversation.
  const around = { stderr: 'ignore', cwd: projectDir, env: { ...getDefaultEnvironment(), ...valuesOf(env) } } as const;
  const transport = new StdioClientTransport({ command, args, ...around });
  try {
    await client.connect(transport, options);
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  }
  return client;
}

function urlOf(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw serverError(name, 'its address is no http or https address', 'correct mcp_servers of the agent');
}

async function checkCommand(name: string, command: string): Promise<void> {
  const folders = isAbsolute(command) || command.includes('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const suffixes = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  const places = folders.flatMap((folder) => suffixes.map((suffix) => join(folder, command + suffix)));
  const found = await Promise.any(places.map((place) => access(place, constants.X_OK))).then(() => true, () => false); // prettier-ignore
  if (!found)
    throw serverError(name, `there is no program ${command}`, `install ${command}, or correct mcp_servers.${name}.command of the agent`);
}

interface Connected {
  readonly client: Client;
  readonly name: string;
  readonly config: ServerConfig;
}

async function toolsOf({ client, name, config }: Connected, signal: AbortSignal) {
  const listed = await client.listTools(undefined, { timeout: preflightMs, signal });
  const tools: ExternalTool[] = [];
  const warnings: string[] = [];
  for (const wanted of config.tools) {
    const same = listed.tools.filter((tool) => tool.name === wanted);
    const [found] = same;
    const problem = found === undefined ? `it has no tool ${wanted}` : same.length > 1 ? `it lists ${wanted} twice` : undefined;
    const tool = found && problem === undefined ? external(client, name, found) : (problem ?? '');
    if (typeof tool !== 'string') tools.push(tool);
    else if (config.required) throw serverError(name, tool, `correct mcp_servers.${name}.tools of the agent, or set required: false`);
    else warnings.push(`mcp server ${name}: ${tool}; going on without.`);
  }
  return { tools, warnings };
}

interface Listed {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
}

/** The tool, or what is wrong with it. What a server says of the effects of its tools is not believed. */
function external(client: Client, server: string, listed: Listed): ExternalTool | string {
  const name = `${server}__${listed.name}`;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `the name of ${listed.name} is none that a model can use`;
  const inputSchema = objectSchema(listed.inputSchema);
  if (inputSchema === undefined) return `what ${listed.name} takes is no valid schema`;
  const about = (listed.description ?? '').replaceAll(/\s+/g, ' ').slice(0, longestDescription);
  return {
    name,
    description: `Tool ${listed.name} of the server ${server}, which is not part of ktx. It says of itself: ${about}`,
    inputSchema,
    async call(input, signal) {
      const args = (input ?? {}) as Record<string, unknown>;
      const result = await client.callTool({ name: listed.name, arguments: args }, { signal, timeout: callMs }).catch((error: unknown) => {
        throw new UserError('mcp_server_failed', `The server ${server} failed: ${messageOf(error)}`, { cause: error });
      });
      const parts = z
        .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
        .catch([])
        .parse(result.content);
      const text = parts.map((part) => part.text ?? `(${part.type}, not shown)`).join('\n');
      const cut = text.length > longestAnswer ? `${text.slice(0, longestAnswer)}\n(cut: ${text.length} characters in all)` : text;
      const isError = result.isError === true;
      const summary = isError ? `${server} answered with an error` : `${text.length} characters from ${server}`;
      return { markdown: untrustedBlock(name, cut), summary, isError };
    },
  };
}

function objectSchema(json: object): z.ZodObject | undefined {
  try {
    const schema = z.fromJSONSchema(json as Parameters<typeof z.fromJSONSchema>[0]);
    return schema instanceof z.ZodObject ? schema : undefined;
  } catch {
    return undefined;
  }
}

function serverError(name: string, what: string, hint: string): UserError {
  return new UserError('mcp_server_invalid', `The MCP server ${name} cannot be used: ${what}.`, { hint, exitCode: 2 });
}

function failureOf(name: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  const hint = `start it by hand to see what it says, or set mcp_servers.${name}.required: false`;
  return new UserError('mcp_server_failed', `The MCP server ${name} does not answer: ${messageOf(error)}.`, { hint, cause: error });
}
