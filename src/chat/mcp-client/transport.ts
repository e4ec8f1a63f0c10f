import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../project/agents/agent-schema.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { invalidServerError, ServerLimitError } from './errors.ts';
import { MessageLines, mostOtherLines, tooManyLines } from './message-lines.ts';

/** Bytes of one answer. */
const maxAnswerBytes = 10_000_000;
const answerTooLarge = `it sent more than ${maxAnswerBytes / 1_000_000} MB at once`;
/** How many requests of a server over HTTP ktx replies to. */
const mostReplies = 1000;
/** How often an answer that broke off may be continued, in the whole conversation. */
const mostResumptions = 100;

export interface ServerSpec {
  readonly projectDir: string;
  readonly name: string;
  readonly config: ServerConfig;
  /** Whoever has them has asked a person whether the server may be used. */
  readonly secrets: ReadSecret;
}

/** The transport to a server. `resolve` gives the value of a secret reference. */
export async function openTransport(
  { name, config, projectDir }: ServerSpec,
  resolve: (text: string) => string,
): Promise<Transport> {
  const resolveAll = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, resolve(text)]));
  if (config.transport === 'http') {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const url = parseHttpUrl(name, resolve(config.url));
    // The transport does not follow redirects to another origin, so the headers stay with the
    // server.
    const fail = (reason: string): void => {
      transport.onerror?.(new ServerLimitError(reason));
      void transport.close();
    };
    const transport: Transport = new StreamableHTTPClientTransport(url, {
      fetch: limitedFetch(fail),
      requestInit: { headers: resolveAll(config.headers) },
    });
    const send = transport.send.bind(transport);
    return Object.assign(transport, { send: limitReplies(send, fail) });
  }
  const { StdioClientTransport, getDefaultEnvironment } =
    await import('@modelcontextprotocol/client/stdio');
  const { command, args, env } = config;
  await checkProgram(name, command);
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // Its messages on stderr would appear in the middle of the conversation.
    stderr: 'ignore',
    cwd: projectDir,
    env: { ...getDefaultEnvironment(), ...resolveAll(env) },
    maxBufferSize: maxAnswerBytes,
  });
  // The SDK has no option for this. A test with endless lines fails if it renames the field.
  const lines = new MessageLines({ maxBytes: maxAnswerBytes, tooLarge: answerTooLarge });
  return Object.assign(transport, { _readBuffer: lines });
}

/**
 * Ends the connection at an answer that is too large: the SDK would wait for the rest of its call.
 * Does not open the stream of notices, which ktx has no use for and a server can fill for ever.
 */
function limitedFetch(fail: (reason: string) => void): typeof fetch {
  let resumptions = 0;
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') {
      resumptions += 1;
      const isResumed = new Headers(init?.headers).has('last-event-id');
      if (!isResumed || resumptions > mostResumptions) return new Response(null, { status: 405 });
    }
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    let bytes = 0;
    let lines = 0;
    const limiter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (isEvents) lines += countLines(chunk);
        const isTooLarge = bytes > maxAnswerBytes;
        // An event takes two lines.
        if (!isTooLarge && lines <= 2 * mostOtherLines) return controller.enqueue(chunk);
        const reason = isTooLarge ? answerTooLarge : tooManyLines;
        controller.error(new ServerLimitError(reason));
        fail(reason);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limiter), { status, statusText, headers });
  };
}

function countLines(chunk: Uint8Array): number {
  let count = 0;
  for (const byte of chunk) if (byte === 0x0a || byte === 0x0d) count += 1;
  return count;
}

/** Ends the connection to a server that asks ktx too often: each reply is a request over HTTP. */
function limitReplies(send: Transport['send'], fail: (reason: string) => void): Transport['send'] {
  let replies = 0;
  return async (message, options) => {
    const isReply = !Array.isArray(message) && ('result' in message || 'error' in message);
    if (isReply) replies += 1;
    if (replies <= mostReplies) return send(message, options);
    if (isReply && replies === mostReplies + 1) fail(`it asked ktx more than ${mostReplies} times`);
    throw new Error('Connection closed');
  };
}

function parseHttpUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw invalidServerError(
    name,
    'its address is not an http or https address',
    'correct mcp_servers of the agent',
  );
}

async function checkProgram(name: string, command: string): Promise<void> {
  const isPath = isAbsolute(command) || command.includes('/');
  const folders = isPath ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const suffixes = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  const paths = folders.flatMap((folder) =>
    suffixes.map((suffix) => join(folder, command + suffix)),
  );
  const isExecutable = await Promise.any(paths.map((path) => access(path, constants.X_OK))).then(
    () => true,
    () => false,
  );
  if (isExecutable) return;
  throw invalidServerError(
    name,
    `there is no program ${command}`,
    `install ${command}, or correct mcp_servers.${name}.command of the agent`,
  );
}
