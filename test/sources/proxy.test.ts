import { lookup } from 'node:dns/promises';
import { createServer as createPlain, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent, createServer as createTls } from 'node:https';
import { connect, type AddressInfo, type Server } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openHttp } from '../../src/sources/http/client.ts';
import { proxyRoute } from '../../src/http/proxy.ts';
import { sendOnce } from '../../src/http/send-once.ts';
import { throwAwayCertificate } from '../support/certificate.ts';

const host = 'metabase.example.test';
const answerSchema = z.object({ id: z.number() });

interface Heard {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
}

const { key, certificate } = throwAwayCertificate(host);
beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), certificate]));

let closers: (() => void)[] = [];
beforeEach(() => {
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy']) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toUpperCase(), undefined);
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const close of closers) close();
  closers = [];
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A server with a certificate for `host`, which this process trusts. */
async function startTarget() {
  const heard: Heard[] = [];
  const server = createTls({ key, cert: certificate }, ({ method, url, headers }, response) => {
    heard.push({ line: `${method} ${url}`, headers });
    response.end('{"id":7}');
  });
  const port = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, port };
}

/** A proxy that finds every name at the target. With a login, it wants that one. */
async function startProxy({ port = 0, login = '', refusal = '', isSilent = false } = {}) {
  const heard: Heard[] = [];
  const isWelcome = (headers: IncomingHttpHeaders) =>
    login === '' ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createPlain(({ method, url, headers }, response) => {
    heard.push({ line: `${method} ${url}`, headers });
    response.writeHead(isWelcome(headers) ? 200 : 407);
    response.end('{"id":8}');
  });
  server.on('connect', ({ url, headers }, socket) => {
    heard.push({ line: `CONNECT ${url}`, headers });
    closers.push(() => socket.destroy());
    if (isSilent) return;
    const status = isWelcome(headers) ? refusal : '407 Proxy Authentication Required';
    if (status !== '') {
      socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
      return;
    }
    const far = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    for (const end of [far, socket]) end.on('error', () => far.destroy());
    closers.push(() => far.destroy());
  });
  const own = await listen(server);
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const hangUp = () => closers.forEach((close) => close());
  return { heard, hangUp, at: `127.0.0.1:${own}` };
}

const open = (baseUrl = `https://${host}`, more: object = {}) =>
  openHttp({
    connection: 'bi',
    baseUrl,
    headers: { 'x-api-key': 'key-of-metabase' },
    allowPrivate: false,
    signal: AbortSignal.timeout(20_000),
    ...more,
  });
const ask = (client = open()) => client.read({ path: 'api/card/7' }, answerSchema);

