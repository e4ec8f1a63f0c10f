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

/** The AI Gateway's own protocol: the language model interface of the AI SDK over HTTP. */
export const gatewayWire: Wire = {
  read,
  reply: (request, answer) =>
    (request.headers['ai-language-model-streaming'] === 'true' ? stream : whole)(request, answer),
  failure,
  streamedFailure: (name) => {
    const { error } = failure(name).body;
    return `data: ${JSON.stringify({ type: 'error', error })}\n\n`;
  },
};

interface Message {
  role: string;
  content:
    | string
    | {
        type: string;
        text?: string;
        toolCallId?: string;
        output?: { type: string; value: unknown };
      }[];
}

function read({
  body,
  headers,
}: WireRequest): Omit<ModelCall, 'n' | 'protocol' | 'gone' | 'path' | 'headers' | 'body'> {
  const messages = (body['prompt'] ?? []) as Message[];
  const said = messages.map((message) => ({ ...message, text: textOf(message.content) }));
  const last = messages.at(-1);
  return {
    model: String(headers['ai-language-model-id']),
    system: said
      .filter(({ role }) => role === 'system')
      .map(({ text }) => text)
      .join('\n'),
    messages: said.map(({ role, text }) => ({ role, text })),
    tools: ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => name),
    results: last?.role === 'tool' ? resultsOf(last.content) : [],
    wantsObject: (body['responseFormat'] as { type?: string } | undefined)?.type === 'json',
    objectTaken: false,
  };
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return content.map(({ text, output }) => text ?? outputText(output?.value)).join('\n');
}

function resultsOf(content: Message['content']): ToolResult[] {
  if (typeof content === 'string') return [];
  return content.map(({ toolCallId: id = '', output }) => ({
    id,
    text: outputText(output?.value),
    isError: output?.type.startsWith('error') === true,
  }));
}

function outputText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}

const finishes = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  pause_turn: 'stop',
  refusal: 'content-filter',
  model_context_window_exceeded: 'length',
} as const;

function frame(answer: Reply) {
  const used = { ...defaultUsage, ...answer.usage };
  const total = used.input + used.cacheRead + used.cacheWrite;
  const raw =
    answer.stop ?? (answer.blocks.some((block) => 'tool' in block) ? 'tool_use' : 'end_turn');
  return {
    finishReason: { unified: finishes[raw], raw },
    usage: {
      inputTokens: {
        total,
        noCache: used.input,
        cacheRead: used.cacheRead,
        cacheWrite: used.cacheWrite,
      },
      outputTokens: { total: used.output, text: used.output, reasoning: 0 },
    },
  };
}

function whole(_request: WireRequest, answer: Reply): WireAnswer {
  const content = answer.blocks.map((block) => {
    if ('thinking' in block) return { type: 'reasoning', text: block.thinking };
    if ('tool' in block) return toolCall(block);
    return { type: 'text', text: 'text' in block ? block.text : JSON.stringify(block.object) };
  });
  return { kind: 'json', body: { content, ...frame(answer), warnings: [] } };
}

function toolCall({
  tool,
  input,
  json,
  id = `call_${randomUUID()}`,
}: Extract<Block, { tool: string }>) {
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: tool,
    input: json ?? JSON.stringify(input ?? {}),
  };
}

function stream({ headers }: WireRequest, answer: Reply): WireAnswer {
  const model = headers['ai-language-model-id'];
  const parts: object[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: `resp_${randomUUID()}`, modelId: model },
  ];
  answer.blocks.forEach((block, index) => parts.push(...partsOf(block, String(index))));
  parts.push({ type: 'finish', ...frame(answer) });
  return {
    kind: 'events',
    events: [...parts.map((part) => `data: ${JSON.stringify(part)}\n\n`), 'data: [DONE]\n\n'],
  };
}

function partsOf(block: Block, id: string): object[] {
  if ('tool' in block) {
    const call = toolCall(block);
    const deltas = halves(call.input).map((delta) => ({
      type: 'tool-input-delta',
      id: call.toolCallId,
      delta,
    }));
    return [
      { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName },
      ...deltas,
      { type: 'tool-input-end', id: call.toolCallId },
      call,
    ];
  }
  const kind = 'thinking' in block ? 'reasoning' : 'text';
  const text =
    'thinking' in block
      ? block.thinking
      : 'text' in block
        ? block.text
        : JSON.stringify(block.object);
  return [
    { type: `${kind}-start`, id },
    ...halves(text).map((delta) => ({ type: `${kind}-delta`, id, delta })),
    { type: `${kind}-end`, id },
  ];
}

const failures: Record<FailureName, readonly [number, string, string]> = {
  auth: [401, 'authentication_error', 'Authentication failed'],
  permission: [403, 'forbidden', 'This team may not use the model.'],
  'no-model': [404, 'model_not_found', 'Model not found'],
  'bad-request': [400, 'invalid_request_error', 'The script has no answer for this request.'],
  'credit-low': [402, 'insufficient_funds', 'Insufficient funds'],
  billing: [402, 'insufficient_funds', 'Insufficient funds'],
  'too-long': [400, 'invalid_request_error', 'prompt is too long'],
  'too-large': [413, 'invalid_request_error', 'Request too large'],
  'rate-limit': [429, 'rate_limit_exceeded', 'Rate limit exceeded'],
  'server-error': [500, 'internal_server_error', 'Internal server error'],
  overloaded: [503, 'internal_server_error', 'Overloaded'],
};

function failure(name: FailureName) {
  const [status, type, message] = failures[name];
  return {
    status,
    body: {
      error: { message, type, param: name === 'no-model' ? { modelId: 'no-such-model' } : null },
      generationId: 'gen_test',
    },
  };
}
