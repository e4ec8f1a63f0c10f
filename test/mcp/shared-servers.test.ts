import { globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listAuditedCalls } from '../../src/mcp/audit/list-audit.ts';
import { verifySharedAudit } from '../../src/mcp/audit/verify-audit.ts';
import { openSharedState } from '../../src/store/shared/shared-state.ts';
import { tokenFolder } from '../../src/mcp/http/tokens.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { approve } from '../support/approve.ts';
import { connect, endless, makeRegions, serveRegions } from './http-shop.ts';

const scopes: ('read' | 'query')[] = ['read', 'query'];

const ping = (url: string, token?: string) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });

/** Two servers with clones of their own, as on two machines behind a balancer. */
async function serveTwice(overrides: Parameters<typeof serveRegions>[0] = {}) {
  const url = await createDatabase('servers');
  process.env['KTX_TEST_STATE'] = url;
  const state = { state: 'env:KTX_TEST_STATE' };
  const dirs = [await makeRegions(state), await makeRegions(state)];
  for (const dir of dirs) await approve(dir);
  const [left, right] = await Promise.all(dirs.map((dir) => serveRegions(overrides, state, dir)));
  if (left === undefined || right === undefined) throw new Error('two servers');
  return {
    url,
    left,
    right,
    async [Symbol.asyncDispose](): Promise<void> {
      await left[Symbol.asyncDispose]();
      await right[Symbol.asyncDispose]();
    },
  };
}

