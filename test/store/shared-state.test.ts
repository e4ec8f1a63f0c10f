import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSharedBudgets } from '../../src/store/shared/shared-budgets.ts';
import { openSharedCounters } from '../../src/store/shared/shared-counters.ts';
import { openSharedResults } from '../../src/store/shared/shared-results.ts';
import { openPostgresState } from '../../src/store/shared/postgres-state.ts';
import { openSqliteState } from '../../src/store/shared/sqlite-state.ts';
import { openSharedState, type StatePlace } from '../../src/store/shared/shared-state.ts';
import { createDatabase } from '../support/postgres.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-shared-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const places: Readonly<Record<string, () => Promise<StatePlace>>> = {
  SQLite: async () => ({ kind: 'file', path: join(dir, `${Math.random()}.db`) }),
  Postgres: async () => ({ kind: 'postgres', url: await createDatabase('shared') }),
};

/** Two servers on the same state. */
async function openTwice(kind: string) {
  const place = await places[kind]?.();
  if (place === undefined) throw new Error(kind);
  // At the same time: both create the tables.
  const [left, right] = await Promise.all([openSharedState(place), openSharedState(place)]);
  const db =
    place.kind === 'file' ? openSqliteState(place.path) : await openPostgresState(place.url);
  return {
    place,
    db,
    left,
    right,
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([left.close(), right.close(), db.close()])),
  };
}

const later = () => Date.now() + 60_000;

