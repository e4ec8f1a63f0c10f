import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { itemFailure, openHttp } from '../../src/sources/http/client.ts';
import { endAsPartial } from '../../src/sources/http/end-as-partial.ts';
import { lookupPublic } from '../../src/http/private-address.ts';
import { readPages } from '../../src/sources/http/read-pages.ts';
import type { FetchEvent, ServerWait } from '../../src/sources/source.ts';
import type { Fault } from '../recorded/loopback-server.ts';
import { apiKey, startMetabase } from '../recorded/metabase/server.ts';

let server: Awaited<ReturnType<typeof startMetabase>>;
beforeEach(async () => {
  server = await startMetabase();
});
afterEach(() => server.close());

const open = (baseUrl = server.url, more: object = {}) =>
  openHttp({
    connection: 'bi',
    baseUrl,
    headers: { 'x-api-key': apiKey },
    allowPrivate: false,
    signal: AbortSignal.timeout(20_000),
    ...more,
  });
const anySchema = z.looseObject({});
const user = { path: 'api/user/current' };
const fault = (given: Partial<Fault>) => server.faults.push({ match: /user/, times: 1, ...given });

describe('the client of API sources', () => {
  test('tries again after an answer that passes, when the server says so', async () => {
    fault({ times: 3, status: 429, headers: { 'retry-after': '0' } });
    fault({ status: 503, headers: { 'retry-after': new Date(Date.now() - 1000).toUTCString() } });
    expect(await open().read(user, anySchema)).toMatchObject({ id: 1 });
    expect(server.requests.length).toBe(5);
  });

  test('tries again after a connection that was cut', async () => {
    fault({ isCut: true, body: '{"id":' });
    expect(await open().read(user, anySchema)).toMatchObject({ id: 1 });
    expect(server.requests.length).toBe(2);
  });

  test('gives up after six tries, and at once where the wait is long', async () => {
    fault({ times: 20, status: 502, headers: { 'retry-after': '0' } });
    await expect(open().read(user, anySchema)).rejects.toMatchObject({
      code: 'source_unreachable',
      retryable: true,
    });
    expect(server.requests.length).toBe(6);
    server.faults.length = 0;
    fault({ status: 429, headers: { 'retry-after': '3600' } });
    await expect(open().read(user, anySchema)).rejects.toThrow(/asks to wait 3600 seconds/);
    expect(server.requests.length).toBe(7);
  });

  test('holds every request of the connection while the server asks to wait, and says so', async () => {
    const waits: ServerWait[] = [];
    const abort = new AbortController();
    fault({ times: 1, status: 429, headers: { 'retry-after': '7' } });
    const client = open(server.url, {
      concurrency: 1,
      longestWait: 10_000,
      signal: abort.signal,
      onWait: (wait: ServerWait) => {
        waits.push(wait);
        setTimeout(() => abort.abort(), 100);
      },
    });
    const answers = [user, user, user].map((request) => client.read(request, anySchema));
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ]);
    expect(server.requests.length).toBe(1);
    expect(waits.map(({ host }) => host)).toEqual([new URL(server.url).host]);
    const seconds = (Number(waits[0]?.until) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(8);
  });

  test('sends as many requests at once as the connection allows', async () => {
    const release = server.hold(/user/);
    const client = open(server.url, { concurrency: 2 });
    const answers = [user, user, user, user].map((request) => client.read(request, anySchema));
    await expect.poll(() => server.requests.length).toBe(2);
    release();
    await Promise.all(answers);
    expect(server.requests.length).toBe(4);
  });

  test('ends with the run while the server has not answered yet', async () => {
    const release = server.hold(/user/);
    const abort = new AbortController();
    const state = { isEnded: false };
    const read = open(server.url, { signal: abort.signal })
      .read(user, anySchema)
      .finally(() => (state.isEnded = true));
    void Promise.allSettled([read]);
    await expect.poll(() => server.requests.length).toBe(1);
    abort.abort(new Error('stopped'));
    // A try alone would take a minute.
    await expect.poll(() => state.isEnded).toBe(true);
    release();
    await expect(read).rejects.toThrow('stopped');
  });

  test('keeps no request in memory once it has its answer', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const sent: WeakRef<object>[] = [];
    const note = (message: unknown) =>
      sent.push(new WeakRef((message as { readonly request: object }).request));
    subscribe('http.client.request.start', note);
    try {
      const client = open();
      for (let count = 0; count < 50; count += 1) await client.read(user, anySchema);
    } finally {
      unsubscribe('http.client.request.start', note);
    }
    expect(sent.length).toBe(50);
    // A weak reference holds its object until the next turn.
    await setImmediate();
    collectGarbage();
    // The connection that stays open knows its last one.
    expect(sent.filter((request) => request.deref() !== undefined).length).toBeLessThan(5);
  });

  test('keeps what was read when the server stops answering, and fails if it never did', async () => {
    const item = { kind: 'item', key: 'a', path: 'a', body: 'a' } as const;
    async function* fetch(events: readonly FetchEvent[]): AsyncGenerator<FetchEvent> {
      yield* events;
      fault({ times: 9, status: 503, headers: { 'retry-after': '9999' } });
      await open().read(user, anySchema);
    }
    const events = await all(endAsPartial(fetch([item])));
    expect(events).toEqual([
      item,
      {
        kind: 'end',
        listingComplete: false,
        reason: expect.stringContaining('asks to wait 9999 seconds') as unknown,
      },
    ]);
    await expect(all(endAsPartial(fetch([])))).rejects.toMatchObject({
      code: 'source_unreachable',
    });
  });

  test('does not follow redirects, so that the key goes nowhere else', async () => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(String(request.headers['x-api-key']));
      response.end('{}');
    });
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    const { port } = other.address() as { port: number };
    try {
      fault({ status: 302, headers: { location: `http://127.0.0.1:${port}/` } });
      await expect(open().read(user, anySchema)).rejects.toMatchObject({ code: 'redirected' });
      expect(seen).toEqual([]);
    } finally {
      other.close();
    }
  });

  test.each([
    ['no JSON', 'is not what ktx expects', { body: '<html>' }],
    ['JSON of another form', 'is not what ktx expects', { body: '[1]' }],
    ['more than 32 MB', 'has more than 32000000 bytes', { body: ' '.repeat(32_000_001) }],
  ])('says which object it could not read: %s', async (_, reason, given) => {
    fault(given);
    const error: unknown = await open()
      .read(user, z.object({ id: z.number() }))
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'bad_answer' });
    expect(itemFailure(error)).toContain(`/api/user/current ${reason}`);
  });

  test('counts a refused login as a failure of the whole source', async () => {
    const error: unknown = await open(server.url, { headers: {} })
      .read(user, anySchema)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'login_refused', exitCode: 4 });
    expect(itemFailure(error)).toBeUndefined();
  });

  test.each([
    'https://10.0.0.7',
    'https://169.254.169.254/latest',
    'https://[::ffff:192.168.1.1]',
    'https://[fd00::1]',
    'https://[::]',
    'https://0xa.1',
  ])('refuses the private address %s', (address) => {
    expect(() => open(address)).toThrow(/private address/);
  });

  test('looks no name up that leads to a private address', async () => {
    const found = await new Promise((resolve) => {
      lookupPublic('localhost', {}, (error) => resolve(error));
    });
    expect(found).toMatchObject({ message: expect.stringMatching(/private address/) as unknown });
  });

  test('refuses such a name before it connects', async ({ skip }) => {
    const own = await lookup(hostname()).catch(() => undefined);
    const isPrivate = /^(?:10|127|172\.(?:1[6-9]|2\d|3[01])|192\.168)\./.test(own?.address ?? '');
    skip(!isPrivate, 'this machine has no name with a private address');
    await expect(open(`https://${hostname()}`).read(user, anySchema)).rejects.toMatchObject({
      code: 'private_address',
    });
  });

  test('names a host that does not exist, at once', async () => {
    const client = open('https://metabase.invalid');
    await expect(client.read(user, anySchema)).rejects.toThrow(/metabase.invalid cannot be read/);
  });

  test('asks over plain HTTP on this machine, or where it is allowed', () => {
    expect(() => open('http://metabase.example.com')).toThrow(/does not begin with https/);
    expect(() => open('http://10.0.0.7', { allowPrivate: true })).not.toThrow();
  });
});

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

test('a listing that repeats itself is an error', async () => {
  const pages = readPages(async () => ({ entries: [1], next: 'again' }));
  const read = async () => {
    for await (const entry of pages) expect(entry).toBe(1);
  };
  await expect(read()).rejects.toThrow('A listing does not end: ktx stopped after 2 entries');
});
