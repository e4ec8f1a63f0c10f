import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** Who works there, by their number. */
const staff: Readonly<Record<string, object>> = {
  'p-1': { email: 'ann@x.example', email_verified: true, groups: ['staff', 'finance-dach'] },
  'p-2': { email: 'bob@x.example', email_verified: true, groups: ['sales-us'] },
  'p-3': { email: 'eve@x.example', email_verified: true, groups: ['visitors'] },
  // Says that he is Ann, and nobody has checked it.
  'p-4': { email: 'ann@x.example', email_verified: false, groups: ['sales-us'] },
};

/**
 * A real OpenID provider on loopback, where people log in with a browser. `signIn` says who sits
 * before it. It knows ktx as one client with a secret.
 */
export async function startCompany(redirectUri: string) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'company', use: 'sig', alg: 'RS256' };
  let person = 'p-1';
  const asked: URL[] = [];
  let tokenAnswer: ((given: Record<string, unknown>) => Promise<object>) | undefined;
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const groupsOf = new Map(Object.entries(staff));
  const provider = openProvider({ issuer, redirectUri, jwk, groupsOf });
  const answer = provider.callback();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', issuer);
    asked.push(url);
    if (url.pathname.startsWith('/interaction/')) return logIn(request, response);
    if (url.pathname === '/token' && tokenAnswer !== undefined) {
      const nonce = asked
        .findLast(({ pathname }) => pathname === '/auth')
        ?.searchParams.get('nonce');
      const given = await tokenAnswer({ nonce });
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(given));
    }
    await answer(request, response);
  }

  async function logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params } = await provider.interactionDetails(request, response);
    const isLogin = prompt.name === 'login';
    const grant = new provider.Grant({ accountId: person, clientId: String(params['client_id']) });
    grant.addOIDCScope(String(params['scope']));
    const result = isLogin
      ? { login: { accountId: person } }
      : { consent: { grantId: await grant.save() } };
    const location = await provider.interactionResult(request, response, result);
    response.writeHead(303, { location }).end();
  }

  return {
    issuer,
    asked,
    signIn: (who: string) => void (person = who),
    /** Another department: the next login says so. */
    move: (who: string, groups: readonly string[]) =>
      void groupsOf.set(who, { ...groupsOf.get(who), groups }),
    /** Answers for the token endpoint; undefined: as the provider does. */
    answerTokens: (other: typeof tokenAnswer) => void (tokenAnswer = other),
    sign: (claims: object, alg = 'RS256', key: Parameters<SignJWT['sign']>[0] = privateKey) => {
      const now = Math.floor(Date.now() / 1000);
      const who = { sub: 'p-1', email: 'ann@x.example', groups: ['finance-dach'] };
      const usual = { iss: issuer, aud: 'ktx', iat: now, exp: now + 60, ...who };
      return new SignJWT({ ...usual, ...claims })
        .setProtectedHeader({ alg, kid: 'company' })
        .sign(key);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

interface CompanyInput {
  readonly issuer: string;
  readonly redirectUri: string;
  readonly jwk: object;
  readonly groupsOf: ReadonlyMap<string, object>;
}

function openProvider({ issuer, redirectUri, jwk, groupsOf }: CompanyInput): Provider {
  return new Provider(issuer, {
    jwks: { keys: [jwk] },
    cookies: { keys: ['worthless'] },
    adapter: openMemory(),
    ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
    clients: [
      {
        client_id: 'ktx',
        client_secret: 'ktx-secret-of-the-company',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [redirectUri],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    features: { devInteractions: { enabled: false } },
    findAccount: async (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...groupsOf.get(id) }),
    }),
  });
}

/** Where the provider keeps its codes and sessions. */
function openMemory() {
  const kept = new Map<string, Record<string, unknown>>();
  return (model: string) => ({
    upsert: async (id: string, payload: Record<string, unknown>) =>
      void kept.set(`${model} ${id}`, payload),
    find: async (id: string) => kept.get(`${model} ${id}`),
    findByUid: async (uid: string) =>
      [...kept].find(([key, payload]) => key.startsWith(model) && payload['uid'] === uid)?.[1],
    consume: async (id: string) =>
      void Object.assign(kept.get(`${model} ${id}`) ?? {}, { consumed: Date.now() / 1000 }),
    destroy: async (id: string) => void kept.delete(`${model} ${id}`),
    revokeByGrantId: async () => undefined,
  });
}
