import { once } from 'node:events';
import { request } from 'node:http';
import { connect as openSocket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connect, endless, serveRegions } from './http-shop.ts';

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** A request past the client of the SDK, with any header. */
async function send(
  url: string,
  { method = 'POST', headers = {}, body = '' }: Partial<Sent>,
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const sent = request(url, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const piece of response) text += String(piece);
  return { status: response.statusCode, headers: response.headers, text };
}

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

describe('the server over HTTP without tokens', () => {
  it.each(['auto', 'legacy'] as const)('serves a client that negotiates %s', async (mode) => {
    await using served = await serveRegions();
    await using session = await connect(served.url, '', mode);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('query_metrics');
    const answer = await session.call('query_metrics', { metrics: ['cities.city_count'] });
    expect(answer.text).toContain('900');
    expect(answer.isError).toBe(false);
    const { resources } = await session.client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('ktx://dataset/shop/orders');
  });

  it('continues a long answer in a later request', async () => {
    await using served = await serveRegions();
    await using session = await connect(served.url);
    await using older = await connect(served.url, '', 'legacy');
    const query = { metrics: ['cities.city_count'], dimensions: ['cities.id'], max_tokens: 500 };
    const first = await session.call('query_metrics', query);
    const { page } = first.structured as { page: { next_cursor: string } };
    const next = await older.call('query_metrics', { ...query, cursor: page.next_cursor });
    expect(next.isError, next.text).toBe(false);
  });

  it('says whether it is up and ready', async () => {
    await using served = await serveRegions();
    const health = await send(served.url.replace('/mcp', '/health'), { method: 'GET' });
    expect([health.status, health.text]).toEqual([200, '{"status":"up"}\n']);
    await using session = await connect(served.url);
    await session.call('query_metrics', { metrics: ['cities.city_count'] });
    const ready = await send(served.url.replace('/mcp', '/ready'), { method: 'GET' });
    expect([ready.status, ready.text]).toEqual([
      200,
      '{"status":"ready","configuration":"current"}\n',
    ]);
  });

  it.each([
    ['a host that another site made to lead here', { host: 'evil.example' }, 403],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['a page of this machine', { origin: 'http://localhost:3000' }, 200],
    ['a login that nobody asked for', { authorization: 'Bearer ktx_x' }, 200],
    ['a text that is no JSON', { 'content-type': 'text/plain' }, 415],
  ])('answers %s', async (_, headers, status) => {
    await using served = await serveRegions();
    expect((await send(served.url, { headers, body: ping })).status).toBe(status);
  });

  it.each([
    ['what is no JSON', '{', [400, -32_700]],
    ['a batch', `[${ping},${ping}]`, [400, -32_600]],
    ['what is nested too deep', `${'['.repeat(300)}${']'.repeat(300)}`, [400, -32_600]],
    ['a body that is too long', JSON.stringify('x'.repeat(1024 * 1024)), [413, -32_600]],
  ])('refuses %s', async (_, body, expected) => {
    await using served = await serveRegions();
    const answer = await send(served.url, { body });
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual(expected);
  });

  it('refuses a body without a length once it is too long, and other paths and methods', async () => {
    await using served = await serveRegions();
    const endlessBody = request(served.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    endlessBody.on('error', () => undefined);
    endlessBody.write(Buffer.alloc(1024 * 1024 + 1, ' '));
    const [response] = await once(endlessBody, 'response');
    expect(response.statusCode).toBe(413);
    endlessBody.destroy();
    expect((await send(served.url.replace('/mcp', '/other'), { body: ping })).status).toBe(404);
    expect((await send(served.url, { method: 'GET' })).status).toBe(405);
    const long = { 'x-long': 'x'.repeat(20_000) };
    expect((await send(served.url, { headers: long, body: ping })).status).toBe(431);
  });

  it('ends the query of a client that goes away', async () => {
    await using served = await serveRegions({
      limits: { requestsPerMinute: 100, concurrentQueries: 1 },
      graceMs: 600_000,
    });
    for (const mode of ['auto', 'legacy'] as const) {
      const session = await connect(served.url, '', mode);
      const gone = new AbortController();
      const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
      const options = { signal: gone.signal, onprogress };
      const call = session.call('run_sql', { sql: endless }, options).catch(String);
      await runs;
      const second = await session.call('run_sql', { sql: 'SELECT 1' });
      expect(second.text).toContain('too_many_queries');
      gone.abort();
      await call;
      await session.client.close();
      await using other = await connect(served.url, '', mode);
      const free = () => other.call('run_sql', { sql: 'SELECT count(*) FROM cities' });
      await expect.poll(free, { timeout: 20_000 }).toMatchObject({
        text: expect.not.stringContaining('too_many_queries'),
      });
    }
  });

  it('finishes what runs when it stops, and ends what runs too long', async () => {
    await using served = await serveRegions({ graceMs: 200 });
    await using session = await connect(served.url);
    const { promise: runs, resolve: onprogress } = Promise.withResolvers<void>();
    const call = session.call('run_sql', { sql: endless }, { onprogress });
    await runs;
    // A connection that says nothing does not hold the server either.
    const idle = openSocket(Number(new URL(served.url).port), '127.0.0.1');
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    await served.stop();
    expect((await call).text).toContain('Error cancelled');
    await expect(send(served.url, { body: ping })).rejects.toThrow('ECONNREFUSED');
  });
});

describe('where it may listen', () => {
  it.each([
    ['another address', { host: '0.0.0.0' }],
    ['another name', { allowedHosts: ['ktx.example.com'] }],
  ])('refuses %s without a token', async (_, options) => {
    await expect(serveRegions(options)).rejects.toMatchObject({
      code: 'login_required',
      exitCode: 4,
      hint: expect.stringContaining('ktx mcp token create'),
    });
  });

  it('names a port that is taken', async () => {
    await using served = await serveRegions();
    const port = Number(new URL(served.url).port);
    await expect(serveRegions({ port })).rejects.toMatchObject({ code: 'port_unusable' });
  });
});
