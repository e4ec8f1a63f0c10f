import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { describe, expect, test } from 'vitest';
import type { CallMonitor } from '../../src/llm/port/backend.ts';
import { ownSessionPolicy } from '../../src/llm/claude-code/account-policy.ts';
import { AnswerGate } from '../../src/llm/claude-code/conversation/answer-gate.ts';
import {
  type ConversationOptions,
  readConversation,
} from '../../src/llm/claude-code/conversation/conversation.ts';
import type { TokenUsage } from '../../src/llm/port/runtime.ts';

const id = 'mcp__ktx__read';
const withTool = { tools: new Map([[id, 'read']]), hasObject: false };
const withObject = { tools: new Map<string, string>(), hasObject: true };

/** Messages as the program sends them, from the fields that count. */
const init = (tools: readonly string[] = [id], version = '2.1.325') => ({
  type: 'system',
  subtype: 'init',
  tools,
  mcp_servers: tools.includes(id) ? [{ name: 'ktx', status: 'connected' }] : [],
  plugins: [],
  apiKeySource: 'none',
  permissionMode: 'dontAsk',
  claude_code_version: version,
});
const start = (turn: string, parent: string | null = null) => ({
  type: 'stream_event',
  parent_tool_use_id: parent,
  event: {
    type: 'message_start',
    message: {
      id: turn,
      model: 'claude-x',
      usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3 },
    },
  },
});
const delta = (output: number, reason: string | null = 'tool_use') => ({
  type: 'stream_event',
  parent_tool_use_id: null,
  event: {
    type: 'message_delta',
    delta: { stop_reason: reason },
    usage: { output_tokens: output },
  },
});
const block = (turn: string, content: object, rest: object = {}) => ({
  type: 'assistant',
  parent_tool_use_id: null,
  message: {
    id: turn,
    model: 'claude-x',
    content: [content],
    usage: { input_tokens: 10, output_tokens: 1 },
  },
  ...rest,
});
const said = (text: string) => ({ type: 'text', text });
const uses = (name: string, callId: string, input: object = {}) => ({
  type: 'tool_use',
  id: callId,
  name,
  input,
});
const answer = (callId: string, isError = false) => ({
  type: 'user',
  parent_tool_use_id: null,
  message: {
    content: [{ type: 'tool_result', tool_use_id: callId, content: 'x', is_error: isError }],
  },
});
const result = (rest: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  terminal_reason: 'completed',
  stop_reason: 'end_turn',
  api_error_status: null,
  result: 'Done.',
  modelUsage: {},
  ...rest,
});

/** What a call's monitor was told. */
function recordingMonitor() {
  const told = {
    steps: 0,
    apiCalls: 0,
    failed: [] as string[],
    used: [] as (readonly [string, TokenUsage, number | null | undefined])[],
  };
  const nothing = (): void => undefined;
  const monitor: CallMonitor = {
    signal: new AbortController().signal,
    heartbeat: nothing,
    answerBegan: nothing,
    stepFinished: () => void (told.steps += 1),
    requestSent: () => void (told.apiCalls += 1),
    addUsage: (model, usage, cost) => void told.used.push([model, usage, cost]),
    toolFailed: (tool, callId) => void told.failed.push(`${tool} ${callId}`),
    retry: (failure) => Promise.reject(failure),
    limitReported: nothing,
    warn: nothing,
  };
  return { told, monitor };
}

/**
 * The stream of the SDK: it throws after an error result, as the real one does. With `hangs` it
 * does not end.
 */
function stream(
  messages: readonly object[],
  thrown?: string,
): { query: Query; read: () => number; interrupts: () => number } {
  let read = 0;
  let interrupts = 0;
  async function* each(): AsyncGenerator<SDKMessage, void> {
    for (const message of messages) {
      read += 1;
      yield message as SDKMessage;
    }
    if (thrown === 'hangs') await new Promise(() => undefined);
    if (thrown !== undefined) throw new Error(thrown);
  }
  const interrupt = () => Promise.resolve(void (interrupts += 1));
  const query = Object.assign(each(), { interrupt }) as unknown as Query;
  return { query, read: () => read, interrupts: () => interrupts };
}

async function run(
  messages: readonly object[],
  options: Partial<ConversationOptions> = {},
  thrown?: string,
) {
  const { told, monitor } = recordingMonitor();
  const { query, read, interrupts } = stream(messages, thrown);
  const conversation = await readConversation(query, {
    expected: withTool,
    policy: ownSessionPolicy,
    stepBudget: 10,
    monitor,
    gate: new AnswerGate(),
    gone: new Promise(() => undefined),
    ask: () => Promise.reject(new Error('no further prompt was expected')),
    ...options,
    ...(options.monitor && { monitor: { ...monitor, ...options.monitor } }),
  }).catch((error: unknown) => ({
    error,
  }));
  return { told, conversation, read: read(), interrupts: interrupts() };
}

