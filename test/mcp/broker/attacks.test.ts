import { generateKeyPairSync } from 'node:crypto';
import { UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openClientDocuments } from '../../../src/mcp/broker/fetch-client-document.ts';
import {
  allow,
  askRevenue,
  askToken,
  authorizeUrl,
  type BrokerShop,
  openQuestion,
  redeem,
  serveWithBroker,
  tokensOf,
} from './broker-shop.ts';
import { openBrowser } from './browser.ts';

let shop: BrokerShop;
let documents = 0;

beforeAll(async () => {
  shop = await serveWithBroker();
});
afterAll(() => shop[Symbol.asyncDispose]());
afterEach(() => {
  shop.company.signIn('p-1');
  shop.company.answerTokens(undefined);
  shop.sendDocument();
});

/** A document that nobody has fetched before. */
const freshId = () => `${shop.host.url}/client-${(documents += 1)}.json`;

const evil = 'https://evil.example/back';

/** Requests of a client to log a person in: what must not lead to a code. */
const requests: readonly (readonly [string, Record<string, string | undefined>, RegExp])[] = [
  ['an address one character off', { redirect_uri: 'https://client.example/bacK' }, /^400 /],
  ['an address of another site', { redirect_uri: evil }, /^400 /],
  ['an address with a way out', { redirect_uri: 'https://client.example/back/../x' }, /^400 /],
  ['an address behind a name', { redirect_uri: 'https://client.example@evil.example/' }, /^400 /],
  ['an address with a query', { redirect_uri: 'https://client.example/back?a=b' }, /^400 /],
  ['a port of this machine with a path', { redirect_uri: 'http://127.0.0.1:1/other' }, /^400 /],
  ['no address', { redirect_uri: undefined }, /^400 /],
  ['the implicit flow', { response_type: 'token' }, /error=unsupported_response_type/],
  ['an ID token at once', { response_type: 'code id_token' }, /error=unsupported_response_type/],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, /error=invalid_r/],
  ['plain PKCE', { code_challenge_method: 'plain' }, /error=invalid_request/],
  ['a token for another server', { resource: 'https://evil.example/mcp' }, /error=invalid_target/],
  ['a token for a neighbour', { resource: 'http://127.0.0.1:1/mcp' }, /error=invalid_target/],
  ['a signed request of its own', { request: 'eyJhbGciOiJub25lIn0.e30.' }, /error=request_not_s/],
  ['a request at an address', { request_uri: 'http://169.254.169.254/' }, /error=request_uri_not/],
  ['no question at all', { prompt: 'none' }, /error=login_required/],
  ['a client that is a word', { client_id: 'ktx' }, /^400 /],
  ['the client of the company', { client_id: 'ktx', redirect_uri: evil }, /^400 /],
  ['a document without TLS', { client_id: 'http://client.example/client.json' }, /^400 /],
  ['a document on localhost', { client_id: 'https://localhost/client.json' }, /^400 /],
  ['a document on this machine', { client_id: 'https://127.0.0.1/client.json' }, /^400 /],
  ['a document on ::1', { client_id: 'https://[::1]/client.json' }, /^400 /],
  ['a document of the cloud', { client_id: 'https://169.254.169.254/latest' }, /^400 /],
  ['a document of another site', { client_id: 'https://evil.example/client.json' }, /^400 /],
  ['a document of a longer name', { client_id: 'https://client.example.evil.example/c' }, /^400 /],
  ['a document behind a name', { client_id: 'https://client.example@evil.example/c' }, /^400 /],
  ['a document that is a file', { client_id: 'file:///etc/passwd' }, /^400 /],
];

