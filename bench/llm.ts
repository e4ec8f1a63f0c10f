// Compares the Claude Code backend with the API, side by side in one run: the real program and the
// AI SDK against one scripted endpoint. First the overhead of a call if the endpoint answers at
// once, then the throughput if each answer takes as long as a model's. Compare the ratios, not the
// times of different machines.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { LlmRuntime } from '../src/llm/governor/govern.ts';
import { describeTables } from '../src/scan/describe/descriptions.ts';
import { claudeBinary } from '../test/support/claude-home.ts';
import { describing } from '../test/support/describing-model.ts';
import { makeMachine, openRuntime } from '../test/support/llm-runtimes.ts';
import { openModelEndpoint } from '../test/support/model-endpoint.ts';
import { give, say, type Script } from '../test/support/model-script.ts';
import { scannedTables } from '../test/support/scanned-tables.ts';

const backends = ['anthropic', 'claude-code'] as const;
type Backend = (typeof backends)[number];

const rounds = 3;
const warmCalls = 3;
const answerMs = 1500;
const callsAtOnce = 4;
const sampleMs = 25;
const schema = z.object({ answer: z.string() });

if (claudeBinary() === undefined) {
  console.log(`skipped: no Claude Code binary for ${process.platform}-${process.arch}`);
  process.exit(0);
}
const endpoint = await openModelEndpoint();
const machine = await makeMachine(endpoint);
const prompt = 'A question of a benchmark.';
const kinds = {
  text: (runtime: LlmRuntime): Promise<unknown> =>
    runtime.generateText({ role: 'triage', prompt, system: 'S' }),
  object: (runtime: LlmRuntime): Promise<unknown> =>
    runtime.generateObject({ role: 'triage', prompt, system: 'S', schema }),
};
const answering: Script = (call) =>
  call.wantsObject && !call.objectTaken ? give({ answer: 'yes' }) : say('yes');

/** Work whose throughput is compared, and how many calls or tables it is. */
const workloads = {
  calls: {
    size: 40,
    script: answering,
    run: (runtime: LlmRuntime) =>
      Promise.all(Array.from({ length: 40 }, () => kinds.text(runtime))),
  },
  tables: { size: 30, script: describing, run: (runtime: LlmRuntime) => describe(runtime, 30) },
  'many tables': {
    size: 240,
    script: describing,
    run: (runtime: LlmRuntime) => describe(runtime, 240),
  },
} as const;
type Workload = keyof typeof workloads;

interface Throughput {
  readonly perSecond: number;
  readonly requests: number;
  readonly started: number;
  readonly mostAtOnce: number;
  /** Of the largest child: what it adds to the memory of the machine, and what it has in memory. */
  readonly addedMb: number;
  readonly residentMb: number;
}

const [workload, backend] = process.argv.slice(2);
if (workload === undefined) await compare();
else console.log(JSON.stringify(await measure(workload as Workload, backend as Backend)));
await endpoint.close();
await machine.remove();

async function compare(): Promise<void> {
  for (const kind of ['text', 'object'] as const) console.log(await coldAndWarm(kind));
  for (const name of Object.keys(workloads)) {
    const [api, children] = backends.map(
      (each) =>
        JSON.parse(
          execFileSync(process.execPath, [import.meta.filename, name, each], { encoding: 'utf8' }),
        ) as Throughput,
    );
    if (api === undefined || children === undefined) continue;
    const { started, requests, mostAtOnce, addedMb, residentMb } = children;
    const warm = `${requests - started} of ${requests} calls warm (${((100 * (requests - started)) / requests).toFixed(0)}%)`;
    const memory = `largest adds ${addedMb.toFixed(0)} MB (${residentMb.toFixed(0)} MB resident)`;
    console.log(
      `${name.padEnd(12)} ${api.perSecond.toFixed(2)}/s API, ${children.perSecond.toFixed(2)}/s claude-code, ratio ${(children.perSecond / api.perSecond).toFixed(2)}   ${warm}   children: ${started} started, at most ${mostAtOnce} at once, ${memory}`,
    );
  }
}

async function coldAndWarm(kind: keyof typeof kinds): Promise<string> {
  endpoint.fallback = answering;
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const { runtime } = await openRuntime('claude-code', endpoint, { machine, concurrency: 1 });
    cold.push(await milliseconds(() => kinds[kind](runtime)));
    for (let call = 0; call < warmCalls; call += 1)
      warm.push(await milliseconds(() => kinds[kind](runtime)));
    await runtime.close();
  }
  const medians = `${median(cold).toFixed(0)} ms cold, ${median(warm).toFixed(0)} ms warm, ratio ${(median(warm) / median(cold)).toFixed(2)}`;
  // On a busy machine the fastest call says more than the median.
  const [slow, fast] = [Math.min(...cold), Math.min(...warm)];
  return `${kind.padEnd(12)} medians ${medians}   fastest ${slow.toFixed(0)} ms cold, ${fast.toFixed(0)} ms warm, ratio ${(fast / slow).toFixed(2)}`;
}

/**
 * Runs in a process of its own, because the gate of a backend is one per process. The start of the
 * children counts.
 */
async function measure(name: Workload, subject: Backend): Promise<Throughput> {
  const { size, script, run } = workloads[name];
  endpoint.fallback = async (call) => {
    await sleep(answerMs);
    return script(call);
  };
  const { runtime } = await openRuntime(subject, endpoint, { machine, concurrency: callsAtOnce });
  const children = new Set<string>();
  let [mostAtOnce, addedMb, residentMb] = [0, 0, 0];
  const timer = setInterval(() => {
    const living = childProcesses();
    living.forEach((pid) => children.add(pid));
    mostAtOnce = Math.max(mostAtOnce, living.length);
    addedMb = Math.max(addedMb, ...living.map((pid) => megabytes(pid, 'smaps_rollup', 'Pss')));
    residentMb = Math.max(residentMb, ...living.map((pid) => megabytes(pid, 'status', 'VmRSS')));
  }, sampleMs);
  const taken = await milliseconds(() => run(runtime));
  clearInterval(timer);
  await runtime.close();
  const requests = endpoint.requests.filter(({ path }) => path.startsWith('/v1/messages')).length;
  const perSecond = (size * 1000) / taken;
  return { perSecond, requests, started: children.size, mostAtOnce, addedMb, residentMb };
}

function describe(runtime: LlmRuntime, count: number): Promise<unknown> {
  const columns = ['id', 'state', 'amount', 'created', 'customer_id', 'note'];
  const tables = Array.from({ length: count }, (_, index) => [
    `table_${index}`,
    { columns, values: ['open', 'paid'] },
  ]);
  return describeTables({
    found: scannedTables(Object.fromEntries(tables)),
    known: [],
    model: {
      runtime,
      concurrency: callsAtOnce,
      send: { send_samples: true, no_values: [], not_personal: [] },
      journal: { result: () => undefined, keep: () => undefined },
    },
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The binary's processes under this one; none if the system has no `/proc`. */
function childProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChild(name));
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

function megabytes(pid: string, file: string, field: string): number {
  try {
    const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