describe('a conversation with Claude Code', () => {
  test('ends with its child, also if the stream of the SDK does not end', async () => {
    const gone = Promise.resolve();
    const cut = await run([init(), start('a')], { gone }, 'hangs');
    expect(cut.conversation).toMatchObject({
      error: { message: 'Claude Code ended before it answered.' },
    });
    const whole = [
      init(),
      start('a'),
      block('a', said('It is so.')),
      delta(5, 'end_turn'),
      result(),
    ];
    const { conversation } = await run(whole, { gone, readsToEnd: true }, 'hangs');
    expect(conversation).toMatchObject({ text: 'It is so.', facts: { text: 'Done.' } });
  });

  test('has one step for each turn id, however many messages the turn has [G1 G2 Q9]', async () => {
    const { told, conversation } = await run([
      init(),
      start('a'),
      block('a', { type: 'thinking', thinking: 'Hm.' }),
      block('a', said('Let me see. ')),
      block('a', uses(id, 'c1')),
      block('a', uses(id, 'c2')),
      delta(5),
      answer('c1'),
      answer('c2'),
      start('b'),
      block('b', said('It is ')),
      block('b', said('so.')),
      delta(5, 'end_turn'),
      result(),
    ]);
    expect(told).toMatchObject({ steps: 2, apiCalls: 2, failed: [] });
    expect(conversation).toMatchObject({
      text: 'It is so.',
      model: 'claude-x',
      facts: { text: 'Done.' },
    });
  });

  test('has no step for an error or for messages of a sub-agent [G2 G8]', async () => {
    const { told } = await run([
      init(),
      start('s', 'c9'),
      block('s', said('Inside.'), { parent_tool_use_id: 'c9' }),
      block('e', said('API Error'), { error: 'rate_limit' }),
      result({ is_error: true, api_error_status: 429 }),
    ]);
    // The refused request was sent.
    expect(told).toMatchObject({ steps: 0, apiCalls: 1 });
  });

  test('is decided by its result, whatever is thrown after it [R6 R10 Q9]', async () => {
    const spent = result({
      subtype: 'error_max_turns',
      is_error: true,
      terminal_reason: 'max_turns',
      errors: [],
      result: undefined,
    });
    const turn = [start('a'), block('a', uses(id, 'c1')), delta(5), answer('c1')];
    const messages = [init(), ...turn, spent];
    const { conversation, told } = await run(messages, {}, 'Reached maximum number of turns (1)');
    expect(conversation).toMatchObject({
      facts: { subtype: 'error_max_turns', terminalReason: 'max_turns' },
    });
    expect(told.steps).toBe(1);
  });

  test('keeps the error and the limit that came before the result [R1 E16]', async () => {
    const limit = {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: 1_900_000_000, rateLimitType: 'five_hour' },
    };
    const failed = block('e', said('Limit'), { error: 'rate_limit' });
    const { conversation } = await run(
      [init(), limit, failed, result({ is_error: true, api_error_status: 429 })],
      {},
      'thrown',
    );
    expect(conversation).toMatchObject({
      error: {
        kind: 'rate_limit',
        status: 429,
        window: 'five_hour',
        resetsAt: new Date(1_900_000_000_000),
      },
    });
  });

  test('without a result is an error; without any output, a failed start [R8 I21]', async () => {
    expect((await run([init(), start('a'), block('a', said('So'))])).conversation).toMatchObject({
      error: { kind: 'execution' },
    });
    expect((await run([])).conversation).toMatchObject({ error: { kind: 'spawn' } });
  });

  test('that answers before it reported its configuration is refused [I21]', async () => {
    expect((await run([block('a', said('Hello.')), init(), result()])).conversation).toMatchObject({
      error: { kind: 'isolation' },
    });
    expect((await run([result()])).conversation).toMatchObject({ error: { kind: 'isolation' } });
  });

  test('that has more tools than it was given is refused at once [I12 I16]', async () => {
    const { conversation, read } = await run([
      init([id, 'Bash']),
      block('a', said('Hello.')),
      result(),
    ]);
    expect(conversation).toMatchObject({
      error: { kind: 'isolation', message: expect.stringContaining('Bash') },
    });
    expect(read).toBe(1);
  });

  test('is cut off past its budget, without another step [A7]', async () => {
    const turn = (name: string) => [
      start(name),
      block(name, uses(id, `c-${name}`)),
      delta(5),
      answer(`c-${name}`),
    ];
    const { conversation, told, read } = await run(
      [init(), ...turn('a'), ...turn('b'), ...turn('c'), ...turn('d'), result()],
      {
        stepBudget: 2,
      },
    );
    expect(conversation).toMatchObject({ facts: undefined, object: undefined });
    expect(told.steps).toBe(2);
    expect(read).toBe(11);
  });

  test('counts a failed call of its own tools, by the id of the call [R7]', async () => {
    const { told } = await run([
      init(),
      block('a', uses(id, 'c1')),
      block('a', uses('Bash', 'c2')),
      answer('c1', true),
      answer('c2', true),
      result(),
    ]);
    expect(told.failed).toEqual(['read c1']);
  });
});

