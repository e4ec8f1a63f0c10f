import { execFile } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { openBrowser } from './browser.ts';
import { tokenFolder } from '../../../src/mcp/http/tokens.ts';
import { createDatabase, runPostgres } from '../../support/postgres.ts';
import { makePostgresShop } from '../identity-shop.ts';
import { serveRegions } from '../http-shop.ts';
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
import { callTool } from '../call-tool.ts';

const revenue = { metrics: ['orders.revenue'], dimensions: ['orders.region'] };

/** A client of the SDK with a person before it, who agrees to what the page asks. */
async function logIn(shop: BrokerShop, clientMetadataUrl?: string) {
  const kept: Record<string, unknown> = {};
  const browser = openBrowser();
  const pages: string[] = [];
  let back: URLSearchParams | undefined;
  const redirectUrl = 'https://client.example/back';
  const authProvider: OAuthClientProvider = {
    redirectUrl,
    clientMetadataUrl,
    clientMetadata: { client_name: 'SDK', redirect_uris: [redirectUrl] },
    clientInformation: () => kept['client'] as undefined,
    saveClientInformation: (information) => void (kept['client'] = information),
    tokens: () => kept['tokens'] as undefined,
    saveTokens: (tokens) => void (kept['tokens'] = tokens),
    saveCodeVerifier: (verifier) => void (kept['verifier'] = verifier),
    codeVerifier: () => String(kept['verifier']),
    async redirectToAuthorization(url) {
      const page = await browser.follow(url.href);
      pages.push(page.text);
      const agreed = await browser.answer(page, 'allow');
      const last = await browser.follow(agreed.location ?? '', [redirectUrl]);
      back = new URL(last.location ?? '').searchParams;
    },
  };
  const open = () => new StreamableHTTPClientTransport(new URL(shop.url), { authProvider });
  const first = open();
  const refused: unknown = await new Client({ name: 'test', version: '1' })
    .connect(first)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UnauthorizedError);
  await first.finishAuth(back ?? new URLSearchParams());
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(open());
  return {
    kept,
    pages,
    async call(name: string, args: Record<string, unknown>) {
      const { content } = await client.callTool({ name, arguments: args });
      return content[0]?.type === 'text' ? content[0].text : '';
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

describe('a login of a client at ktx, and of a person at the company', () => {
  it('gives each person the rows of their groups, with a client that has a document', async () => {
    await using shop = await serveWithBroker();
    shop.company.signIn('p-1');
    await using ann = await logIn(shop, shop.host.id);
    shop.company.signIn('p-2');
    await using bob = await logIn(shop, shop.host.id);
    const [ofAnn, ofBob] = await Promise.all([
      ann.call('query_metrics', revenue),
      bob.call('query_metrics', revenue),
    ]);
    expect(ofAnn).toContain('canary-dach');
    expect(ofAnn).not.toContain('canary-us');
    expect(ofBob).toContain('canary-us');
    expect(ofBob).not.toContain('canary-dach');
    expect(ann.pages[0]).toContain('Test client');
    expect(ann.pages[0]).toContain('ann@x.example');
    expect(shop.logs()).toMatch(/"person":"ann@x.example".*"role":"dach"/);
    expect(shop.logs()).toMatch(/"login":"allowed","person":"bob@x.example"/);
  });

  it('works for a client that registers itself, if the project lets it', async () => {
    await using shop = await serveWithBroker({}, { legacy_registration: true });
    await using ann = await logIn(shop);
    expect(await ann.call('query_metrics', revenue)).toContain('canary-dach');
    expect(ann.pages[0]).toContain('<strong>SDK</strong>');
    const register = async (changes: object) => {
      const response = await fetch(`${shop.origin}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://client.example/x'], ...changes }),
      });
      return response.status;
    };
    for (const changes of [
      { redirect_uris: ['https://evil.example/back'] },
      { redirect_uris: ['javascript:alert(1)//client.example'] },
      { redirect_uris: ['http://10.0.0.1/back'] },
      { redirect_uris: 'https://client.example/x' },
      { token_endpoint_auth_method: 'client_secret_basic' },
      { response_types: ['token'], grant_types: ['implicit'] },
    ])
      expect(await register(changes), JSON.stringify(changes)).toBe(400);
    expect(await register({ client_name: 'x'.repeat(200_000) })).toBeGreaterThanOrEqual(400);
    const statuses = [];
    for (let number = 0; number < 40; number += 1) statuses.push(await register({}));
    expect(statuses).toContain(429);
    expect(shop.logs()).toContain('"refused":"too_many_logins"');
  });

  it('says in its metadata what it does, and nothing else', async () => {
    await using shop = await serveWithBroker();
    const read = async (path: string) => (await fetch(`${shop.origin}${path}`)).json();
    expect(await read('/.well-known/oauth-protected-resource/mcp')).toMatchObject({
      resource: shop.resource,
      authorization_servers: [shop.origin],
    });
    const metadata = await read('/.well-known/oauth-authorization-server');
    expect(metadata).toMatchObject({
      issuer: shop.origin,
      authorization_endpoint: `${shop.origin}/oauth/authorize`,
      token_endpoint: `${shop.origin}/oauth/token`,
      revocation_endpoint: `${shop.origin}/oauth/revoke`,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    for (const missing of ['registration_endpoint', 'userinfo_endpoint', 'introspection_endpoint'])
      expect(metadata).not.toHaveProperty(missing);
  });

  it('keeps hashes of what it gave, and nothing of what the company gave', async () => {
    await using shop = await serveWithBroker();
    const { access, refresh, body } = await tokensOf(shop);
    expect(body).toMatchObject({ token_type: 'Bearer', scope: 'ktx.read ktx.query' });
    expect(Number(body['expires_in'])).toBeLessThanOrEqual(600);
    expect(body).not.toHaveProperty('id_token');
    const files = globSync(join(tokenFolder(shop.dir, process.env), 'logins.db*'));
    expect(files.length).toBeGreaterThan(0);
    const kept = files.map((file) => readFileSync(file, 'latin1')).join('');
    expect(kept).toContain('finance-dach');
    const ofCompany = shop.company.asked.flatMap(
      ({ searchParams }) => searchParams.get('code') ?? [],
    );
    for (const secret of [access, refresh, 'ktx-secret-of-the-company', ...ofCompany])
      expect(kept.includes(secret), secret).toBe(false);
    for (const file of files) expect(statSync(file).mode & 0o077).toBe(0);
    expect((await askRevenue(shop, access)).status).toBe(200);
  });

  it('goes on after a restart, and counts the groups of the last login', async () => {
    await using shop = await serveWithBroker();
    const { access } = await tokensOf(shop);
    expect((await askRevenue(shop, access)).text).toContain('canary-dach');
    shop.company.move('p-1', ['sales-us']);
    expect((await askRevenue(shop, access)).text).toContain('canary-dach');
    await tokensOf(shop);
    const { text } = await askRevenue(shop, access);
    expect(text).toContain('canary-us');
    expect(text).not.toContain('canary-dach');
    shop.company.move('p-1', ['visitors']);
    await shop.stop();
    const again = await serveRegions({ port: Number(new URL(shop.url).port) }, {}, shop.dir);
    expect((await askRevenue(shop, access)).status).toBe(200);
    await again.stop();
  });

  it('ends when its client, or whoever runs the server, says so', async () => {
    await using shop = await serveWithBroker();
    const [ann, bob] = [await tokensOf(shop, 'p-1'), await tokensOf(shop, 'p-2')];
    const list = await runKtx(shop.dir, ['mcp', 'login', 'list', '--json']);
    expect(list).toMatch(/ann@x\.example.*bob@x\.example|bob@x\.example.*ann@x\.example/s);
    expect(list).not.toContain(ann.access);
    expect(await runKtx(shop.dir, ['mcp', 'login', 'end', 'ann@x.example'])).toContain(
      'ended: ann',
    );
    expect((await askRevenue(shop, ann.access)).status).toBe(401);
    expect((await askRevenue(shop, bob.access)).status).toBe(200);
    // A new login of the person does not bring the old one back.
    await tokensOf(shop, 'p-1');
    expect((await askRevenue(shop, ann.access)).status).toBe(401);
    const refresh = { grant_type: 'refresh_token', refresh_token: ann.refresh };
    expect((await askToken(shop, refresh)).body['error']).toBe('invalid_grant');
    // With the token to refresh, a client ends all that the login gave.
    await fetch(`${shop.origin}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: bob.refresh, client_id: shop.host.id }),
    });
    expect((await askRevenue(shop, bob.access)).status).toBe(401);
  });

  it('is stepped up: a client asks for a scope that its token does not have', async () => {
    await using shop = await serveWithBroker();
    const url = authorizeUrl(shop, { scope: 'ktx.read' });
    const code = (await allow(shop, openBrowser(), url)).get('code') ?? '';
    const { body } = await redeem(shop, code);
    expect(body['scope']).toBe('ktx.read');
    const refused = await askRevenue(shop, body['access_token'] ?? '');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('insufficient_scope');
  });

  it('gives row security no name: nobody has proven it to the warehouse', async () => {
    let owner = '';
    await using shop = await serveWithBroker({}, {}, async (serve) => {
      const made = await makePostgresShop('session', serve);
      owner = made.owner;
      return made.dir;
    });
    // Rows that belong to the very name that the company gives to whoever logs in.
    await runPostgres(owner, "UPDATE orders SET owner = 'ann@x.example' WHERE region = 'dach'");
    const { access } = await tokensOf(shop, 'p-1');
    for (const call of [
      ['run_sql', { sql: 'SELECT word FROM orders' }],
      ['run_sql', { sql: "SELECT current_setting('ktx.user', true) AS who FROM orders" }],
      ['query_metrics', { metrics: ['orders.order_count'], dimensions: ['orders.word'] }],
      ['find_values', { text: 'canary-dach' }],
    ] as const) {
      const { text: answer } = await callTool({ url: shop.url, token: access }, call);
      expect(answer, call[0]).not.toMatch(/canary-dach-\d/);
      if (call[0] !== 'find_values') expect(answer).toContain('Error identity_unknown');
    }
    // A token of ktx has a name that its maker vouches for.
    const { text } = await shop.tokens.create({
      name: 'ann@x.example',
      role: 'dach',
      scopes: ['read', 'query'],
    });
    const words = ['run_sql', { sql: 'SELECT word FROM orders' }] as const;
    expect((await callTool({ url: shop.url, token: text }, words)).text).toMatch(/canary-dach-\d/);
  });

  it('is shared by servers with one database', async () => {
    process.env['KTX_TEST_STATE'] = await createDatabase('broker');
    await using shop = await serveWithBroker({ state: 'env:KTX_TEST_STATE' });
    const { access, refresh } = await tokensOf(shop);
    expect(globSync(join(tokenFolder(shop.dir, process.env), 'logins.db*'))).toEqual([]);
    await using other = await serveRegions({ port: 0, network: shop.host.network }, {}, shop.dir);
    const elsewhere = { ...shop, url: other.url, origin: new URL(other.url).origin };
    expect((await askRevenue(elsewhere, access)).status).toBe(200);
    const again = { grant_type: 'refresh_token', refresh_token: refresh };
    const refreshed = await askToken(elsewhere, again);
    expect(refreshed.status).toBe(200);
    expect((await askRevenue(shop, refreshed.body['access_token'] ?? '')).status).toBe(200);
    // Used at one server, used at all.
    expect((await askToken(shop, again)).body['error']).toBe('invalid_grant');
    expect((await askRevenue(elsewhere, access)).status).toBe(401);
  });

  it('lets nobody in while the company or the database is away', async () => {
    await using shop = await serveWithBroker();
    await shop.company[Symbol.asyncDispose]();
    const page = await openQuestion(shop);
    expect(page.status).toBe(503);
    expect(page.text).not.toContain('127.0.0.1:');
    expect(shop.logs()).toContain('"refused":"issuer_unreachable"');
  });
});

/** Runs ktx in this process's environment. */
async function runKtx(dir: string, args: readonly string[]): Promise<string> {
  const main = join(import.meta.dirname, '../../../src/cli/main.ts');
  const { stdout } = await promisify(execFile)('node', [main, ...args], { cwd: dir });
  return stdout;
}
