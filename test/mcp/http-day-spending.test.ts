import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openDaySpending } from '../../src/mcp/usage/day-spending.ts';
import { describeUnlimited } from '../../src/mcp/usage/unlimited-connections.ts';
import { openProject } from '../../src/project/open/open.ts';
import { serveBilled } from './billed-shop.ts';
import { makeRegions } from './http-shop.ts';

const sql = 'SELECT id FROM orders LIMIT 3';
describe('what callers read in a day', () => {
  it('is limited for each, and the refusal says what is left and when', async () => {
    // A statement is billed as 10 MB at least.
    await using served = await serveBilled({ limits: { bytesReadPerDay: 25 * 2 ** 20 } });
    await using ann = await served.token('ann');
    await using bob = await served.token('bob');
    const outcomes = [];
    for (const session of [ann, ann, ann, bob])
      outcomes.push(await session.call('run_sql', { sql }));
    expect(outcomes.map(({ isError }) => isError)).toEqual([false, false, true, false]);
    expect(outcomes[2]?.text).toMatch(/^Error day_used_up\n/);
    expect(outcomes[2]?.text).toContain('of 26 MB a day this token has used 21 MB.');
    expect(outcomes[2]?.text).toMatch(/the next day begins at \d{4}-\d\d-\d\dT00:00:00\.000Z/);
    expect((await ann.call('search_context', { text: 'orders' })).isError).toBe(false);
    // The engine itself holds a statement to what is left, and the 10 MB that it bills at least.
    const limits = served.bigquery.calls.flatMap(
      ({ body }) => /"maximumBytesBilled":"(\d+)"/.exec(body)?.[1] ?? [],
    );
    expect(limits).toEqual([35, 25, 35].map((megabytes) => String(megabytes * 2 ** 20)));
  });

  it('is limited in money, also for statements at the same time', async () => {
    const usd = (10 * 2 ** 20 * 6.25) / 2 ** 40;
    await using served = await serveBilled({ limits: { usdPerDay: usd * 3.5 } });
    await using ann = await served.token('ann');
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ann.call('run_sql', { sql })),
    );
    expect(answers.filter(({ isError }) => !isError)).toHaveLength(3);
    const refused = answers.filter(({ isError }) => isError);
    expect(refused.every(({ text }) => text.startsWith('Error day_used_up'))).toBe(true);
  });
});

it('a day of spending ends at midnight UTC, and what fails counts as estimated', () => {
  using db = new DatabaseSync(':memory:');
  let now = new Date('2026-11-28T23:59:59Z');
  const accountOf = openDaySpending(
    () => db,
    { bytesReadPerDay: 100, usdPerDay: 1 },
    () => now,
  );
  const ann = accountOf('ann');
  if (ann === undefined) throw new Error('there is no account');
  const price = 2 ** 40 / 100;
  const first = ann.reserve(60, undefined);
  expect(first.mostBytes).toBe(100);
  expect(() => ann.reserve(41, undefined)).toThrow('of 100 B a day this token has used 60 B');
  first.settle(10);
  expect(ann.reserve(undefined, undefined).mostBytes).toBe(90);
  expect(ann.reserve(50, price).mostBytes).toBe(90);
  expect(() => ann.reserve(30, price * 2)).toThrow('of $1.00 a day this token has used $0.50');
  expect(accountOf('bob')?.reserve(100, undefined).mostBytes).toBe(100);
  now = new Date('2026-11-29T00:00:00Z');
  expect(ann.reserve(100, undefined).mostBytes).toBe(100);
  expect(() => ann.reserve(undefined, undefined)).toThrow('may read 100 B of the warehouse a day');
});

it('connections whose engine does not tell are named', async () => {
  const project = await openProject(await makeRegions());
  expect(describeUnlimited(project, { bytesReadPerDay: 1, usdPerDay: 1 })).toEqual([
    '--bytes-read-per-day does not hold for shop: the engine does not say what it reads.',
    '--usd-per-day does not hold for shop: no price of bytes is known.',
  ]);
  expect(describeUnlimited(project, {})).toEqual([]);
  await project.close();
});
