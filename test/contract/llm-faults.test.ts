import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { LlmErrorKind } from '../../src/llm/port/error.ts';
import type {
  CallMetrics,
  KtxRuntimeToolDescriptor,
  KtxToolSet,
} from '../../src/llm/port/runtime.ts';
import {
  missing,
  openRuntime,
  type RuntimeOverrides,
  type Subject,
  type TestRuntime,
} from '../support/llm-runtimes.ts';
import {
  type Answer,
  drop,
  fail,
  give,
  reply,
  say,
  type Script,
  type StreamFault,
  use,
} from '../support/model-script.ts';
import { openTestMachine } from '../support/test-machine.ts';

/**
 * One policy for faults: what happens to a request happens alike on every backend. Each row is a
 * fault of the far end, with the kind, the number of requests and what comes of it.
 */
const subjects = ['anthropic', 'openai', 'claude-code'] as const satisfies readonly Subject[];
const attempts = 3;

const { endpoint, machine } = await openTestMachine();

const broken = (after: number, what: StreamFault['what']): Answer =>
  say('Half an answer.', { fault: { after, what } });

/** Faults that pass. Twice in a row, then an answer; or for ever. */
const passing: readonly (readonly [string, Answer, LlmErrorKind])[] = [
  ['a connection that breaks before the answer', drop, 'network'],
  ['a stream that breaks in the middle', broken(3, 'cut'), 'network'],
  ['a stream that ends in the middle', broken(3, 'end'), 'network'],
  ['an overloaded provider inside of a stream', broken(3, 'overloaded'), 'overloaded'],
  ['a provider that is overloaded', fail('overloaded'), 'overloaded'],
  ['a provider that fails', fail('server-error'), 'overloaded'],
  ['a limit without a reset', fail('rate-limit'), 'rate_limit'],
];

/** Answers that are not complete. They are not asked for again. */
const incomplete: readonly (readonly [
  Extract<Answer, { kind: 'reply' }>['stop'],
  LlmErrorKind,
  string,
])[] = [
  ['max_tokens', 'max_tokens', 'The answer was cut off at the maximum number of output tokens.'],
  ['refusal', 'refusal', 'The model refused to answer.'],
];

const lookUp: KtxRuntimeToolDescriptor = {
  name: 'look_up',
  description: 'Looks up a word.',
  inputSchema: z.strictObject({ word: z.string() }),
  execute: () => Promise.resolve({ markdown: 'a fruit' }),
};
const tools: KtxToolSet = { look_up: lookUp };
const person = z.object({ name: z.string(), age: z.int() });

for (const subject of subjects) {
  const why = missing(subject);
  const title = `faults on ${subject}${why === undefined ? '' : `, skipped: ${why}`}`;
  describe(title, { concurrent: true, skip: why !== undefined }, () => faults(subject));
}