describe.each(Object.keys(places))('shared state on %s', (kind) => {
  test('a record of one server is that of the other, until it is removed', async () => {
    await using state = await openTwice(kind);
    const place = { kind: 'code', id: 'a' };
    expect(await state.right.records.find(place)).toBeUndefined();
    await state.left.records.put({ ...place, body: { n: 1, text: "it's $1" }, expires: later() });
    const body = { n: 1, text: "it's $1" };
    expect(await state.right.records.find(place)).toEqual({ id: 'a', body, used: undefined });
    await state.right.records.put({ ...place, body: { n: 2 }, expires: later() });
    expect((await state.left.records.find(place))?.body).toEqual({ n: 2 });
    expect(await state.left.records.find({ kind: 'token', id: 'a' })).toBeUndefined();
    expect((await state.left.records.list('code')).map(({ id }) => id)).toEqual(['a']);
    expect(await state.left.records.remove(place)).toBe(true);
    expect(await state.right.records.remove(place)).toBe(false);
    expect(await state.right.records.find(place)).toBeUndefined();
  });

  test('a record is used by one of many who try at once', async () => {
    await using state = await openTwice(kind);
    const place = { kind: 'code', id: 'once' };
    await state.left.records.put({ ...place, body: {}, expires: later() });
    const tries = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? state.left : state.right).records.use(place),
    );
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    expect((await state.right.records.find(place))?.used).toBeGreaterThan(0);
    // A change does not make it fresh.
    await state.left.records.put({ ...place, body: { n: 1 }, expires: later() });
    expect(await state.left.records.use(place)).toBe(false);
  });

  test('a new record is added by one of many', async () => {
    await using state = await openTwice(kind);
    const record = { kind: 'secret', id: 'key', body: {}, expires: later() };
    const added = await Promise.all(
      [state.left, state.right, state.left].map(({ records }) => records.add(record)),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
  });

  test('what has expired is not there, and cannot be used', async () => {
    await using state = await openTwice(kind);
    const place = { kind: 'code', id: 'old' };
    await state.left.records.put({ ...place, body: {}, expires: Date.now() - 1 });
    expect(await state.left.records.find(place)).toBeUndefined();
    expect(await state.left.records.use(place)).toBe(false);
    expect(await state.left.records.list('code')).toEqual([]);
  });

  test('a bucket gives as many as it has, whoever takes them', async () => {
    await using state = await openTwice(kind);
    const size = { intervalMs: 6_000, wholeMs: 60_000 };
    const waits = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        (index % 2 === 0 ? state.left : state.right).counters.takeFromBucket('calls', size),
      ),
    );
    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
    const [longest = 0] = waits.toSorted((a, b) => b - a);
    expect(longest).toBeGreaterThan(1_000);
    expect(longest).toBeLessThanOrEqual(6_000);
    expect(await state.left.counters.takeFromBucket('others', size)).toBe(0);
  });

  test('no bucket lets a server whose clock is late wait longer than an interval', async () => {
    await using state = await openTwice(kind);
    const size = { intervalMs: 6_000, wholeMs: 6_000 };
    const late = openSharedCounters(state.db, () => Date.now() - 10_000);
    expect(await state.left.counters.takeFromBucket('calls', size)).toBe(0);
    expect(await late.takeFromBucket('calls', size)).toBe(6_000);
  });

  test('a day has as many queries and bytes as it has', async () => {
    await using state = await openTwice(kind);
    const [left, right] = [state.left.counters, state.right.counters];
    const take = (index: number) =>
      (index % 2 === 0 ? left : right).takeOfDay('2026-11-29', 'ann', { queries: 5, bytes: null });
    const taken = await Promise.all(Array.from({ length: 12 }, (_, index) => take(index)));
    expect(taken.filter(Boolean)).toHaveLength(5);
    expect(await right.queriesOfDay('2026-11-29', 'ann')).toBe(5);
    expect(await left.takeOfDay('2026-11-30', 'ann', { queries: 5, bytes: null })).toBe(true);
    const bytes = { queries: null, bytes: 3_000_000_000 };
    expect(await left.takeOfDay('2026-11-29', 'bob', bytes)).toBe(true);
    await right.addToDay('2026-11-29', 'bob', 4_000_000_000);
    expect(await left.takeOfDay('2026-11-29', 'bob', bytes)).toBe(false);
  });

  test('a slot has one holder, and is free again when its server was killed', async () => {
    await using state = await openTwice(kind);
    const take = (holder: string, leaseMs = 60_000) =>
      (holder < 'm' ? state.left : state.right).counters.takeSlot('ann', {
        most: 3,
        leaseMs,
        holder,
      });
    const taken = await Promise.all(['a', 'b', 'x', 'y', 'z'].map((holder) => take(holder)));
    expect(taken.filter((slot) => slot !== undefined).toSorted((a, b) => a - b)).toEqual([0, 1, 2]);
    expect(await take('c')).toBeUndefined();
    const slot = taken.find((found) => found !== undefined) ?? -1;
    const holder = ['a', 'b', 'x', 'y', 'z'][taken.indexOf(slot)] ?? '';
    await state.right.counters.freeSlot('ann', slot, 'somebody else');
    expect(await take('c')).toBeUndefined();
    await state.right.counters.freeSlot('ann', slot, holder);
    expect(await take('c', -1)).toBe(slot);
    // Its lease has ended.
    expect(await take('d')).toBe(slot);
  });

  test('a chain has one order, whoever appends at the same time', async () => {
    await using state = await openTwice(kind);
    const append = (index: number) =>
      (index % 2 === 0 ? state.left : state.right).chain.append((last) =>
        [1, 2].map((step) => ({
          seq: (last?.seq ?? 0) + step,
          text: `${last?.seq ?? 0} ${index}`,
        })),
      );
    await Promise.all(Array.from({ length: 15 }, (_, index) => append(index)));
    const links = await state.right.chain.read(0);
    expect(links.map(({ seq }) => seq)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    // Each pair was made for the link before it.
    for (let at = 0; at < 30; at += 2) {
      expect(links[at]?.text.split(' ')[0]).toBe(String(at));
      expect(links[at + 1]?.text).toBe(links[at]?.text);
    }
    expect((await state.left.chain.read(28)).map(({ seq }) => seq)).toEqual([29, 30]);
    expect(await state.left.chain.append(() => [])).toBeUndefined();
  });

  test('a result of one worker is that of all', async () => {
    await using state = await openTwice(kind);
    const keys = Array.from({ length: 1200 }, (_, index) => `key ${index}`);
    for (const key of keys.slice(0, 3))
      await state.left.results.keep(key, { key, text: "it's $1" });
    await state.right.results.keep('key 1', [null, 2]);
    const found = await state.right.results.find(keys);
    expect(Object.fromEntries(found)).toEqual({
      'key 0': { key: 'key 0', text: "it's $1" },
      'key 1': [null, 2],
      'key 2': { key: 'key 2', text: "it's $1" },
    });
    await state.left.results.keep('other', 1);
    expect(await state.right.results.take('key ')).toHaveLength(3);
    expect(await state.left.results.find([...keys, 'other'])).toEqual(new Map([['other', 1]]));
  });

  test('a budget is that of all who spend it at the same time', async () => {
    await using state = await openTwice(kind);
    const run = { run: 'r', most: 1 };
    const spenders = [
      state.left.budget({ ...run, holder: 'left' }),
      state.right.budget({ ...run, holder: 'right' }),
    ];
    const granted = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const hold = { id: `h${index}`, amount: 0.3 };
        const answer = await spenders[index % 2]?.reserve(hold);
        return answer?.isGranted === true ? [hold] : [];
      }),
    );
    const holds = granted.flat();
    // A fourth one would exceed the limit.
    expect(holds).toHaveLength(3);
    const [left, right] = spenders;
    for (const hold of holds) await left?.settle([hold], 0.25);
    expect(await right?.reserve({ id: 'last', amount: 5 })).toMatchObject({ isGranted: true });
    await right?.settle([{ id: 'last', amount: 5 }], 0.5);
    const { isGranted, state: end } = (await left?.reserve({ id: 'no', amount: 0 })) ?? {};
    expect([isGranted, end?.spent]).toEqual([false, 1.25]);
  });

  test('what a process that is gone had reserved counts as spent, and only once', async () => {
    await using state = await openTwice(kind);
    let now = 0;
    const budgets = openSharedBudgets(state.db, () => now);
    const gone = budgets({ run: 'g', most: 10, holder: 'gone' });
    const there = budgets({ run: 'g', most: 10, holder: 'there' });
    await gone.take({ id: 'lost', amount: 4 });
    await there.take({ id: 'kept', amount: 1 });
    now = 29_999;
    await there.extend();
    now = 30_001;
    expect((await there.reserve({ id: 'x', amount: 6 })).isGranted).toBe(false);
    expect(await there.settle([{ id: 'kept', amount: 1 }], 1)).toMatchObject({ spent: 5, lost: 1 });
    // It was only slow: what it says now has counted already.
    expect(await gone.settle([{ id: 'lost', amount: 4 }], 3)).toMatchObject({ spent: 5 });
  });

  test('what nobody asks for any more is removed, and nothing else', async () => {
    await using state = await openTwice(kind);
    const day = 86_400_000;
    let time = Date.now();
    const now = () => time;
    const results = openSharedResults(state.db, now);
    await results.keep('used', 1);
    await results.keep('unused', 2);
    time += 399 * day;
    await results.find(['used']);
    await results.tidy();
    expect((await results.find(['used', 'unused'])).size).toBe(2);
    time += 401 * day;
    await results.keep('new', 3);
    await results.tidy();
    expect([...(await results.find(['used', 'unused', 'new'])).keys()]).toEqual(['new']);

    const open = openSharedBudgets(state.db, now);
    const most = 10;
    await open({ run: 'old', most, holder: 'a' }).settle([], 7);
    time += 29 * day;
    await open({ run: 'next', most, holder: 'a' }).settle([], 1);
    expect((await open({ run: 'old', most, holder: 'a' }).extend()).spent).toBe(7);
    time += 31 * day;
    await open({ run: 'last', most, holder: 'a' }).extend();
    expect((await open({ run: 'old', most, holder: 'a' }).extend()).spent).toBe(0);

    const counters = openSharedCounters(state.db, now);
    const bucket = { intervalMs: 60_000, wholeMs: 60_000 };
    const of = (at: number) => new Date(at).toISOString().slice(0, 10);
    const share = { queries: 5, bytes: null };
    const today = of(time);
    await counters.takeFromBucket('ann', bucket);
    await counters.takeOfDay(today, 'ann', share);
    time += 2 * day;
    await counters.takeFromBucket('bo', bucket);
    expect(await counters.queriesOfDay(today, 'ann')).toBe(1);
    time += 4 * day;
    await counters.takeOfDay(of(time), 'ann', share);
    await counters.takeFromBucket('cy', bucket);
    expect(await counters.queriesOfDay(today, 'ann')).toBe(0);
    expect(await counters.queriesOfDay(of(time), 'ann')).toBe(1);
    const buckets = await state.db.run('SELECT name FROM ktx_buckets ORDER BY name');
    expect(buckets.map(({ name }) => name)).toEqual(['cy']);
  });

  test('a family is removed as a whole, and no other', async () => {
    await using state = await openTwice(kind);
    for (const [id, family] of [
      ['a', 'f1'],
      ['b', 'f1'],
      ['c', 'f2'],
      ['d', undefined],
    ] as const)
      await state.left.records.put({ kind: 'token', id, body: {}, expires: later(), family });
    expect(await state.right.records.removeFamily('f1')).toBe(2);
    expect((await state.left.records.list('token')).map(({ id }) => id)).toEqual(['c', 'd']);
  });
});

test('the file of the state is for its owner only', async () => {
  const path = join(dir, 'mode.db');
  const state = await openSharedState({ kind: 'file', path });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await state.close();
});

test('a database that cannot be reached is named without its password', async () => {
  const url = 'postgresql://ktx:hunter2@127.0.0.1:1/ktx';
  const error: Error = await openSharedState({ kind: 'postgres', url }).then(
    () => new Error('opened'),
    (failed: Error) => failed,
  );
  expect(error).toMatchObject({ code: 'state_unreachable', retryable: true });
  expect(error.message).toContain('127.0.0.1:1');
  expect(error.message + JSON.stringify(error)).not.toContain('hunter2');
});
