import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { CallToolResult, Client, Transport } from '@modelcontextprotocol/client';
import { errorMessage, UserError } from '../lib/error.ts';
import { readVersion } from '../lib/version.ts';
import { isSecretReference, resolveSecret } from '../store/secrets.ts';
import type { ServerConfig } from './agent-schema.ts';

export interface Place {
  readonly projectDir: string;
  readonly name: string;
  readonly config: ServerConfig;
}

/** A server of others that has said who it is. */
export interface ServerConnection {
  readonly name: string;
  readonly config: ServerConfig;
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult>;
  /** What went wrong, in one line, without what stands behind references. */
  wordsOf(error: unknown): string;
  close(): Promise<void>;
}

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
}

const callMs = 120_000;
/** For the newest form of the protocol; then the older one is tried. */
const probeMs = 10_000;
const mostBytes = 10_000_000;
const tooMuch = `it sent more than ${mostBytes / 1_000_000} MB at once`;
const longestWords = 300;

/** Connects, or fails in words; `signal` is of the preflight and not heeded after it. */
export async function connectServer(place: Place, signal: AbortSignal): Promise<ServerConnection> {
  const { name, config, projectDir } = place;
  const secrets = new Set<string>();
  const valueOf = (text: string): string => {
    if (!isSecretReference(text)) return text;
    const secret = resolveSecret(text, projectDir);
    for (const part of secretsIn(secret)) secrets.add(part);
    return secret;
  };
  const sdk = await import('@modelcontextprotocol/client');
  const negotiation = {
    versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeMs } },
  } as const;
  const client = new sdk.Client({ name: 'ktx', version: readVersion() }, negotiation);
  const trouble = { last: '' };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other way to tell
  client.onerror = (error) =>
    (trouble.last = error.message.startsWith('ReadBuffer exceeded')
      ? tooMuch
      : errorMessage(error));
  const wordsOf = (error: unknown): string => {
    const said = errorMessage(error);
    return clean(
      said === 'Connection closed' && trouble.last !== '' ? `${said}, ${trouble.last}` : said,
      secrets,
    );
  };
  try {
    await opened(client, await transportOf(place, valueOf), signal);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw failure(
      name,
      signal.aborted ? 'it took too long to say who it is' : wordsOf(error),
      error,
    );
  }
  return {
    name,
    config,
    wordsOf,
    list: async (limit) =>
      (await client.listTools(undefined, { timeout: callMs, signal: limit })).tools,
    call: (tool, input, stop) =>
      client.callTool({ name: tool, arguments: { ...input } }, { signal: stop, timeout: callMs }),
    close: () => client.close(),
  };
}

export function failure(name: string, what: string, cause: unknown): UserError {
  const hint = `start it by hand to see what it says, or set mcp_servers.${name}.required: false`;
  return new UserError('mcp_server_failed', `The MCP server ${name} does not answer: ${what}.`, {
    hint,
    cause,
  });
}

export function invalid(name: string, what: string, hint: string): UserError {
  return new UserError('mcp_server_invalid', `The MCP server ${name} cannot be used: ${what}.`, {
    hint,
    exitCode: 2,
  });
}

async function transportOf(
  { name, config, projectDir }: Place,
  valueOf: (text: string) => string,
): Promise<Transport> {
  const valuesOf = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, valueOf(text)]));
  if (config.transport === 'http') {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const url = urlOf(name, valueOf(config.url));
    // Its own policy for redirects: those to another origin are not followed, so that headers stay where they belong.
    return new StreamableHTTPClientTransport(url, {
      fetch: boundedFetch,
      requestInit: { headers: valuesOf(config.headers) },
    });
  }
  const { StdioClientTransport, getDefaultEnvironment } =
    await import('@modelcontextprotocol/client/stdio');
  const { command, args, env } = config;
  await checkCommand(name, command);
  // What it says on stderr would be in the middle of the conversation.
  const around = {
    stderr: 'ignore',
    cwd: projectDir,
    env: { ...getDefaultEnvironment(), ...valuesOf(env) },
  } as const;
  return new StdioClientTransport({
    command,
    args: [...args],
    ...around,
    maxBufferSize: mostBytes,
  });
}

/** The SDK's first questions take no signal: closing the transport ends them. */
async function opened(client: Client, transport: Transport, signal: AbortSignal): Promise<void> {
  const end = (): void => void transport.close().catch(() => undefined);
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: callMs, signal });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Fails an answer that would fill the memory. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > mostBytes) controller.error(new Error(tooMuch));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counted), { status, statusText, headers });
}

function urlOf(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw invalid(
    name,
    'its address is no http or https address',
    'correct mcp_servers of the agent',
  );
}

async function checkCommand(name: string, command: string): Promise<void> {
  const folders =
    isAbsolute(command) || command.includes('/')
      ? ['']
      : (process.env['PATH'] ?? '').split(delimiter);
  const suffixes = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  const places = folders.flatMap((folder) =>
    suffixes.map((suffix) => join(folder, command + suffix)),
  );
  const found = await Promise.any(places.map((place) => access(place, constants.X_OK))).then(
    () => true,
    () => false,
  );
  if (!found)
    throw invalid(
      name,
      `there is no program ${command}`,
      `install ${command}, or correct mcp_servers.${name}.command of the agent`,
    );
}

/** The secret, and its parts that a server may quote: a token behind its scheme, what an address carries. */
function secretsIn(secret: string): readonly string[] {
  const url = URL.parse(secret);
  const inUrl =
    url === null
      ? []
      : [url.username, url.password, ...url.searchParams.values(), ...url.pathname.split('/')];
  return [secret, ...secret.split(/\s+/), ...inUrl].filter((part) => part.length >= 6);
}

function clean(text: string, secrets: ReadonlySet<string>): string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const whole = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  // What the SDK appends of a message that does not fit the protocol is for its authors.
  const told = whole
    .replace(/: \[\s*\{.*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return told.length > longestWords ? `${told.slice(0, longestWords)}…` : told.replace(/\.$/, '');
}
