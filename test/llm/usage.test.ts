import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exceededLimit } from '../../src/llm/faults/limit-headers.ts';
import { usageRecorder, usageReport } from '../../src/llm/governor/usage.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import { makeMachine, openRuntime, testModel } from '../support/llm-runtimes.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { say, subscriptionLimit } from '../support/model-script.ts';

describe('the journal of calls', () => {
  test('counts the requests of a call that used several models once', () => {
    const db = new DatabaseSync(':memory:');
    const tokens = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 };
    const metrics = {
      durationMs: 5,
      steps: 1,
      apiCalls: 2,
      usage: { large: tokens, small: tokens },
      costUsd: 0.5,
    };
    const record = usageRecorder(db);
    for (const outcome of ['ok', 'timeout'])
      record({ run: 'r', role: 'curator', backend: 'anthropic', model: 'large', outcome, metrics });
    const lines = usageReport(db, { run: 'r' });
    const sum = (read: (line: (typeof lines)[number]) => number): number =>
      lines.reduce((total, line) => total + read(line), 0);
    expect([
      sum(({ calls }) => calls),
      sum(({ failed }) => failed),
      sum(({ input }) => input),
    ]).toEqual([4, 1, 40]);
    expect(sum(({ costUsd }) => costUsd ?? 0)).toBe(1);
  });
});

test('an invalid reset time is ignored', () => {
  expect(exceededLimit({ 'retry-after': '99999999999999999' }).resetsAt).toBeUndefined();
  expect(exceededLimit({ 'retry-after': '9999999999999999h' }).resetsAt).toBeUndefined();
});

describe('on real sockets', () => {
  let endpoint: ModelEndpoint;
  let machine: ClaudeHome;
  beforeAll(async () => {
    endpoint = await openModelEndpoint();
    machine = await makeMachine(endpoint);
  });
  afterAll(async () => {
    await machine.remove();
    await endpoint.close();
  });

  test.each(['anthropic', 'openai', 'gateway'] as const)(
    'an answer of %s that breaks off is not told as free [P16]',
    async (subject) => {
      const script = endpoint.start(() => say('Half an answer.', { hang: 'mid-stream' }));
      const prices = { [testModel]: { input: 3, output: 15 } };
      const { runtime, records } = await openRuntime(subject, endpoint, {
        machine,
        prices,
        timeouts: { idle_seconds: 1 },
      });
      await expect(
        runtime.generateText({ role: 'default', prompt: script.marker }),
      ).rejects.toMatchObject({ kind: 'timeout' });
      expect(records[0]?.metrics).toMatchObject({
        apiCalls: 1,
        costUsd: null,
        costReason: expect.stringContaining('broke off'),
      });
    },
  );

  test('every open runtime hears of a pause; a closed one does not', async () => {
    const reset = new Date(Date.now() + 2000);
    const limited = endpoint.start(({ n }) =>
      n === 1
        ? {
            kind: 'failure',
            name: 'rate-limit',
            headers: { 'retry-after': '61', ...subscriptionLimit(reset) },
          }
        : say('ok'),
    );
    const closed = await openRuntime('anthropic', endpoint, { machine });
    await closed.runtime.close();
    const open = await openRuntime('anthropic', endpoint, { machine });
    const stop = AbortSignal.timeout(1500);
    await expect(
      open.runtime.generateText({ role: 'default', prompt: limited.marker, signal: stop }),
    ).rejects.toMatchObject({
      kind: 'aborted',
    });
    expect([closed.pauses.length, open.pauses.length]).toEqual([0, 1]);
  });
});
