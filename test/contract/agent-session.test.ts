import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { KtxToolSet } from '../../src/llm/port/runtime.ts';
import {
  type AgentEvent,
  type AgentSessionSpec,
  readTurnResult,
  type TurnResult,
} from '../../src/llm/port/session.ts';
import { hasSlowCases } from '../slow-suites.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import {
  makeMachine,
  missing,
  openRuntime,
  type Subject,
  type TestRuntime,
  testModel,
} from '../support/llm-runtimes.ts';
import {
  type ModelCase,
  type ModelEndpoint,
  openModelEndpoint,
} from '../support/model-endpoint.ts';
import {
  fail,
  give,
  inTurn,
  reply,
  say,
  type Script,
  subscriptionLimit,
  use,
} from '../support/model-script.ts';

/**
 * One of each way to a model: a protocol whose state ktx sends along, another one, and the program
 * that keeps it itself.
 */
const subjects: readonly Subject[] = hasSlowCases
  ? ['anthropic', 'openai', 'claude-code']
  : ['anthropic', 'openai'];

let endpoint: ModelEndpoint;
let machine: ClaudeHome;
const runtimes = new Map<Subject, TestRuntime>();
const prices = { [testModel]: { input: 3, output: 15 } };
beforeAll(async () => {
  endpoint = await openModelEndpoint();
  machine = await makeMachine(endpoint);
  for (const subject of subjects) {
    if (missing(subject) === undefined)
      runtimes.set(
        subject,
        await openRuntime(subject, endpoint, { machine, prices, concurrency: 6 }),
      );
  }
});
afterAll(async () => {
  await Promise.all([...runtimes.values()].map(({ runtime }) => runtime.close()));
  await endpoint?.close();
  await machine?.remove();
});

/** A tool that answers, one that has to be allowed, one that fails. */
function makeTools(allow = true): KtxToolSet {
  return {
    look_up: {
      name: 'look_up',
      description: 'Looks up a word.',
      inputSchema: z.object({ word: z.string() }),
      execute: (input, call) => {
        const { word } = input as { word: string };
        const evidence = {
          id: `q-${word}`,
          tool: 'look_up',
          sql: 'SELECT 1',
          columns: [{ name: 'n' }],
          rows: [[1]],
          truncated: false,
          ms: 1,
        };
        return Promise.resolve({
          markdown: `**${word}** is a fruit`,
          summary: `1 row for ${word}`,
          evidence: call && evidence,
        });
      },
    },
    send_mail: {
      name: 'send_mail',
      description: 'Sends a mail.',
      inputSchema: z.object({ to: z.string() }),
      async execute(input, call) {
        const allowed = await call?.ask?.({ tool: 'send_mail', effect: 'external', input }, () =>
          Promise.resolve(allow),
        );
        if (allowed === true) return { markdown: 'sent', summary: 'sent' };
        return {
          markdown: 'The user did not allow it.',
          summary: 'not allowed',
          isError: true,
          denied: 'no',
        };
      },
    },
    broken: {
      name: 'broken',
      description: 'Fails.',
      inputSchema: z.object({}),
      execute: () => Promise.reject(new Error('the pump is dry')),
    },
  };
}

/** Kills the child of this process that was started with this limit of turns. */
function killChild(maxTurns: number): void {
  // Older SDKs pass the value as an argument of its own.
  const argument = new RegExp(`--max-turns[= ]${maxTurns}\\b`, 'u');
  const lines = execFileSync('ps', ['-ww', '-A', '-o', 'pid=,ppid=,args='], {
    encoding: 'utf8',
    maxBuffer: 50_000_000,
  }).split('\n');
  const [pid] = lines.flatMap((line) => {
    const [, id, parent] = /^\s*(\d+)\s+(\d+)/.exec(line) ?? [];
    return argument.test(line) && Number(parent) === process.pid ? [Number(id)] : [];
  });
  if (pid === undefined) throw new Error(`no child with ${argument.source}`);
  process.kill(pid, 'SIGKILL');
}

const limits = { maxTurns: 8, timeoutSeconds: 60 };

/**
 * The events without what differs from run to run: ids of calls, times, and where a text was cut
 * into pieces.
 */
function told(events: readonly AgentEvent[]): unknown[] {
  const ids = new Map<string, string>();
  const idOf = (id: string): string =>
    ids.get(id) ?? ids.set(id, `call ${ids.size + 1}`).get(id) ?? '';
  const merged: Record<string, unknown>[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (event.type === 'text_delta' && last?.['type'] === 'text_delta')
      last['text'] = `${String(last['text'])}${event.text}`;
    else if (event.type === 'turn_end')
      merged.push({
        type: 'turn_end',
        stopReason: event.result.stopReason,
        text: event.result.text,
      });
    else if (event.type === 'session_started')
      merged.push({ ...event, backend: 'any', session: 'any' });
    else if ('id' in event)
      merged.push({ ...event, id: idOf(event.id), ...('ms' in event && { ms: 0 }) });
    else merged.push({ ...event });
  }
  return merged;
}

