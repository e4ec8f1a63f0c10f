import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Transport } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../project/agents/agent-schema.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { invalidServerError } from './errors.ts';

/** Bytes of one answer. */
const maxAnswerBytes = 10_000_000;
export const answerTooLarge = `it sent more than ${maxAnswerBytes / 1_000_000} MB at once`;

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
    // The transport does not follow redirects to another origin, so the headers stay with the server.
    return new StreamableHTTPClientTransport(url, {
      fetch: limitedFetch,
      requestInit: { headers: resolveAll(config.headers) },
    });
  }
  const { StdioClientTransport, getDefaultEnvironment } =
    await import('@modelcontextprotocol/client/stdio');
  const { command, args, env } = config;
  await checkProgram(name, command);
  return new StdioClientTransport({
    command,
    args: [...args],
    // Its messages on stderr would appear in the middle of the conversation.
    stderr: 'ignore',
    cwd: projectDir,
    env: { ...getDefaultEnvironment(), ...resolveAll(env) },
    maxBufferSize: maxAnswerBytes,
  });
}

/** Fails an answer that is too large. */
async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  let bytes = 0;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes) controller.error(new Error(answerTooLarge));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limiter), { status, statusText, headers });
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
