import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenUsage } from '../src/llm/port/runtime.ts';
import { makeMachine } from '../test/support/llm-runtimes.ts';
import { openModelEndpoint } from '../test/support/model-endpoint.ts';
import { defaultUsage, drop, say, type Answer, type Script } from '../test/support/model-script.ts';
import { randomFrom } from '../test/ingest/killed-project.ts';
import { answerOf, planOf, type CallPlan } from './soak-llm/call-plan.ts';
import type { SoakedCall, SoakOrder } from './soak-llm/soak-worker.ts';

/**
 * `npm run soak:llm [-- <calls> <kills> <seed>]` makes calls of both backends with faults injected
 * at random, and kills the process that makes them with SIGKILL. Exits with 1 if a child, a file or
 * a descriptor is left, if a call ends otherwise than its faults allow, or if its usage differs
 * from what the endpoint served.
 */
const [calls = 500, kills = 10, seed = Date.now() % 100_000] = process.argv.slice(2).map(Number);
const random = randomFrom(seed);
const endpoint = await openModelEndpoint();
const machine = await makeMachine(endpoint);
const worker = join(import.meta.dirname, 'soak-llm/soak-worker.ts');
const concurrency = 3;
/** A program that is told to stop may have begun to send a request. */
const stopGraceMs = 1000;

interface Served {
  requests: number;
  whole: number;
  broken: number;
}
/** By call and life of the process that made it. */
const served = new Map<string, Served>();
const problems: string[] = [];
const outcomes = new Map<string, number>();
const start = performance.now();
let life = 0;
// If it is stopped, it still checks and prints what it has found.
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort());

endpoint.fallback = answering();
const left = new Set(Array.from({ length: calls }, (_, id) => id));
const lives: { killed: boolean; before?: number; after?: number }[] = [];
try {
  for (; left.size > 0 && !interruption.signal.aborted; life += 1) {
    const isKilled = life < kills;
    // Each life that is killed gets an equal part of the calls, and dies somewhere in it.
    const dieAfter = isKilled ? 1 + Math.floor((random() * calls) / (kills + 1)) : Infinity;
    lives.push(await live([...left], dieAfter));
    await nothingLives();
    await checkFiles();
  }
} finally {
  await endpoint.close();
}
report();
await machine.remove();

function answering(): Script {
  return async (call) => {
    const [, id, of] = /soak-(\d+)-(\d+)-end/.exec(JSON.stringify(call.messages)) ?? [];
    if (id === undefined) return say('Warm.');
    const plan = planOf(seed, Number(id));
    const key = `${id}-${of}`;
    const tally = served.get(key) ?? { requests: 0, whole: 0, broken: 0 };
    served.set(key, tally);
    if (plan.backend === 'claude-code' && tally.requests > 0) {
      await sleep(stopGraceMs);
      if (call.gone.aborted) return drop;
    }
    const answer = answerOf(plan, tally.requests, call);
    tally.requests += 1;
    if (answer.kind === 'reply') tally[isWhole(answer) ? 'whole' : 'broken'] += 1;
    return answer;
  };
}

function isWhole(answer: Answer): boolean {
  return answer.kind !== 'reply' || (answer.fault === undefined && answer.cut !== true);
}

