import { globSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLimits } from '../../src/mcp/usage/limits.ts';
import { openTokenFolder, openTokens, tokenFolder } from '../../src/mcp/http/tokens.ts';
import { connect, endless, makeRegions, serveRegions } from './http-shop.ts';

const revenue = { metrics: ['orders.revenue'], dimensions: ['orders.region'] };
const scopes: ('read' | 'query' | 'write')[] = ['read', 'query'];

describe('the server over HTTP with tokens', () => {
  it('gives each token the rows of its role, also at the same time', async () => {
    await using served = await serveRegions({
      limits: { requestsPerMinute: 10_000, concurrentQueries: 100 },
    });
    const texts: Record<string, string> = {};
    for (const role of ['dach', 'us', 'admin', undefined]) {
      const { text } = await served.tokens.create({ name: role ?? 'none', role, scopes });
      texts[role ?? 'none'] = text;
    }
    await using dach = await connect(served.url, texts['dach']);
    await using us = await connect(served.url, texts['us'], 'legacy');
    await using admin = await connect(served.url, texts['admin']);
    await using none = await connect(served.url, texts['none']);
    const rounds = Array.from({ length: 10 }, async () => {
      const [ofDach, ofUs, ofAdmin, ofNone] = await Promise.all([
        dach.call('query_metrics', revenue),
        us.call('query_metrics', revenue),
        admin.call('query_metrics', revenue),
        none.call('query_metrics', revenue),
      ]);
      for (const { text } of [ofDach, ofNone]) expect(text).not.toContain('canary-us');
      for (const { text } of [ofUs, ofNone]) expect(text).not.toContain('canary-dach');
      return [ofDach, ofUs, ofAdmin, ofNone];
    });
    const answers = (await Promise.all(rounds)).flat();
    const seen = (part: string) => answers.filter(({ text }) => text.includes(part)).length;
    expect([seen('canary-dach'), seen('canary-us'), seen('no_access')]).toEqual([20, 20, 10]);
    const sql = { sql: 'SELECT region FROM orders' };
    expect((await dach.call('run_sql', sql)).text).toContain('row_rules');
    expect((await admin.call('run_sql', sql)).text).toContain('canary-us');
  });

  it('does not continue the answer of another token', async () => {
    await using served = await serveRegions();
    const make = async (name: string) =>
      connect(served.url, (await served.tokens.create({ name, role: 'admin', scopes })).text);
    await using ann = await make('ann');
    await using bob = await make('bob');
    const query = { metrics: ['cities.city_count'], dimensions: ['cities.id'], max_tokens: 500 };
    const { structured } = await ann.call('query_metrics', query);
    const { next_cursor: cursor } = (structured as { page: { next_cursor: string } }).page;
    expect((await bob.call('query_metrics', { cursor })).text).toContain('cursor_expired');
    expect((await ann.call('query_metrics', { cursor })).isError).toBe(false);
  });

  it('asks for a token, and refuses one that is wrong, revoked or expired at once', async () => {
    await using served = await serveRegions();
    const ask = (token?: string) =>
      fetch(served.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
    expect((await ask()).status).toBe(200);
    const { token, text } = await served.tokens.create({ name: 'ann', scopes });
    const without = await ask();
    expect(without.status).toBe(401);
    expect(without.headers.get('www-authenticate')).toBe('Bearer realm="ktx"');
    expect((await ask(text)).status).toBe(200);
    const other = text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
    const wrong = await ask(other);
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const expires = new Date(Date.now() - 1).toISOString();
    const expired = await served.tokens.create({ name: 'old', scopes, expires });
    expect((await ask(expired.text)).status).toBe(401);
    // Another process revokes: it shares nothing with the server but the folder.
    const folder = openTokenFolder(tokenFolder(served.dir, process.env));
    await openTokens(folder, served.dir).revoke(token.id);
    const revoked = await ask(text);
    expect([revoked.status, await revoked.text()]).toEqual([
      401,
      '{"error":"invalid_token","error_description":"This token is revoked. Ask the person who runs the server for a new one."}\n',
    ]);
    rmSync(tokenFolder(served.dir, process.env), { recursive: true });
    expect((await ask()).status).toBe(401);
  });

  it('keeps a token as a hash that only its owner can read, and logs only its name', async () => {
    await using served = await serveRegions();
    const { token, text } = await served.tokens.create({ name: 'ann', role: 'dach', scopes });
    await using session = await connect(served.url, text);
    await session.call('query_metrics', revenue);
    const file = join(tokenFolder(served.dir, process.env), `${token.id}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(tokenFolder(served.dir, process.env)).mode & 0o777).toBe(0o700);
    const secret = text.slice(-64);
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    const logs = join(served.dir, '.ktx/logs');
    const written = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'));
    expect(written.join('')).toContain('"caller":"ann"');
    expect(written.join('')).not.toContain(secret);
  });

  it('shows datasets and names of metrics only to tokens that may read', async () => {
    await using served = await serveRegions();
    const { text } = await served.tokens.create({ name: 'writer', scopes: ['write'] });
    await using session = await connect(served.url, text);
    expect((await session.client.listResources()).resources).toEqual([]);
    await expect(
      session.client.readResource({ uri: 'ktx://dataset/shop/orders' }),
    ).rejects.toThrow();
    const { completion } = await session.client.complete({
      ref: { type: 'ref/prompt', name: 'explain_metric' },
      argument: { name: 'metric', value: '' },
    });
    expect(completion.values).toEqual([]);
  });

  it('offers and runs only the tools of the scopes', async () => {
    await using served = await serveRegions();
    const { text } = await served.tokens.create({ name: 'reader', scopes: ['read'] });
    await using session = await connect(served.url, text);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'search_context',
      'find_values',
      'read_context',
      'review_status',
    ]);
    const refused = await session.call('remember', { text: 'Revenue is net.' });
    expect(refused).toMatchObject({ isError: true });
    expect(refused.text).toContain('scope_missing');
  });

  it('answers a call over the limits with a result that says when to call again', async () => {
    await using served = await serveRegions({
      limits: { requestsPerMinute: 3, concurrentQueries: 1 },
    });
    const make = async (name: string) =>
      connect(served.url, (await served.tokens.create({ name, scopes })).text);
    await using ann = await make('ann');
    await using bob = await make('bob');
    const gone = new AbortController();
    const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
    const options = { signal: gone.signal, onprogress };
    const running = ann.call('run_sql', { sql: endless }, options).catch(String);
    await runs;
    const second = await ann.call('run_sql', { sql: endless });
    expect(second).toMatchObject({ isError: true });
    expect(second.text).toContain('too_many_queries');
    const read = () => ann.call('read_context', { name: 'cities' });
    const texts = (await Promise.all(Array.from({ length: 20 }, read))).map(({ text }) => text);
    expect(texts.join('\n')).toMatch(/rate_limited[^]*Hint: Wait \d+ s/);
    expect((await bob.call('read_context', { name: 'cities' })).isError).toBe(false);
    gone.abort();
    await running;
  });
});

describe('the model of another role', () => {
  it('can be had only from the view of that role', () => {
    const root = join(import.meta.dirname, '../../src');
    const files = globSync('**/*.ts', { cwd: root });
    const naming = files.filter((file) =>
      /\bmodelAs\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(naming).toEqual(['project/open/open.ts']);
  });
});

describe('the tokens of a project', () => {
  it('do not lie in the project, and have names of their own while they are valid', async () => {
    const dir = await makeRegions();
    expect(() => tokenFolder(dir, { XDG_CONFIG_HOME: join(dir, 'config') })).toThrow(
      'inside of the project',
    );
    const tokens = openTokens(openTokenFolder(tokenFolder(dir, process.env)), dir);
    await tokens.create({ name: 'ann', scopes });
    await expect(tokens.create({ name: 'ann', scopes })).rejects.toMatchObject({
      code: 'token_exists',
    });
    await tokens.revoke('ann');
    await tokens.create({ name: 'ann', scopes });
    expect(await tokens.list()).toHaveLength(2);
    await expect(tokens.revoke('bob')).rejects.toMatchObject({ code: 'token_unknown' });
    rmSync(dir, { recursive: true });
  });
});

describe('the limits of a caller', () => {
  it('fill up again evenly', () => {
    let now = 0;
    const day = { takeQuery: () => undefined, addBytes: () => undefined };
    const limits = openLimits({ requestsPerMinute: 2, concurrentQueries: 1 }, day, () => now);
    expect([limits.takeCall(), limits.takeCall()]).toEqual([undefined, undefined]);
    expect(limits.takeCall()).toMatchObject({ hint: 'Wait 30 s, then call again.' });
    now = 20_000;
    expect(limits.takeCall()).toMatchObject({ hint: 'Wait 10 s, then call again.' });
    now = 30_000;
    expect(limits.takeCall()).toBeUndefined();
    for (let count = 0; count < 20; count += 1) limits.takeRequest();
    expect(limits.takeRequest()).toBe(3);
  });
});
