import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { BackendCall, CallMonitor, LimitReport } from '../../src/llm/port/backend.ts';
import { LlmError } from '../../src/llm/port/error.ts';
import type { TokenUsage } from '../../src/llm/port/runtime.ts';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON that was sent; tests look into it at will. */
  readonly body: Body;
}
// oxlint-disable-next-line typescript/no-explicit-any
type Body = any;

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; an object as JSON. */
  readonly body?: string | Buffer | object;
  /** Nothing follows the body, and the connection stays open. */
  readonly hangs?: boolean;
  /** The connection is cut after the body. */
  readonly breaks?: boolean;
}

/** A loopback HTTP server that answers from a script and keeps what it was sent. */
export async function scriptedEndpoint(script: (request: SeenRequest, index: number) => Reply) {
  const requests: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((bytes) => {
      const seen: SeenRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(bytes.toString() || 'null'),
      };
      requests.push(seen);
      send(response, script(seen, requests.length - 1));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(
  response: ServerResponse,
  { status = 200, headers, body = '', hangs, breaks }: Reply,
): void {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  response.writeHead(status, {
    'content-type': isJson ? 'application/json' : 'text/event-stream',
    ...headers,
  });
  response.write(isJson ? JSON.stringify(body) : body);
  if (breaks) setImmediate(() => response.destroy());
  else if (!hangs) response.end();
}

/** The replies one after the other, the last for ever. */
export function inTurn(...replies: readonly Reply[]) {
  return (_request: SeenRequest, index: number): Reply =>
    replies[Math.min(index, replies.length - 1)] ?? {};
}

export async function failureOf(promise: Promise<unknown>): Promise<LlmError> {
  const outcome: unknown = await promise.catch((error: unknown) => error);
  if (outcome instanceof LlmError) return outcome;
  throw new Error('expected an LlmError', { cause: outcome });
}

/** A monitor that keeps what it is told. */
export function recordingMonitor(signal: AbortSignal = new AbortController().signal) {
  const used: { model: string; usage: TokenUsage; costUsd: number | null | undefined }[] = [];
  const limits: LimitReport[] = [];
  const failures: { tool: string; callId: string | undefined }[] = [];
  const warnings: string[] = [];
  const counts = { alive: 0, steps: 0, apiCalls: 0 };
  const monitor: CallMonitor = {
    signal,
    heartbeat: () => void (counts.alive += 1),
    stepFinished: () => void (counts.steps += 1),
    answerBegan: () => undefined,
    requestSent: () => void (counts.apiCalls += 1),
    addUsage: (model, usage, costUsd) => void used.push({ model, usage, costUsd }),
    toolFailed: (tool, callId) => void failures.push({ tool, callId }),
    retry: (failure) => Promise.reject(failure),
    limitReported: (limit) => void limits.push(limit),
    warn: (message) => void warnings.push(message),
  };
  return { monitor, used, limits, failures, warnings, counts };
}

export function callOf(monitor: CallMonitor, given: Partial<BackendCall> = {}): BackendCall {
  return {
    role: 'candidateExtraction',
    model: 'claude-sonnet-4-5',
    prompt: 'Describe the table.',
    system: undefined,
    tools: {},
    temperature: undefined,
    tags: {},
    monitor,
    ...given,
  };
}

type Block =
  | { text: string }
  | { tool: string; input: unknown; id?: string }
  | { tool: string; rawInput: string; id?: string };

/** One assistant turn as the Messages API streams it. */
export function anthropicTurn(
  blocks: readonly Block[],
  given: { stop?: string; usage?: object; pings?: number } = {},
): Reply & { readonly body: string } {
  const stop = given.stop ?? (blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn');
  const usage = {
    input_tokens: 100,
    output_tokens: 1,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 30,
    ...given.usage,
  };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [],
    stop_reason: null,
    usage,
  };
  const events: { readonly type: string; readonly [field: string]: unknown }[] = [
    { type: 'message_start', message },
  ];
  for (let ping = 0; ping < (given.pings ?? 0); ping += 1) events.push({ type: 'ping' });
  for (const [index, block] of blocks.entries()) {
    const isText = 'text' in block;
    const start = isText
      ? { type: 'text', text: '' }
      : { type: 'tool_use', id: block.id ?? `toolu_${index}`, name: block.tool, input: {} };
    const input = isText ? '' : 'rawInput' in block ? block.rawInput : JSON.stringify(block.input);
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: input };
    events.push(
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    );
  }
  events.push(
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: 7 },
    },
    { type: 'message_stop' },
  );
  return {
    body: events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  };
}

/**
 * A refusal as the Messages API words it. Retries wait for the header, not for the SDK's seconds.
 */
export function anthropicError(
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = { type: 'error', error: { type, message: `scripted ${type}` } };
  return { status, headers: { 'retry-after-ms': '1', ...headers }, body };
}