describe('a request', () => {
  const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
  const retry = {
    type: 'system',
    subtype: 'api_retry',
    error: 'overloaded',
    error_status: 529,
    retry_delay_ms: 500,
  };

  test('counts if the program ends while it waits for the answer', async () => {
    const ended = { gone: Promise.resolve() };
    const { told } = await run([init(), requesting], ended, 'hangs');
    expect(told).toMatchObject({ steps: 0, apiCalls: 1 });
    const { told: idle } = await run([init()], ended, 'hangs');
    expect(idle.apiCalls).toBe(0);
  });

  test('counts once if it fails, before its answer and in the middle of it', async () => {
    const { told: before } = await run([init(), requesting, retry]);
    expect(before).toMatchObject({ steps: 0, apiCalls: 1 });
    const { told: after } = await run([init(), requesting, start('a'), retry]);
    expect(after).toMatchObject({ steps: 0, apiCalls: 1 });
  });

  test('counts once if it is answered', async () => {
    const whole = [start('a'), block('a', said('So.')), delta(5, 'end_turn')];
    const { told } = await run([init(), requesting, ...whole, result()]);
    expect(told).toMatchObject({ steps: 1, apiCalls: 1 });
  });
});

describe('an answer that does not arrive in full', () => {
  const stop = { type: 'stream_event', parent_tool_use_id: null, event: { type: 'message_stop' } };
  const lost = block('e', said('API Error: Connection lost mid-response.'), {
    error: 'server_error',
  });
  const again = [start('z'), block('z', said('Done.')), delta(5, 'end_turn'), stop, result()];
  const retried: string[] = [];
  const retrying = {
    monitor: {
      ...recordingMonitor().monitor,
      retry: (failure: Error) => Promise.resolve(void retried.push(failure.message)),
    },
  };
  /** A monitor that allows every further attempt, and is told what every monitor is told. */
  async function repeat(messages: readonly object[], options: Partial<ConversationOptions> = {}) {
    const { told, monitor } = recordingMonitor();
    const asked: string[] = [];
    const { conversation, interrupts } = await run(messages, {
      ...options,
      monitor: { ...monitor, retry: retrying.monitor.retry },
      ask: (prompt) => Promise.resolve(void asked.push(prompt)),
    });
    return { told, conversation, interrupts, asked };
  }
  const tool = [init(), start('a'), block('a', uses(id, 'c1'))];

  test('runs no tool and is no step; the program asks again when the tool says why', async () => {
    const gate = new AnswerGate();
    const mayRun = gate.wait('c1');
    const { told, asked, interrupts } = await repeat(
      [...tool, stop, lost, answer('c1', true), ...again],
      { gate },
    );
    expect(await mayRun).toBe(false);
    expect(told).toMatchObject({ steps: 1, apiCalls: 2, failed: [] });
    expect({ asked, interrupts }).toEqual({ asked: [], interrupts: 0 });
    expect(told.used[0]).toEqual(['claude-x', expect.objectContaining({ input: 0 }), null]);
  });

  test('lets a tool run once it is whole', async () => {
    const gate = new AnswerGate();
    const mayRun = gate.wait('c1');
    await repeat([...tool, delta(5), stop, answer('c1'), ...again], { gate });
    expect(await mayRun).toBe(true);
  });

  test('is asked for again as a whole, although the program would go on with its text', async () => {
    const { told, asked, interrupts, conversation } = await repeat([
      init(),
      start('a'),
      block('a', said('Half an')),
      stop,
      result({ subtype: 'error_during_execution', is_error: true, errors: [] }),
      ...again,
    ]);
    expect({ asked: asked.length, interrupts }).toEqual({ asked: 1, interrupts: 1 });
    expect(told).toMatchObject({ steps: 1, apiCalls: 2 });
    expect(conversation).toMatchObject({ text: 'Done.' });
  });

  test('counts if only its last line is lost', async () => {
    const { told, asked, conversation } = await repeat([
      init(),
      start('a'),
      block('a', said('Whole.')),
      delta(5, 'end_turn'),
      block('e', said('API Error: Overloaded'), { error: 'unknown' }),
      stop,
      result({ is_error: true, api_error_status: 529, result: 'API Error: Overloaded' }),
    ]);
    expect(told).toMatchObject({ steps: 1, apiCalls: 1 });
    expect(asked).toEqual([]);
    expect(conversation).toMatchObject({ facts: { subtype: 'success', text: 'Whole.' } });
  });

  test('is asked for again if it ends for a call that it does not have', async () => {
    const { told, asked } = await repeat([
      init(),
      start('a'),
      block('a', said('I call.')),
      delta(5, 'tool_use'),
      result({ subtype: 'error_during_execution', is_error: true, errors: [] }),
      ...again,
    ]);
    expect(asked).toHaveLength(1);
    expect(told).toMatchObject({ steps: 1, apiCalls: 2 });
  });

  test('ends the conversation if it is empty: the program is kept from asking for more', async () => {
    const { told, interrupts, conversation } = await repeat([
      init(),
      start('a'),
      delta(0, 'end_turn'),
      ...again,
    ]);
    expect(interrupts).toBe(1);
    expect(told.steps).toBe(1);
    expect(conversation).toMatchObject({ isAnswered: true, text: '' });
  });
});

