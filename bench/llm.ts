// What a call of the Claude Code backend costs beside the model: the real binary against a scripted endpoint that answers at
// once, so that everything measured is overhead. Cold is the first call of a runtime, warm one whose child was started before.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { LlmRuntime } from '../src/llm/govern.ts';
import { claudeBinary } from '../test/support/claude-home.ts';
import { makeMachine, openRuntime } from '../test/support/llm-runtimes.ts';
import { openModelEndpoint } from '../test/support/model-endpoint.ts';
import { give, say } from '../test/support/model-script.ts';

const rounds = 7;
const callsPerLevel = 16;
/** Long enough for the next child to be ready. */
const restMs = 4000;
const schema = z.object({ answer: z.string() });

if (claudeBinary() === undefined) {
  console.log(`skipped: no Claude Code binary for ${process.platform}-${process.arch}`);
  process.exit(0);
}
const endpoint = await openModelEndpoint();
const machine = await makeMachine(endpoint);
const { marker } = endpoint.start(({ wantsObject, objectTaken }) => (wantsObject && !objectTaken ? give({ answer: 'yes' }) : say('yes')));
const prompt = `A question of a benchmark. ${marker}`;
const kinds = {
  text: (runtime: LlmRuntime): Promise<unknown> => runtime.generateText({ role: 'triage', prompt, system: 'S' }),
  object: (runtime: LlmRuntime): Promise<unknown> => runtime.generateObject({ role: 'triage', prompt, system: 'S', schema }),
};

for (const [kind, call] of Object.entries(kinds)) {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await withRuntime(1, async (runtime) => {
      cold.push(await milliseconds(() => call(runtime)));
      await sleep(restMs);
      warm.push(await milliseconds(() => call(runtime)));
    });
  }
  const [slow, fast] = [median(cold), median(warm)];
  console.log(
    `${kind.padEnd(8)} cold ${slow.toFixed(0)} ms   warm ${fast.toFixed(0)} ms   ratio ${(fast / slow).toFixed(2)}   (medians of ${rounds})`,
  );
}

let alone = 0;
for (const concurrency of [1, 2, 4]) {
  await withRuntime(concurrency, async (runtime) => {
    // One call first: afterwards there is something to keep warm.
    await kinds.text(runtime);
    await sleep(restMs);
    const taken = await milliseconds(() => Promise.all(Array.from({ length: callsPerLevel }, () => kinds.text(runtime))));
    const rate = (callsPerLevel * 1000) / taken;
    if (concurrency === 1) alone = rate;
    console.log(`at once  ${concurrency}: ${rate.toFixed(2)} calls/s   ratio ${(rate / alone).toFixed(2)}   (${callsPerLevel} text calls)`);
  });
}

await withRuntime(1, async (runtime) => {
  await kinds.text(runtime);
  await sleep(restMs);
  const sizes = childMegabytes();
  console.log(
    sizes.length === 0
      ? 'memory   no child is kept, or no /proc here'
      : `memory   ${sizes.map((size) => size.toFixed(0)).join(', ')} MB resident in each idle child`,
  );
});
await endpoint.close();
await machine.remove();

async function withRuntime(concurrency: number, run: (runtime: LlmRuntime) => Promise<void>): Promise<void> {
  const { runtime } = await openRuntime('claude-code', endpoint, { machine, concurrency });
  try {
    await run(runtime);
  } finally {
    await runtime.close();
  }
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Resident memory of the binary's processes under this one, where the system tells. */
function childMegabytes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && isChild(name))
      .map((pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  } catch {
    return [];
  }
}

function isChild(pid: string): boolean {
  try {
    const parent = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return parent === String(process.pid) && readlinkSync(`/proc/${pid}/exe`).includes('claude');
  } catch {
    // Gone in the meantime.
    return false;
  }
}
