import type { CallToolResult, Client, Transport } from '@modelcontextprotocol/client';
import { errorMessage, UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { ServerConfig } from '../../project/agents/agent-schema.ts';
import { serverFailedError } from './errors.ts';
import { answerTooLarge, openTransport, type ServerSpec } from './transport.ts';
import { openSecretRedaction } from './secret-redaction.ts';

/** A connection to an MCP server of others. */
export interface ServerConnection {
  readonly name: string;
  readonly config: ServerConfig;
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  call(
    tool: string,
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
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other way to tell
  client.onerror = (error) => {
    const isTooLarge = error.message.startsWith('ReadBuffer exceeded');
    transportError = isTooLarge ? answerTooLarge : errorMessage(error);
  };
  const errorText = (error: unknown): string => {
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
    async list(stop) {
      const options = { timeout: callTimeoutMs, signal: stop };
      return (await client.listTools(undefined, options)).tools;
    },
    call: (tool, input, stop) =>
      client.callTool(
        { name: tool, arguments: { ...input } },
        { timeout: callTimeoutMs, signal: stop },
      ),
    close: () => client.close(),
  };
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

/** One line, without the validation details that the SDK appends for its authors. */
function shortenMessage(text: string): string {
  const line = text
    .replace(/: \[\s*\{.*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > longestMessage
    ? `${line.slice(0, longestMessage)}…`
    : line.replace(/\.$/, '');
}