function contract(subject: Subject): void {
  const open = (
    running: ModelCase,
    spec: Partial<AgentSessionSpec> = {},
    on: Subject = subject,
  ) => {
    const { runtime } = runtimes.get(on) as TestRuntime;
    const session = runtime.sessions.open({
      id: 'test',
      system: `You answer. ${running.marker}`,
      tools: makeTools(),
      limits,
      ...spec,
    });
    const events: AgentEvent[] = [];
    const send = async (message: string, signal?: AbortSignal): Promise<TurnResult> => {
      return readTurnResult(session.send(message, { signal }), (event) => events.push(event));
    };
    return { session, events, send };
  };
  const textOf = (running: ModelCase, index: number): string =>
    running.calls
      .at(index)
      ?.messages.map(({ text }) => text)
      .join('\n') ?? '';

  // Of Claude Code the table of agent-backends.test.ts has these, beside another backend.
  const alone = test.runIf(subject !== 'claude-code');

  test('sends the same events for a message and its answer on every backend', async () => {
    const script = inTurn(
      reply([{ text: 'Let me see.' }, { tool: 'look_up', input: { word: 'apple' } }]),
      say('It is a fruit.'),
    );
    const { session, events, send } = open(endpoint.start(script));
    const result = await send('What is an apple?');
    await session.close();
    expect(told(events)).toEqual([
      {
        type: 'session_started',
        session: 'any',
        backend: 'any',
        model: testModel,
        tools: ['broken', 'look_up', 'send_mail'],
      },
      { type: 'text_delta', text: 'Let me see.' },
      { type: 'tool_start', id: 'call 1', name: 'look_up', input: { word: 'apple' } },
      {
        type: 'tool_end',
        id: 'call 1',
        name: 'look_up',
        ok: true,
        summary: '1 row for apple',
        evidenceId: 'q-apple',
        ms: 0,
      },
      { type: 'text_delta', text: 'It is a fruit.' },
      { type: 'usage', model: testModel, input: 200, output: 40, cacheRead: 0, cacheWrite: 0 },
      { type: 'turn_end', stopReason: 'completed', text: 'It is a fruit.' },
    ]);
    expect(result).toMatchObject({
      turn: 1,
      steps: 2,
      toolCalls: [{ ok: true, input: { word: 'apple' }, answer: '**apple** is a fruit' }],
    });
    expect(result.evidence).toMatchObject([
      { id: 'q-apple', sql: 'SELECT 1', rows: [[1]], call: result.toolCalls[0]?.id },
    ]);
    expect(result.costUsd).toBeCloseTo(0.0012, 6);
    expect(result.firstTokenMs).toBeGreaterThan(0);
  });

  alone('three turns: each sees those before; another session sees none', async () => {
    const running = endpoint.start(({ n }) =>
      n === 2 ? use('look_up', { word: 'pear' }) : say(`Answer ${n}.`),
    );
    const { session, send } = open(running);
    await send('First, remember plum.');
    const second = await send('Second.');
    const third = await send('Third.');
    expect([second.turn, third.turn, third.text]).toEqual([2, 3, 'Answer 4.']);
    expect(third.usage[testModel]).toEqual({ input: 100, output: 20, cacheRead: 0, cacheWrite: 0 });
    for (const word of ['plum', 'Answer 1.', 'Second.', 'pear', 'Answer 3.', 'Third.'])
      expect(textOf(running, 3)).toContain(word);
    await session.close();
    const other = open(running);
    await other.send('Who am I?');
    await other.session.close();
    expect(textOf(running, -1)).not.toContain('plum');
  });

  alone('goes on from what another backend said', async () => {
    const from: Subject = subject === 'claude-code' ? 'anthropic' : 'claude-code';
    if (!runtimes.has(from)) return;
    const running = endpoint.start(({ n }) =>
      n === 1 ? use('look_up', { word: 'quince' }) : say(`Answer ${n}.`),
    );
    const first = open(running, {}, from);
    const { text, toolCalls, stopReason } = await first.send('Remember quince.');
    await first.session.close();
    const history = [{ message: 'Remember quince.', text, toolCalls, stopReason }];
    const second = open(running, { history });
    expect(await second.send('What was it?')).toMatchObject({ turn: 2, text: 'Answer 3.' });
    expect(textOf(running, -1)).toContain('**quince** is a fruit');
    expect(textOf(running, -1)).toContain('Answer 2.');
    await second.send('And now?');
    expect(textOf(running, -1).split('Remember quince.')).toHaveLength(2);
    await second.session.close();
  });

  test('keeps what arrived before an interruption, and the next turn knows of it', async () => {
    const running = endpoint.start(({ n }) =>
      n === 1
        ? say('A long and winding answer about figs.', { hang: 'mid-stream' })
        : say('Short.'),
    );
    const { session, events, send } = open(running);
    const controller = new AbortController();
    const turn = readTurnResult(
      session.send('Tell me.', { signal: controller.signal }),
      (event) => {
        events.push(event);
        if (event.type === 'text_delta') controller.abort();
      },
    );
    const result = await turn;
    expect(result).toMatchObject({ stopReason: 'interrupted', text: 'A long and winding ' });
    await running.abandoned;
    expect(await send('Shorter.')).toMatchObject({
      stopReason: 'completed',
      text: 'Short.',
      turn: 2,
    });
    expect(textOf(running, -1)).toContain('A long and winding');
    await session.close();
  });

  test('ends the turn if the reader leaves the stream', async () => {
    const running = endpoint.start(() => say('A long and winding answer.', { hang: 'mid-stream' }));
    const { session } = open(running);
    for await (const event of session.send('Tell me.')) if (event.type === 'text_delta') break;
    await running.abandoned;
    await session.close();
  });

  alone('a tool that asks: allowed, and denied', async () => {
    const script: Script = ({ results }) =>
      results.length === 0 ? use('send_mail', { to: 'ada' }) : say(results[0]?.text ?? '');
    const asked = {
      type: 'permission_request',
      id: 'call 1',
      tool: 'send_mail',
      effect: 'external',
      input: { to: 'ada' },
    };
    const yes = open(endpoint.start(script), { tools: makeTools(true) });
    expect(await yes.send('Mail it.')).toMatchObject({
      stopReason: 'completed',
      text: 'sent',
      denials: [],
    });
    const kinds = ['tool_start', 'permission_request', 'tool_end'];
    expect(
      told(yes.events).filter((event) => kinds.includes((event as AgentEvent).type)),
    ).toMatchObject([{ type: 'tool_start', id: 'call 1' }, asked, { type: 'tool_end', ok: true }]);
    const no = open(endpoint.start(script), { tools: makeTools(false) });
    const result = await no.send('Mail it.');
    expect(result).toMatchObject({
      stopReason: 'denied',
      text: 'The user did not allow it.',
      denials: [{ tool: 'send_mail', reason: 'no' }],
    });
    expect(result.toolCalls).toMatchObject([{ ok: false, summary: 'not allowed' }]);
    await Promise.all([yes.session.close(), no.session.close()]);
  });

  test('ends every tool call: one that is refused, one that fails, and one of a tool that does not exist', async () => {
    const bad = subject === 'claude-code' ? { word: 5 } : { word: undefined };
    const script = inTurn(
      use('look_up', bad),
      use('broken', {}),
      use('rm_rf', { path: '/' }),
      say('Never mind.'),
    );
    const { session, events, send } = open(endpoint.start(script));
    const result = await send('Try.');
    expect(result).toMatchObject({ stopReason: 'completed', text: 'Never mind.', steps: 4 });
    expect(result.toolCalls.map(({ name, ok }) => [name, ok])).toEqual([
      ['look_up', false],
      ['broken', false],
      [expect.stringContaining('rm_rf'), false],
    ]);
    const ends = events.flatMap((event) => (event.type === 'tool_end' ? [event.id] : []));
    expect(events.flatMap((event) => (event.type === 'tool_start' ? [event.id] : []))).toEqual(
      ends,
    );
    await session.close();
  });

  alone('a model that never stops calling tools ends at max_turns', async () => {
    const { session, send } = open(
      endpoint.start(({ n }) => use('look_up', { word: `w${n}` })),
      { limits: { ...limits, maxTurns: 3 } },
    );
    expect(await send('Go.')).toMatchObject({
      stopReason: 'max_turns',
      steps: 3,
      error: undefined,
    });
    expect((await send('Again.')).toolCalls).toHaveLength(3);
    await session.close();
  });

  alone('money that is spent ends the session', async () => {
    const script: Script = () =>
      use('look_up', { word: 'w' }, { usage: { input: 100_000, output: 1000 } });
    const { session, send } = open(endpoint.start(script), {
      limits: { ...limits, maxBudgetUsd: 0.5 },
    });
    const first = await send('Go.');
    expect(first).toMatchObject({
      stopReason: 'budget',
      error: { code: 'llm_budget_spent' },
      steps: 2,
    });
    expect(first.costUsd).toBeCloseTo(0.63, 2);
    expect(await send('Again.')).toMatchObject({ stopReason: 'budget', steps: 0 });
    await session.close();
  });

  alone('a turn that takes too long ends, and says so', async () => {
    const running = endpoint.start(() => say('A long and winding answer.', { hang: 'mid-stream' }));
    const { session, send } = open(running, { limits: { ...limits, timeoutSeconds: 4 } });
    expect(await send('Go.')).toMatchObject({
      stopReason: 'timeout',
      error: { message: expect.stringContaining('limits.timeout') },
    });
    await session.close();
  });

  test('puts a failure into the result, and goes on', async () => {
    const { session, send } = open(
      endpoint.start(({ messages }) =>
        messages.at(-1)?.text.includes('Go on.') === true ? say('Here again.') : fail('no-model'),
      ),
    );
    expect(await send('Go.')).toMatchObject({
      stopReason: 'error',
      error: { kind: 'model_unavailable' },
      text: '',
    });
    expect(await send('Go on.')).toMatchObject({ stopReason: 'completed', text: 'Here again.' });
    await session.close();
  });

  test.runIf(subject === 'claude-code')(
    'a child that is killed in the middle of a turn: the turn says so, and the next one has another',
    async () => {
      const running = endpoint.start(({ n }) =>
        n === 1 ? say('A long and winding answer.', { hang: 'mid-stream' }) : say('Here again.'),
      );
      const { session, send } = open(running, { limits: { ...limits, maxTurns: 173 } });
      const result = await readTurnResult(
        session.send('Go.'),
        ({ type }) => type === 'text_delta' && killChild(173),
      );
      const error = { message: expect.stringContaining('SIGKILL') };
      expect(result).toMatchObject({ stopReason: 'error', text: 'A long and wi', error });
      expect(await send('Go on.')).toMatchObject({
        stopReason: 'completed',
        text: 'Here again.',
        turn: 2,
      });
      expect(textOf(running, -1)).toContain('A long and wi');
      await session.close();
    },
  );

  test('uses another model of the account if the first is not available, with a warning [C15]', async () => {
    const running = endpoint.start(({ model }) =>
      model === testModel ? fail('no-model') : say('From the second.'),
    );
    const { session, events, send } = open(running, {
      model: { fallback: 'claude-haiku-4-5-20251001' },
    });
    expect(await send('Go.')).toMatchObject({ stopReason: 'completed', text: 'From the second.' });
    expect(events).toContainEqual({
      type: 'warning',
      message: expect.stringContaining('using claude-haiku'),
    });
    await session.close();
  });

  test('checks a structured answer on every turn', async () => {
    const schema = z.strictObject({ answer: z.number().min(10) });
    const answer = { json: z.toJSONSchema(schema, { target: 'draft-7' }), schema };
    const script: Script = ({ n, messages }) => {
      const last = messages.at(-1)?.text.trim() ?? '';
      // Older releases of Claude Code ask once more after the object.
      if (last.endsWith('provided successfully')) return say('Done.');
      return give({ answer: last.includes('does not fit the form') || n > 2 ? 42 : 4 });
    };
    const { session, events, send } = open(endpoint.start(script), { answer });
    expect(await send('How many?')).toMatchObject({
      stopReason: 'completed',
      text: '{"answer":42}',
      structured: { answer: 42 },
    });
    expect(told(events).filter((event) => (event as AgentEvent).type === 'text_delta')).toEqual([
      { type: 'text_delta', text: '{"answer":42}' },
    ]);
    expect(await send('And now?')).toMatchObject({ structured: { answer: 42 }, turn: 2 });
    await session.close();
  });

  // The gate is the process's: this closes it for a while, so it comes last and alone.
  describe('meets a limit', { concurrent: false }, () => {
    test('reports it, waits, and sends the request again if nothing had arrived', async () => {
      const limited = (): ReturnType<Script> => {
        const resetsAt = new Date(Date.now() + 2000);
        return fail(
          'rate-limit',
          subject === 'claude-code' ? subscriptionLimit(resetsAt) : { 'retry-after': '2' },
        );
      };
      const { session, events, send } = open(
        endpoint.start(({ n }) => (n === 1 ? limited() : say('After the reset.'))),
      );
      expect(await send('Go.')).toMatchObject({
        stopReason: 'completed',
        text: 'After the reset.',
      });
      expect(events.filter(({ type }) => type === 'rate_limit')[0]).toMatchObject({
        resetsAt: expect.stringMatching(/^\d{4}-/),
      });
      await session.close();
    });
  });
}

for (const subject of subjects) {
  const why = missing(subject);
  const title = `a session on ${subject}${why === undefined ? '' : `, skipped: ${why}`} [P1]`;
  describe(title, { concurrent: true, skip: why !== undefined }, () => contract(subject));
}
