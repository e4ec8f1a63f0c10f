import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson } from '../../src/lib/json.ts';
import { openHttp } from '../../src/sources/http/client.ts';
import { refusePrivateHost } from '../../src/http/private-address.ts';
import { readPages } from '../../src/sources/http/read-pages.ts';
import { cardSchema } from '../../src/sources/metabase/api-schemas.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers every connection with these bytes. */
async function serveBytes(answer: string): Promise<string> {
  const server = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer, 'latin1'));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
}

const token = 'token-of-the-login';
const open = (baseUrl: string) =>
  openHttp({
    connection: 'bi',
    baseUrl,
    headers: { 'x-api-key': token },
    allowPrivate: false,
    signal: AbortSignal.timeout(20_000),
  });
const anything = z.looseObject({});
const answerOf = (body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('a hostile API server', () => {
  test.for([
    ['switches to another protocol', 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'],
    ['sends headers of 100 kB', `HTTP/1.1 200 OK\r\n${'x'.repeat(100_000)}: 1\r\n\r\n`],
    ['speaks no HTTP', '\0\x01\x02'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n{}'],
  ] as const)('that %s is an error, which does not tell the login', async ([, answer]) => {
    const client = open(await serveBytes(answer));
    const error = await client.read({ path: 'a' }, anything).catch(String);
    expect(error).toMatch(/cannot be read/);
    expect(error).not.toContain(token);
  });

  test.for([1001, 100_000, 3_000_000])('that nests %d deep gives a bad answer', async (depth) => {
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const body = `{"id":1,"name":"x","dataset_query":{"a":${nested}}}`;
    const client = open(await serveBytes(answerOf(body)));
    await expect(client.read({ path: 'a' }, cardSchema)).rejects.toMatchObject({
      code: 'bad_answer',
    });
  });

  test('leads the login to no other origin and no other folder', async () => {
    const reached: string[] = [];
    const other = createServer((request, response) => {
      reached.push(`${request.url} ${String(request.headers['x-api-key'])}`);
      response.end('{}');
    });
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    closers.push(() => other.close());
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    for (const status of [301, 302, 303, 307, 308]) {
      const redirect = `HTTP/1.1 ${status} X\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`;
      const client = open(await serveBytes(redirect));
      await expect(client.read({ path: 'a' }, anything)).rejects.toMatchObject({
        code: 'redirected',
      });
    }
    const client = open(`${elsewhere}base`);
    for (const path of ['../admin', 'a/../../admin', '..\\admin', '%2e%2e/admin'])
      await expect(client.read({ path }, anything)).rejects.toMatchObject({ code: 'bad_answer' });
    expect(reached).toEqual([]);
  });

  test('ends a listing of pages without entries and with ever new cursors', async () => {
    let pages = 0;
    const endless = readPages((cursor: number = 0) => {
      pages += 1;
      return Promise.resolve({ entries: [], next: cursor + 1 });
    });
    await expect(endless.next()).rejects.toMatchObject({ code: 'bad_answer' });
    expect(pages).toBeLessThan(20_000);
  });
});

const privateAddresses = `
  127.0.0.1 0.0.0.0 10.1.2.3 100.100.100.200 169.254.169.254 172.31.0.1
  192.168.1.1 192.0.0.8 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255
  [::] [::1] [::7f00:1] [::ffff:127.0.0.1] [::ffff:a9fe:a9fe] [fd00:ec2::254]
  [fe80::1] [fec0::1] [ff02::1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1]
  [64:ff9b::7f00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001:0:7f00:1::]`;

test.for(privateAddresses.trim().split(/\s+/))('%s is a private address', (host) => {
  expect(() => refusePrivateHost(host)).toThrow(/private address/);
});

test.for(['1.1.1.1', '172.32.0.1', '[2606:4700::1111]', '[64:ff9b::101:101]', '[2002:101:101::]'])(
  '%s is none',
  (host) => {
    expect(() => refusePrivateHost(host)).not.toThrow();
  },
);

test('JSON is read as it is, up to 1,000 levels, whatever its texts hold', () => {
  const value = { a: `${'['.repeat(5000)}\\"${'{'.repeat(5000)}`, b: ['\\', '"[', [[]]] };
  expect(parseJson(JSON.stringify(value))).toEqual(value);
  expect(parseJson(`${'['.repeat(1000)}${']'.repeat(1000)}`)).toBeDefined();
  expect(parseJson(`${'['.repeat(1001)}${']'.repeat(1001)}`)).toBeUndefined();
});
