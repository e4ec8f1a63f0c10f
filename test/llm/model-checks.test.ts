import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { llmConfigSchema, type LlmConfig } from '../../src/llm/config.ts';
import {
  checkModels,
  forgetModels,
  requireModels,
  type AccessInput,
} from '../../src/llm/model-checks.ts';
import { ensureStateDirectory } from '../../src/store/directories.ts';
import type { ClaudeHome } from '../support/claude-home.ts';
import { makeMachine, missing, openRuntime, type Subject } from '../support/llm-runtimes.ts';
import { type ModelEndpoint, openModelEndpoint } from '../support/model-endpoint.ts';
import { fail, type FailureName, say } from '../support/model-script.ts';

const never = new AbortController().signal;
const [small, medium, large] = ['claude-haiku-4-5', 'claude-sonnet-4-6', 'claude-opus-4-7'];
const models = { default: medium, triage: small, curator: large, repair: small };

const subjects = (['anthropic', 'claude-code'] as const).filter(
  (subject) => missing(subject) === undefined,
);

describe.each(subjects)('the models of llm.models on %s', (subject) => {
  let endpoint: ModelEndpoint;
  let machine: ClaudeHome;
  let closers: (() => Promise<void>)[];
  beforeEach(async () => {
    endpoint = await openModelEndpoint();
    machine = await makeMachine(endpoint);
    ensureStateDirectory(machine.projectDir);
    closers = [];
  });
  afterEach(async () => {
    await Promise.all(closers.map((close) => close()));
    await endpoint.close();
    await machine.remove();
  });

  async function open(env: NodeJS.ProcessEnv = machine.env): Promise<AccessInput> {
    const { runtime } = await openRuntime(subject, endpoint, { machine, models, env });
    closers.push(() => runtime.close());
    return { config: configOf(subject), runtime, dir: machine.projectDir };
  }
  /** Each model answers, except those that fail. Returns how often each was asked. */
  function script(failing: Readonly<Record<string, FailureName>> = {}) {
    const cases = [small, medium, large].map((model) => {
      const failure = failing[model];
      return endpoint.start(() => (failure === undefined ? say('ready') : fail(failure)), model);
    });
    return () => cases.map(({ calls }) => calls.length);
  }

  test('are asked once each, not once for each role, and again only when somebody wants to know', async () => {
    const asked = script();
    const input = await open();
    const states = async (mode: 'known' | 'kept' | 'fresh') =>
      (await checkModels(input, { mode }, never)).checks.map(({ state }) => state);
    expect(await states('known')).toEqual(['unverified', 'unverified', 'unverified']);
    expect(asked()).toEqual([0, 0, 0]);
    const { checks } = await checkModels(input, { mode: 'kept' }, never);
    expect(asked()).toEqual([1, 1, 1]);
    expect(checks.map(({ model, roles }) => [model, roles])).toEqual([
      [medium, ['default', 'candidateExtraction', 'reconcile']],
      [small, ['triage', 'repair']],
      [large, ['curator']],
    ]);
    expect(await states('kept')).toEqual(['works', 'works', 'works']);
    expect(await states('known')).toEqual(['works', 'works', 'works']);
    expect(asked()).toEqual([1, 1, 1]);
    expect(await states('fresh')).toEqual(['works', 'works', 'works']);
    expect(asked()).toEqual([2, 2, 2]);
  });

  test('are asked again after a day, for another account, and after a refused call', async () => {
    const asked = script();
    const input = await open();
    const check = (by = input) => requireModels(by, ['triage'], never);
    await check();
    const pattern = join(machine.projectDir, '.ktx/cache/checks/model-*.json');
    for (const file of globSync(pattern)) {
      const kept = JSON.parse(readFileSync(file, 'utf8')) as { at: string };
      const at = new Date(Date.now() - 25 * 3_600_000).toISOString();
      writeFileSync(file, JSON.stringify({ ...kept, at }));
    }
    await check();
    expect(asked()).toEqual([2, 0, 0]);
    forgetModels(machine.projectDir, 'overloaded');
    await check();
    expect(asked()).toEqual([2, 0, 0]);
    forgetModels(machine.projectDir, 'model_unavailable');
    await check();
    expect(asked()).toEqual([3, 0, 0]);
    if (subject !== 'claude-code') return;
    await check(await open({ ...machine.env, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-another' }));
    expect(asked()).toEqual([4, 0, 0]);
    const files = globSync(pattern).map((file) => readFileSync(file, 'utf8'));
    expect(files.join('\n')).not.toContain('sk-ant');
  });

  test('are named with their roles if the account cannot use them, and only runs that need them fail', async () => {
    const asked = script({ [small]: 'no-model' });
    const input = await open();
    const { checks } = await checkModels(input, { mode: 'kept' }, never);
    expect(checks.map(({ state }) => state)).toEqual(['works', 'broken', 'works']);
    expect(checks[1]?.error).toMatchObject({
      code: 'llm_model_unavailable',
      exitCode: 2,
      message: expect.stringContaining(`${small} is llm.models.triage, repair`),
    });
    await expect(requireModels(input, ['curator', 'triage'], never)).rejects.toMatchObject({
      code: 'llm_model_unavailable',
      message: checks[1]?.error?.message,
    });
    await requireModels(input, ['curator', 'reconcile'], never);
    const [ofSmall, ...others] = asked();
    expect(others).toEqual([1, 1]);
    // A failure is not kept: it may have been mended.
    expect(ofSmall).toBeGreaterThan(1);
  });

  test.for(['auth', 'billing'] as const)(
    'are not all asked when the account fails: %s',
    async (failure) => {
      const asked = script({ [small]: failure, [medium]: failure, [large]: failure });
      const { checks } = await checkModels(await open(), { mode: 'kept' }, never);
      expect(checks.map(({ state }) => state)).toEqual(['broken', 'unverified', 'unverified']);
      expect(checks[0]?.error).toMatchObject({ exitCode: 4 });
      expect(asked()[0]).toBe(0);
      expect(asked()[2]).toBe(0);
    },
  );

  test('offline, one line says so, in time', async () => {
    const input = await open();
    await endpoint.close();
    const started = performance.now();
    const { checks } = await checkModels(input, { mode: 'kept' }, never);
    expect(checks.map(({ state }) => state)).toEqual(['broken', 'unverified', 'unverified']);
    expect(checks[0]?.error).toMatchObject({ code: 'llm_network', retryable: true });
    expect(checks[0]?.error?.message).not.toContain('\n');
    expect(performance.now() - started).toBeLessThan(90_000);
    endpoint = await openModelEndpoint();
  });
});

function configOf(subject: Subject): LlmConfig {
  const block = subject === 'anthropic' ? { anthropic: { api_key: 'env:MADE_UP' } } : {};
  return llmConfigSchema.parse({ provider: { backend: subject, ...block }, models });
}
