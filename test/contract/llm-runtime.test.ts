import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LlmError, type LlmErrorKind } from '../../src/llm/port/error.ts';
import type {
  AgentRunnerPort,
  CallMetrics,
  KtxToolSet,
  StepFinished,
} from '../../src/llm/port/runtime.ts';
import { hasSlowCases } from '../slow-suites.ts';
import {
  missing,
  openRuntime,
  type Subject,
  subjects,
  type TestRuntime,
  testModel,
} from '../support/llm-runtimes.ts';
import type { ModelCase } from '../support/model-endpoint.ts';
import {
  type Answer,
  fail,
  type FailureName,
  give,
  inTurn,
  reply,
  say,
  type Script,
  subscriptionLimit,
  use,
} from '../support/model-script.ts';
import { openTestMachine } from '../support/test-machine.ts';

/**
 * Where a backend must differ from the others, and why. Everything else is asserted alike; the
 * documentation says the same.
 */
const differences = {
  repair: {
    backends: ['anthropic', 'vertex', 'gateway', 'openai'],
    reason:
      'a malformed tool call is repaired within its step by the `repair` model; Claude Code has no such hook: the model corrects itself in the next step',
  },
  temperature: {
    backends: ['claude-code'],
    reason: 'Claude Code cannot set a temperature; ktx warns once where one was set',
  },
} as const satisfies Record<string, { backends: readonly Subject[]; reason: string }>;

function differs(key: keyof typeof differences, subject: Subject): boolean {
  return (differences[key].backends as readonly Subject[]).includes(subject);
}

const system = 'You answer for a test of ktx.';
const words = { fruit: 'Äpfel', secret: 'only-in-process-7431' };

const { endpoint, machine } = await openTestMachine();

/** Tools over a small table, with a record of what ran. */
function makeTools(): { tools: KtxToolSet; ran: unknown[] } {
  const ran: unknown[] = [];
  const tools: KtxToolSet = {
    look_up: {
      name: 'look_up',
      description: 'Looks up a word.',
      inputSchema: z.object({ word: z.string().describe('The word to look up.') }),
      execute: (input) => {
        ran.push(input);
        const { word } = input as { word: string };
        return Promise.resolve({
          markdown: `**${word}** is _${words.fruit}_`,
          structured: { word, note: words.secret },
        });
      },
    },
    range: {
      name: 'range',
      description: 'Counts from one number to another.',
      inputSchema: z
        .object({ from: z.int(), to: z.int() })
        .refine(({ from, to }) => from <= to, 'from must not be above to'),
      execute: (input) => {
        ran.push(input);
        return Promise.resolve({ markdown: 'counted' });
      },
    },
    broken: {
      name: 'broken',
      description: 'Fails.',
      inputSchema: z.object({}),
      execute: () => Promise.reject(new Error('the pump is dry')),
    },
  };
  return { tools, ran };
}

const person = z.object({
  name: z.string().describe('Full name.'),
  age: z.int().min(0),
  tags: z.array(z.string()).default(['none']),
});

