import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CallMetrics } from '../../src/llm/port/runtime.ts';
import { missing, openRuntime, testModel } from '../support/llm-runtimes.ts';
import { fail, type Answer, type Script } from '../support/model-script.ts';
import { openTestMachine } from '../support/test-machine.ts';

/** $0.045 at $3 and $15 per million tokens. */
const usage = { input: 10_000, output: 1000, cacheRead: 0, cacheWrite: 0 };
const prices = { [testModel]: { input: 3, output: 15 } };
const schema = z.object({ note: z.string() });

const lookUp = (n: number): Answer => ({
  kind: 'reply',
  blocks: [{ tool: 'look_up', input: { word: `w${n}` } }],
  usage,
});
const tool = (execute: () => Promise<{ markdown: string }>) => ({
  look_up: {
    name: 'look_up',
    description: 'Looks a word up.',
    inputSchema: z.object({ word: z.string() }),
    execute: () => execute(),
  },
});

const { endpoint, machine } = await openTestMachine();

for (const subject of ['anthropic', 'claude-code'] as const) {
  const open = async (around: Partial<Parameters<typeof openRuntime>[2]> = {}) => {
    // Claude Code has prices of its own.
    const own = subject === 'anthropic' ? { prices } : {};
    return openRuntime(subject, endpoint, { machine, concurrency: 4, ...own, ...around });
  };
  const loop = (
    runtime: Awaited<ReturnType<typeof open>>['runtime'],
    script: Script,
    tools = tool(async () => ({ markdown: 'found' })),
  ) => {
    const running = endpoint.start(script);
    const result = runtime.runAgentLoop({
      modelRole: 'default',
      systemPrompt: 'You look words up.',
      userPrompt: `A task. ${running.marker}`,
      toolSet: tools,
      stepBudget: 20,
    });
    return { running, result };
  };

  describe(`money on ${subject}`, { skip: missing(subject) !== undefined }, () => {
    test('a loop stops between two turns once its budget is spent', async () => {
      const { runtime } = await open({ max_usd_per_run: 0.05 });
      const { running, result } = loop(runtime, ({ n }) => lookUp(n));
      const { error, metrics } = await result;
      await runtime.close();
      expect(error).toMatchObject({
        code: 'llm_budget_spent',
        message: expect.stringContaining('$0.0900 of the $0.05'),
      });
      expect(metrics.steps).toBe(2);
      expect(running.calls).toHaveLength(2);
      expect(metrics.usage).toMatchObject({ [testModel]: { input: 20_000, output: 2000 } });
      expect(metrics.apiCalls).toBe(2);
    });

    test('an answer that is complete counts, though it spends the budget', async () => {
      const { runtime } = await open({ max_usd_per_run: 0.02 });
      const { result } = loop(runtime, () => ({
        kind: 'reply',
        blocks: [{ text: 'Done.' }],
        usage,
      }));
      expect(await result).toMatchObject({ stopReason: 'natural', text: 'Done.' });
      await runtime.close();
    });

    test('ten objects at once exceed a small budget by one call at most', async () => {
      const { runtime } = await open({ max_usd_per_run: 0.02 });
      const running = endpoint.start(({ objectTaken }) => ({
        kind: 'reply',
        blocks: [objectTaken ? { text: 'ok' } : { object: { note: 'n' } }],
        usage,
      }));
      const work = Array.from({ length: 10 }, () =>
        runtime.generateObject({ role: 'default', prompt: `Say. ${running.marker}`, schema }),
      );
      const ended = await Promise.allSettled(work);
      await runtime.close();
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(running.calls).toHaveLength(1);
    });

    test('requests that reached the model are counted, whatever came of them', async () => {
      const { runtime, records } = await open();
      for (const name of ['permission', 'overloaded'] as const) {
        const running = endpoint.start(() => fail(name));
        const prompt = `Say. ${running.marker}`;
        await runtime.generateText({ role: 'default', prompt }).catch(() => undefined);
        expect(records.at(-1)?.metrics.apiCalls).toBe(running.calls.length);
      }
      await runtime.close();
    });

    test('the turn of a tool that never returns is paid for', async () => {
      const { runtime } = await open({ timeouts: { call_seconds: 5 } });
      const hangs = tool(() => sleep(20_000, { markdown: 'late' }, { ref: false }));
      const { result } = loop(runtime, ({ n }) => lookUp(n), hangs);
      const { metrics }: { metrics: CallMetrics } = await result;
      await runtime.close();
      expect(metrics).toMatchObject({
        apiCalls: 1,
        usage: { [testModel]: { input: 10_000, output: 1000 } },
      });
    });
  });
}