/** One process with the calls that are left, until it has made them or dies. */
async function live(ids: readonly number[], dieAfter: number) {
  const { url } = endpoint;
  const order: SoakOrder = { seed, ids, life, url, projectDir: machine.projectDir, concurrency };
  const child = spawn(process.execPath, [worker, JSON.stringify(order)], {
    env: { ...process.env, ...machine.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let ended = 0;
  let descriptors = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as SoakedCall | { before: number; after: number };
    if ('before' in said) descriptors = said;
    else {
      left.delete(said.id);
      check(said);
      ended += 1;
      if (ended === dieAfter || interruption.signal.aborted) child.kill('SIGKILL');
    }
  }
  const [code, signal] = (await exit) as [number | null, string | null];
  if (signal !== 'SIGKILL' && code !== 0) problems.push(`life ${life} ended with ${code}`);
  return { killed: signal === 'SIGKILL', ...descriptors };
}

function check({ id, outcome, metrics }: SoakedCall): void {
  const plan = planOf(seed, id);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const tally = served.get(`${id}-${life}`) ?? { requests: 0, whole: 0, broken: 0 };
  const expected = plan.isRefused ? 'llm_execution' : 'ok';
  const isStopped = plan.stopMs !== undefined && outcome === 'llm_aborted';
  if (outcome !== expected && !isStopped) tell(plan, `ended as ${outcome}, not ${expected}`);
  checkUsage(plan, { tally, metrics, isStopped });
}

interface Counted {
  readonly tally: Served;
  readonly metrics: SoakedCall['metrics'];
  readonly isStopped: boolean;
}

function checkUsage(plan: CallPlan, { tally, metrics, isStopped }: Counted): void {
  const tokens = sum(Object.values(metrics?.usage ?? {}));
  const most = tally.whole + tally.broken;
  const counted = tokens.input / defaultUsage.input;
  // Of an answer that broke off, its start says how much was read.
  const isFair = counted <= most && (isStopped || counted >= tally.whole);
  if (!isFair)
    tell(plan, `counted ${counted} answers; served ${tally.whole} and ${tally.broken} broken`);
  const apiCalls = metrics?.apiCalls ?? 0;
  const isCounted = isStopped ? apiCalls <= tally.requests + 1 : apiCalls === tally.requests;
  if (!isCounted) tell(plan, `counted ${apiCalls} requests; served ${tally.requests}`);
}

function sum(usages: readonly TokenUsage[]): Pick<TokenUsage, 'input'> {
  return { input: usages.reduce((total, { input }) => total + input, 0) };
}

function tell({ faults, ...plan }: CallPlan, problem: string): void {
  problems.push(`${JSON.stringify({ ...plan, faults: faults.length })} ${problem}`);
  console.log(problems.at(-1));
}

/** Every process of the machine has its home in its environment. */
function living(): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const isOwn = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${machine.home}\0`);
      return isOwn && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  });
}

async function nothingLives(): Promise<void> {
  for (let waited = 0; waited < 300 && living().length > 0; waited += 1) await sleep(100);
  const alive = living();
  if (alive.length > 0) problems.push(`life ${life} left ${alive.length} processes`);
  for (const pid of alive) process.kill(Number(pid), 'SIGKILL');
}

/** No file in the project and the temporary folder, and no prompt in the home of the program. */
async function checkFiles(): Promise<void> {
  const { projectDir, home, env } = machine;
  const temporary = env['TMPDIR'] ?? '';
  // After a kill, the watchdog still removes what the children wrote.
  for (let waited = 0; waited < 50 && filesOf(temporary).length > 0; waited += 1) await sleep(100);
  for (const folder of [projectDir, temporary])
    for (const path of filesOf(folder)) problems.push(`life ${life} left ${path}`);
  for (const path of filesOf(home))
    if (/soak-\d+-\d+-end/.test(readFileSync(path, 'utf8')))
      problems.push(`life ${life} left a prompt in ${path}`);
}

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

function report(): void {
  const killed = lives.filter((one) => one.killed).length;
  const open = lives.filter(({ after }) => after !== undefined);
  for (const { before, after } of open)
    if ((after ?? 0) > (before ?? 0))
      problems.push(`${after} descriptors are open, ${before} before`);
  const ends = [...outcomes].map(([name, count]) => `${name} ${count}`).join(', ');
  const made = Array.from({ length: calls }, (_, id) => id).filter((id) => !left.has(id));
  const injected = made.reduce((total, id) => total + planOf(seed, id).faults.length, 0);
  console.log(
    `${made.length} of ${calls} calls with ${injected} faults, ${killed} kills, seed ${seed}, in ${Math.round((performance.now() - start) / 1000)} s: ${ends}`,
  );
  console.log(
    `descriptors before and after: ${open.map(({ before, after }) => `${before} and ${after}`).join(', ')}; ${problems.length} problems`,
  );
  for (const problem of new Set(problems)) console.log(problem);
  process.exitCode = problems.length === 0 && killed >= kills && left.size === 0 ? 0 : 1;
}
