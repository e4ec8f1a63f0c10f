// Measures the overhead of a call of the Claude Code backend: the real binary runs against a scripted endpoint that answers at
// once. A cold call is the first one of a runtime; for a warm call the child process has been started before.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { LlmRuntime } from '../src/llm/governor/govern.ts';
import { claudeBinary } from '../test/support/claude-home.ts';
import { makeMachine, openRuntime } from '../test/support/llm-runtimes.ts';
import { openModelEndpoint } from '../test/support/model-endpoint.ts';
import { give, say } from '../test/support/model-script.ts';

const rounds = 4;
const warmCalls = 3;
const callsPerLevel = 16;
/** Long enough for the next child to be ready. */
const restMs = 5000;
const schema = z.object({ answer: z.string() });

if (claudeBinary() === undefined) {
  console.log(`skipped: no Claude Code binary for ${process.platform}-${process.arch}`);
  process.exit(0);
}
const endpoint = await openModelEndpoint();
const machine = await makeMachine(endpoint);
const { marker } = endpoint.start(({ wantsObject, objectTaken }) =>
  wantsObject && !objectTaken ? give({ answer: 'yes' }) : say('yes'),
);
const prompt = `A question of a benchmark. ${marker}`;
const kinds = {
  text: (runtime: LlmRuntime): Promise<unknown> =>
    runtime.generateText({ role: 'triage', prompt, system: 'S' }),
  object: (runtime: LlmRuntime): Promise<unknown> =>
    runtime.generateObject({ role: 'triage', prompt, system: 'S', schema }),
};

const [level] = process.argv.slice(2).map(Number);
if (level === undefined) {
  for (const kind of ['text', 'object'] as const) console.log(await coldAndWarm(kind));
  console.log(await memory());
  // The call gate is one per process, so each level of concurrency runs in a process of its own.
  const [alone = 0, ...more] = [1, 2, 4].map((concurrency) =>
    Number(execFileSync(process.execPath, [import.meta.filename, String(concurrency)])),
  );
  [alone, ...more].forEach((rate, index) =>
    console.log(
      `at once  ${2 ** index}: ${rate.toFixed(2)} calls/s   ratio ${(rate / alone).toFixed(2)}`,
    ),
  );
} else console.log(await callsPerSecond(level));
await endpoint.close();
await machine.remove();

async function coldAndWarm(kind: keyof typeof kinds): Promise<string> {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await withRuntime(1, async (runtime) => {
      cold.push(await milliseconds(() => kinds[kind](runtime)));
      for (let call = 0; call < warmCalls; call += 1) {
        await sleep(restMs);
        warm.push(await milliseconds(() => kinds[kind](runtime)));
      }
    });
  }
  const medians = `${median(cold).toFixed(0)} ms cold, ${median(warm).toFixed(0)} ms warm, ratio ${(median(warm) / median(cold)).toFixed(2)}`;
  // On a busy machine the fastest call says more than the median.
  const [slow, fast] = [Math.min(...cold), Math.min(...warm)];
  return `${kind.padEnd(8)} medians ${medians}   fastest ${slow.toFixed(0)} ms cold, ${fast.toFixed(0)} ms warm, ratio ${(fast / slow).toFixed(2)}`;
}

async function callsPerSecond(concurrency: number): Promise<number> {
  return withRuntime(concurrency, async (runtime) => {
    // The first call starts the process that later calls keep warm.
    await kinds.text(runtime);
    await sleep(restMs);
    const taken = await milliseconds(() =>
      Promise.all(Array.from({ length: callsPerLevel }, () => kinds.text(runtime))),
    );
    return (callsPerLevel * 1000) / taken;
  });
}

async function memory(): Promise<string> {
  return withRuntime(1, async (runtime) => {
    await kinds.text(runtime);
    await sleep(restMs);
    const sizes = childMegabytes().map((size) => `${size.toFixed(0)} MB`);
    return `memory   ${sizes.length === 0 ? 'no child is kept, or no /proc here' : `${sizes.join(', ')} resident in each idle child`}`;
  });
}

async function withRuntime<T>(
  concurrency: number,
  run: (runtime: LlmRuntime) => Promise<T>,
): Promise<T> {
  const { runtime } = await openRuntime('claude-code', endpoint, { machine, concurrency });
  try {
    return await run(runtime);
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

/** Resident memory of the binary's processes under this one, if the system has `/proc`. */
function childMegabytes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && isChild(name))
      .map(
        (pid) =>
          Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) /
          1024,
      );
  } catch {
    return [];
  }
}

function isChild(pid: string): boolean {
  try {
    const parent = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return parent === String(process.pid) && readlinkSync(`/proc/${pid}/exe`).includes('claude');
  } catch {
    // The process has ended in the meantime.
    return false;
  }
}
