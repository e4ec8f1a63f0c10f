import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openDayUsage } from '../../src/mcp/usage/day-usage.ts';
import { connect, serveRegions } from './http-shop.ts';

const city = { metrics: ['cities.city_count'] };
const scopes = ['read', 'query'] as const;

describe('limits for a day', () => {
  it('are for each token, outlive the server, and say when they end', async () => {
    const limits = { requestsPerMinute: 1000, concurrentQueries: 4, queriesPerDay: 2 };
    await using first = await serveRegions({ limits });
    const make = async (name: string) =>
      (await first.tokens.create({ name, role: 'us', scopes: [...scopes] })).text;
    const [ann, bob] = [await make('ann'), await make('bob')];
    {
      await using session = await connect(first.url, ann);
      expect((await session.call('query_metrics', city)).isError).toBe(false);
      expect((await session.call('run_sql', { sql: 'SELECT count(*) FROM cities' })).isError).toBe(
        false,
      );
    }
    await first.stop();
    await using second = await serveRegions({ limits }, {}, first.dir);
    await using session = await connect(second.url, ann);
    const refused = await session.call('query_metrics', city);
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(
      /^Error day_used_up\nThis token may have 2 queries a day, and had them\.\nHint: It may query again at \d{4}-\d\d-\d\dT00:00:00\.000Z, in at most \d+ h\./,
    );
    expect((await session.call('search_context', { text: 'city' })).isError).toBe(false);
    await using other = await connect(second.url, bob);
    expect((await other.call('query_metrics', city)).isError).toBe(false);
  });

  it('count the bytes of answers to queries', async () => {
    const limits = { requestsPerMinute: 1000, concurrentQueries: 4, megabytesPerDay: 0.01 };
    await using served = await serveRegions({ limits });
    await using session = await connect(served.url);
    const towns = { sql: 'SELECT name FROM cities', max_tokens: 20_000 };
    expect((await session.call('run_sql', towns)).isError).toBe(false);
    const refused = await session.call('run_sql', towns);
    expect(refused.text).toContain('This token may have 0.01 MB of answers a day');
  });

  it('begin again at midnight UTC', () => {
    using db = new DatabaseSync(':memory:');
    let now = new Date('2026-11-28T23:59:59Z');
    const usage = openDayUsage(
      () => db,
      { queriesPerDay: 1 },
      () => now,
    )('ann');
    expect(usage.takeQuery()).toBeUndefined();
    expect(usage.takeQuery()).toMatchObject({
      code: 'day_used_up',
      hint: expect.stringContaining('at 2026-11-29T00:00:00.000Z, in at most 1 h'),
    });
    now = new Date('2026-11-29T00:00:00Z');
    expect(usage.takeQuery()).toBeUndefined();
  });
});
