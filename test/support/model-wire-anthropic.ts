import { randomUUID } from 'node:crypto';
import {
  type Block,
  defaultUsage,
  type FailureName,
  type ModelCall,
  type Reply,
  type ToolResult,
} from './model-script.ts';
import { halves, type Wire, type WireAnswer, type WireRequest } from './model-wire.ts';

/** The Anthropic Messages protocol, as api.anthropic.com and Vertex speak it. */
export const anthropicWire: Wire = {
  read,
  reply: (request, answer) => (request.body['stream'] === true ? stream : whole)(request, answer),
  failure,
  streamedFailure: (name) => `event: error\ndata: ${JSON.stringify(failure(name).body)}\n\n`,
};

interface Message {
  role: string;
  content: string | Content[];
}
interface Content {
  type: string;
  text?: string;
  tool_use_id?: string;
  is_error?: boolean;
  content?: string | Content[];
  name?: string;
  id?: string;
}

const objectTools = new Set(['StructuredOutput', 'json']);

function read({
  body,
  path,
}: WireRequest): Omit<ModelCall, 'n' | 'protocol' | 'gone' | 'path' | 'headers' | 'body'> {
  const messages = (body['messages'] ?? []) as Message[];
  const tools = ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
  const last = messages.findLast(({ role }) => role === 'user');
  const config = body['output_config'] as { format?: unknown } | undefined;
  const objectIds = new Set(
    messages.flatMap(({ content }) =>
      parts(content)
        .filter(({ type, name }) => type === 'tool_use' && objectTools.has(name ?? ''))
        .map(({ id }) => id),
    ),
  );
  const results = messages.flatMap(({ content }) => resultsOf(content));
  return {
    // On Vertex the model is in the address.
    model:
      typeof body['model'] === 'string' ? body['model'] : (/([^/]+):\w+$/.exec(path)?.[1] ?? ''),
    system: textOf(body['system'] as string | Content[] | undefined),
    messages: messages.map(({ role, content }) => ({ role, text: textOf(content) })),
    tools,
    results: last === undefined ? [] : resultsOf(last.content),
    wantsObject:
      config?.format !== undefined ||
      body['output_format'] !== undefined ||
      tools.some((name) => objectTools.has(name)),
    objectTaken: results.some(({ id, isError }) => objectIds.has(id) && isError !== true),
  };
}

function parts(content: string | Content[] | undefined): Content[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
}

function textOf(content: string | Content[] | undefined): string {
  return parts(content)
    .map(({ type, text, content: inner }) =>
      type === 'tool_result' ? textOf(inner) : (text ?? ''),
    )
    .join('\n');
}

function resultsOf(content: string | Content[]): ToolResult[] {
  return parts(content)
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id: id = '', is_error: isError = false, content: inner }) => ({
      id,
      text: textOf(inner),
      isError,
    }));
}

/** Tools of ktx have a prefix on Claude Code and none elsewhere. */
function toolName(tools: readonly string[], name: string): string {
  return tools.includes(name) ? name : (tools.find((full) => full.endsWith(`__${name}`)) ?? name);
}

function contentOf(
  block: Block,
  tools: readonly string[],
): { start: object; whole: object; deltas: object[] } {
  if ('text' in block) {
    const deltas = halves(block.text).map((text) => ({ type: 'text_delta', text }));
    return { start: { type: 'text', text: '' }, whole: { type: 'text', text: block.text }, deltas };
  }
  if ('thinking' in block) {
    const { thinking } = block;
    const deltas = [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ];
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      whole: { type: 'thinking', thinking, signature: 'c2lnbmVk' },
      deltas,
    };
  }
  if ('object' in block) {
    const name = tools.find((tool) => objectTools.has(tool));
    return name === undefined
      ? contentOf({ text: JSON.stringify(block.object) }, tools)
      : contentOf({ tool: name, input: block.object }, tools);
  }
  const json = block.json ?? JSON.stringify(block.input ?? {});
  const start = {
    type: 'tool_use',
    id: block.id ?? `toolu_${randomUUID().replaceAll('-', '').slice(0, 22)}`,
    name: toolName(tools, block.tool),
    input: {},
  };
  const deltas = halves(json).map((text) => ({ type: 'input_json_delta', partial_json: text }));
  return { start, whole: { ...start, input: block.input ?? {} }, deltas };
}

function frame(request: WireRequest, answer: Reply) {
  const { model, tools } = read(request);
  const content = answer.blocks.map((block) => contentOf(block, tools));
  const usesTool = content.some(({ start }) => (start as Content).type === 'tool_use');
  const used = { ...defaultUsage, ...answer.usage };
  const message = {
    id: `msg_${randomUUID().replaceAll('-', '').slice(0, 22)}`,
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
  };
  const usage = {
    input_tokens: used.input,
    cache_read_input_tokens: used.cacheRead,
    cache_creation_input_tokens: used.cacheWrite,
  };
  return {
    content,
    message,
    usage,
    output: used.output,
    stop: answer.stop ?? (usesTool ? 'tool_use' : 'end_turn'),
  };
}

function whole(request: WireRequest, answer: Reply): WireAnswer {
  const { content, message, usage, output, stop } = frame(request, answer);
  const body = {
    ...message,
    content: content.map((block) => block.whole),
    stop_reason: stop,
    usage: { ...usage, output_tokens: output },
  };
  return { kind: 'json', body };
}

function stream(request: WireRequest, answer: Reply): WireAnswer {
  const { content, message, usage, output, stop } = frame(request, answer);
  const events: { type: string; [key: string]: unknown }[] = [
    {
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
  ];
  content.forEach(({ start, deltas }, index) => {
    events.push({ type: 'content_block_start', index, content_block: start });
    events.push(...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })));
    events.push({ type: 'content_block_stop', index });
  });
  events.push({
    type: 'message_delta',
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { ...usage, output_tokens: output },
  });
  events.push({ type: 'message_stop' });
  return {
    kind: 'events',
    events: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  };
}

const failures: Record<FailureName, readonly [number, string, string]> = {
  auth: [401, 'authentication_error', 'invalid x-api-key'],
  permission: [403, 'permission_error', 'Your account does not have permission to use this model.'],
  'no-model': [404, 'not_found_error', 'model: no-such-model'],
  'bad-request': [400, 'invalid_request_error', 'The script has no answer for this request.'],
  'credit-low': [
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
  ],
  billing: [402, 'billing_error', 'There is an issue with your billing or payment information.'],
  'too-long': [400, 'invalid_request_error', 'prompt is too long: 212345 tokens > 200000 maximum'],
  'too-large': [413, 'request_too_large', 'Request exceeds the maximum allowed number of bytes.'],
  'rate-limit': [429, 'rate_limit_error', 'This request would exceed your rate limit.'],
  'server-error': [500, 'api_error', 'Internal server error'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
};

function failure(name: FailureName): { status: number; body: unknown } {
  const [status, type, message] = failures[name];
  return { status, body: { type: 'error', error: { type, message }, request_id: 'req_test' } };
}
