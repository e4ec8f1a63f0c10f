import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BudgetState } from '../../../src/store/shared/shared-budgets.ts';
import type { ModelCall } from '../../support/model-script.ts';
import { openOwnPostgres, type OwnPostgres } from '../../support/own-postgres.ts';
import { createDatabase, runPostgres } from '../../support/postgres.ts';
import { reading, readingAsked } from '../../support/reading-model.ts';
import { documentedShop, type ModelMachine, openMachine } from '../llm-project.ts';
import { randomFrom } from '../killed-project.ts';
import { startIngest, startWorker, treeOf } from './work-shop.ts';

const items = Number(process.env['KTX_WORK_ITEMS'] ?? 10_000);
const workers = 4;
/** Model calls at a time of one worker: what may be asked again when it is killed. */
const callsAtOnce = 4;

let machine: ModelMachine;
const dirs: string[] = [];
/** Who asked to read an item first and again, by stage and path. A worker is known by its key. */
let askers = new Map<string, string[]>();
let calls = 0;
/** Called at each request to read, with the key of who asks, before it is answered. */
let countCall: (asker: string) => Promise<void> | void = () => void (calls += 1);

beforeAll(async () => {
  process.env['TEST_KEY'] = 'sk-made-up';
  machine = await openMachine();
  machine.endpoint.fallback = async (call: ModelCall) => {
    const found = readingAsked(call);
    const asker = String(call.headers['x-api-key']);
    if (found !== undefined) await countCall(asker);
    if (found?.turn === 1)
      for (const { item } of found.items) {
        const key = `${found.stage} ${item}`;
        askers.set(key, [...(askers.get(key) ?? []), asker]);
      }
    return reading(call);
  };
});
afterAll(async () => {
  await machine.close();
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

/** Of a hundred pages two are read in full and three in one call. */
function textOf(page: number): string {
  if (page % 50 === 7) return `The turnover${page} is the sum of amount in orders.`;
  if (page % 33 === 5) return `A customer of kind ${page} means one with ${page} orders.`;
  return `There is nothing to prepare for day ${page}.`;
}

function shop(count: number, prices = ''): string {
  const pages = Array.from({ length: count }, (_, page) => [
    `page${String(page).padStart(5, '0')}.md`,
    `# Page ${page}\n\n${textOf(page)}\n`,
  ]);
  const settings = `${prices}serve: {state: env:KTX_TEST_STATE}\n`;
  const dir = documentedShop(machine, 'anthropic', { settings, ...Object.fromEntries(pages) });
  dirs.push(dir);
  return dir;
}

let starts = 0;
/** A worker with a key of its own. */
async function startNext(dir: string) {
  starts += 1;
  const key = `sk-worker-${starts}`;
  const args = ['--concurrency', String(callsAtOnce)];
  return { key, ...(await startWorker(dir, args, { TEST_KEY: key })) };
}

interface Kills {
  readonly workers: Set<string>;
  ingests: number;
  databases: number;
}

/** What is killed one after the other; which worker, and when, is random. */
const sequence = ['worker', 'database', 'worker', 'worker', 'ingest', 'worker'] as const;

interface KillingOptions {
  readonly postgres: OwnPostgres;
  readonly random: () => number;
}

/** Ingests with four workers, while workers, the ingest and Postgres are killed at random. */
async function ingestKilled(dir: string, { postgres, random }: KillingOptions): Promise<Kills> {
  const kills: Kills = { workers: new Set(), ingests: 0, databases: 0 };
  const working = await Promise.all(Array.from({ length: workers }, () => startNext(dir)));
  let ingest = await startIngest(dir);
  let ended = ingest.end();
  let end: Awaited<typeof ended> | undefined;
  let nth = 0;
  while (end === undefined) {
    const pause = sleep(1500 + random() * 3000).then(() => undefined);
    end = await Promise.race([ended, pause]);
    if (end !== undefined) break;
    const what = sequence[(nth += 1) % sequence.length];
    if (what === 'ingest' && kills.ingests < 4) {
      await ingest.kill();
      kills.ingests += 1;
      ingest = await startIngest(dir);
      ended = ingest.end();
    } else if (what === 'database' && kills.databases < 4) {
      await postgres.killAndRestart();
      kills.databases += 1;
    } else {
      const index = Math.floor(random() * workers);
      const victim = working[index];
      if (victim === undefined) continue;
      await victim.kill();
      kills.workers.add(victim.key);
      working[index] = await startNext(dir);
    }
  }
  expect(end.code, JSON.stringify(end.data)).toBe(0);
  for (const worker of working) await worker.kill('SIGTERM');
  return kills;
}

test(`${items} items with kills of workers, ingest and Postgres: the tree of one process, nothing paid twice`, async () => {
  const seed = Number(process.env['KTX_SOAK_SEED'] ?? Date.now() % 1_000_000);
  const postgres = await openOwnPostgres();
  process.env['KTX_TEST_STATE'] = postgres.url;
  try {
    const alone = shop(items);
    let begun = performance.now();
    expect((await (await startIngest(alone, [])).end()).code).toBe(0);
    const aloneSeconds = (performance.now() - begun) / 1000;
    const askedAlone = new Set(askers.keys());
    const callsAlone = calls;
    askers = new Map();
    calls = 0;
    const dir = shop(items);
    begun = performance.now();
    const kills = await ingestKilled(dir, { postgres, random: randomFrom(seed) });
    const again = [...askers].filter(([, who]) => who.length > 1);
    console.log(
      `KTX_SOAK_SEED=${seed}: ${items} items; alone ${aloneSeconds.toFixed()} s, ${callsAlone} calls; ` +
        `with kills ${((performance.now() - begun) / 1000).toFixed()} s, ${calls} calls; killed ` +
        `${kills.workers.size} workers, ${kills.ingests} ingests, ${kills.databases} databases; ` +
        `${again.length} items asked again`,
    );
    expect(treeOf(dir)).toBe(treeOf(alone));
    expect(new Set(askers.keys())).toEqual(askedAlone);
    // Asked again is only what a killed worker was asking when it was killed.
    const lost = Map.groupBy(again, ([, [first = '']]) => first);
    for (const [worker, asked] of lost) {
      expect([worker, kills.workers.has(worker)]).toEqual([worker, true]);
      // A unit that is read in a loop has up to six items.
      expect(asked.length).toBeLessThanOrEqual(callsAtOnce * 6);
    }
    expect(again.length).toBeLessThanOrEqual(kills.workers.size * callsAtOnce * 6);
  } finally {
    await postgres.close();
  }
});

test('workers that are killed let no run spend more than one call beyond its budget', async () => {
  const price = 0.12;
  const limit = 12;
  process.env['KTX_TEST_STATE'] = await createDatabase('budget');
  const dir = shop(600, '  prices: {claude-sonnet-4-6: {input: 1000, output: 1000}}\n');
  calls = 0;
  const working = await Promise.all(Array.from({ length: workers }, () => startNext(dir)));
  const killed: string[] = [];
  // Who asks at these calls is killed before it has the answer.
  countCall = async (asker) => {
    calls += 1;
    if (calls % 20 === 0 && killed.length < 3) {
      killed.push(asker);
      const index = working.findIndex(({ key }) => key === asker);
      await working[index]?.kill();
      working[index] = await startNext(dir);
    }
    await sleep(300);
  };
  const ended = (await startIngest(dir, ['--queue', '--budget', String(limit)])).end();
  const { code, data } = await ended;
  const [row] = await runPostgres(
    process.env['KTX_TEST_STATE'],
    'SELECT body FROM ktx_run_budgets',
  );
  const state = JSON.parse(String(row?.['body'])) as BudgetState;
  console.log(`${calls} calls of $${price} for $${limit}; on record: ${JSON.stringify(state)}`);
  expect([code, JSON.stringify(data)]).toEqual([3, expect.stringContaining('llm_budget_spent')]);
  expect(calls * price).toBeLessThanOrEqual(limit + price);
  expect(killed).toHaveLength(3);
  // Each had a call under way. Until its lease ends, what was reserved for it is held.
  expect(state.lost + Object.keys(state.holds).length).toBeGreaterThanOrEqual(killed.length);
  for (const worker of working) await worker.kill('SIGTERM');
});
