import { randomUUID } from 'node:crypto';
import {
  type Block,
  defaultUsage,
  type FailureName,
  type ModelCall,
  type Reply,
} from './model-script.ts';
import { halves, type Wire, type WireAnswer, type WireRequest } from './model-wire.ts';

/** Chat completions, as OpenAI and the many endpoints that copy it speak them. */
export const openaiWire: Wire = {
  read,
  reply: (request, answer) => (request.body['stream'] === true ? stream : whole)(request, answer),
  failure,
  streamedFailure: (name) => `data: ${JSON.stringify(failure(name).body)}\n\n`,
};

interface Message {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
  tool_call_id?: string;
}

function read({
  body,
}: WireRequest): Omit<ModelCall, 'n' | 'protocol' | 'gone' | 'path' | 'headers' | 'body'> {
  const messages = (body['messages'] ?? []) as Message[];
  const said = messages.map((message) => ({ ...message, text: textOf(message.content) }));
  const trailing = said.slice(said.findLastIndex(({ role }) => role !== 'tool') + 1);
  const format = body['response_format'] as { type?: string } | undefined;
  return {
    model: String(body['model']),
    system: said
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ text }) => text)
      .join('\n'),
    messages: said.map(({ role, text }) => ({ role, text })),
    tools: ((body['tools'] ?? []) as { function: { name: string } }[]).map(
      (tool) => tool.function.name,
    ),
    results: trailing.map(({ tool_call_id: id = '', text }) => ({ id, text, isError: undefined })),
    wantsObject: format?.type === 'json_schema' || format?.type === 'json_object',
    objectTaken: false,
  };
}

function textOf(content: Message['content']): string {
  return typeof content === 'string'
    ? content
    : (content ?? []).map(({ text = '' }) => text).join('\n');
}

function frame({ body }: WireRequest, answer: Reply) {
  const used = { ...defaultUsage, ...answer.usage };
  const prompt = used.input + used.cacheRead + used.cacheWrite;
  const calls = answer.blocks.flatMap((block, index) => toolCall(block, index));
  return {
    calls,
    text: answer.blocks
      .map((block) =>
        'text' in block ? block.text : 'object' in block ? JSON.stringify(block.object) : '',
      )
      .join(''),
    thinking: answer.blocks.map((block) => ('thinking' in block ? block.thinking : '')).join(''),
    finish: {
      end_turn: 'stop',
      stop_sequence: 'stop',
      tool_use: 'tool_calls',
      max_tokens: 'length',
      pause_turn: 'stop',
      refusal: 'content_filter',
      model_context_window_exceeded: 'length',
    }[answer.stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn')],
    head: { id: `chatcmpl-${randomUUID()}`, created: 1_700_000_000, model: body['model'] },
    usage: {
      prompt_tokens: prompt,
      completion_tokens: used.output,
      total_tokens: prompt + used.output,
      prompt_tokens_details: { cached_tokens: used.cacheRead },
    },
  };
}

function toolCall(block: Block, index: number) {
  if (!('tool' in block)) return [];
  const json = block.json ?? JSON.stringify(block.input ?? {});
  return [
    {
      index,
      id: block.id ?? `call_${randomUUID()}`,
      type: 'function',
      function: { name: block.tool, arguments: json },
    },
  ];
}

function whole(request: WireRequest, answer: Reply): WireAnswer {
  const { calls, text, finish, head, usage } = frame(request, answer);
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    kind: 'json',
    body: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    },
  };
}

function stream(request: WireRequest, answer: Reply): WireAnswer {
  const { calls, text, thinking, finish, head, usage } = frame(request, answer);
  const deltas: object[] = [{ role: 'assistant', content: '' }];
  if (thinking !== '') deltas.push({ reasoning_content: thinking });
  if (text !== '' || calls.length === 0)
    deltas.push(...halves(text).map((content) => ({ content })));
  for (const { index, id, type, function: called } of calls) {
    const [first, second] = halves(called.arguments);
    deltas.push({
      tool_calls: [{ index, id, type, function: { name: called.name, arguments: first } }],
    });
    deltas.push({ tool_calls: [{ index, function: { arguments: second } }] });
  }
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ];
  const lines = chunks.map(
    (chunk) =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })}\n\n`,
  );
  return { kind: 'events', events: [...lines, 'data: [DONE]\n\n'] };
}

const failures: Record<FailureName, readonly [number, string, string, string?]> = {
  auth: [401, 'invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key'],
  permission: [
    403,
    'invalid_request_error',
    'You are not allowed to sample from this model.',
    'model_not_allowed',
  ],
  'no-model': [
    404,
    'invalid_request_error',
    'The model does not exist or you do not have access to it.',
    'model_not_found',
  ],
  'bad-request': [400, 'invalid_request_error', 'The script has no answer for this request.'],
  'credit-low': [
    429,
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ],
  billing: [
    429,
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
    'insufficient_quota',
  ],
  'too-long': [
    400,
    'invalid_request_error',
    "This model's maximum context length is 128000 tokens.",
    'context_length_exceeded',
  ],
  'too-large': [413, 'invalid_request_error', 'Request too large.'],
  'rate-limit': [429, 'requests', 'Rate limit reached for requests.', 'rate_limit_exceeded'],
  'server-error': [500, 'server_error', 'The server had an error while processing your request.'],
  overloaded: [503, 'server_error', 'The engine is currently overloaded.'],
};

function failure(name: FailureName): { status: number; body: unknown } {
  const [status, type, message, code = null] = failures[name];
  return { status, body: { error: { message, type, param: null, code } } };
}
