import { z } from 'zod';
import { describe, expect, test } from 'vitest';
import { openAiSdkBackend } from '../../src/llm/ai-sdk/backend.ts';
import { LlmError } from '../../src/llm/error.ts';
import type { KtxToolSet } from '../../src/llm/runtime.ts';
import { anthropicError, anthropicTurn, callOf, scriptedEndpoint, watching, type Reply } from './ai-sdk-endpoint.ts';

const script = (...replies: readonly Reply[]) => scriptedEndpoint((_request, index) => replies[Math.min(index, replies.length - 1)] ?? {});

function anthropic(url: string, more: Partial<Parameters<typeof openAiSdkBackend>[0]> = {}) {
  const config = { api_key: 'sk-test-1', base_url: url };
  return openAiSdkBackend({ provider: 'anthropic', config, repairModel: 'claude-haiku-4-5', projectDir: '/nowhere', ...more });
}

const tools: KtxToolSet = {
  lookup: {
    name: 'lookup',
    description: 'Looks a table up.',
    inputSchema: z.strictObject({ table: z.string().min(2) }),
    execute: async (input) => {
      const { table } = input as { table: string };
      if (table === 'boom') throw new Error('it broke');
      return { markdown: `# ${table}\n\n3 rows`, structured: { secret: 42 } };
    },
  },
};

async function failureOf(promise: Promise<unknown>): Promise<LlmError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LlmError) return error;
  throw new Error(`no LlmError: ${String(error)}`);
}

describe('a call', () => {
  test('answers with text, and says what it took', async () => {
    await using endpoint = await script(anthropicTurn([{ text: 'An orders table.' }], { pings: 2 }));
    const seen = watching();
    const text = await anthropic(endpoint.url).text({ ...callOf(seen.watch, { system: 'Be brief.' }), stepBudget: 1 });
    expect(text).toBe('An orders table.');
    expect(seen.counts).toMatchObject({ steps: 1, apiCalls: 1 });
    expect(seen.counts.alive).toBeGreaterThan(4);
    expect(seen.used).toEqual([
      { model: 'claude-sonnet-4-5-20250929', usage: { input: 100, output: 7, cacheRead: 30, cacheWrite: 20 }, costUsd: undefined },
    ]);
    expect(endpoint.requests[0]?.headers['x-api-key']).toBe('sk-test-1');
    expect(endpoint.requests[0]?.body).toMatchObject({ temperature: 0, model: 'claude-sonnet-4-5', stream: true });
  });

  test('gives an object that fits the schema of the caller', async () => {
    await using endpoint = await script(anthropicTurn([{ text: '{"n":3}' }]));
    const call = callOf(watching().watch);
    const schema = z.object({ n: z.int().transform((n) => n * 2) });
    expect(await anthropic(endpoint.url).object({ ...call, stepBudget: 5, schema })).toEqual({ n: 6 });
  });

  test('loops to the end and to the budget', async () => {
    const turn = anthropicTurn([{ tool: 'lookup', input: { table: 'orders' } }]);
    await using endpoint = await script(turn, turn, anthropicTurn([{ text: 'done' }]));
    const seen = watching();
    const call = callOf(seen.watch, { tools });
    expect(await anthropic(endpoint.url).loop({ ...call, stepBudget: 9 })).toEqual({ text: 'done', stopReason: 'natural' });
    expect(seen.counts.steps).toBe(3);
    await using endless = await script(turn);
    const again = watching();
    const budget = await anthropic(endless.url).loop({ ...callOf(again.watch, { tools }), stepBudget: 3 });
    expect(budget.stopReason).toBe('budget');
    expect(again.counts).toMatchObject({ steps: 3, apiCalls: 3 });
  });

  test.each([
    [401, 'authentication_error', 'auth'],
    [403, 'permission_error', 'permission'],
    [404, 'not_found_error', 'model_unavailable'],
    [429, 'rate_limit_error', 'rate_limit'],
    [402, 'billing_error', 'billing'],
    [413, 'request_too_large', 'context_too_long'],
    [400, 'invalid_request_error', 'execution'],
    [500, 'api_error', 'overloaded'],
    [529, 'overloaded_error', 'overloaded'],
  ])('answers %i %s with %s', async (status, type, kind) => {
    await using endpoint = await script(anthropicError(status, type));
    const failure = await failureOf(anthropic(endpoint.url).text({ ...callOf(watching().watch), stepBudget: 1 }));
    expect(failure).toMatchObject({ kind, status });
    expect(endpoint.requests.length).toBe(kind === 'overloaded' ? 3 : 1);
  });
});
