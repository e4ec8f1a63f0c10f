import { gzipSync } from 'node:zlib';
import { message, request, revenue, type Tokens } from './raw-request.ts';

type Attack = readonly [name: string, bytes: (all: Tokens) => Buffer, statuses: readonly number[]];

/** 0: the connection is closed without an answer. */
export const outside: readonly Attack[] = [
  ['nobody', () => request(revenue), [401]],
  [
    'a token as a login of another kind',
    ({ us }) => request(revenue, { headers: { authorization: `Basic ${us}` } }),
    [401],
  ],
  ['a token without its secret', ({ us }) => request(revenue, { token: us.slice(0, -64) }), [401]],
  ['a token in other letters', ({ us }) => request(revenue, { token: us.toUpperCase() }), [401]],
  [
    'a token with another id',
    ({ us, dach }) => request(revenue, { token: dach.slice(0, 17) + us.slice(17) }),
    [401],
  ],
  ['a token that is a path', () => request(revenue, { token: 'ktx_../../../etc/passwd' }), [401]],
  ['a token with a NUL', ({ us }) => request(revenue, { token: `${us}\0` }), [400]],
  ['a token of 15 kB', () => request(revenue, { token: 'ktx_'.padEnd(15_000, 'a') }), [401]],
  [
    'a token in the address',
    ({ us }) => request(revenue, { path: `/mcp?access_token=${us}` }),
    [401],
  ],
  [
    'a token in a cookie',
    ({ us }) => request(revenue, { headers: { cookie: `token=${us}` } }),
    [401],
  ],
  [
    'a token in a header of proxies',
    ({ us }) => request(revenue, { headers: { 'x-forwarded-user': us, 'x-real-ip': '127.0.0.1' } }),
    [401],
  ],
  [
    'two logins',
    ({ us }) =>
      Buffer.from(
        request(revenue, { token: us })
          .toString()
          .replace('authorization:', 'authorization: Bearer x\r\nauthorization:'),
      ),
    [401],
  ],
  [
    'the Host of another site',
    ({ us }) => request(revenue, { token: us, headers: { host: 'evil.example' } }),
    [403],
  ],
  [
    'a Host that begins as ours',
    ({ us }) => request(revenue, { token: us, headers: { host: '127.0.0.1.evil.example' } }),
    [403],
  ],
  [
    'no Host',
    ({ us }) =>
      Buffer.from(request(revenue, { token: us }).toString().replace('host: 127.0.0.1\r\n', '')),
    [400, 403],
  ],
  [
    'the Origin of another site',
    ({ us }) => request(revenue, { token: us, headers: { origin: 'https://evil.example' } }),
    [403],
  ],
  [
    'an opaque Origin',
    ({ us }) => request(revenue, { token: us, headers: { origin: 'null' } }),
    [403],
  ],
  [
    'a preflight of another site',
    () =>
      request('', {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      }),
    [403],
  ],
  [
    'the address of another server',
    ({ us }) => request(revenue, { token: us, path: 'http://evil.example/mcp' }),
    [404],
  ],
  ['a path around', ({ us }) => request(revenue, { token: us, path: '/health/../mcp' }), [404]],
  [
    'a path with an encoded letter',
    ({ us }) => request(revenue, { token: us, path: '/%6dcp' }),
    [404],
  ],
  [
    'a file of the project',
    ({ us }) => request('', { token: us, method: 'GET', path: '/../ktx.yaml' }),
    [404],
  ],
  ['the method GET', ({ us }) => request('', { token: us, method: 'GET' }), [405]],
  ['the method DELETE', ({ us }) => request('', { token: us, method: 'DELETE' }), [405]],
  [
    'a method in a header',
    ({ us }) =>
      request('', { token: us, method: 'GET', headers: { 'x-http-method-override': 'POST' } }),
    [405],
  ],
  ['the method TRACE', ({ us }) => request('', { token: us, method: 'TRACE' }), [405]],
  ['a tunnel', () => request('', { method: 'CONNECT', path: 'db.internal:5432' }), [0]],
  [
    'another protocol',
    ({ us }) =>
      request('', {
        token: us,
        method: 'GET',
        headers: { connection: 'upgrade, close', upgrade: 'websocket' },
      }),
    [0, 405],
  ],
  ['HTTP/2 at once', () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), [0, 400, 505]],
  ['no HTTP at all', () => Buffer.from('\x16\x03\x01\x02\0\x01\0'), [0, 400]],
  [
    '10,000 headers',
    ({ us }) =>
      request(revenue, {
        token: us,
        headers: Object.fromEntries(
          Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, 'y']),
        ),
      }),
    [431],
  ],
  [
    'a header of 20 kB',
    ({ us }) => request(revenue, { token: us, headers: { 'x-long': 'x'.repeat(20_000) } }),
    [431],
  ],
  [
    'a header with a line break',
    ({ us }) => request(revenue, { token: us, headers: { 'x-a': 'b\n\nPOST /mcp HTTP/1.1' } }),
    [400],
  ],
  [
    'two lengths',
    ({ us }) =>
      Buffer.from(
        request(revenue, { token: us })
          .toString()
          .replace('connection:', 'content-length: 3\r\nconnection:'),
      ),
    [400],
  ],
  [
    'a length and pieces',
    ({ us }) =>
      request('0\r\n\r\nPOST /mcp HTTP/1.1\r\n\r\n', {
        token: us,
        headers: { 'transfer-encoding': 'chunked' },
      }),
    [400],
  ],
  [
    'a negative length',
    ({ us }) => request(revenue, { token: us, headers: { 'content-length': '-1' } }),
    [400],
  ],
  [
    'a length that is no number',
    ({ us }) => request(revenue, { token: us, headers: { 'content-length': '1e3' } }),
    [400],
  ],
  [
    'a length of 2 MB',
    ({ us }) => request(revenue, { token: us, headers: { 'content-length': '2000000' } }),
    [413],
  ],
  [
    'a body of 2 MB',
    ({ us }) => request(JSON.stringify('x'.repeat(2_000_000)), { token: us }),
    [413],
  ],
  [
    'a compressed body',
    ({ us }) =>
      request(gzipSync('['.repeat(1_000_000)), {
        token: us,
        headers: { 'content-encoding': 'gzip' },
      }),
    [400],
  ],
  [
    'a body that is text',
    ({ us }) => request(revenue, { token: us, headers: { 'content-type': 'text/plain' } }),
    [415],
  ],
  [
    'a form of a page',
    ({ us }) =>
      request('a=b', {
        token: us,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    [400, 415],
  ],
  [
    'a body that is not UTF-8',
    ({ us }) => request(Buffer.from([0x22, 0xff, 0x22]), { token: us }),
    [400],
  ],
  ['a body in UTF-16', ({ us }) => request(Buffer.from(revenue, 'utf16le'), { token: us }), [400]],
  ['an empty body', ({ us }) => request('', { token: us }), [400]],
  ['100,000 brackets', ({ us }) => request('['.repeat(100_000), { token: us }), [400]],
  ['a batch', ({ us }) => request(`[${revenue}]`, { token: us }), [400]],
  ['a number in place of a message', ({ us }) => request('1', { token: us }), [400]],
  [
    'a revision that does not exist',
    ({ us }) => request(revenue, { token: us, headers: { 'mcp-protocol-version': '1999-01-01' } }),
    [400],
  ],
  [
    'a header that says another method',
    ({ us }) =>
      request(message('tools/list', modern), {
        token: us,
        headers: { ...modernHeaders, 'mcp-method': 'tools/call' },
      }),
    [400],
  ],
];

const modern = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};
const modernHeaders = { 'mcp-protocol-version': '2026-07-28' };
