import { errorMessage } from '../../lib/error.ts';
import type { ServerAddress, ServerCommand } from './client-list.ts';

/** What a server said when it was started as its client would start it. */
export interface ServerTrial {
  readonly tools: number;
  readonly version: string;
  readonly seconds: number;
}

interface TrialOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly passesVariables: boolean;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/** What the clients' own libraries hand on to every server, and where approvals are. */
const inherited =
  'APPDATA HOME LOCALAPPDATA LOGNAME PATH SHELL SYSTEMROOT TEMP TERM USER USERPROFILE XDG_CONFIG_HOME'.split(
    ' ',
  );
/** In milliseconds. Clients give up after about as long. */
const longestStart = 30_000;
/** Characters of what it printed before it ended. */
const longestReason = 400;

/**
 * Starts the server as its client would, with the few variables that clients hand on, and asks for
 * its tools. Throws an error whose message says what it printed.
 */
export async function tryServer(
  { command, args, variables }: ServerCommand,
  options: TrialOptions,
): Promise<ServerTrial> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const passed = [...inherited, ...(options.passesVariables ? variables : [])];
  const values = passed.flatMap((name) => {
    const value = options.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    cwd: options.cwd,
    stderr: 'pipe',
    env: Object.fromEntries(values),
  });
  let printed = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString('utf8')).slice(-longestReason);
  });
  try {
    return await askForTools(transport, options.signal);
  } catch (error) {
    const reason = printed.trim() === '' ? errorMessage(error) : printed.trim();
    throw new Error(reason, { cause: error });
  }
}

/** The server of a team. The token stays in this process. */
export async function tryAddress(
  { url, tokenVariable }: ServerAddress,
  { env, signal }: Pick<TrialOptions, 'env' | 'signal'>,
): Promise<ServerTrial> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const token = tokenVariable === undefined ? undefined : env[tokenVariable];
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  return askForTools(transport, signal);
}

async function askForTools(
  transport: Parameters<
    InstanceType<typeof import('@modelcontextprotocol/client').Client>['connect']
  >[0],
  signal: AbortSignal,
): Promise<ServerTrial> {
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'ktx mcp install', version: '1' });
  const start = performance.now();
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(longestStart)]);
    await client.connect(transport, { signal: limit });
    const { tools } = await client.listTools({}, { signal: limit });
    const seconds = Math.round((performance.now() - start) / 100) / 10;
    return { tools: tools.length, version: client.getServerVersion()?.version ?? '', seconds };
  } finally {
    await client.close();
  }
}
