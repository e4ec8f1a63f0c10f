import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderContext, ProviderError } from 'oidc-provider';
import { UserError } from '../../lib/error.ts';
import type { AuthConfig, BrokerConfig, ServeConfig } from '../../project/open/serve-config.ts';
import { requireExtra } from '../../store/extras/require-extra.ts';
import { sharedSecret, type SharedRecords } from '../../store/shared/shared-records.ts';
import { sendJson } from '../http/exchange.ts';
import type { Login } from '../http/identity.ts';
import { type OidcLogin, openRefusals, readScopes } from '../http/oidc.ts';
import { roleOfGroups } from '../http/person-role.ts';
import { openBucket } from '../usage/limits.ts';
import { type AuthorizationServer, openAuthorizationServer } from './authorization-server.ts';
import { openCompanyLogin } from './company-login.ts';
import type { DocumentNetwork } from './fetch-client-document.ts';
import { openInteractions } from './interaction.ts';
import { openPageLogin } from './page-login.ts';
import { openPeople, type People } from './people.ts';

/** Requests a minute, of all clients together: nobody has logged in yet. */
const mostRequests = 1200;
/** Clients that may register themselves in a minute, and that are kept. */
const mostRegistrations = 30;
const mostClients = 1000;

export interface BrokerInput {
  readonly auth: AuthConfig;
  readonly broker: BrokerConfig;
  readonly rules: Pick<ServeConfig, 'roles' | 'default_role'>;
  readonly clientSecret: string | undefined;
  readonly records: SharedRecords;
  /** Encrypts secrets among the records. */
  readonly secretKey: string | undefined;
  readonly report: (entry: object) => void;
  readonly network?: DocumentNetwork | undefined;
}

export type Broker = Awaited<ReturnType<typeof openBroker>>;

/** The login that ktx itself gives clients, behind that of the company. */
export async function openBroker(input: BrokerInput) {
  requireExtra('broker');
  const { auth, broker, records, secretKey, clientSecret, report } = input;
  const people = openPeople(records, auth);
  const cookieKey = await sharedSecret(records, { id: 'cookies', key: secretKey });
  const server = await openAuthorizationServer({ ...input, people, cookieKey });
  reportRefusals(server, report);
  const redirectUri = `${new URL(auth.resource).origin}/oauth/callback`;
  const company = openCompanyLogin({ auth, broker, clientSecret, redirectUri });
  const interactions = openInteractions({ ...input, people, company, server, cookieKey });
  return {
    login: openBrokerLogin(input, server, people),
    /** For a page of this server. */
    page: openPageLogin({ ...input, company, server }),
    answers: isBrokerPath,
    /** Answers a request to a path of the broker. */
    answer: openAnswers(input, server, interactions),
  };
}

const metadataPaths = ['oauth-authorization-server', 'openid-configuration'].map(
  (name) => `/.well-known/${name}`,
);

function isBrokerPath(path: string): boolean {
  return path.startsWith('/oauth/') || metadataPaths.includes(path);
}

type Interactions = ReturnType<typeof openInteractions>;

function openAnswers(
  { auth, broker, records, report }: BrokerInput,
  server: AuthorizationServer,
  interactions: Interactions,
) {
  const requests = openBucket(mostRequests, () => performance.now());
  const registrations = openBucket(mostRegistrations, () => performance.now());
  const handle = server.callback();
  const { host, protocol } = new URL(auth.resource);
  const usual = [auth.scopes.read, auth.scopes.query].join(' ');

  const waitFor = async (path: string): Promise<number> => {
    const wait = requests.take();
    if (wait > 0 || path !== '/oauth/register' || !broker.legacy_registration) return wait;
    const isFull = (await records.list('Client')).length >= mostClients;
    return isFull ? 3600 : registrations.take();
  };

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query] = (request.url ?? '').split(/\?(.*)/s);
    const wait = await waitFor(path);
    if (wait > 0) {
      report({ refused: 'too_many_logins', from: request.socket.remoteAddress });
      const body = { error: 'temporarily_unavailable', error_description: 'too many requests' };
      return sendJson(response, 429, { body, headers: { 'retry-after': String(wait) } });
    }
    // What the library knows of the way here is what the configuration says, not a header.
    for (const name of Object.keys(request.headers))
      if (name.startsWith('x-forwarded')) delete request.headers[name];
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = host;
    const interaction = interactions.find(request.method ?? '', path);
    if (interaction !== undefined) return interaction(request, response);
    if (path === '/oauth/authorize') {
      // Every request begins anew: who logged in before in this browser is nobody's business.
      request.headers.cookie = withoutSession(request.headers.cookie);
      // A copy: the library adds to the list.
      response.setHeader('set-cookie', [...goneSession]);
      request.url = `${path}?${withScope(query ?? '', usual)}`;
    }
    await handle(request, response);
  };
}

const goneSession = ['ktx_session', 'ktx_session.sig'].map(
  (name) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`,
);

function withoutSession(cookies = ''): string {
  return cookies
    .split(/;\s*/)
    .filter((cookie) => !cookie.startsWith('ktx_session'))
    .join('; ');
}

/** A client that names no scope gets the usual ones. */
function withScope(query: string, scope: string): string {
  const named = new URLSearchParams(query).get('scope');
  return named === null || named === ''
    ? `${query}&${new URLSearchParams({ scope }).toString()}`
    : query;
}

/** Lets people in with tokens that the broker gave. */
function openBrokerLogin(
  { auth, rules }: BrokerInput,
  server: AuthorizationServer,
  people: People,
): OidcLogin {
  const refuse = openRefusals(auth);
  const identify = async (text: string): Promise<Login> => {
    const token = await server.AccessToken.find(text);
    const { accountId, grantId = '', aud, scope } = token ?? {};
    if (accountId === undefined) return refuse.invalid('it is unknown, expired or revoked');
    if (aud !== auth.resource) return refuse.invalid('its aud does not fit');
    const [person, grant] = await Promise.all([people.find(accountId), server.Grant.find(grantId)]);
    if (person === undefined || grant === undefined) return refuse.invalid('it was revoked');
    const role = roleOfGroups(person.groups, rules);
    if (role === undefined) return refuse.role(person.groups);
    const scopes = readScopes({ scope }, auth.scopes);
    // The name that people see is not one that row security of a warehouse may go by.
    const who = { id: accountId, name: person.name, person: undefined };
    return { kind: 'in', identity: { ...who, role, scopes, canStepUp: true } };
  };
  return {
    missing: refuse.missing,
    stepUp: refuse.stepUp,
    async login(text) {
      try {
        return await identify(text);
      } catch (error) {
        if (error instanceof UserError) return refuse.unavailable();
        throw error;
      }
    },
  };
}

const refusalEvents = [
  'authorization.error',
  'grant.error',
  'registration_create.error',
  'revocation.error',
  'discovery.error',
  'jwks.error',
  'end_session_confirm.error',
  'server_error',
];

/** Writes down what the authorization server refused; its texts have no tokens. */
function reportRefusals(server: AuthorizationServer, report: BrokerInput['report']): void {
  const note = ({ req, oidc }: ProviderContext, error: ProviderError): void =>
    report({
      refused: error.error ?? 'server_error',
      reason: error.error_detail ?? error.error_description ?? error.message,
      client: oidc?.client?.clientId,
      from: req.socket.remoteAddress,
    });
  for (const event of refusalEvents) server.on(event, note);
}
