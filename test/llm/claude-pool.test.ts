import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { limitsFromEvent, exceededWindow } from '../../src/llm/claude-code/conversation/limits.ts';
import { openPool } from '../../src/llm/claude-code/child/pool.ts';

class Item {
  readonly n: number;
  isEnded = false;
  constructor(n: number) {
    this.n = n;
  }
  isAlive(): boolean {
    return !this.isEnded;
  }
  end(): Promise<void> {
    this.isEnded = true;
    return Promise.resolve();
  }
}

/** A pool, and all that was ever started in it. */
function opened({ most = 2, idleMs = 60_000 } = {}) {
  const started: Item[] = [];
  const start = (signal: AbortSignal): Promise<Item> => {
    signal.throwIfAborted();
    const item = new Item(started.length + 1);
    started.push(item);
    return Promise.resolve(item);
  };
  return { pool: openPool<Item>({ most, idleMs }), started, start };
}
const never = new AbortController().signal;
const living = (items: readonly Item[]): number[] =>
  items.filter((item) => item.isAlive()).map(({ n }) => n);

describe('the pool of children', () => {
  test('starts a child if none waits, and gives each to one taker at a time [E1]', async () => {
    const { pool, started, start } = opened({ most: 4 });
    const first = await pool.take('a', start, never);
    pool.refill('a', start);
    const second = await pool.take('a', start, never);
    expect([first.n, second.n, started.length]).toEqual([1, 2, 2]);
    expect((await pool.take('a', start, never)).n).toBe(3);
  });

  test('gives out only children of the same key [E1]', async () => {
    const { pool, start } = opened({ most: 3 });
    await pool.take('a', start, never);
    pool.refill('a', start);
    expect((await pool.take('b', start, never)).n).toBe(3);
    expect((await pool.take('a', start, never)).n).toBe(2);
  });

  test('gives two simultaneous takers one child each, although the waiting one has ended', async () => {
    const { pool, started, start } = opened({ most: 3 });
    await pool.take('a', start, never);
    pool.refill('a', start);
    await started[1]?.end();
    const taken = await Promise.all([pool.take('a', start, never), pool.take('a', start, never)]);
    expect(new Set(taken.map(({ n }) => n)).size).toBe(2);
    expect(taken.every((item) => item.isAlive())).toBe(true);
  });

  test('starts as many ahead as are in use, and never has more than the maximum', async () => {
    const { pool, started, start } = opened({ most: 4 });
    for (let use = 0; use < 3; use += 1) await pool.take('a', start, never);
    pool.refill('a', start);
    pool.refill('a', start);
    expect(started).toHaveLength(4);
    await pool.take('a', start, never);
    pool.refill('a', start);
    expect(started).toHaveLength(4);
  });

  test('gives a child that was kept to the next call of its key alone [E1]', async () => {
    const { pool, started, start } = opened({ most: 2 });
    const first = await pool.take('a', start, never);
    pool.keep('a', Promise.resolve(first));
    expect((await pool.take('b', start, never)).n).toBe(2);
    expect((await pool.take('a', start, never)).n).toBe(1);
    expect(started).toHaveLength(2);
  });

  test('does not give out a child that could not start over, and keeps none after the end', async () => {
    const { pool, started, start } = opened();
    await pool.take('a', start, never);
    pool.keep('a', Promise.resolve(undefined));
    const second = await pool.take('a', start, never);
    expect(second.n).toBe(2);
    await pool.close();
    pool.keep('a', Promise.resolve(second));
    await expect.poll(() => living(started)).toEqual([1]);
  });

  test('makes room for another key, or for a call without one, by ending the oldest waiting child', async () => {
    const { pool, started, start } = opened();
    const both = [await pool.take('a', start, never), await pool.take('b', start, never)];
    both.forEach((item, index) => pool.keep('ab'.charAt(index), Promise.resolve(item)));
    await pool.take('c', start, never);
    expect(living(started)).toEqual([2, 3]);
    await pool.take(undefined, start, never);
    expect(living(started)).toEqual([3, 4]);
  });

  test('lets a taker wait until a child is gone, or is free, or the call is stopped', async () => {
    const { pool, started, start } = opened({ most: 1 });
    const first = await pool.take('a', start, never);
    const gone = Promise.withResolvers<void>();
    pool.release(gone.promise);
    const second = pool.take('b', start, never);
    await sleep(20);
    expect(started).toHaveLength(1);
    await first.end();
    gone.resolve();
    expect((await second).n).toBe(2);
    const third = pool.take('b', start, never);
    pool.keep('b', Promise.resolve(await second));
    expect((await third).n).toBe(2);
    const controller = new AbortController();
    const stopped = pool.take('b', start, controller.signal);
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    pool.release();
    expect((await pool.take('c', start, never)).n).toBe(3);
  });

  test('has room again after a start that failed', async () => {
    const { pool, start } = opened({ most: 1 });
    const failing = () => Promise.reject(new Error('no start'));
    await expect(pool.take('a', failing, never)).rejects.toThrow('no start');
    expect((await pool.take('a', start, never)).n).toBe(1);
  });

  test('ends children that wait too long, and all of them when it closes', async () => {
    const short = opened({ idleMs: 10 });
    await short.pool.take('a', short.start, never);
    short.pool.refill('a', short.start);
    await expect.poll(() => living(short.started)).toEqual([1]);
    const long = opened();
    await long.pool.take('a', long.start, never);
    long.pool.refill('a', long.start);
    await long.pool.close();
    expect(living(long.started)).toEqual([1]);
    long.pool.refill('a', long.start);
    expect(long.started).toHaveLength(2);
  });

  test('stops a pending start when the call is aborted, and forgets a failed one', async () => {
    const { pool, start } = opened();
    await pool.take('a', start, never);
    const slow = (signal: AbortSignal): Promise<Item> => sleep(60_000, new Item(9), { signal });
    pool.refill('a', slow);
    const controller = new AbortController();
    const taken = pool.take('a', start, controller.signal);
    controller.abort(new Error('stopped'));
    await expect(taken).rejects.toThrow('stopped');
    expect((await pool.take('a', start, never)).n).toBe(2);
  });
});