/** What a host of the list says about its client. */
const answers: readonly (readonly [string, (id: string) => void, string?])[] = [
  ['a redirect to this machine', () => redirectTo('http://127.0.0.1:1/')],
  ['a redirect to another site', () => redirectTo('https://evil.example/client.json')],
  ['10 MB', () => shop.host.answerWith((_, response) => void response.end('x'.repeat(10 ** 7)))],
  [
    '10 MB of a document',
    (id) => shop.sendDocument({ client_id: id, client_uri: `https://x/${'x'.repeat(10 ** 7)}` }),
  ],
  ['no end', () => shop.host.answerWith((_, response) => void response.write('{'))],
  ['no JSON', () => shop.host.answerWith((_, response) => void response.end('<html>'))],
  ['a list', () => shop.host.answerWith((_, response) => void response.end('[]'))],
  ['nothing', () => shop.host.answerWith((_, response) => void response.writeHead(204).end())],
  ['the name of another client', () => shop.sendDocument({ client_id: shop.host.id })],
  ['a secret', (id) => shop.sendDocument({ client_id: id, client_secret: 'x'.repeat(40) })],
  [
    'a login by secret',
    (id) => shop.sendDocument({ client_id: id, token_endpoint_auth_method: 'client_secret_post' }),
  ],
  [
    'keys at an address of the cloud',
    (id) =>
      shop.sendDocument({
        client_id: id,
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: 'https://169.254.169.254/keys',
      }),
  ],
  [
    'an address of another site',
    (id) => shop.sendDocument({ client_id: id, redirect_uris: [evil] }),
    evil,
  ],
  [
    'an address that is a script',
    (id) => shop.sendDocument({ client_id: id, redirect_uris: ['javascript:alert(1)//'] }),
    'javascript:alert(1)//',
  ],
  [
    'an address in the network of the house',
    (id) => shop.sendDocument({ client_id: id, redirect_uris: ['http://10.0.0.1/back'] }),
    'http://10.0.0.1/back',
  ],
  ['no addresses', (id) => shop.sendDocument({ client_id: id, redirect_uris: [] })],
];

function redirectTo(location: string): void {
  shop.host.answerWith((_, response) => void response.writeHead(302, { location }).end());
}

const seen = ({ status, location = '' }: { status: number; location?: string | undefined }) =>
  `${status} ${location}`;

