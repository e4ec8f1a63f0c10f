import type { CallToolResult, Client, Transport } from '@modelcontextprotocol/client';
import { errorMessage, UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { ServerConfig } from '../../project/agents/agent-schema.ts';
import { ServerLimitError, serverFailedError } from './errors.ts';
import { openTransport, type ServerSpec } from './transport.ts';
import { openSecretRedaction } from './secret-redaction.ts';

/** A connection to an MCP server of others. */
export interface ServerConnection {
  readonly name: string;
  readonly config: ServerConfig;
  /** The tools that the configuration names, each as often as the server lists it. */
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  call(
    tool: ListedTool,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult>;
  /** The message of an error in one line, with secrets removed. */
  errorText(error: unknown): string;
  close(): Promise<void>;
}

/** A tool as the server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
}

const callTimeoutMs = 120_000;
const mostListPages = 64;
const mostListedTools = 50_000;
/** Time to try the newest protocol version before the older one. */
const probeTimeoutMs = 10_000;

/** Connects to a server or throws a `UserError`. `signal` applies only until it is connected. */
export async function connectServer(
  spec: ServerSpec,
  signal: AbortSignal,
): Promise<ServerConnection> {
  const { name, config } = spec;
  const secrets = openSecretRedaction(spec.secrets);
  const sdk = await import('@modelcontextprotocol/client');
  const client = new sdk.Client(
    { name: 'ktx', version: readVersion() },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } } },
  );
  let transportError = '';
  let isLimitReached = false;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other way to tell
  client.onerror = (error) => {
    // What follows a limit is its consequence.
    isLimitReached ||= error instanceof ServerLimitError;
    if (!isLimitReached || error instanceof ServerLimitError) transportError = errorMessage(error);
  };
  const errorText = (error: unknown): string => {
    if (error instanceof RangeError) return 'its answer is nested too deeply';
    const message = errorMessage(error);
    const isUnexplained = message === 'Connection closed' && transportError !== '';
    return shortenMessage(
      secrets.redact(isUnexplained ? `${message}, ${transportError}` : message),
    );
  };
  try {
    const transport = await openTransport(spec, (text) => secrets.resolve(text));
    await connectClient(client, transport, signal);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = signal.aborted ? 'it took too long to connect' : errorText(error);
    throw serverFailedError(name, reason, error);
  }
  return {
    name,
    config,
    errorText,
    list: (stop) => listTools(client, config.tools, { timeout: callTimeoutMs, signal: stop }),
    call: (tool, input, stop) =>
      client.callTool(
        { name: tool.name, arguments: { ...input } },
        {
          timeout: callTimeoutMs,
          signal: stop,
          // Without `outputSchema`: the SDK would run its regular expressions, which may never end.
          toolDefinition: { name: tool.name, inputSchema: { type: 'object', ...tool.inputSchema } },
        },
      ),
    close: () => client.close(),
  };
}

/**
 * The wanted tools of all pages. The SDK's own listing keeps every tool, compiles their schemas,
 * and prints their names on the terminal.
 */
async function listTools(
  client: Client,
  wanted: readonly string[],
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<readonly ListedTool[]> {
  const found: ListedTool[] = [];
  let cursor: string | undefined;
  let count = 0;
  for (let page = 0; page < mostListPages; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, options);
    count += tools.length;
    if (count > mostListedTools) throw new Error(`it lists more than ${mostListedTools} tools`);
    found.push(...tools.filter(({ name }) => wanted.includes(name)));
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
  throw new Error(`its list of tools has more than ${mostListPages} pages`);
}

/** The SDK's first requests take no signal. Closing the transport ends them. */
async function connectClient(
  client: Client,
  transport: Transport,
  signal: AbortSignal,
): Promise<void> {
  const closeTransport = (): void => void transport.close().catch(() => undefined);
  signal.addEventListener('abort', closeTransport, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { timeout: callTimeoutMs, signal });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', closeTransport);
  }
}

const longestMessage = 300;

/**
 * One line without control characters and the validation details that the SDK appends for its
 * authors.
 */
function shortenMessage(text: string): string {
  const line = text
    .replace(/: \[\s*\{.*$/s, '')
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  return line.length > longestMessage
    ? `${line.slice(0, longestMessage)}…`
    : line.replace(/\.$/, '');
}