describe('two servers with one database', () => {
  it('know the same tokens, also those that are revoked', async () => {
    await using both = await serveTwice();
    expect((await ping(both.right.url)).status).toBe(200);
    const { token, text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    expect(() => readdirSync(tokenFolder(both.left.dir, process.env))).toThrow(/ENOENT/);
    // The login of one is the login of all.
    expect((await ping(both.right.url)).status).toBe(401);
    await using session = await connect(both.right.url, text);
    const answer = await session.call('query_metrics', {
      metrics: ['orders.revenue'],
      dimensions: ['orders.region'],
    });
    expect(answer.text).toContain('canary-us');
    expect(answer.text).not.toContain('canary-dach');
    await both.right.tokens.revoke(token.id);
    expect((await ping(both.left.url, text)).status).toBe(401);
    expect((await both.left.tokens.list()).map(({ state }) => state)).toEqual(['revoked']);
    const kept = JSON.stringify(await runPostgres(both.url, 'SELECT * FROM ktx_records'));
    expect(kept).toContain('"ann');
    expect(kept).not.toContain(text.slice(-64));
  });

  it('let nobody in while the database is away, and recover', async () => {
    await using both = await serveTwice();
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    expect((await ping(both.left.url, text)).status).toBe(200);
    const { pathname } = new URL(both.url);
    const name = pathname.slice(1);
    const admin = new URL(both.url);
    admin.pathname = '/postgres';
    const away = `ALTER DATABASE ${name} CONNECTION LIMIT 0; ALTER DATABASE ${name} ALLOW_CONNECTIONS false; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    await runPostgres(admin.href, away);
    for (const server of [both.left, both.right]) {
      const refused = await ping(server.url, text);
      expect(refused.status).toBe(503);
      const said = await refused.text();
      expect(said).toContain('The login cannot be checked');
      expect(said).not.toMatch(/127\.0\.0\.1|postgres|password/);
    }
    const back = `ALTER DATABASE ${name} ALLOW_CONNECTIONS true; ALTER DATABASE ${name} CONNECTION LIMIT -1`;
    await runPostgres(admin.href, back);
    expect((await ping(both.left.url, text)).status).toBe(200);
  });

  it('count the calls of a token together', async () => {
    const limits = { requestsPerMinute: 6, concurrentQueries: 4, queriesPerDay: 4 };
    await using both = await serveTwice({ limits });
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    const bob = await both.left.tokens.create({ name: 'bob', role: 'us', scopes });
    await using left = await connect(both.left.url, text);
    await using right = await connect(both.right.url, text);
    const city = { metrics: ['cities.city_count'] };
    const answers = [];
    for (let number = 0; number < 4; number += 1)
      answers.push(await (number % 2 === 0 ? left : right).call('query_metrics', city));
    expect(answers.map(({ isError }) => isError)).toEqual([false, false, false, false]);
    for (const session of [left, right])
      expect((await session.call('query_metrics', city)).text).toMatch(
        /^Error day_used_up\nThis token may have 4 queries a day/,
      );
    for (const session of [left, right])
      expect((await session.call('search_context', { text: 'city' })).text).toContain(
        'rate_limited',
      );
    await using other = await connect(both.right.url, bob.text);
    expect((await other.call('query_metrics', city)).isError).toBe(false);
    const kept = JSON.stringify(await runPostgres(both.url, 'SELECT * FROM ktx_days'));
    expect(kept).not.toContain('ann');
  });

  it('count the queries that run together, and forget none', async () => {
    const limits = { requestsPerMinute: 1000, concurrentQueries: 1 };
    await using both = await serveTwice({ limits });
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    await using left = await connect(both.left.url, text);
    await using right = await connect(both.right.url, text);
    const stop = new AbortController();
    const { promise: running, resolve } = Promise.withResolvers<void>();
    const call = left
      .call('run_sql', { sql: endless }, { signal: stop.signal, onprogress: resolve })
      .catch(() => undefined);
    await running;
    const city = { metrics: ['cities.city_count'] };
    expect((await right.call('query_metrics', city)).text).toContain('too_many_queries');
    stop.abort();
    await call;
    await expect
      .poll(async () => (await right.call('query_metrics', city)).isError, { timeout: 20_000 })
      .toBe(false);
  });

  it('write one audit, in which a changed or removed line shows', async () => {
    const limits = { requestsPerMinute: 1000, concurrentQueries: 50 };
    await using both = await serveTwice({ limits });
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    await using left = await connect(both.left.url, text);
    await using right = await connect(both.right.url, text);
    const city = { metrics: ['cities.city_count'] };
    const calls = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? left : right).call('query_metrics', city),
    );
    expect((await Promise.all(calls)).every(({ isError }) => !isError)).toBe(true);
    expect(globSync(join(both.left.dir, '.ktx/audit/*'))).toEqual([]);
    const state = await openSharedState({ kind: 'postgres', url: both.url });
    onTestFinished(() => state.close());
    const { chain } = state;
    const verify = () => verifySharedAudit(both.left.dir, chain, { env: process.env });
    const whole = await verify();
    expect([whole.state, whole.problems]).toEqual(['whole', []]);
    // A line before each query, and one before its answer.
    expect(whole.lines).toBeGreaterThanOrEqual(40);
    const listed = await listAuditedCalls(both.right.dir, { limit: 1000, person: 'ann' }, chain);
    expect(listed.filter(({ tool }) => tool === 'query_metrics')).toHaveLength(20);
    const equal = new Set(listed.map(({ arguments_hash: hash }) => hash));
    expect(equal.size).toBeLessThan(5);
    const damage = async (change: string) => {
      await runPostgres(both.url, `CREATE TABLE kept AS SELECT * FROM ktx_audit; ${change}`);
      const { problems } = await verify();
      await runPostgres(
        both.url,
        'DELETE FROM ktx_audit; INSERT INTO ktx_audit SELECT * FROM kept; DROP TABLE kept',
      );
      return problems.map(({ line, problem }) => `${line}: ${problem}`).join(' ');
    };
    const forged = `replace(text, '"ann', '"bob')`;
    expect(await damage(`UPDATE ktx_audit SET text = ${forged} WHERE seq = 5`)).toBe(
      '6: the line before it, 5, is not as it was written.',
    );
    expect(await damage('DELETE FROM ktx_audit WHERE seq IN (7, 8)')).toBe(
      '9: lines 7 to 8 are missing before it.',
    );
    expect(await damage('UPDATE ktx_audit SET seq = seq + 1000 WHERE seq = 9')).toContain(
      '10: lines 9 to 9 are missing before it.',
    );
    expect(await damage(`UPDATE ktx_audit SET text = 'x' WHERE seq = 3`)).toContain(
      '3: this is no line of the audit',
    );
    expect((await verify()).state).toBe('whole');
  });

  it('shows that the end of the audit was cut, also when servers have written on', async () => {
    await using both = await serveTwice();
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    await using left = await connect(both.left.url, text);
    await using right = await connect(both.right.url, text);
    const city = { metrics: ['cities.city_count'] };
    for (let count = 0; count < 6; count += 1) await left.call('query_metrics', city);
    const state = await openSharedState({ kind: 'postgres', url: both.url });
    onTestFinished(() => state.close());
    const verify = async () => {
      const found = await verifySharedAudit(both.left.dir, state.chain, { env: process.env });
      return found.problems.map(({ problem }) => problem).join(' ');
    };
    const before = Number((await state.chain.last())?.seq);
    await runPostgres(both.url, 'DELETE FROM ktx_audit WHERE seq > 4');
    expect(await verify()).toBe(`line ${before} is not the one that was noted.`);
    // The chain is then in order, and longer than it was.
    for (let count = 0; count < 12; count += 1)
      await (count % 2 === 0 ? right : left).call('query_metrics', city);
    expect(Number((await state.chain.last())?.seq)).toBeGreaterThan(before);
    expect(await verify()).toBe(`line ${before} is not the one that was noted.`);
  });

  it('answer nothing that is not on record', async () => {
    await using both = await serveTwice();
    const { text } = await both.left.tokens.create({ name: 'ann', role: 'us', scopes });
    await using left = await connect(both.left.url, text);
    await runPostgres(both.url, 'ALTER TABLE ktx_audit RENAME TO ktx_audit_away');
    const answer = await left.call('query_metrics', { metrics: ['cities.city_count'] });
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('audit_unwritten');
    expect(answer.text).not.toContain('900');
    await runPostgres(both.url, 'ALTER TABLE ktx_audit_away RENAME TO ktx_audit');
    const again = await left.call('query_metrics', { metrics: ['cities.city_count'] });
    expect(again.isError).toBe(false);
  });
});