describe('a client that asks for a login', () => {
  test.for(requests)('gets no code for %s', async ([, changes, expected]) => {
    const before = shop.host.fetched();
    const answer = await openBrowser().visit(authorizeUrl(shop, changes));
    expect(seen(answer)).toMatch(expected);
    if (answer.location !== undefined)
      expect(answer.location).toMatch(/^https:\/\/client\.example\/back[?#]error=/);
    expect(seen(answer)).not.toContain('code=');
    if (changes['client_id'] !== undefined) expect(shop.host.fetched()).toBe(before);
    expect(answer.headers.get('content-security-policy') ?? '').not.toContain('unsafe');
  });

  test.for(answers)('gets no code with a document that has %s', async ([, answer, to]) => {
    const id = freshId();
    answer(id);
    const asked = { client_id: id, ...(to === undefined ? {} : { redirect_uri: to }) };
    const visit = await openBrowser().visit(authorizeUrl(shop, asked));
    expect(seen(visit)).toBe('400 ');
    expect(visit.text).not.toMatch(/169\.254|node:internal|ECONN/);
    expect(shop.logs()).toMatch(/"refused":"invalid_client/);
  });

  test.for([
    'https://localhost/c',
    'https://127.0.0.1/c',
    'https://[::1]/c',
    'https://169.254.169.254/c',
    'https://10.1.2.3/c',
    'https://[::ffff:10.0.0.1]/c',
  ])('has no document at a private address, though the list has it: %s', async (address) => {
    const hosts = [new URL(address).hostname];
    await expect(openClientDocuments(hosts).fetch(address)).rejects.toThrow(/private address/);
  });

  test('is asked for its document once for many requests', async () => {
    const before = shop.host.fetched();
    await Promise.all(Array.from({ length: 20 }, () => openBrowser().visit(authorizeUrl(shop))));
    expect(shop.host.fetched() - before).toBeLessThanOrEqual(1);
  });

  test('cannot put HTML, hidden or endless text on the page', async () => {
    const id = freshId();
    const name = `<script>alert(1)</script>\u202e\u200b"><img src=x>${'x'.repeat(200)}`;
    shop.sendDocument({ client_id: id, client_name: name });
    const { text } = await openQuestion(shop, openBrowser(), authorizeUrl(shop, { client_id: id }));
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img');
    expect(text).not.toMatch(/<script|<img|\u202e|\u200b|x{100}/);
  });
});

/** Goes to the company and back, and returns the address that comes back, not visited. */
async function comeBack(browser = openBrowser()) {
  const { location = '' } = await browser.follow(authorizeUrl(shop), [
    `${shop.origin}/oauth/callback`,
  ]);
  return { browser, url: new URL(location) };
}

describe('the answer of the company', () => {
  test.for<readonly [string, (url: URL) => void]>([
    ['a state that nobody sent', (url) => url.searchParams.set('state', 'x')],
    ['no state', (url) => url.searchParams.delete('state')],
    ['another issuer', (url) => url.searchParams.set('iss', 'https://evil.example')],
    ['no issuer, though it names one', (url) => url.searchParams.delete('iss')],
    ['a code that it did not give', (url) => url.searchParams.set('code', 'x')],
    ['no code', (url) => url.searchParams.delete('code')],
    ['two codes', (url) => url.searchParams.append('code', 'x')],
    ['an error', (url) => url.searchParams.set('error', '<b>x')],
  ])('lets nobody in with %s', async ([, change]) => {
    const { browser, url } = await comeBack();
    change(url);
    const answer = await browser.visit(url.href);
    expect([400, 403]).toContain(answer.status);
    expect(answer.location).toBeUndefined();
    expect(answer.text).not.toContain('<b>x');
  });

  test('counts in the browser that began, once', async () => {
    const { browser, url } = await comeBack();
    expect((await openBrowser().visit(url.href)).status).toBe(400);
    expect((await browser.visit(url.href)).status).toBe(303);
    expect((await browser.visit(url.href)).status).toBe(400);
    expect(shop.logs()).toContain('"refused":"login_expired"');
  });

  test('cannot be put into the login of another', async () => {
    const [mine, theirs] = [await comeBack(), await comeBack()];
    mine.url.searchParams.set('code', theirs.url.searchParams.get('code') ?? '');
    expect((await mine.browser.visit(mine.url.href)).status).toBe(403);
  });

  test.for<readonly [string, (nonce: unknown) => Promise<string | undefined>]>([
    ['another nonce', () => shop.company.sign({ nonce: 'x' })],
    ['no nonce', () => shop.company.sign({})],
    ['another client', (nonce) => shop.company.sign({ nonce, aud: 'other' })],
    ['another issuer', (nonce) => shop.company.sign({ nonce, iss: 'https://evil.example' })],
    ['the past', (nonce) => shop.company.sign({ nonce, exp: 1, iat: 0 })],
    [
      'another key',
      (nonce) => {
        const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        return shop.company.sign({ nonce }, 'RS256', privateKey);
      },
    ],
    ['a shared key', (nonce) => shop.company.sign({ nonce }, 'HS256', Buffer.alloc(32, 1))],
    [
      'no signature',
      async (nonce) => {
        const signed = await shop.company.sign({ nonce });
        const claims = JSON.parse(Buffer.from(signed.split('.')[1] ?? '', 'base64url').toString());
        return new UnsecuredJWT(claims).encode();
      },
    ],
    ['no ID token', async () => undefined],
  ])('lets nobody in with an ID token of %s', async ([, sign]) => {
    shop.company.answerTokens(async ({ nonce }) => ({
      access_token: 'of-the-company',
      token_type: 'Bearer',
      id_token: await sign(nonce),
    }));
    const { browser, url } = await comeBack();
    const answer = await browser.visit(url.href);
    expect([answer.status, answer.location]).toEqual([403, undefined]);
    expect(shop.logs()).toContain('"refused":"login_failed"');
  });

  test('lets somebody in with an ID token of the company', async () => {
    shop.company.answerTokens(async ({ nonce }) => ({
      access_token: 'of-the-company',
      token_type: 'Bearer',
      id_token: await shop.company.sign({ nonce }),
    }));
    const { browser, url } = await comeBack();
    expect((await browser.visit(url.href)).status).toBe(303);
  });

  test('gives nobody the name of another by an address that nobody checked', async () => {
    shop.company.signIn('p-4');
    const { text } = await openQuestion(shop);
    expect(text).toContain('<strong>p-4</strong>');
    expect(text).not.toContain('ann@x.example');
  });

  test('lets nobody in whose groups have no role', async () => {
    shop.company.signIn('p-3');
    const page = await openQuestion(shop);
    expect([page.status, page.location]).toEqual([403, undefined]);
    expect(page.text).toContain('role_unknown');
    expect(page.text).toContain('visitors');
    expect(shop.logs()).toContain('"refused":"role_unknown"');
  });
});

describe('the question whether a client may', () => {
  test('cannot be shown in a frame, or run anything', async () => {
    const { headers } = await openQuestion(shop);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' https://client.example;");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('is not answered from another browser, page or form', async () => {
    const browser = openBrowser();
    const page = await openQuestion(shop, browser);
    expect((await openBrowser().visit(page.url)).status).toBe(400);
    expect((await openBrowser().answer(page, 'allow')).status).toBe(400);
    const foreign = { headers: { origin: 'https://evil.example' } };
    expect((await browser.answer(page, 'allow', foreign)).status).toBe(403);
    expect((await browser.answer(page, 'allow', { headers: { origin: 'null' } })).status).toBe(403);
    const forms: readonly (readonly [string, string])[] = [
      ['no proof', 'answer=allow'],
      ['a wrong proof', 'answer=allow&proof=x'],
      ['a long form', `answer=allow&proof=${'x'.repeat(10_000)}`],
    ];
    for (const [name, body] of forms)
      expect((await browser.answer(page, 'allow', { body })).status, name).toBe(403);
    const other = openBrowser();
    const stranger = await openQuestion(shop, other);
    const proof = /name="proof" value="([^"]+)"/.exec(stranger.text)?.[1] ?? '';
    const body = new URLSearchParams({ proof, answer: 'allow' });
    expect((await browser.answer(page, 'allow', { body })).status).toBe(403);
    expect(shop.logs()).toContain('"refused":"consent_forged"');
    // None of this answered it.
    expect((await browser.answer(page, 'deny')).status).toBe(303);
  });

  test('is asked for each client and each time, whoever agreed before', async () => {
    const browser = openBrowser();
    expect((await allow(shop, browser)).get('code')).not.toBeNull();
    expect((await openQuestion(shop, browser)).text).toContain('name="proof"');
    // Another person sits down, and the company knows it.
    for (const key of browser.jar.keys()) if (key.startsWith('_')) browser.jar.delete(key);
    shop.company.signIn('p-2');
    expect((await openQuestion(shop, browser)).text).toContain('<strong>bob@x.example</strong>');
    const id = freshId();
    shop.sendDocument({ client_id: id, client_name: 'Other' });
    const url = authorizeUrl(shop, { client_id: id });
    expect((await openQuestion(shop, browser, url)).text).toContain('<strong>Other</strong>');
  });

  test('gives the client nothing if the person does not agree', async () => {
    const browser = openBrowser();
    const denied = await browser.answer(await openQuestion(shop, browser), 'deny');
    const back = await browser.follow(denied.location ?? '', ['https://client.example']);
    expect(back.location).toContain('error=access_denied');
    expect(back.location).not.toContain('code=');
    expect(shop.logs()).toContain('"refused":"access_denied","person":"ann@x.example"');
  });
});

const codeOf = async () => (await allow(shop)).get('code') ?? '';

describe('a code', () => {
  test.for<readonly [string, Record<string, string>]>([
    ['with another verifier', { code_verifier: 'x'.repeat(43) }],
    ['without a verifier', { code_verifier: '' }],
    ['for another address', { redirect_uri: 'http://127.0.0.1/back' }],
    ['for another server', { resource: 'https://evil.example/mcp' }],
    ['as a word', { code: 'x' }],
    ['as another kind of grant', { grant_type: 'password', username: 'ann', password: 'x' }],
    ['as a login of the client', { grant_type: 'client_credentials' }],
    ['as a refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }],
  ])('is worth nothing %s', async ([, changes]) => {
    const { status, body } = await redeem(shop, await codeOf(), changes);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body['access_token']).toBeUndefined();
  });

  test('is worth nothing to another client', async () => {
    const id = freshId();
    shop.sendDocument({ client_id: id });
    const code = await codeOf();
    expect((await redeem(shop, code, { client_id: id })).body['error']).toBe('invalid_grant');
  });

  test('is redeemed once; whoever tries again ends what it gave', async () => {
    const code = await codeOf();
    const first = await redeem(shop, code);
    expect((await askRevenue(shop, first.body['access_token'] ?? '')).status).toBe(200);
    expect((await redeem(shop, code)).body['error']).toBe('invalid_grant');
    expect((await askRevenue(shop, first.body['access_token'] ?? '')).status).toBe(401);
  });

  test('is redeemed once by many who try at the same time', async () => {
    const code = await codeOf();
    const all = await Promise.all(Array.from({ length: 10 }, () => redeem(shop, code)));
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(all.every(({ status }) => status === 200 || status === 400)).toBe(true);
  });
});

describe('a token', () => {
  const refresh = (token: string, changes: Record<string, string> = {}) =>
    askToken(shop, { grant_type: 'refresh_token', refresh_token: token, ...changes });

  test('to refresh is used once; whoever uses it again ends all of that login', async () => {
    const first = await tokensOf(shop);
    const second = (await refresh(first.refresh)).body;
    expect((await askRevenue(shop, second['access_token'] ?? '')).status).toBe(200);
    expect((await refresh(first.refresh)).body['error']).toBe('invalid_grant');
    expect((await refresh(second['refresh_token'] ?? '')).body['error']).toBe('invalid_grant');
    for (const token of [first.access, second['access_token'] ?? ''])
      expect((await askRevenue(shop, token)).status).toBe(401);
    expect(shop.logs()).toMatch(/"refused":"invalid_grant","reason":"refresh token already used"/);
  });

  test('to refresh is no other one, and gives no more than it had', async () => {
    const tokens = await tokensOf(shop);
    const id = freshId();
    shop.sendDocument({ client_id: id });
    expect((await refresh(tokens.refresh, { client_id: id })).body['error']).toBe('invalid_grant');
    expect((await refresh(tokens.access)).body['error']).toBe('invalid_grant');
    const more = { scope: 'ktx.read ktx.query ktx.write' };
    expect((await refresh(tokens.refresh, more)).body['error']).toBe('invalid_scope');
    const elsewhere = { resource: 'https://evil.example/mcp' };
    expect((await refresh(tokens.refresh, elsewhere)).body['error']).toBe('invalid_target');
    expect((await askRevenue(shop, tokens.refresh)).status).toBe(401);
  });

  test('is revoked by its client alone', async () => {
    const { access } = await tokensOf(shop);
    const id = freshId();
    shop.sendDocument({ client_id: id });
    const revoke = (client: string) =>
      fetch(`${shop.origin}/oauth/revoke`, {
        method: 'POST',
        body: new URLSearchParams({ token: access, client_id: client }),
      });
    await revoke(id);
    expect((await askRevenue(shop, access)).status).toBe(200);
    expect((await revoke(shop.host.id)).status).toBe(200);
    expect((await askRevenue(shop, access)).status).toBe(401);
  });

  test('of the company, of the future or of nobody lets nobody in', async () => {
    const idToken = await shop.company.sign({ email: 'ann@x.example', groups: ['finance-dach'] });
    for (const token of [idToken, 'of-the-company', 'x'.repeat(43), '__proto__', '%00'])
      expect((await askRevenue(shop, token)).status, token).toBe(401);
  });
});

test.for([
  ['GET', '/oauth/userinfo'],
  ['POST', '/oauth/introspect'],
  ['POST', '/oauth/register'],
  ['POST', '/oauth/authorize'],
  ['POST', '/oauth/request'],
  ['GET', '/oauth/interaction/x'],
  ['POST', '/oauth/interaction/x'],
  ['GET', '/oauth/interaction/../callback'],
  ['GET', '/oauth/session/end'],
  ['GET', '/token'],
])('there is nothing for strangers at %s %s', async ([method, path]) => {
  const response = await fetch(`${shop.origin}${path}`, { method, redirect: 'manual' });
  expect([400, 404, 405]).toContain(response.status);
  expect(await response.text()).not.toMatch(/node:internal|ktx-http/);
});

test('a name of another site gets no metadata, and headers of a proxy change none', async () => {
  const url = `${shop.origin}/.well-known/oauth-authorization-server`;
  const changed = await fetch(url, {
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher' },
  });
  const metadata = JSON.stringify(await changed.json());
  expect(metadata).toContain(`"${shop.origin}/oauth/token"`);
  expect(metadata).not.toMatch(/evil|gopher/);
});

test('nothing that was given or kept stands in a log', async () => {
  const { access, refresh } = await tokensOf(shop);
  const code = await codeOf();
  await redeem(shop, code, { code_verifier: 'x'.repeat(43) });
  await askRevenue(shop, `${access}x`);
  const written = shop.logs();
  for (const secret of [access, refresh, code, 'ktx-secret-of-the-company', 'of-the-company'])
    expect(written.includes(secret)).toBe(false);
});
