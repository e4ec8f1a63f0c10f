import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CallMeter } from '../../src/llm/governor/call-meter.ts';
import { openSpending } from '../../src/llm/governor/spending.ts';
import { TurnHold } from '../../src/llm/governor/money/turn-hold.ts';

const never = new AbortController().signal;
const kind = 'candidateExtraction scan:describe';
const turn = { kind, model: 'claude-sonnet-4-6', promptLength: 300 };

function open(limit: number | undefined) {
  return openSpending({ limit, key: '--budget', prices: {} });
}

/** Runs turns at once, each at this price, as calls do. Returns what they cost together. */
async function spend(limit: number, costs: readonly number[]) {
  const spending = open(limit);
  let spent = 0;
  let most = 0;
  let running = 0;
  const one = async (cost: number) => {
    const hold = new TurnHold(spending, turn, never);
    await hold.begin();
    if (spending.stop() !== undefined) return hold.release();
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
    spent += cost;
    spending.add(cost);
    hold.turnEnded(cost);
  };
  await Promise.all(costs.map(one));
  return { spent, most };
}

describe('money is reserved before a turn begins', () => {
  test('so that turns at once exceed the budget by at most one of them', async () => {
    for (const limit of [0.02, 0.05, 0.12, 1]) {
      const { spent } = await spend(
        limit,
        Array.from({ length: 60 }, () => 0.054),
      );
      expect(spent).toBeGreaterThanOrEqual(limit);
      expect(spent).toBeLessThan(limit + 0.054);
    }
  });

  test('turns run at once as long as the budget covers them', async () => {
    expect(
      (
        await spend(
          20,
          Array.from({ length: 8 }, () => 0.05),
        )
      ).most,
    ).toBe(8);
  });

  test('a turn whose price nobody knows runs alone, the next ones by what it cost', async () => {
    const spending = open(1);
    const unknown = { ...turn, model: 'nobody-knows' };
    const first = await spending.reserve(unknown, never);
    let isCovered = false;
    const second = spending.reserve(unknown, never).then((release) => {
      isCovered = true;
      return release;
    });
    await sleep(1);
    expect(isCovered).toBe(false);
    spending.learn(kind, 0.1);
    first();
    await second;
    await spending.reserve(unknown, never);
  });

  test('a call that gives up waiting leaves its place', async () => {
    const spending = open(1);
    const dear = { ...turn, promptLength: 10_000_000 };
    const release = await spending.reserve(dear, never);
    const aborted = new AbortController();
    const waiting = spending.reserve(dear, aborted.signal);
    const next = spending.reserve(dear, never);
    aborted.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    release();
    (await next)();
  });

  test('while its tools run a call holds nothing; the answer of the last tool waits', async () => {
    const spending = open(0.1);
    const loop = new TurnHold(spending, turn, never);
    await loop.begin();
    loop.turnEnded(0.01);
    loop.toolStarted();
    loop.toolStarted();
    const other = await spending.reserve({ ...turn, kind: 'other' }, never);
    await loop.toolEnded();
    let isAnswered = false;
    const last = loop.toolEnded().then(() => (isAnswered = true));
    await sleep(1);
    expect(isAnswered).toBe(false);
    other();
    await last;
  });

  test('a tool that starts after another has ended holds nothing either', async () => {
    const spending = open(0.1);
    const loop = new TurnHold(spending, turn, never);
    await loop.begin();
    loop.turnEnded(0.01);
    loop.toolStarted();
    await loop.toolEnded();
    loop.toolStarted();
    (await spending.reserve({ ...turn, kind: 'other' }, AbortSignal.timeout(2000)))();
  });

  test('nobody waits without a limit, or once the money is spent', async () => {
    const unlimited = open(undefined);
    await unlimited.reserve(turn, never);
    await unlimited.reserve(turn, never);
    const spent = open(1);
    await spent.reserve(turn, never);
    const waiting = spent.reserve(turn, never).then(() => spent.reserve(turn, never));
    spent.add(2);
    await waiting;
    expect(spent.stop()).toMatchObject({ code: 'llm_budget_spent' });
  });
});

test('a turn counts when it ends, at about its price, and once the real cost is told only that', () => {
  const spending = open(1);
  const meter = new CallMeter(spending, turn);
  const tokens = { input: 100_000, output: 10_000, cacheRead: 0, cacheWrite: 0 };
  meter.expectUsage('claude-sonnet-4-6', tokens);
  meter.expectUsage('claude-sonnet-4-6', tokens);
  expect(spending.left()).toBeCloseTo(0.1);
  expect(meter.metrics()).toMatchObject({ usage: {}, costUsd: 0 });
  meter.addUsage('claude-sonnet-4-6', tokens, 0.2);
  meter.settle();
  expect(spending.left()).toBeCloseTo(0.8);
  expect(meter.metrics().costUsd).toBe(0.2);
});

test('money that is spent never looks as if it were left while the real cost takes the place of the price', () => {
  const spending = open(1);
  const meter = new CallMeter(spending, turn);
  const left: (number | undefined)[] = [];
  const add: typeof spending.add = (costUsd, reason) => {
    spending.add(costUsd, reason);
    left.push(spending.left());
  };
  const watched = new CallMeter({ ...spending, add }, turn);
  const tokens = { input: 100_000, output: 10_000, cacheRead: 0, cacheWrite: 0 };
  for (const one of [meter, watched]) one.expectUsage('claude-sonnet-4-6', tokens);
  watched.expectUsage('claude-sonnet-4-6', tokens);
  left.length = 0;
  watched.addUsage('claude-sonnet-4-6', tokens, 0.45);
  watched.addUsage('claude-sonnet-4-6', tokens, 0.45);
  expect(Math.max(...left.map(Number))).toBe(0);
});
