import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { describe, expect, it, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { startIdentityProvider, usualClaims } from '../support/identity-provider.ts';
import { connect, serveRegions } from './http-shop.ts';

const revenue = { metrics: ['orders.revenue'], dimensions: ['orders.region'] };
const roles = [
  { group: 'finance-dach', role: 'dach' },
  { group: 'sales-us', role: 'us' },
];

/** A server that lets in who has a token of a provider that runs beside it. */
async function serveCompany(serve: object = {}, keyCooldownMs = 0) {
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const provider = await startIdentityProvider(resource);
  const auth = { issuer: provider.issuer, resource };
  const served = await serveRegions({ port, oidc: { keyCooldownMs } }, { auth, roles, ...serve });
  return {
    ...served,
    provider,
    resource,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => void server.close(resolve));
  return port;
}

async function ask(url: string, token: string | undefined, body: object = ping) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const challenge = response.headers.get('www-authenticate') ?? '';
  return { status: response.status, challenge, text: await response.text() };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const callTool = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** A client of the SDK that finds the provider itself and logs in there. */
async function logIn(url: string, person: string, expectedIssuer: string) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  const authProvider = new ClientCredentialsProvider({
    clientId: person,
    clientSecret: 'secret',
    expectedIssuer,
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
  return {
    client,
    async call(name: string, args: Record<string, unknown>) {
      const { content } = await client.callTool({ name, arguments: args });
      return content[0]?.type === 'text' ? content[0].text : '';
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const logs = (dir: string) =>
  globSync(join(dir, '.ktx/{logs,audit}/*'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('');

describe('a login with an OpenID provider', () => {
  it('is found by clients, and gives each person the rows of their groups', async () => {
    await using served = await serveCompany();
    const { issuer } = served.provider;
    await using ann = await logIn(served.url, 'ann', issuer);
    await using bob = await logIn(served.url, 'bob', issuer);
    const [ofAnn, ofBob] = await Promise.all([
      ann.call('query_metrics', revenue),
      bob.call('query_metrics', revenue),
    ]);
    expect(ofAnn).toContain('canary-dach');
    expect(ofAnn).not.toContain('canary-us');
    expect(ofBob).toContain('canary-us');
    expect(ofBob).not.toContain('canary-dach');
    expect(logs(served.dir)).toMatch(/"person":"ann@x.example".*"role":"dach"/);
  });

  it('is stepped up by the client when a call needs more', async () => {
    await using served = await serveCompany();
    await using ann = await logIn(served.url, 'ann', served.provider.issuer);
    const { tools } = await ann.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('remember');
    expect(await ann.call('remember', { text: 'Revenue is net.' })).toContain('Note ');
    expect(logs(served.dir)).toContain('"refused":"insufficient_scope"');
    const reader = await served.provider.token('ann', 'ktx.read');
    const refused = await ask(served.url, reader, callTool('query_metrics', revenue));
    expect([refused.status, refused.challenge]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="ktx.read ktx.query", resource_metadata="${served.resource.replace('/mcp', '/.well-known/oauth-protected-resource/mcp')}"`,
    ]);
    expect(refused.text).not.toContain('canary');
  });

  it('says where tokens come from, to pages too, but not under a name of another site', async () => {
    await using served = await serveCompany();
    const { status, challenge } = await ask(served.url, undefined);
    expect(status).toBe(401);
    const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    expect(challenge).toContain('scope="ktx.read ktx.query"');
    const response = await fetch(metadataUrl, { headers: { origin: 'https://page.example' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource: served.resource,
      authorization_servers: [served.provider.issuer],
      scopes_supported: ['ktx.read', 'ktx.query', 'ktx.write'],
      bearer_methods_supported: ['header'],
      resource_name: 'ktx',
    });
  });

  it('names the groups of somebody who has no role, and lets them in where the project says so', async () => {
    await using served = await serveCompany();
    const refused = await ask(served.url, await served.provider.token('eve'));
    expect([refused.status, refused.challenge]).toEqual([403, '']);
    expect(JSON.parse(refused.text)).toMatchObject({
      error: 'role_unknown',
      error_description: expect.stringContaining('(visitors)'),
    });
    const nobody = await served.provider.sign({ groups: undefined });
    expect((await ask(served.url, nobody)).text).toContain('your token names none');
    await using open = await serveCompany({ default_role: 'us' });
    await using eve = await connect(open.url, await open.provider.token('eve'), 'legacy');
    const { text } = await eve.call('query_metrics', revenue);
    expect(text).toContain('canary-us');
    expect(text).not.toContain('canary-dach');
  });

  it('takes new keys of the provider, and asks for them seldom', async () => {
    await using served = await serveCompany();
    const before = await served.provider.token('ann');
    expect((await ask(served.url, before)).status).toBe(200);
    await served.provider.rotate();
    expect((await ask(served.url, await served.provider.token('ann'))).status).toBe(200);
    // The key of the earlier token is not among the new ones.
    expect((await ask(served.url, before)).status).toBe(401);
    await using patient = await serveCompany({}, 600_000);
    const good = await patient.provider.token('ann');
    expect((await ask(patient.url, good)).status).toBe(200);
    const keys = () => patient.provider.fetched.filter((path) => path === '/jwks').length;
    const known = keys();
    for (let number = 0; number < 20; number += 1) {
      const stray = await patient.provider.sign({}, { kid: `stray-${number}` });
      expect((await ask(patient.url, stray)).status).toBe(401);
    }
    expect(keys() - known).toBeLessThanOrEqual(1);
    expect((await ask(patient.url, good)).status).toBe(200);
  });

  it('lets nobody in while the provider is away or is another one, and recovers', async () => {
    await using served = await serveCompany();
    const { provider } = served;
    const token = await provider.sign();
    const keys = await (await fetch(`${provider.issuer}/jwks`)).text();
    for (const [what, body] of [
      ['another issuer', { issuer: 'http://127.0.0.1:1', jwks_uri: `${provider.issuer}/jwks` }],
      ['no document', {}],
    ] as const) {
      provider.answerWith(
        ({ url }, response) => void response.end(url === '/jwks' ? keys : JSON.stringify(body)),
      );
      expect((await ask(served.url, token)).status, what).toBe(503);
    }
    provider.answerWith((_, response) => void response.writeHead(302, { location: '/jwks' }).end());
    expect((await ask(served.url, token)).status).toBe(503);
    provider.answerWith((_, response) => void response.end('x'.repeat(600_000)));
    expect((await ask(served.url, token)).status).toBe(503);
    const document = { issuer: provider.issuer, jwks_uri: `${provider.issuer}/jwks` };
    for (const [status, list] of [
      [500, '{}'],
      [200, 'no keys'],
      [200, '{"keys": 1}'],
    ] as const) {
      provider.answerWith(({ url }, response) =>
        url === '/jwks'
          ? void response.writeHead(status).end(list)
          : void response.end(JSON.stringify(document)),
      );
      expect((await ask(served.url, token)).status, list).toBe(503);
    }
    expect(logs(served.dir)).toContain('"refused":"issuer_unreachable"');
    provider.serve();
    expect((await ask(served.url, token)).status).toBe(200);
  });

  it('does not write a token down', async () => {
    await using served = await serveCompany();
    const token = await served.provider.token('ann');
    await using ann = await connect(served.url, token);
    await ann.call('query_metrics', revenue);
    await ask(served.url, `${token}x`);
    const written = logs(served.dir);
    expect(written).toContain('"refused":"invalid_token"');
    for (const part of token.split('.')) expect(written).not.toContain(part);
  });

  it('also takes the tokens of ktx, for programs', async () => {
    await using served = await serveCompany();
    const { text } = await served.tokens.create({ name: 'ci', role: 'us', scopes: ['query'] });
    await using ci = await connect(served.url, text);
    expect((await ci.call('query_metrics', revenue)).text).toContain('canary-us');
    // It has what it has: nothing can be stepped up.
    expect((await ci.call('search_context', { text: 'orders' })).text).toContain('scope_missing');
  });

  it('needs the approval of a person, also for other roles', async () => {
    await using served = await serveCompany();
    const config = join(served.dir, 'ktx.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('"role":"us"', '"role":"admin"'));
    const project = await openProject(served.dir);
    await expect(project.trust.requireServe()).rejects.toMatchObject({ code: 'trust_required' });
    await project.close();
  });
});

type Company = Awaited<ReturnType<typeof serveCompany>>;
type Forge = (company: Company) => Promise<string> | string;

const now = () => Math.floor(Date.now() / 1000);
const claims =
  (changed: object): Forge =>
  ({ provider }) =>
    provider.sign(changed);
const headers =
  (changed: Partial<JWTHeaderParameters>): Forge =>
  ({ provider }) =>
    provider.sign({}, changed);

/** A token of the usual claims, with a header and a key of the attacker. */
async function forge(
  { provider, resource }: Company,
  header: object,
  secret: Parameters<SignJWT['sign']>[0],
) {
  const usual = usualClaims(provider.issuer, resource);
  const protectedHeader = { alg: 'RS256', kid: 'first', typ: 'at+jwt', ...header };
  return new SignJWT(usual).setProtectedHeader(protectedHeader).sign(secret);
}

const ownKey = generateKeyPair('RS256', { extractable: true });

const attacks: readonly (readonly [string, Forge])[] = [
  ['a token that has expired', claims({ exp: now() - 60 })],
  ['a token of the future', claims({ nbf: now() + 120 })],
  ['a token that never expires', claims({ exp: undefined })],
  ['a token for another server', claims({ aud: 'https://other.example/mcp' })],
  ['a token for a list of other servers', claims({ aud: ['a', 'https://other.example/mcp'] })],
  ['a token for nobody', claims({ aud: undefined })],
  ['a token whose audience is a part of ours', claims({ aud: 'http://127.0.0.1' })],
  ['a token of another issuer', claims({ iss: 'https://login.example.com' })],
  [
    'a token of our issuer with a slash more',
    ({ provider }) => provider.sign({ iss: `${provider.issuer}/` }),
  ],
  ['a token of no issuer', claims({ iss: undefined })],
  ['a token of no person', claims({ sub: undefined })],
  ['a token that is bound to a key', claims({ cnf: { jkt: 'x' } })],
  ['a logout token', headers({ typ: 'logout+jwt' })],
  ['a proof of possession', headers({ typ: 'dpop+jwt' })],
  ['a header that nobody knows and that counts', headers({ crit: ['x'], x: 1 })],
  ['a key that does not exist', headers({ kid: 'none' })],
  ['a key that is a path', headers({ kid: '../../../../dev/null' })],
  ['a key that is a statement', headers({ kid: "x' UNION SELECT 'secret" })],
  [
    'no signature',
    ({ provider, resource }) => new UnsecuredJWT(usualClaims(provider.issuer, resource)).encode(),
  ],
  [
    'no signature, in another case',
    async (company) => {
      const [, payload] = (await company.provider.sign()).split('.');
      const header = Buffer.from('{"alg":"nOnE","typ":"at+jwt"}').toString('base64url');
      return `${header}.${payload}.`;
    },
  ],
  [
    'a signature that was cut off',
    async ({ provider }) => `${(await provider.sign()).split('.').slice(0, 2).join('.')}.`,
  ],
  [
    'claims that were changed',
    async ({ provider }) => {
      const [header, payload = '', signature] = (await provider.sign()).split('.');
      const text = Buffer.from(payload, 'base64url').toString().replace('finance-dach', 'sales-us');
      return `${header}.${Buffer.from(text).toString('base64url')}.${signature}`;
    },
  ],
  [
    'the public key as a secret',
    async (company) =>
      forge(
        company,
        { alg: 'HS256' },
        Buffer.from(await exportSPKI(company.provider.key().publicKey)),
      ),
  ],
  [
    'the public key as a secret in JSON',
    async (company) =>
      forge(
        company,
        { alg: 'HS256' },
        Buffer.from(JSON.stringify(await exportJWK(company.provider.key().publicKey))),
      ),
  ],
  ['an empty secret', async (company) => forge(company, { alg: 'HS512' }, Buffer.alloc(64))],
  [
    'a key of the attacker under the name of ours',
    async (company) => forge(company, {}, (await ownKey).privateKey),
  ],
  [
    'a key of the attacker in the header',
    async (company) =>
      forge(company, { jwk: await exportJWK((await ownKey).publicKey) }, (await ownKey).privateKey),
  ],
  [
    'a key of the attacker behind an address',
    async (company) =>
      forge(
        company,
        { jku: 'http://127.0.0.1:9/jwks', x5u: 'http://127.0.0.1:9' },
        (await ownKey).privateKey,
      ),
  ],
  [
    'another algorithm of the same key',
    async (company) => {
      const { kid } = company.provider.key().jwk;
      return forge(company, { alg: 'PS256', kid }, (await generateKeyPair('PS256')).privateKey);
    },
  ],
  [
    'a curve that the provider does not have',
    async (company) =>
      forge(company, { alg: 'ES256' }, (await generateKeyPair('ES256')).privateKey),
  ],
  ['what is no token', () => 'x'],
  ['an empty token', () => '..'],
  ['a token of five parts', () => 'a.b.c.d.e'],
  ['a header that is no JSON', () => `${Buffer.from('{').toString('base64url')}.e30.x`],
  ['a token of ktx that does not exist', () => `ktx_${'0'.repeat(12)}_${'0'.repeat(64)}`],
];

describe('forged tokens', () => {
  test('let nobody in, are logged, and call nothing', async () => {
    await using served = await serveCompany();
    const call = callTool('query_metrics', revenue);
    expect((await ask(served.url, await served.provider.sign(), ping)).status).toBe(200);
    for (const [name, make] of attacks) {
      const logged = logs(served.dir).split('"refused"').length;
      const { status, challenge, text } = await ask(served.url, await make(served), call);
      expect(status, name).toBe(401);
      expect(challenge, name).toContain('error="invalid_token"');
      expect(text, name).not.toMatch(/canary|finance|secret/);
      expect(logs(served.dir).split('"refused"'), name).toHaveLength(logged + 1);
    }
    expect(logs(served.dir)).not.toContain('query_metrics');
    expect(attacks.length).toBeGreaterThan(30);
  });

  test('a clock may differ by half a minute', async () => {
    await using served = await serveCompany();
    const sign = (changed: object) => served.provider.sign(changed);
    for (const [changed, status] of [
      [{ exp: now() - 15 }, 200],
      [{ exp: now() - 45 }, 401],
      [{ nbf: now() + 15 }, 200],
      [{ nbf: now() + 60 }, 401],
    ] as const)
      expect((await ask(served.url, await sign(changed))).status).toBe(status);
  });

  test('a token in the address or in the body does not count', async () => {
    await using served = await serveCompany();
    const token = await served.provider.sign();
    expect((await ask(`${served.url}?access_token=${token}`, undefined)).status).toBe(401);
    expect((await ask(served.url, undefined, { ...ping, access_token: token })).status).toBe(401);
    expect((await ask(served.url, `${token} ${token}`)).status).toBe(401);
  });
});
