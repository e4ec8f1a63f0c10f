import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { BackendCall, ModelBackend } from '../../src/llm/port/backend.ts';
import { CallGate } from '../../src/llm/governor/call-gate.ts';
import { llmConfigSchema } from '../../src/llm/config.ts';
import { LlmError } from '../../src/llm/port/error.ts';
import { govern } from '../../src/llm/governor/govern.ts';
import { NetworkWatch } from '../../src/llm/governor/retries/network-watch.ts';
import type { GovernorContext } from '../../src/llm/governor/run-call.ts';
import type { CallMetrics } from '../../src/llm/port/runtime.ts';
import { openSpending } from '../../src/llm/governor/spending.ts';

const never = new AbortController().signal;
const model = 'claude-sonnet-4-6';
const tokens = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };

function gateOf(
  concurrency: number,
  pauses: { until: Date }[] = [],
  longestPauseMs = 60_000,
): CallGate {
  return new CallGate({ concurrency, longestPauseMs, onPause: (pause) => pauses.push(pause) });
}

interface Around extends Partial<GovernorContext> {
  readonly settings?: object;
}

/** A runtime over one function in place of a backend. */
function runtimeOver(
  answer: (call: BackendCall) => Promise<string>,
  { settings, ...around }: Around = {},
) {
  const config = llmConfigSchema.parse({
    provider: { backend: 'anthropic', anthropic: { api_key: 'env:KEY' } },
    models: { default: model },
    ...settings,
  });
  const warnings: string[] = [];
  const modelBackend: ModelBackend = {
    text: answer,
    object: async <T>(call: BackendCall & { readonly schema: z.ZodType<T> }) =>
      call.schema.parse(await answer(call)),
    loop: async (call) => ({ text: await answer(call), stopReason: 'natural' }),
    session: () => ({
      turn: () => Promise.reject(new Error('no session here')),
      reset: () => Promise.resolve(),
    }),
    probe: () => Promise.resolve({ model, account: undefined }),
    account: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
  const defaults = {
    gate: gateOf(4),
    network: new NetworkWatch(),
    spending: openSpending({
      limit: config.max_usd_per_run,
      key: 'llm.max_usd_per_run',
      prices: config.prices,
    }),
    run: 'test',
    concurrency: 4,
    record: () => undefined,
  };
  const warn = (message: string): void => void warnings.push(message);
  return { warnings, runtime: govern({ config, modelBackend, warn, ...defaults, ...around }) };
}

const ask = { role: 'default', prompt: 'Hello.' } as const;

describe('the gate', () => {
  test('gives the slot of an aborted call to the next one', async () => {
    const gate = gateOf(1);
    const leave = await gate.enter(never);
    const aborted = new AbortController();
    const first = gate.enter(aborted.signal);
    const second = gate.enter(never);
    leave();
    aborted.abort(new Error('stopped'));
    await expect(first).rejects.toThrow('stopped');
    (await second)();
  });

  test('lets all calls run again after the reset of a near limit, without a new report', async () => {
    const gate = gateOf(4);
    gate.report({ window: 'tokens', state: 'near', resetsAt: new Date(Date.now() + 30) });
    const leave = await gate.enter(never);
    const waiting = [1, 2, 3].map(() => gate.enter(never));
    await sleep(40);
    leave();
    const left = await Promise.all(waiting);
    left.forEach((go) => go());
  });

  test('fails all waiting calls if the reset is too far away', async () => {
    const gate = gateOf(1, [], 1000);
    const leave = await gate.enter(never);
    const waiting = [1, 2, 3].map(() => gate.enter(never).catch((error: unknown) => error));
    gate.report({
      window: 'five_hour',
      state: 'closed',
      resetsAt: new Date(Date.now() + 3_600_000),
    });
    leave();
    for (const failure of await Promise.all(waiting))
      expect(failure).toMatchObject({ kind: 'rate_limit', window: 'five_hour' });
  });

  test('announces a pause once, although each refused call reports its reset; an invalid time is not a pause', async () => {
    const pauses: { until: Date }[] = [];
    const gate = gateOf(4, pauses);
    gate.report({ window: 'requests', state: 'closed', resetsAt: new Date(Number.NaN) });
    expect(gate.pause()).toBeUndefined();
    const soon = Date.now() + 60;
    gate.report({ window: 'requests', state: 'closed', resetsAt: new Date(soon) });
    const first = gate.enter(never);
    await sleep(20);
    gate.report({ window: 'requests', state: 'closed', resetsAt: new Date(soon + 5) });
    const both = await Promise.all([first, gate.enter(never)]);
    both.forEach((leave) => leave());
    expect(pauses).toHaveLength(1);
  });
});

describe('a governed call', () => {
  test('keeps its answer if recording its usage fails or the metrics callback throws [P16]', async () => {
    const record = (): never => {
      throw new Error('database is locked');
    };
    const { runtime, warnings } = runtimeOver(() => Promise.resolve('Paid for.'), { record });
    const onMetrics = (): never => {
      throw new Error('no such callback');
    };
    expect(await runtime.generateText({ ...ask, onMetrics })).toBe('Paid for.');
    expect(warnings.join('\n')).toMatch(/database is locked[^]*no such callback/);
  });

  test('that waited while the money was spent is not made', async () => {
    let made = 0;
    const settings = { max_usd_per_run: 1, prices: { [model]: { input: 2, output: 0 } } };
    const gate = gateOf(1);
    const { runtime } = runtimeOver(
      async ({ monitor }) => {
        made += 1;
        await sleep(5);
        monitor.addUsage(model, tokens);
        return 'ok';
      },
      { gate, settings },
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => runtime.generateText(ask)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(made).toBe(1);
  });

  test('that finds the money spent tells what all calls have cost in the end', async () => {
    const settings = { max_usd_per_run: 1, prices: { [model]: { input: 0.6, output: 0 } } };
    const { runtime } = runtimeOver(
      async ({ monitor, prompt }) => {
        monitor.requestSent();
        await sleep(prompt === 'slow' ? 60 : 5);
        monitor.addUsage(model, { ...tokens, input: prompt === 'slow' ? 3_000_000 : 2_000_000 });
        return 'ok';
      },
      { settings, gate: gateOf(2) },
    );
    const calls = ['slow', 'fast', 'late'].map((prompt) =>
      runtime.generateText({ ...ask, prompt }),
    );
    const ended = await Promise.allSettled(calls);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(ended[2]).toMatchObject({
      reason: { message: expect.stringContaining('$3.0000 of the $1') },
    });
  });

  test('is not idle while one of its tools runs, whatever else arrives meanwhile', async () => {
    const slow = {
      name: 'slow',
      description: 'Waits.',
      inputSchema: z.object({}),
      execute: () => sleep(150, { markdown: 'done' }),
    };
    const timeouts = { idle_seconds: 0.05 };
    const { runtime } = runtimeOver(
      async ({ tools, monitor }) => {
        const running = tools['slow']?.execute({});
        // Another tool call of the same turn is still being written.
        monitor.heartbeat();
        await running;
        return monitor.signal.aborted ? 'aborted' : 'answered';
      },
      { settings: { timeouts } },
    );
    expect(await runtime.generateText({ ...ask, tools: { slow } })).toBe('answered');
  });

  test('repeats its request after a reset, as often as llm.retries says', async () => {
    let made = 0;
    const { runtime } = runtimeOver(
      async ({ monitor }) => {
        for (;;) {
          made += 1;
          const resetsAt = new Date(Date.now() + 20);
          await monitor.retry(new LlmError('rate_limit', 'Too many.', { resetsAt }));
        }
      },
      { settings: { retries: { attempts: 2 } } },
    );
    await expect(runtime.generateText(ask)).rejects.toMatchObject({
      kind: 'rate_limit',
      message: 'Too many. (2 attempts)',
    });
    expect(made).toBe(2);
  });

  test('has an unknown cost if it broke off before it reported its usage [P16]', async () => {
    const { runtime } = runtimeOver(async ({ monitor }) => {
      monitor.addUsage(model, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, null);
      throw new LlmError('network', 'Broken off.');
    });
    const { promise, resolve } = Promise.withResolvers<CallMetrics>();
    await expect(runtime.generateText({ ...ask, onMetrics: resolve })).rejects.toThrow(
      'Broken off.',
    );
    expect(await promise).toMatchObject({
      costUsd: null,
      costReason: expect.stringContaining('broke off'),
    });
  });
});