async function failureOf(work: Promise<unknown>): Promise<LlmError> {
  const error: unknown = await work.then(
    (value) => new Error(`answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof LlmError) return error;
  throw new Error('expected an LlmError', { cause: error });
}

for (const subject of subjects) {
  if (subject === 'claude-code' && !hasSlowCases) continue;
  const why = missing(subject);
  const title = `the LLM runtime on ${subject}${why === undefined ? '' : `, skipped: ${why}`}`;
  describe(title, { concurrent: true, skip: why !== undefined }, () => contract(subject));
}

function contract(subject: Subject): void {
  let usual: TestRuntime;
  /**
   * A repair model that does no better; it is asked by its own prompt, so its name tells whose it
   * is.
   */
  const hopeless = `claude-hopeless-${subject}`;
  const opened: TestRuntime[] = [];
  const open = async (
    around: Omit<Parameters<typeof openRuntime>[2], 'machine'> = {},
  ): Promise<TestRuntime> => {
    const made = await openRuntime(subject, endpoint, { machine, ...around });
    opened.push(made);
    return made;
  };
  beforeAll(async () => {
    // Much of what a case takes is waiting: more at once than a machine of two cores would start by
    // itself.
    usual = await open({ concurrency: 4, models: { repair: hopeless } });
    endpoint.start(() => give({ word: 6, from: 6, to: 1 }), hopeless);
  });
  afterAll(async () => {
    await Promise.all(opened.map(({ runtime }) => runtime.close()));
  });

  const ask = (running: ModelCase) => ({
    role: 'default' as const,
    system,
    prompt: `A question of ktx. ${running.marker}`,
  });
  /** Usage of `n` replies that say nothing of theirs. */
  const used = (n: number) => ({
    [testModel]: { input: 100 * n, output: 20 * n, cacheRead: 0, cacheWrite: 0 },
  });
  const loopOf = async (
    script: Script,
    {
      stepBudget = 10,
      tools = makeTools().tools,
    }: { stepBudget?: number; tools?: KtxToolSet } = {},
  ) => {
    const running = endpoint.start(script);
    const steps: StepFinished[] = [];
    const result = await usual.runtime.runAgentLoop({
      modelRole: 'default',
      systemPrompt: system,
      userPrompt: `A task of ktx. ${running.marker}`,
      toolSet: tools,
      stepBudget,
      onStepFinish: (step) => steps.push(step),
    });
    return { running, result, steps };
  };

  describe.concurrent('answers', () => {
    test('a text, from one request without tools [P1 P3 Q1 T3 T4 T6 P16]', async () => {
      const running = endpoint.start(
        inTurn(reply([{ thinking: 'Hm.' }, { text: 'It is \u{1F34E} 42.' }])),
      );
      const measured: CallMetrics[] = [];
      const text = await usual.runtime.generateText({
        ...ask(running),
        onMetrics: (metrics) => measured.push(metrics),
      });
      expect(text).toBe('It is \u{1F34E} 42.');
      expect(running.calls).toHaveLength(1);
      const [call] = running.calls;
      expect(call?.tools).toEqual([]);
      expect(call?.system).toContain(system);
      expect(call?.model).toBe(testModel);
      expect(measured).toHaveLength(1);
      expect(measured[0]).toMatchObject({ steps: 1, apiCalls: 1, usage: used(1) });
      expect(measured[0]?.durationMs).toBeGreaterThan(0);
    });

    test('a text that took a tool: exact ids, markdown only, nothing structured [T5 D3 D4 D6 V1 V7]', async () => {
      const running = endpoint.start(inTurn(use('look_up', { word: 'apple' }), say('Said.')));
      const { tools, ran } = makeTools();
      expect(await usual.runtime.generateText({ ...ask(running), tools })).toBe('Said.');
      expect(ran).toEqual([{ word: 'apple' }]);
      const [first, second] = running.calls;
      const prefix = subject === 'claude-code' ? 'mcp__ktx__' : '';
      expect([...(first?.tools ?? [])].sort()).toEqual(
        ['broken', 'look_up', 'range'].map((name) => prefix + name),
      );
      expect(second?.results.map(({ text }) => text)).toEqual([`**apple** is _${words.fruit}_`]);
      expect(JSON.stringify(second?.body)).not.toContain(words.secret);
    });

    test('an object that its schema describes and parses [O1 O2 O3 Q1]', async () => {
      const running = endpoint.start(inTurn(give({ name: 'Ada', age: 36 })));
      const measured: CallMetrics[] = [];
      const object = await usual.runtime.generateObject({
        ...ask(running),
        schema: person,
        onMetrics: (metrics) => measured.push(metrics),
      });
      expect(object).toEqual({ name: 'Ada', age: 36, tags: ['none'] });
      expect(running.calls[0]?.wantsObject).toBe(true);
      expect(JSON.stringify(running.calls[0]?.body)).toContain('Full name.');
      expect(measured[0]?.usage).toEqual(used(1));
      expect(measured[0]?.steps).toBe(1);
    });

    test('an object that took a tool [O1 O3 T5]', async () => {
      const running = endpoint.start(
        inTurn(use('look_up', { word: 'Ada' }), give({ name: 'Ada', age: 36, tags: [] })),
      );
      const { tools, ran } = makeTools();
      const object = await usual.runtime.generateObject({ ...ask(running), schema: person, tools });
      expect(object).toEqual({ name: 'Ada', age: 36, tags: [] });
      expect(ran).toEqual([{ word: 'Ada' }]);
    });

    test('with the model of the role [P11 C3]', async () => {
      const { runtime } = await open({ models: { triage: 'claude-haiku-4-5-20251001' } });
      const running = endpoint.start(() => say('Sorted.'));
      await runtime.generateText({ ...ask(running), role: 'triage' });
      await runtime.generateText({ ...ask(running), role: 'curator' });
      expect(running.calls.map(({ model }) => model)).toEqual([
        'claude-haiku-4-5-20251001',
        testModel,
      ]);
    });

    test('two calls at once, each with its own tools [A4]', async () => {
      const one = (name: string): KtxToolSet => ({
        [name]: {
          name,
          description: 'One of two.',
          inputSchema: z.object({}),
          execute: () => Promise.resolve({ markdown: `from ${name}` }),
        },
      });
      const names = ['left', 'right'];
      const calls = names.map((name) => {
        const running = endpoint.start(inTurn(use(name, {}), say(`${name} is done`)));
        return {
          running,
          answer: usual.runtime.generateText({ ...ask(running), tools: one(name) }),
        };
      });
      expect(await Promise.all(calls.map(({ answer }) => answer))).toEqual([
        'left is done',
        'right is done',
      ]);
      expect(calls.map(({ running }) => running.calls[1]?.results.map(({ text }) => text))).toEqual(
        [['from left'], ['from right']],
      );
    });

    test('at temperature 0, or says once that it cannot [P9]', async () => {
      const { runtime, warnings } = await open();
      const running = endpoint.start(() => say('Cold.'));
      // A role that does not think: with thinking, no provider of Claude takes a temperature.
      const cold = { ...ask(running), role: 'triage' as const };
      await runtime.generateText(cold);
      if (differs('temperature', subject)) {
        expect(warnings).toEqual([]);
        await runtime.generateText({ ...cold, temperature: 0.5 });
        await runtime.generateText({ ...cold, temperature: 0.5 });
        expect(warnings.filter((warning) => /temperature/i.test(warning))).toHaveLength(1);
      } else expect(running.calls[0]?.body['temperature']).toBe(0);
    });
  });

  describe.concurrent('loops', () => {
    const turn = (n: number): Answer =>
      reply([
        { thinking: 'Next.' },
        { text: `Turn ${n}.` },
        { tool: 'look_up', input: { word: `w${n}` } },
      ]);

    test('to the natural end: a step for each turn [G1 G2 G3 G4 P10 R2 R9 A3 Q5]', async () => {
      const { running, result, steps } = await loopOf(
        inTurn(turn(1), turn(2), turn(3), say('All done.')),
      );
      expect(result).toMatchObject({ stopReason: 'natural', text: 'All done.' });
      expect(result.toolFailures).toEqual({});
      expect(result.error).toBeUndefined();
      expect(result.metrics).toMatchObject({ steps: 4, apiCalls: 4, usage: used(4) });
      expect(steps).toEqual([1, 2, 3, 4].map((stepIndex) => ({ stepIndex, stepBudget: 10 })));
      expect(running.calls).toHaveLength(4);
    });

    test('to its budget: as many steps as it has, and their metrics [R2 R5 R10 A2 G1 G4 P16 P17]', async () => {
      const { running, result, steps } = await loopOf(({ n }) => turn(n), { stepBudget: 3 });
      expect(result.stopReason).toBe('budget');
      expect(result.error).toBeUndefined();
      expect(result.metrics).toMatchObject({ steps: 3, apiCalls: 3, usage: used(3) });
      expect(steps).toEqual([1, 2, 3].map((stepIndex) => ({ stepIndex, stepBudget: 3 })));
      expect(running.calls).toHaveLength(3);
    });

    test('to its budget with two tools a turn [A7 G1 R5]', async () => {
      const pair = (n: number): Answer =>
        reply([1, 2].map((i) => ({ tool: 'look_up', input: { word: `${n}-${i}` } })));
      const { result, steps, running } = await loopOf(({ n }) => pair(n), { stepBudget: 2 });
      expect(result.stopReason).toBe('budget');
      expect(steps.map(({ stepIndex }) => stepIndex)).toEqual([1, 2]);
      expect(running.calls).toHaveLength(2);
    });

    test('with tools that run side by side [G1 G3]', async () => {
      const { tools, ran } = makeTools();
      const both = reply([
        { tool: 'look_up', input: { word: 'one' } },
        { tool: 'look_up', input: { word: 'two' } },
      ]);
      const { running, result, steps } = await loopOf(inTurn(both, say('Both.')), { tools });
      expect(result).toMatchObject({ stopReason: 'natural', text: 'Both.' });
      expect(ran).toEqual(expect.arrayContaining([{ word: 'one' }, { word: 'two' }]));
      expect(running.calls[1]?.results.map(({ text }) => text)).toEqual(
        ['one', 'two'].map((word) => `**${word}** is _${words.fruit}_`),
      );
      expect(steps).toHaveLength(2);
    });

    test('in the same way for a caller that has only the loop [P8]', async () => {
      const running = endpoint.start(inTurn(turn(1), say('Done.')));
      const runner: AgentRunnerPort = usual.runtime;
      const params = {
        modelRole: 'default' as const,
        systemPrompt: system,
        userPrompt: `A task of ktx. ${running.marker}`,
      };
      const result = await runner.runLoop({ ...params, toolSet: makeTools().tools, stepBudget: 5 });
      expect(result).toMatchObject({ stopReason: 'natural', text: 'Done.', metrics: { steps: 2 } });
    });

    test('on after input that the schema refuses: the model is told and corrects it [A6 D7 R7]', async () => {
      const { tools, ran } = makeTools();
      const script = inTurn(
        use('look_up', { word: 5 }),
        use('look_up', { word: 'five' }),
        say('Corrected.'),
      );
      const { running, result, steps } = await loopOf(script, { tools });
      expect(result).toMatchObject({ stopReason: 'natural', text: 'Corrected.' });
      expect(result.toolFailures).toEqual({ look_up: 1 });
      expect(ran).toEqual([{ word: 'five' }]);
      expect(steps).toHaveLength(3);
      expect(running.calls[1]?.results.map(({ text }) => text)).toEqual([
        expect.stringContaining('word'),
      ]);
    });

    test('on after input that only the schema itself can refuse [D7]', async () => {
      const { tools, ran } = makeTools();
      const script = inTurn(
        use('range', { from: 5, to: 1 }),
        use('range', { from: 1, to: 5 }),
        say('Counted.'),
      );
      const { running, result } = await loopOf(script, { tools });
      expect(result).toMatchObject({ stopReason: 'natural', text: 'Counted.' });
      expect(result.toolFailures).toEqual({ range: 1 });
      expect(ran).toEqual([{ from: 1, to: 5 }]);
      expect(running.calls[1]?.results.map(({ text }) => text)).toEqual([
        expect.stringContaining('from must not be above to'),
      ]);
    });

    test('on after input that can be repaired: within the step, where the backend has a hook for that [P12 A6]', async () => {
      const inStep = differs('repair', subject);
      const model = `claude-repair-${subject}`;
      const repairing = endpoint.start(() => give({ word: 'five' }), model);
      const { runtime } = await open({ models: { repair: model } });
      const { tools, ran } = makeTools();
      const correction = inStep ? [] : [use('look_up', { word: 'five' })];
      const running = endpoint.start(
        inTurn(use('look_up', { word: 5 }), ...correction, say('Repaired.')),
      );
      const params = {
        modelRole: 'default' as const,
        systemPrompt: system,
        userPrompt: `A task of ktx. ${running.marker}`,
      };
      const result = await runtime.runAgentLoop({ ...params, toolSet: tools, stepBudget: 5 });
      expect(result).toMatchObject({
        stopReason: 'natural',
        text: 'Repaired.',
        metrics: { steps: inStep ? 2 : 3 },
      });
      expect(result.toolFailures).toEqual(inStep ? {} : { look_up: 1 });
      expect(ran).toEqual([{ word: 'five' }]);
      expect(repairing.calls).toHaveLength(inStep ? 1 : 0);
    });

    test('on after a tool that throws: the model is told, the failure counted [D8 R7]', async () => {
      const { running, result } = await loopOf(inTurn(use('broken', {}), say('Without it, then.')));
      expect(result).toMatchObject({ stopReason: 'natural', text: 'Without it, then.' });
      expect(result.toolFailures).toEqual({ broken: 1 });
      expect(running.calls[1]?.results[0]?.text).toContain('the pump is dry');
      if (subject !== 'openai') expect(running.calls[1]?.results[0]?.isError).toBe(true);
    });

    test('on after a tool that does not exist [A4 I17]', async () => {
      const { running, result } = await loopOf(
        inTurn(use('rm_rf', { path: '/' }), say('It is not there.')),
      );
      expect(result).toMatchObject({ stopReason: 'natural', text: 'It is not there.' });
      expect(running.calls.map(({ results }) => results.length)).toEqual([0, 1]);
    });

    test('on, whatever the progress callback does [G7 Q5]', async () => {
      const { runtime, warnings } = await open();
      const running = endpoint.start(inTurn(turn(1), say('Unmoved.')));
      const result = await runtime.runAgentLoop({
        modelRole: 'default',
        systemPrompt: system,
        userPrompt: `A task of ktx. ${running.marker}`,
        toolSet: makeTools().tools,
        stepBudget: 5,
        onStepFinish: () => {
          throw new Error('the display is gone');
        },
      });
      expect(result).toMatchObject({
        stopReason: 'natural',
        text: 'Unmoved.',
        metrics: { steps: 2 },
      });
      expect(warnings).toEqual([expect.stringContaining('the display is gone')]);
    });
  });

  describe.concurrent('fails', () => {
    // A provider out of credit answers with 402, or with 429 and its own code.
    const kinds: readonly (readonly [FailureName, LlmErrorKind, number?])[] = [
      ['auth', 'auth', 401],
      ['permission', 'permission', 403],
      ['no-model', 'model_unavailable', 404],
      ['billing', 'billing'],
      ['too-long', 'context_too_long', 400],
    ];
    test.for(kinds)('with its own kind: %s is %s [T7 T8 P16]', async ([name, kind, status]) => {
      const running = endpoint.start(() => fail(name));
      const measured: CallMetrics[] = [];
      // What is refused as too long is long: where a provider names no reason, its size is what
      // tells.
      const prompt = `A question of ktx. ${running.marker} ${name === 'too-long' ? 'On and on it goes. '.repeat(30_000) : ''}`;
      const error = await failureOf(
        usual.runtime.generateText({
          ...ask(running),
          prompt,
          onMetrics: (metrics) => measured.push(metrics),
        }),
      );
      expect(error).toMatchObject({ kind, status: status ?? expect.any(Number) });
      expect(measured).toMatchObject([{ steps: 0 }]);
    });

    test('the same in every kind of call; a loop returns it [O8 P10 R9]', async () => {
      const running = endpoint.start(() => fail('auth'));
      expect(
        await failureOf(usual.runtime.generateObject({ ...ask(running), schema: person })),
      ).toMatchObject({
        kind: 'auth',
        status: 401,
      });
      const { result, steps } = await loopOf(() => fail('auth'));
      expect(result).toMatchObject({
        stopReason: 'error',
        error: { kind: 'auth' },
        text: '',
        metrics: { steps: 0 },
      });
      expect(steps).toEqual([]);
      const late = await loopOf(({ n }) =>
        n === 1 ? use('look_up', { word: 'a' }) : fail('no-model'),
      );
      expect(late.result).toMatchObject({
        stopReason: 'error',
        error: { kind: 'model_unavailable' },
        metrics: { steps: 1, usage: used(1) },
      });
    });

    test('only if the provider keeps failing: one status 500 is not a failure', async () => {
      const running = endpoint.start(inTurn(fail('server-error'), say('Again.')));
      expect(await usual.runtime.generateText(ask(running))).toBe('Again.');
      expect(running.calls).toHaveLength(2);
    });

    test.for(['server-error', 'overloaded'] as const)(
      'as overloaded, after some attempts, where %s stays [T8]',
      async (name) => {
        const running = endpoint.start(() => fail(name));
        expect(await failureOf(usual.runtime.generateText(ask(running)))).toMatchObject({
          kind: 'overloaded',
        });
        expect(running.calls.length).toBeGreaterThan(1);
      },
    );

    test('as a network failure if the connection always breaks off [T8]', async () => {
      const running = endpoint.start(() => say('A long and winding answer.', { cut: true }));
      expect(await failureOf(usual.runtime.generateText(ask(running)))).toMatchObject({
        kind: 'network',
      });
    });

    test('as invalid output if the object never fits [O7]', async () => {
      const running = endpoint.start(() => give({ name: 'Ada', age: 'old' }));
      expect(
        await failureOf(usual.runtime.generateObject({ ...ask(running), schema: person })),
      ).toMatchObject({ kind: 'invalid_output' });
    });

    test('as invalid output if the answer is prose instead of an object [O7]', async () => {
      const running = endpoint.start(() => say('I would rather not.'));
      expect(
        await failureOf(usual.runtime.generateObject({ ...ask(running), schema: person })),
      ).toMatchObject({ kind: 'invalid_output' });
    });

    test('if the text is empty [T7]', async () => {
      const running = endpoint.start(() => say(''));
      expect(await failureOf(usual.runtime.generateText(ask(running)))).toMatchObject({
        kind: 'invalid_output',
      });
    });

    test('as aborted, at once, when interrupted in mid-stream [P16]', async () => {
      const running = endpoint.start(() =>
        say('A long and winding answer.', { hang: 'mid-stream' }),
      );
      const controller = new AbortController();
      const failure = failureOf(
        usual.runtime.generateText({ ...ask(running), signal: controller.signal }),
      );
      await running.arrived(1);
      controller.abort();
      expect(await failure).toMatchObject({ kind: 'aborted', exitCode: 130 });
      await running.abandoned;
    });

    // On a busy machine a child that has started still takes a second or two before it asks.
    const idle = subject === 'claude-code' ? 4 : 1.5;

    test('as a timeout if no more data arrives [P16]', async () => {
      const { runtime } = await open({ timeouts: { idle_seconds: idle } });
      const running = endpoint.start(() =>
        say('A long and winding answer.', { hang: 'mid-stream' }),
      );
      expect(await failureOf(runtime.generateText(ask(running)))).toMatchObject({
        kind: 'timeout',
      });
      await running.abandoned;
    });

    test('not while data still arrives, however slowly [P16]', async () => {
      const { runtime } = await open({ timeouts: { idle_seconds: idle } });
      // Seven events at least: longer than the idle time in all.
      const running = endpoint.start(() =>
        say('Slowly but surely.', { dripMs: (idle * 1000) / 6 }),
      );
      expect(await runtime.generateText(ask(running))).toBe('Slowly but surely.');
    });

    test('before a request is sent if the tools are invalid [D5 D6]', async () => {
      const running = endpoint.start(() => say('Never.'));
      const { tools } = makeTools();
      const misnamed: KtxToolSet = { other: tools['look_up'] as KtxToolSet[string] };
      await expect(
        usual.runtime.generateText({ ...ask(running), tools: misnamed }),
      ).rejects.toMatchObject({ code: 'tool_set_invalid' });
      const listed = {
        ...tools['look_up'],
        inputSchema: z.array(z.string()),
      } as unknown as KtxToolSet[string];
      await expect(
        usual.runtime.generateText({ ...ask(running), tools: { look_up: listed } }),
      ).rejects.toMatchObject({
        code: 'tool_set_invalid',
      });
      expect(running.calls).toEqual([]);
    });
  });

  describe.concurrent('probes', () => {
    // A probe's prompt is fixed and carries no marker: its model tells whose it is.
    const probing = async (name: string, script: Script): Promise<unknown> => {
      const model = `claude-probe-${subject}-${name}`;
      endpoint.start(script, model);
      const { runtime } = await open({ models: { default: model } });
      return runtime.probe(new AbortController().signal).catch((error: unknown) => error);
    };

    test('with the model that answers [E10]', async () => {
      expect(await probing('ok', () => say('ok'))).toMatchObject({
        model: `claude-probe-${subject}-ok`,
      });
    });

    test('and say what is wrong: the credentials or the model [E16 E17]', async () => {
      expect(await probing('auth', () => fail('auth'))).toMatchObject({ kind: 'auth' });
      expect(await probing('none', () => fail('no-model'))).toMatchObject({
        kind: 'model_unavailable',
      });
    });
  });

  // The gate is the process's: these close it, so they come last, in this order.
  describe('meets a limit', { concurrent: false }, () => {
    const limited = (seconds: number): Answer => {
      const resetsAt = new Date(Date.now() + seconds * 1000);
      const headers =
        subject === 'claude-code'
          ? subscriptionLimit(resetsAt)
          : { 'retry-after': String(seconds) };
      return fail('rate-limit', headers);
    };

    test('waits for a reset that is near, says so, and sends the request again', async () => {
      const { runtime, pauses } = await open();
      const running = endpoint.start(({ n }) => (n === 1 ? limited(2) : say('After the reset.')));
      expect(await runtime.generateText(ask(running))).toBe('After the reset.');
      expect(running.calls).toHaveLength(2);
      expect(pauses.length).toBeLessThanOrEqual(1);
    });

    test('fails with the time of a reset that is far away, and no other call is sent [T8 E16]', async () => {
      const running = endpoint.start(() => limited(7200));
      const error = await failureOf(usual.runtime.generateText(ask(running)));
      expect(error).toMatchObject({ kind: 'rate_limit' });
      expect(Math.abs((error.resetsAt?.getTime() ?? 0) - Date.now() - 7_200_000)).toBeLessThan(
        30_000,
      );
      const asked = running.calls.length;
      const other = endpoint.start(() => say('Never.'));
      expect(await failureOf(usual.runtime.generateText(ask(other)))).toMatchObject({
        kind: 'rate_limit',
        resetsAt: error.resetsAt,
      });
      expect([running.calls.length, other.calls.length]).toEqual([asked, 0]);
    });
  });
}
