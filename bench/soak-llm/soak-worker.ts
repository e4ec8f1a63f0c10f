// Makes the calls of a soak with both backends until somebody ends this process, and prints one
// line of JSON for each call that ended. The last line has the descriptors that are open when all
// is closed, and before anything was opened.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { LlmRuntime } from '../../src/llm/governor/govern.ts';
import type { CallMetrics, KtxToolSet } from '../../src/llm/port/runtime.ts';
import { errorMessage, UserError } from '../../src/lib/error.ts';
import { makeMachine, openRuntime } from '../../test/support/llm-runtimes.ts';
import type { ModelEndpoint } from '../../test/support/model-endpoint.ts';
import { attempts, personSchema, planOf, type CallPlan } from './call-plan.ts';

export interface SoakOrder {
  readonly seed: number;
  readonly ids: readonly number[];
  readonly life: number;
  readonly url: string;
  readonly projectDir: string;
  readonly concurrency: number;
}

/** How one call ended. */
export interface SoakedCall {
  readonly id: number;
  readonly outcome: string;
  readonly metrics: CallMetrics | undefined;
}

const order = JSON.parse(process.argv[2] ?? '') as SoakOrder;
const descriptors = (): number => readdirSync('/proc/self/fd').length;
const tools: KtxToolSet = {
  look_up: {
    name: 'look_up',
    description: 'Looks up a word.',
    inputSchema: z.object({ word: z.string() }),
    execute: () => Promise.resolve({ markdown: 'a fruit' }),
  },
};

// The workers of a soak share one machine, which the parent made.
const machine: Awaited<ReturnType<typeof makeMachine>> = {
  home: process.env['HOME'] ?? '',
  projectDir: order.projectDir,
  env: process.env,
  remove: () => Promise.resolve(),
};
const open = (backend: CallPlan['backend']) =>
  openRuntime(backend, { url: order.url } as ModelEndpoint, {
    machine,
    concurrency: order.concurrency,
    retries: { attempts, first_pause_seconds: 0.01 },
    timeouts: { idle_seconds: 300, call_seconds: 600 },
  });
// What is opened once for the whole process is open before the first call that counts.
for (const backend of ['anthropic', 'claude-code'] as const) {
  const { runtime } = await open(backend);
  await runtime.generateText({ role: 'triage', prompt: 'Get warm.' });
  await runtime.close();
}
const before = descriptors();
const runtimes = { anthropic: await open('anthropic'), 'claude-code': await open('claude-code') };
const queue = order.ids.map((id) => planOf(order.seed, id));
const work = async (): Promise<void> => {
  for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
    const ended = await make(plan, runtimes[plan.backend].runtime);
    console.log(JSON.stringify(ended));
  }
};
await Promise.all(Array.from({ length: 2 * order.concurrency }, work));
for (const { runtime } of Object.values(runtimes)) await runtime.close();
// Connections that wait for another request close a moment later.
for (let waited = 0; waited < 100 && descriptors() > before; waited += 1) await sleep(100);
console.log(JSON.stringify({ before, after: descriptors() }));

async function make(plan: CallPlan, runtime: LlmRuntime): Promise<SoakedCall> {
  const { id, kind, stopMs } = plan;
  const prompt = `Task soak-${id}-${order.life}-end.`;
  const signal = stopMs === undefined ? undefined : AbortSignal.timeout(stopMs);
  let metrics: CallMetrics | undefined;
  const onMetrics = (measured: CallMetrics): void => void (metrics = measured);
  const input = { role: 'triage', prompt, system: 'Be brief.', signal, onMetrics } as const;
  try {
    if (kind === 'text') await runtime.generateText(input);
    else if (kind === 'object') await runtime.generateObject({ ...input, schema: personSchema });
    else {
      const result = await runtime.runAgentLoop({
        modelRole: 'triage',
        systemPrompt: 'Be brief.',
        userPrompt: prompt,
        toolSet: tools,
        stepBudget: 6,
        signal,
      });
      metrics = result.metrics;
      if (result.error !== undefined) throw result.error;
    }
    return { id, outcome: 'ok', metrics };
  } catch (error) {
    const outcome =
      error instanceof UserError ? error.code : `not a UserError: ${errorMessage(error)}`;
    return { id, outcome, metrics };
  }
}
