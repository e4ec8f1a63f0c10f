import { rmSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ModelCall, Script } from '../../support/model-script.ts';
import { createDatabase } from '../../support/postgres.ts';
import { reading, readingAsked } from '../../support/reading-model.ts';
import { documentedShop, ingestCommand, type ModelMachine, openMachine } from '../llm-project.ts';
import { startIngest, startWorker, treeOf } from './work-shop.ts';

let machine: ModelMachine;
/** `<stage> <path of the item>` of each request to read. */
let asked: string[] = [];
const dirs: string[] = [];

beforeAll(async () => {
  process.env['TEST_KEY'] = 'sk-made-up';
  machine = await openMachine();
});
beforeEach(async () => {
  process.env['KTX_TEST_STATE'] = await createDatabase('workers');
});
afterAll(async () => {
  await machine.close();
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
});

function answering(script: Script = reading): void {
  asked = [];
  machine.endpoint.fallback = (call: ModelCall) => {
    const found = readingAsked(call);
    if (found?.turn === 1) asked.push(...found.items.map(({ item }) => `${found.stage} ${item}`));
    return script(call);
  };
}

const pages = Object.fromEntries(
  Array.from({ length: 24 }, (_, page) => [
    `page${String(page).padStart(2, '0')}.md`,
    page % 4 === 0
      ? `# Page ${page}\n\nThere is nothing to prepare here.\n`
      : page % 4 === 1
        ? `# Page ${page}\n\nThe turnover${page} is the sum of amount in orders.\n`
        : `# Page ${page}\n\nA customer of kind ${page} means one with ${page} orders.\n`,
  ]),
);

function shop(prices = ''): string {
  const state = 'serve: {state: env:KTX_TEST_STATE}\n';
  const dir = documentedShop(machine, 'anthropic', { settings: `${prices}${state}`, ...pages });
  dirs.push(dir);
  return dir;
}

describe('an ingest that gives its reading to workers', () => {
  test('leaves the same tree as one that reads by itself, and asks for the same', async () => {
    answering();
    const alone = shop();
    expect(await ingestCommand(machine, alone)).toMatchObject({ code: 0 });
    const askedAlone = asked.toSorted();

    answering();
    const shared = shop();
    await using first = await startWorker(shared);
    await using second = await startWorker(shared);
    const ingest = await startIngest(shared);
    const { code, data } = await ingest.end();
    expect(code, JSON.stringify(data)).toBe(0);
    expect(treeOf(shared)).toBe(treeOf(alone));
    expect(asked.toSorted()).toEqual(askedAlone);
    expect(await first.kill('SIGTERM')).toBe(0);
    expect(await second.kill('SIGTERM')).toBe(0);
  });

  test('goes on where it was killed, and what was read is not paid for again', async () => {
    const dir = shop();
    answering();
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const script = machine.endpoint.fallback;
    machine.endpoint.fallback = (call: ModelCall) => {
      if (asked.length > 12) resolve();
      return script?.(call) ?? reading(call);
    };
    await using first = await startWorker(dir, ['--concurrency', '2']);
    await using second = await startWorker(dir, ['--concurrency', '2']);
    const killed = await startIngest(dir);
    await enough;
    await Promise.all([killed.kill(), second.kill()]);
    const { code, data } = await (await startIngest(dir)).end();
    expect(code, JSON.stringify(data)).toBe(0);
    const alone = shop();
    const before = asked.toSorted();
    answering();
    await ingestCommand(machine, alone);
    expect(treeOf(dir)).toBe(treeOf(alone));
    // What the killed worker was reading may be asked for again: two pages or units at a time.
    const again = before.filter((each, index) => each === before[index - 1]);
    expect(new Set(before)).toEqual(new Set(asked));
    expect(again.length).toBeLessThanOrEqual(2 * 6);
    expect(await first.kill('SIGTERM')).toBe(0);
  });

  test('pays for nothing that another machine with the same database has paid for', async () => {
    let systems: string[] = [];
    answering((call) => {
      systems.push(call.system.slice(0, 40));
      return reading(call);
    });
    const first = shop();
    await using worker = await startWorker(first);
    expect(await (await startIngest(first)).end()).toMatchObject({ code: 0 });
    expect(systems.length).toBeGreaterThan(asked.length);
    systems = [];
    // A clone without the journal of the first.
    const second = shop();
    const { code, data } = await (await startIngest(second)).end();
    expect(code, JSON.stringify(data)).toBe(0);
    // Whether the model is there.
    expect(systems).toEqual(['']);
    expect(treeOf(second)).toBe(treeOf(first));
    expect(await worker.kill('SIGTERM')).toBe(0);
  });

  test('spends at most one call more than its budget, however many workers there are', async () => {
    const price = '{input: 1000, output: 1000}';
    const dir = shop(`  prices: {claude-sonnet-4-6: ${price}}\n`);
    let calls = 0;
    answering((call) => {
      calls += 1;
      return reading(call);
    });
    await using first = await startWorker(dir);
    await using second = await startWorker(dir);
    const before = calls;
    const { code, data } = await (await startIngest(dir, ['--queue', '--budget', '1.5'])).end();
    expect(code, JSON.stringify(data)).toBe(3);
    expect(JSON.stringify(data)).toContain('llm_budget_spent');
    // Each call costs 0.12.
    expect((calls - before) * 0.12).toBeLessThanOrEqual(1.5 + 0.12);
    expect((calls - before) * 0.12).toBeGreaterThan(1.2);
    const usage = data['usage'] as readonly { readonly calls: number }[];
    expect(usage.reduce((sum, line) => sum + line.calls, 0)).toBe(calls - before);
    for (const worker of [first, second]) expect(await worker.kill('SIGTERM')).toBe(0);
  });

  test('needs a database that it shares with them', async () => {
    const dir = documentedShop(machine, 'anthropic', pages);
    dirs.push(dir);
    const { code, data } = await (await startIngest(dir)).end();
    expect([code, JSON.stringify(data)]).toEqual([
      2,
      expect.stringContaining('work_state_missing'),
    ]);
  });
});