function faults(subject: Subject): void {
  let usual: TestRuntime;
  const opened: TestRuntime[] = [];
  const open = async (overrides: RuntimeOverrides): Promise<TestRuntime> => {
    const made = await openRuntime(subject, endpoint, { machine, ...overrides });
    opened.push(made);
    return made;
  };
  beforeAll(async () => {
    usual = await open({ concurrency: 4, retries: { attempts, first_pause_seconds: 0.01 } });
  });
  afterAll(async () => {
    await Promise.all(opened.map(({ runtime }) => runtime.close()));
  });

  /** What one text call came to. */
  const ask = async (script: Script, { runtime }: TestRuntime = usual) => {
    const running = endpoint.start(script);
    const measured: CallMetrics[] = [];
    const outcome: unknown = await runtime
      .generateText({
        role: 'triage',
        prompt: `A question of ktx. ${running.marker}`,
        onMetrics: (metrics) => measured.push(metrics),
      })
      .catch((error: unknown) => error);
    return { outcome, requests: running.calls.length, metrics: measured[0] };
  };
  const loop = async (script: Script, stepBudget = 6) => {
    const running = endpoint.start(script);
    const result = await usual.runtime.runAgentLoop({
      modelRole: 'triage',
      systemPrompt: 'You answer for a test of ktx.',
      userPrompt: `A task of ktx. ${running.marker}`,
      toolSet: tools,
      stepBudget,
    });
    return { result, running };
  };

  describe.concurrent('that pass', () => {
    test.for(passing)('%s: the request is sent again', async ([, fault]) => {
      const { outcome, requests, metrics } = await ask(({ n }) =>
        n < attempts ? fault : say('A whole answer.'),
      );
      expect(outcome).toBe('A whole answer.');
      expect(requests).toBe(attempts);
      expect(metrics).toMatchObject({ steps: 1, apiCalls: attempts });
    });

    test.for(passing)('%s: in the middle of a loop too', async ([, fault]) => {
      const { result, running } = await loop(({ n }) => {
        if (n === 1) return use('look_up', { word: 'fig' });
        return n <= attempts ? fault : say('It is a fruit.');
      });
      expect(result).toMatchObject({ stopReason: 'natural', text: 'It is a fruit.' });
      expect(result.metrics).toMatchObject({ steps: 2, apiCalls: attempts + 1 });
      expect(running.calls).toHaveLength(attempts + 1);
      // The model still sees what its tool answered.
      expect(running.calls.at(-1)?.results.map(({ text }) => text.split('\n')[0])).toEqual([
        'a fruit',
      ]);
    });

    test.for(passing)(
      '%s: for ever is its own kind, after all attempts',
      async ([, fault, kind]) => {
        const { outcome, requests, metrics } = await ask(() => fault);
        expect(outcome).toMatchObject({ kind, exitCode: 1, retryable: true, endsRun: false });
        expect(requests).toBe(attempts);
        expect(metrics?.apiCalls).toBe(attempts);
      },
    );

    test('are waited for, and the number of the attempt is shown', async () => {
      const own = await open({
        retries: { attempts: 3, first_pause_seconds: 0.02 },
        max_wait: '2h',
      });
      await ask(({ n }) => (n === 1 ? drop : n === 2 ? fail('overloaded') : say('Done.')), own);
      expect(own.pauses).toMatchObject([
        { window: 'network', retry: { kind: 'network', attempt: 2, attempts: 3 } },
        { window: 'overloaded', retry: { kind: 'overloaded', attempt: 3, attempts: 3 } },
      ]);
    });

    test('end with Ctrl-C while ktx waits', async () => {
      const own = await open({ retries: { first_pause_seconds: 60 }, max_wait: '3h' });
      const running = endpoint.start(() => fail('overloaded'));
      const controller = new AbortController();
      const outcome = own.runtime
        .generateText({
          role: 'triage',
          prompt: `A question. ${running.marker}`,
          signal: controller.signal,
        })
        .catch((error: unknown) => error);
      await running.arrived(1);
      setTimeout(() => controller.abort(), 200);
      expect(await outcome).toMatchObject({ kind: 'aborted', exitCode: 130 });
      expect(running.calls).toHaveLength(1);
    });
  });

  describe.concurrent('of the answer', () => {
    test.for(incomplete)('%s is %s, once, in text', async ([stop, kind, message]) => {
      const { outcome, metrics } = await ask(() => say('Half an ans', { stop }));
      expect(outcome).toMatchObject({ kind, message, retryable: false });
      expect(metrics).toMatchObject({ steps: 1 });
    });

    test.for(incomplete)('%s is %s in an object', async ([stop, kind, message]) => {
      // The answer is cut off inside of a text: it is no JSON.
      const running = endpoint.start(({ tools: names }) =>
        names.includes('StructuredOutput')
          ? reply([{ tool: 'StructuredOutput', json: '{"name": "Ada Lov' }], { stop })
          : say('{"name": "Ada Lov', { stop }),
      );
      const outcome: unknown = await usual.runtime
        .generateObject({ role: 'triage', prompt: `A person. ${running.marker}`, schema: person })
        .catch((error: unknown) => error);
      expect(outcome).toMatchObject({ kind, message });
    });

    test.for(incomplete)('%s is %s in the middle of a loop', async ([stop, kind, message]) => {
      const { result } = await loop(({ n }) =>
        n === 1 ? use('look_up', { word: 'fig' }) : say('And so', { stop }),
      );
      expect(result).toMatchObject({ stopReason: 'error', error: { kind, message } });
    });
  });

  describe.concurrent('of an object', () => {
    const askObject = async (script: Script) => {
      const running = endpoint.start(script);
      const outcome: unknown = await usual.runtime
        .generateObject({ role: 'triage', prompt: `A person. ${running.marker}`, schema: person })
        .catch((error: unknown) => error);
      return { outcome, running };
    };

    test('that never fits: three requests, and a reason in the words of ktx', async () => {
      const { outcome, running } = await askObject(() => give({ name: 'Ada', age: 'old' }));
      expect(outcome).toMatchObject({
        kind: 'invalid_output',
        message: expect.stringContaining('age: must be'),
      });
      expect(running.calls).toHaveLength(3);
    });

    test('that is prose instead: three requests', async () => {
      const { outcome, running } = await askObject(() => say('I would rather not.'));
      expect(outcome).toMatchObject({
        kind: 'invalid_output',
        message: 'The model answered without the object that it was asked for.',
      });
      expect(running.calls).toHaveLength(3);
    });

    test('that fits in the end: ktx tells the model why, in its own words', async () => {
      const { outcome, running } = await askObject(({ n }) =>
        give(n < 3 ? { name: 'Ada', age: 'old' } : { name: 'Ada', age: 36 }),
      );
      expect(outcome).toEqual({ name: 'Ada', age: 36 });
      expect(running.calls).toHaveLength(3);
      expect(JSON.stringify(running.calls[2]?.messages)).toContain('was refused for the reason');
    });
  });

  describe.concurrent('of an object with tools, in a later turn', () => {
    const askWithTools = async (script: Script) => {
      const running = endpoint.start(script);
      const ran: unknown[] = [];
      const execute = (input: unknown) => {
        ran.push(input);
        return Promise.resolve({ markdown: 'a fruit' });
      };
      const measured: CallMetrics[] = [];
      const look_up = { ...lookUp, execute };
      const outcome: unknown = await usual.runtime
        .generateObject({
          role: 'triage',
          prompt: `A person. ${running.marker}`,
          schema: person,
          tools: { look_up },
          onMetrics: (metrics) => measured.push(metrics),
        })
        .catch((error: unknown) => error);
      return { outcome, running, ran, metrics: measured[0] };
    };
    const ada = { name: 'Ada', age: 36 };

    test.for(passing)('%s: the request is sent again', async ([, fault]) => {
      const { outcome, running, ran, metrics } = await askWithTools(({ n }) => {
        if (n === 1) return use('look_up', { word: 'fig' });
        return n <= attempts ? fault : give(ada);
      });
      expect(outcome).toEqual(ada);
      expect(ran).toEqual([{ word: 'fig' }]);
      expect(metrics).toMatchObject({ steps: 2, apiCalls: attempts + 1 });
      expect(running.calls.at(-1)?.results.map(({ text }) => text.split('\n')[0])).toEqual([
        'a fruit',
      ]);
    });

    test('a tool of an answer that breaks off does not run', async () => {
      const second = use('look_up', { word: 'date' });
      const { outcome, ran } = await askWithTools(({ n }) => {
        if (n === 1) return use('look_up', { word: 'fig' });
        return n === 2 ? { ...second, cut: true } : give(ada);
      });
      expect(outcome).toEqual(ada);
      expect(ran).toEqual([{ word: 'fig' }]);
    });
  });

  test('input that a tool refuses is answered in the words of ktx', async () => {
    const { running } = await loop(({ n }) =>
      n === 1 ? reply([{ tool: 'look_up', input: { word: 5, more: 1 } }]) : say('Then not.'),
    );
    const [answer] = running.calls.find(({ results }) => results.length > 0)?.results ?? [];
    expect(answer?.text).toMatch(/^Invalid input for look_up:\nword: must be a text/);
  });
}
