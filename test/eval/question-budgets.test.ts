import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ktxJson } from '../cli/run-cli.ts';
import { backendsOfRun, openMachine, type ModelMachine } from '../ingest/llm-project.ts';
import { openShop, type Shop } from '../mcp/shop.ts';
import { hasSlowCases } from '../slow-suites.ts';
import { say, use } from '../support/model-script.ts';

let machine: ModelMachine;
let shop: Shop;
beforeAll(async () => {
  machine = await openMachine();
  shop = await openShop('sqlite');
  mkdirSync(join(shop.dir, 'evals'), { recursive: true });
  const cases = ['a', 'b', 'c'].map(
    (id) => `  - {id: ${id}, question: What is ${id}?, expect: {text: {contains: ["1,800"]}}}\n`,
  );
  writeFileSync(join(shop.dir, 'evals/shop.yaml'), `cases:\n${cases.join('')}`);
});
afterAll(async () => {
  shop.remove();
  await machine.close();
});

const model = 'claude-sonnet-4-6';
/** At $3 and $15 per million tokens, which both backends reckon with. */
const usage = { input: 12_000, output: 600, cacheRead: 0, cacheWrite: 0 };
const turnUsd = 0.045;
/** Two queries, then the answer. */
const turnsOfQuestion = 3;

let turns = 0;
/** The command with that budget; `turns` counts what the endpoint answers. */
async function play(backend: string, args: readonly string[], budget?: number) {
  const { endpoint, claude } = machine;
  const api = `{backend: anthropic, anthropic: {api_key: env:TEST_KEY, base_url: ${endpoint.url}/v1}}`;
  const provider = backend === 'anthropic' ? api : `{backend: ${backend}}`;
  const limit = budget === undefined ? '' : `  max_usd_per_run: ${budget}\n`;
  writeFileSync(
    join(shop.dir, 'ktx.yaml'),
    `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\nllm:\n  provider: ${provider}\n  models: {default: ${model}}\n  prices: {${model}: {input: 3, output: 15}}\n${limit}`,
  );
  turns = 0;
  endpoint.fallback = ({ messages, system }) => {
    if (!system.includes('shop')) return say('ready');
    turns += 1;
    const question = messages.findLastIndex(({ text }) => text.includes('What is'));
    const done = messages.slice(question).filter(({ role }) => role === 'assistant').length;
    return {
      ...(done < turnsOfQuestion - 1
        ? use('query_metrics', { metrics: ['orders.revenue'] })
        : say('Revenue is 1,800 EUR [q1].')),
      usage,
    };
  };
  const env = { ...claude.env, TEST_KEY: 'sk-made-up' } as Record<string, string>;
  return ktxJson(args, { cwd: shop.dir, env });
}

interface EvalData {
  readonly run: {
    readonly cases: readonly {
      readonly outcome: string;
      readonly attempts: readonly { readonly turns: readonly { readonly cost_usd: number }[] }[];
    }[];
  };
}

const budgets = hasSlowCases ? [0.02, 0.05, 0.12, 1] : [0.05];

describe.each(backendsOfRun)('a budget of questions on %s', (backend) => {
  test.each(budgets)(
    'of $%s holds for one question, and the next one is answered',
    async (limit) => {
      const { code, envelope } = await play(backend, ['ask', 'What is a?'], limit);
      const { cost_usd: spent } = z
        .looseObject({ cost_usd: z.number() })
        .parse(envelope.data ?? envelope.error?.details);
      expect(spent).toBeCloseTo(turns * turnUsd);
      expect(spent).toBeLessThanOrEqual(limit + turnUsd + 1e-9);
      const isCut = limit < (turnsOfQuestion - 1) * turnUsd;
      expect(turns).toBe(isCut ? Math.ceil(limit / turnUsd) : turnsOfQuestion);
      expect([code, envelope.error?.code]).toEqual(
        isCut ? [3, 'llm_budget_spent'] : [0, undefined],
      );
      const { code: next } = await play(backend, ['ask', '--resume', 'last', 'What is b?']);
      expect([next, turns]).toEqual([0, turnsOfQuestion]);
    },
  );

  test.each(budgets)('of $%s holds for an eval, and the next one asks all', async (limit) => {
    const args = ['eval', 'run', '--concurrency', '2'];
    const { code, envelope } = await play(backend, args, limit);
    const { cases } = (envelope.data as EvalData).run;
    const spent = cases
      .flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.turns))
      .reduce((sum, { cost_usd: cost }) => sum + cost, 0);
    expect(spent).toBeCloseTo(turns * turnUsd);
    expect(spent).toBeLessThanOrEqual(limit + turnUsd + 1e-9);
    const isCut = limit < 3 * turnsOfQuestion * turnUsd;
    if (isCut) {
      expect(spent).toBeGreaterThanOrEqual(limit);
      expect(code).toBe(3);
      expect(JSON.stringify(envelope)).toContain('llm_budget_spent');
    } else expect(cases.map(({ outcome }) => outcome)).toEqual(['pass', 'pass', 'pass']);
    const next = await play(backend, args);
    expect([next.code, turns]).toEqual([0, 3 * turnsOfQuestion]);
  });
});
