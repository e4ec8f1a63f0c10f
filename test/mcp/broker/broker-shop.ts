import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/postgres-server.ts';
import { throwAwayCertificate } from '../../support/certificate.ts';
import { callTool } from '../call-tool.ts';
import { makeRegions, serveRegions } from '../http-shop.ts';
import { type Browser, openBrowser } from './browser.ts';
import { startCompany } from './company.ts';

process.env['KTX_TEST_COMPANY_SECRET'] = 'ktx-secret-of-the-company';

const roles = [
  { group: 'finance-dach', role: 'dach' },
  { group: 'sales-us', role: 'us' },
];
const redirect = 'https://client.example/back';

/** The internet of the tests: one host with TLS, which is really on this machine. */
async function startClientHost() {
  const { key, certificate } = throwAwayCertificate('client.example');
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  let fetched = 0;
  const server = createTlsServer({ key, cert: certificate }, (request, response) => {
    fetched += 1;
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://client.example:${(server.address() as AddressInfo).port}`;
  const lookup: LookupFunction = (_host, options, callback) =>
    options.all === true
      ? callback(null, [{ address: '127.0.0.1', family: 4 }])
      : callback(null, '127.0.0.1', 4);
  return {
    url,
    id: `${url}/client.json`,
    network: { lookup, tls: { ca: Buffer.from(certificate) } },
    fetched: () => fetched,
    answerWith: (other: typeof handle) => void (handle = other),
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** A server whose people log in at a provider beside it, and a client with a document. */
export async function serveWithBroker(
  serve: object = {},
  broker: object = {},
  makeProject: (serve: object) => Promise<string> = makeRegions,
) {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const resource = `${origin}/mcp`;
  const company = await startCompany(`${origin}/oauth/callback`);
  const host = await startClientHost();
  const document = {
    client_id: host.id,
    client_name: 'Test client',
    redirect_uris: [redirect, 'http://127.0.0.1/back'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  const sendDocument = (changes: object = {}) =>
    host.answerWith((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...document, ...changes }));
    });
  sendDocument();
  const auth = {
    mode: 'broker',
    issuer: company.issuer,
    resource,
    broker: {
      client_id: 'ktx',
      client_secret: 'env:KTX_TEST_COMPANY_SECRET',
      login_scopes: ['openid', 'email', 'groups'],
      clients: ['client.example'],
      ...broker,
    },
  };
  const dir = await makeProject({ auth, roles, ...serve });
  const served = await serveRegions({ port, network: host.network }, {}, dir);
  return {
    ...served,
    origin,
    resource,
    company,
    host,
    sendDocument,
    logs: () =>
      globSync(join(served.dir, '.ktx/{logs,audit}/*'))
        .map((file) => readFileSync(file, 'utf8'))
        .join(''),
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await company[Symbol.asyncDispose]();
      await host[Symbol.asyncDispose]();
    },
  };
}

export type BrokerShop = Awaited<ReturnType<typeof serveWithBroker>>;

const verifier = randomBytes(32).toString('base64url');
const challenge = createHash('sha256').update(verifier).digest('base64url');

/** The address at which a client lets a person log in. */
export function authorizeUrl(shop: BrokerShop, changes: Record<string, string | undefined> = {}) {
  const usual = {
    client_id: shop.host.id,
    response_type: 'code',
    redirect_uri: redirect,
    scope: 'ktx.read ktx.query',
    state: 'state-of-the-client',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource: shop.resource,
    ...changes,
  };
  const given = Object.entries(usual).filter((entry): entry is [string, string] => !!entry[1]);
  return `${shop.origin}/oauth/authorize?${new URLSearchParams(given).toString()}`;
}

/** Logs in at the company, up to the question whether the client may ask. */
export const openQuestion = (shop: BrokerShop, browser: Browser = openBrowser(), url = '') =>
  browser.follow(url || authorizeUrl(shop));

/** What the client gets back, after a login where the person agrees. */
export async function allow(shop: BrokerShop, browser: Browser = openBrowser(), url = '') {
  const page = await openQuestion(shop, browser, url);
  const agreed = await browser.answer(page, 'allow');
  const back = await browser.follow(agreed.location ?? '', ['https://', 'http://127.0.0.1/back']);
  return new URL(back.location ?? 'about:blank').searchParams;
}

/** Asks the token endpoint. */
export async function askToken(shop: BrokerShop, form: Record<string, string>) {
  const response = await fetch(`${shop.origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: shop.host.id, ...form }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

export const redeem = (shop: BrokerShop, code: string, changes: Record<string, string> = {}) =>
  askToken(shop, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirect,
    code_verifier: verifier,
    ...changes,
  });

/** The tokens of somebody who logged in and agreed. */
export async function tokensOf(shop: BrokerShop, who = 'p-1') {
  shop.company.signIn(who);
  const { body } = await redeem(shop, (await allow(shop)).get('code') ?? '');
  return { access: body['access_token'] ?? '', refresh: body['refresh_token'] ?? '', body };
}

/** Asks for the revenue with a token. */
export const askRevenue = ({ url }: BrokerShop, token: string) =>
  callTool({ url, token }, [
    'query_metrics',
    { metrics: ['orders.revenue'], dimensions: ['orders.region'] },
  ]);