describe('a proxy', () => {
  test('carries the request, and hears neither the path nor the key', async () => {
    const target = await startTarget();
    const proxy = await startProxy(target);
    vi.stubEnv('HTTPS_PROXY', `http://${proxy.at}`);
    expect(await ask()).toEqual({ id: 7 });
    expect(target.heard).toMatchObject([
      { line: 'GET /api/card/7', headers: { 'x-api-key': 'key-of-metabase' } },
    ]);
    expect(proxy.heard.map(({ line }) => line)).toEqual([`CONNECT ${host}:443`]);
    expect(JSON.stringify(proxy.heard)).not.toContain('key-of-metabase');
  });

  test('gets its login, which the server never sees', async () => {
    const target = await startTarget();
    const proxy = await startProxy({ ...target, login: 'per@n:s3:cret' });
    vi.stubEnv('https_proxy', `http://per%40n:s3%3Acret@${proxy.at}`);
    expect(await ask()).toEqual({ id: 7 });
    expect(Object.keys(target.heard[0]?.headers ?? {})).not.toContain('proxy-authorization');
  });

  test('that wants another login is an error that names it without the login', async () => {
    const proxy = await startProxy({ login: 'a:b' });
    vi.stubEnv('HTTPS_PROXY', `http://per:s3cret@${proxy.at}`);
    const error: unknown = await ask().catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: 'proxy_refused',
      exitCode: 4,
      message: `bi: the proxy ${proxy.at} wants a login (407).`,
    });
    expect(`${JSON.stringify(error)} ${String(error)}`).not.toContain('s3cret');
  });

  test('that does not let the host through is an error, and is asked once', async () => {
    const proxy = await startProxy({ refusal: '403 Forbidden' });
    vi.stubEnv('HTTPS_PROXY', `http://${proxy.at}`);
    await expect(ask()).rejects.toMatchObject({
      code: 'proxy_refused',
      message: `bi: the proxy ${proxy.at} does not connect to ${host} (403).`,
    });
    expect(proxy.heard.length).toBe(1);
  });

  test.each(['502 Bad Gateway', '504 Gateway Timeout'])(
    'that does not reach the host says so: %s',
    async (refusal) => {
      const proxy = await startProxy({ refusal });
      vi.stubEnv('HTTPS_PROXY', `http://${proxy.at}`);
      await expect(ask()).rejects.toMatchObject({
        code: 'source_unreachable',
        message: expect.stringContaining(refusal) as unknown,
      });
    },
  );

  test('that never answers does not hold a run that is interrupted', async () => {
    const proxy = await startProxy({ isSilent: true });
    const agent = new TlsAgent({ proxyEnv: { HTTPS_PROXY: `http://${proxy.at}` } });
    const abort = new AbortController();
    const asked = sendOnce({
      method: 'GET',
      url: new URL(`https://${host}`),
      headers: {},
      agent,
      maxBytes: 1,
      signal: abort.signal,
    }).catch(String);
    await expect.poll(() => proxy.heard.length).toBe(1);
    abort.abort(new Error('interrupted'));
    await setTimeout(100);
    proxy.hangUp();
    expect(await asked).toBe('Error: interrupted');
  });

  test('that is down is named', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://per:s3cret@127.0.0.1:1');
    const error: unknown = await ask().catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'source_unreachable' });
    expect(String(error)).toContain('the proxy 127.0.0.1:1: ');
    expect(String(error)).not.toContain('s3cret');
  });

  test('hears requests without TLS as they are, where those are allowed', async () => {
    const proxy = await startProxy({ login: 'a:b' });
    vi.stubEnv('HTTP_PROXY', `http://a:b@${proxy.at}`);
    expect(await ask(open('http://bi.intern.test', { allowPrivate: true }))).toEqual({ id: 8 });
    expect(proxy.heard).toMatchObject([{ line: 'GET http://bi.intern.test/api/card/7' }]);
    vi.stubEnv('HTTP_PROXY', `http://${proxy.at}`);
    await expect(ask(open('http://bi.intern.test', { allowPrivate: true }))).rejects.toMatchObject({
      code: 'proxy_refused',
    });
  });

  test('is no way to a private address', async ({ skip }) => {
    const proxy = await startProxy();
    vi.stubEnv('HTTPS_PROXY', `http://${proxy.at}`);
    expect(() => open('https://10.0.0.7')).toThrow(/private address/);
    const own = await lookup(hostname()).catch(() => undefined);
    const isPrivate = /^(?:10|127|172\.(?:1[6-9]|2\d|3[01])|192\.168)\./.test(own?.address ?? '');
    skip(!isPrivate, 'this machine has no name with a private address');
    await expect(ask(open(`https://${hostname()}`))).rejects.toMatchObject({
      code: 'private_address',
    });
    expect(proxy.heard).toEqual([]);
  });

  test.each(['socks5://127.0.0.1:1080', '127.0.0.1:3128', 'http://', 'nonsense'])(
    'of another kind is refused, and nobody is asked: %s',
    async (proxy) => {
      vi.stubEnv('HTTPS_PROXY', proxy);
      await expect(ask()).rejects.toMatchObject({ code: 'proxy_invalid', exitCode: 2 });
    },
  );
});

describe('no_proxy', () => {
  const at = 'http://proxy.test:3128';
  const routed = (url: string, list: string) =>
    proxyRoute(new URL(url), { HTTPS_PROXY: at, HTTP_PROXY: at, NO_PROXY: list }) !== undefined;

  test.each([
    ['https://a.example.com', '', true],
    ['https://a.example.com', '*', false],
    ['https://a.example.com', 'example.com', false],
    ['https://a.example.com', 'other.org, .example.com', false],
    ['https://a.example.com', '*.example.com', false],
    ['https://aexample.com', 'example.com', true],
    ['https://A.Example.com', 'a.EXAMPLE.com', false],
    ['https://a.example.com', 'a.example.com:443', false],
    ['https://a.example.com', 'a.example.com:8443', true],
    ['https://a.example.com:8443', 'a.example.com:8443', false],
    ['https://[2001:db8::1]', '2001:db8::1', false],
    ['https://[2001:db8::1]', '[2001:db8::1]:443', false],
    ['https://[2001:db8::1]', '2001:db8::2', true],
    ['http://127.0.0.1:9', '', false],
    ['https://localhost', '', false],
  ])('for %s with "%s": through the proxy %s', (url, list, expected) => {
    expect(routed(url, list)).toBe(expected);
  });

  test('the small letters count first, and another protocol has its own proxy', () => {
    const url = new URL('https://a.example.com');
    const small = { https_proxy: 'http://small.test', HTTPS_PROXY: 'http://large.test' };
    expect(proxyRoute(url, small)?.host).toBe('small.test');
    expect(proxyRoute(url, { HTTP_PROXY: at })).toBeUndefined();
    expect(proxyRoute(url, { HTTPS_PROXY: '' })).toBeUndefined();
  });
});
