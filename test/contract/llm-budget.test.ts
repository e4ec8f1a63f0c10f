import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { KtxToolSet } from '../../src/llm/port/runtime.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { missing, openRuntime, testModel } from '../support/llm-runtimes.ts';
import { say, type Script, use } from '../support/model-script.ts';
import { openTestMachine } from '../support/test-machine.ts';

const { endpoint, machine } = await openTestMachine();

/** Claude Code reckons with the list prices of the model; so does `llm.prices` here. */
const price = { input: 3, output: 15 };
/** What each answer of the scripts below costs: 12,000 tokens in and 600 out. */
const usage = { input: 12_000, output: 600 };
const turnUsd = (usage.input * price.input + usage.output * price.output) / 1e6;

const tools: KtxToolSet = {
  look_up: {
    name: 'look_up',
    description: 'Looks up a word.',
    inputSchema: z.object({ word: z.string() }),
    execute: () => Promise.resolve({ markdown: 'It is a word.' }),
  },
};
const looksUpFor =
  (turns: number): Script =>
  ({ n }) => ({
    ...(n < turns ? use('look_up', { word: `word ${n}` }) : say('Done.')),
    usage,
  });
const says: Script = () => ({ ...say('Done.'), usage });

const subjects = hasSlowCases ? (['anthropic', 'claude-code'] as const) : (['anthropic'] as const);

describe.each(subjects)('the budget of a run on %s', (subject) => {
  const open = (limit: number, concurrency = 4) =>
    openRuntime(subject, endpoint, {
      machine,
      max_usd_per_run: limit,
      concurrency,
      prices: { [testModel]: price },
    });
  const isMissing = missing(subject) !== undefined;

  test.skipIf(isMissing)('ends a loop between two turns, after the one that spent it', async () => {
    const { runtime } = await open(0.05);
    const running = endpoint.start(looksUpFor(20));
    const result = await runtime.runAgentLoop({
      modelRole: 'candidateExtraction',
      systemPrompt: 'You look up words.',
      userPrompt: `Case ${running.marker}.`,
      toolSet: tools,
      stepBudget: 20,
    });
    await runtime.close();
    expect(result).toMatchObject({
      stopReason: 'error',
      error: { code: 'llm_budget_spent', exitCode: 3 },
      metrics: { apiCalls: 2, steps: 2 },
    });
    expect(running.calls).toHaveLength(2);
    expect(result.metrics.costUsd).toBeCloseTo(2 * turnUsd);
  });

  test.skipIf(isMissing)('keeps an answer that spends the last of it', async () => {
    const { runtime } = await open(turnUsd / 2);
    const running = endpoint.start(says);
    const ask = () =>
      runtime.generateText({ role: 'triage', prompt: `Answer case ${running.marker}.` });
    expect(await ask()).toBe('Done.');
    await expect(ask()).rejects.toMatchObject({ code: 'llm_budget_spent' });
    await runtime.close();
    expect(running.calls).toHaveLength(1);
  });

  test.skipIf(isMissing)(
    'goes on after an answer that breaks off, at its highest cost',
    async () => {
      const { runtime } = await open(1, 1);
      const running = endpoint.start(({ n }) => ({ ...say('Done.'), usage, cut: n === 1 }));
      const ask = () =>
        runtime.generateText({ role: 'triage', prompt: `Answer case ${running.marker}.` });
      expect(await ask()).toBe('Done.');
      // What the broken one can have cost at most is known better now.
      expect(await ask()).toBe('Done.');
      await runtime.close();
      expect(running.calls).toHaveLength(3);
    },
  );

  test.skipIf(isMissing || subject !== 'claude-code')(
    'goes on after a first answer that breaks off, also if llm.prices is empty',
    async () => {
      const around = { machine, max_usd_per_run: 1, concurrency: 1 };
      const { runtime } = await openRuntime(subject, endpoint, around);
      const running = endpoint.start(({ n }) => ({ ...say('Done.'), usage, cut: n === 1 }));
      const prompt = `Answer case ${running.marker}.`;
      expect(await runtime.generateText({ role: 'triage', prompt })).toBe('Done.');
      await runtime.close();
      expect(running.calls).toHaveLength(2);
    },
  );

  test.skipIf(isMissing)('ends if an answer that breaks off can have spent it', async () => {
    const { runtime } = await open(0.1, 1);
    const running = endpoint.start(() => ({ ...say('This breaks off.'), usage, cut: true }));
    const asked = runtime.generateText({ role: 'triage', prompt: `Case ${running.marker}.` });
    await expect(asked).rejects.toMatchObject({
      code: 'llm_budget_spent',
      exitCode: 3,
      message: expect.stringMatching(/^This run may have spent up to \$0\.4\d+ of the \$0\.1 /),
    });
    await runtime.close();
    expect(running.calls).toHaveLength(1);
  });

  test.skipIf(isMissing)(
    'is overspent by one request at most, however many calls run at once',
    async () => {
      const limit = 5.5 * turnUsd;
      const { runtime, records } = await open(limit);
      const running = endpoint.start(looksUpFor(3));
      const loops = Array.from({ length: 6 }, () =>
        runtime.runAgentLoop({
          modelRole: 'candidateExtraction',
          systemPrompt: 'You look up words.',
          userPrompt: `Case ${running.marker}.`,
          toolSet: tools,
          stepBudget: 10,
        }),
      );
      const results = await Promise.all(loops);
      await runtime.close();
      const spent = records.reduce((sum, { metrics }) => sum + (metrics.costUsd ?? NaN), 0);
      expect(spent).toBeCloseTo(running.calls.length * turnUsd);
      expect(spent).toBeGreaterThanOrEqual(limit);
      expect(spent).toBeLessThanOrEqual(limit + turnUsd + 1e-9);
      const errors = new Set(results.flatMap(({ error }) => error?.code ?? []));
      expect([...errors]).toEqual(['llm_budget_spent']);
    },
  );
});
