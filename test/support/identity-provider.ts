import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** People, as clients of the grant for machines, and what their tokens say about them. */
const people: Readonly<Record<string, object>> = {
  ann: { email: 'ann@x.example', groups: ['staff', 'finance-dach'] },
  bob: { email: 'bob@x.example', groups: ['sales-us'] },
  eve: { email: 'eve@x.example', groups: ['visitors'] },
};

const scopes = 'ktx.read ktx.query ktx.write';

/**
 * A real OpenID provider on loopback. It gives access tokens for one resource. `rotate` gives it
 * new keys.
 */
export async function startIdentityProvider(resource: string) {
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const fetched: string[] = [];
  let exchange: Exchange | undefined;
  const server = createServer((request, response) => {
    fetched.push(request.url ?? '');
    const answer = isExchange(request) ? exchange : undefined;
    if (answer === undefined) void handle(request, response);
    else void readForm(request).then((form) => answer(form, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key = await makeKey('first');
  const serve = (): void => {
    handle = openProvider(issuer, resource, key.jwk).callback();
  };
  serve();
  return {
    issuer,
    /** The paths that were asked for. */
    fetched,
    /** The key that signs, with its private part. */
    key: () => key,
    async rotate(): Promise<void> {
      key = await makeKey(`key-${Math.random()}`);
      serve();
    },
    /** Answers with something else until `serve` is called. */
    answerWith: (other: typeof handle) => void (handle = other),
    serve,
    /** What it answers to whoever logs in as the client `exchanger` (RFC 8693). */
    exchangeWith: (answer: Exchange) => void (exchange = answer),
    /** A token that the provider gives. */
    async token(person: string, scope = 'ktx.read ktx.query'): Promise<string> {
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${person}:secret`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    /** A token of the provider's key, with these claims and headers in place of usual ones. */
    sign: (claims: object = {}, header: Partial<JWTHeaderParameters> = {}): Promise<string> =>
      new SignJWT({ ...usualClaims(issuer, resource), ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid ?? '', typ: 'at+jwt', ...header })
        .sign(key.privateKey, { crit: { x: true } }),
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

type Exchange = (form: URLSearchParams, response: ServerResponse) => void;

function isExchange({ headers, url }: IncomingMessage): boolean {
  return url === '/token' && headers.authorization === `Basic ${btoa('exchanger:s%26cret')}`;
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const piece of request) text += String(piece);
  return new URLSearchParams(text);
}

export function usualClaims(issuer: string, resource: string) {
  const now = Math.floor(Date.now() / 1000);
  const who = { sub: 'ann', ...people['ann'], scope: 'ktx.read ktx.query' };
  return { iss: issuer, aud: resource, iat: now, exp: now + 300, ...who };
}

async function makeKey(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const own = { kid, use: 'sig', alg: 'RS256' };
  const jwk: JWK = { ...(await exportJWK(privateKey)), ...own };
  return { privateKey, publicKey, jwk };
}

function openProvider(issuer: string, resource: string, jwk: JWK): Provider {
  return new Provider(issuer, {
    jwks: { keys: [jwk] },
    // Its tokens are not looked up: they say everything themselves.
    adapter: () => ({ upsert: async () => undefined, find: async () => undefined }),
    ttl: { ClientCredentials: 300 },
    scopes: ['openid', ...scopes.split(' ')],
    clients: Object.keys(people).map((client) => ({
      client_id: client,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      scope: scopes,
    })),
    extraTokenClaims: (_, token) => people[token.clientId ?? ''],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: scopes,
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
}