describe('the limits that Claude Code reports', () => {
  const resetsAt = 1_900_000_000;
  const at = new Date(resetsAt * 1000);

  test('give one report for each window [E16]', () => {
    expect(limitsFromEvent({ status: 'allowed' })).toEqual([
      { window: 'requests', state: 'open', utilization: undefined, resetsAt: undefined },
    ]);
    expect(
      limitsFromEvent({
        status: 'allowed_warning',
        rateLimitType: 'seven_day',
        resetsAt,
        utilization: 0.8,
      }),
    ).toEqual([{ window: 'seven_day', state: 'near', utilization: 0.8, resetsAt: at }]);
    const unifiedWindows = {
      five_hour: { status: 'allowed_warning', utilization: 0.91, resetsAt },
      seven_day: { status: 'allowed', utilization: 0.1 },
    };
    expect(
      limitsFromEvent({ status: 'allowed', rateLimitType: 'five_hour', resetsAt, unifiedWindows }),
    ).toEqual([
      { window: 'five_hour', state: 'near', utilization: 0.91, resetsAt: at },
      { window: 'seven_day', state: 'open', utilization: 0.1, resetsAt: undefined },
    ]);
    const refused = limitsFromEvent({
      status: 'rejected',
      rateLimitType: 'seven_day',
      resetsAt,
      unifiedWindows,
    });
    expect(refused.map(({ window, state }) => [window, state])).toEqual([
      ['five_hour', 'near'],
      ['seven_day', 'closed'],
    ]);
    expect(exceededWindow(refused)).toEqual({ window: 'seven_day', resetsAt: at });
  });

  test('are empty if they cannot be parsed, and open if the status is unknown', () => {
    expect(limitsFromEvent(undefined)).toEqual([]);
    expect(limitsFromEvent({ status: 'brand_new', rateLimitType: 'five_hour' })).toMatchObject([
      { window: 'five_hour', state: 'open' },
    ]);
    expect(exceededWindow(limitsFromEvent({ status: 'allowed' }))).toBeUndefined();
  });
});