describe('an object from Claude Code', () => {
  const give = (callId: string, input: object) =>
    block(callId, uses('StructuredOutput', callId, input));
  const expected = withObject;
  const first = (version: string) => [
    init(['StructuredOutput'], version),
    start('a'),
    give('a', { n: 'one' }),
    delta(5),
    answer('a', true),
    start('b'),
    give('b', { n: 1 }),
    delta(7),
    answer('b'),
  ];

  test('is taken as soon as it is accepted if the program would ask once more: usage once per turn, no cost [O8]', async () => {
    const { conversation, told, read } = await run(
      [...first('2.1.142'), start('c'), result({ modelUsage: { 'claude-x': {} } })],
      {
        expected,
      },
    );
    expect(conversation).toMatchObject({ object: { value: { n: 1 } }, facts: undefined });
    expect(read).toBe(9);
    const turn = (output: number) => [
      'claude-x',
      { input: 10, output, cacheRead: 3, cacheWrite: 0 },
      undefined,
    ];
    expect(told.used).toEqual([turn(5), turn(7)]);
  });

  test('comes with the result and its cost if the program ends there [O7 R6]', async () => {
    const used = {
      inputTokens: 20,
      outputTokens: 12,
      cacheReadInputTokens: 6,
      cacheCreationInputTokens: 2,
      costUSD: 0.5,
    };
    const { conversation, told } = await run(
      [
        ...first('2.1.325'),
        result({ structured_output: { n: 1 }, modelUsage: { 'claude-x': used } }),
      ],
      { expected },
    );
    expect(conversation).toMatchObject({
      object: { value: { n: 1 } },
      facts: { subtype: 'success' },
    });
    expect(told.used).toEqual([
      ['claude-x', { input: 20, output: 12, cacheRead: 6, cacheWrite: 2 }, 0.5],
    ]);
  });

  test('that was refused is left to whoever asked [O7]', async () => {
    const { conversation } = await run(
      [init(['StructuredOutput']), give('a', { n: 'one' }), answer('a', true), result()],
      { expected },
    );
    expect(conversation).toMatchObject({ object: { value: { n: 'one' } } });
  });

  describe('whose answer spends the money, so that the program stops reading', () => {
    const stop = {
      type: 'stream_event',
      parent_tool_use_id: null,
      event: { type: 'message_stop' },
    };
    const used = {
      inputTokens: 10,
      outputTokens: 1000,
      cacheReadInputTokens: 3,
      cacheCreationInputTokens: 0,
      costUSD: 0.5,
    };
    const spent = result({
      subtype: 'error_max_budget_usd',
      errors: [],
      modelUsage: { 'claude-x': used },
    });

    test('is kept, as the last step, with the cost that the program reports', async () => {
      const { conversation, told } = await run(
        [init(['StructuredOutput']), start('a'), give('a', { n: 1 }), delta(1, null), stop, spent],
        { expected },
      );
      expect(conversation).toMatchObject({ object: { value: { n: 1 } } });
      expect(told).toMatchObject({
        steps: 1,
        apiCalls: 1,
        used: [['claude-x', { input: 10, output: 1000, cacheRead: 3, cacheWrite: 0 }, 0.5]],
      });
    });

    test('is not kept if nothing of it is there, and its cost is unknown', async () => {
      const { conversation, told } = await run(
        [init(['StructuredOutput']), start('a'), delta(1, null), stop, spent],
        { expected },
      );
      expect(conversation).toMatchObject({
        object: undefined,
        facts: { subtype: 'error_max_budget_usd' },
      });
      expect(told.used.map(([, , cost]) => cost)).toEqual([null]);
    });
  });
});
