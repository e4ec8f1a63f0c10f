import { randomUUID } from 'node:crypto';
import type { ProviderClient, ProviderContext, ProviderToken } from 'oidc-provider';
import { exportJWK, generateKeyPair } from 'jose';
import type { AuthConfig, BrokerConfig } from '../../project/open/serve-config.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { brokerIssuer } from '../http/resource-metadata.ts';
import { refuseRedirects, setApplicationType } from './client-rules.ts';
import { openClientDocuments, type DocumentNetwork } from './fetch-client-document.ts';
import { html, pageHeaders, pageText } from './pages.ts';
import type { People } from './people.ts';
import { openRecordAdapter } from './record-adapter.ts';

/** Seconds. */
const accessLifetime = 10 * 60;
const codeLifetime = 60;
/** A person has this long to log in and to agree. */
export const interactionLifetime = 10 * 60;

export interface AuthorizationServerInput {
  readonly auth: AuthConfig;
  readonly broker: BrokerConfig;
  readonly records: SharedRecords;
  readonly people: People;
  /** Signs cookies; the same for all servers. */
  readonly cookieKey: string;
  readonly network?: DocumentNetwork | undefined;
}

export type AuthorizationServer = Awaited<ReturnType<typeof openAuthorizationServer>>;

/**
 * The authorization server that clients of MCP ask for: codes with PKCE (S256), opaque tokens for
 * one resource, refresh tokens that are used once. It signs nobody in by itself, and remembers
 * nobody: `interaction.ts` does both for each request anew.
 */
export async function openAuthorizationServer(input: AuthorizationServerInput) {
  const { auth, broker, records, people, network } = input;
  const { Provider, errors } = await import('oidc-provider');
  const documents = openClientDocuments(broker.clients, network);
  const server = new Provider(brokerIssuer(auth.resource), {
    ...usualOptions,
    ...cookieOptions(input),
    adapter: openRecordAdapter(records, () => new errors.InvalidGrant('it was used already')),
    // No ID tokens are given, so that nothing is signed with it.
    jwks: { keys: [await throwAwayKey()] },
    scopes: [...Object.values(auth.scopes), 'offline_access'],
    ttl: lifetimes(broker),
    features: {
      ...usualFeatures,
      registration: {
        enabled: broker.legacy_registration,
        idFactory: () => randomUUID(),
        issueRegistrationAccessToken: false,
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: (_: unknown, id: string) => documents.mayFetch(id),
      },
      resourceIndicators: resourceOptions(auth, () => new errors.InvalidTarget()),
    },
    // A recognized field, so that the validator is asked.
    extraClientMetadata: {
      properties: ['software_id'],
      validator: (...[, , , metadata]: readonly [unknown, string, unknown, object]) => {
        const reason = refuseRedirects(Reflect.get(metadata, 'redirect_uris'), broker.clients);
        if (reason !== undefined) throw new errors.InvalidClientMetadata(reason);
        setApplicationType(metadata);
      },
    },
    fetch: (address: string | URL) => documents.fetch(address),
    // Each request is granted by itself: an earlier one says nothing about this one.
    loadExistingGrant: async ({ oidc }: ProviderContext) => {
      const id = oidc?.result?.consent?.grantId;
      return id === undefined ? undefined : server.Grant.find(id);
    },
    findAccount: async (_: unknown, account: string) =>
      (await people.find(account)) === undefined
        ? undefined
        : { accountId: account, claims: async () => ({ sub: account }) },
  });
  server.proxy = true;
  server.silent = true;
  return server;
}

const usualFeatures = {
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  revocation: {
    enabled: true,
    allowedPolicy: (_: unknown, client: ProviderClient, token: ProviderToken) =>
      token.clientId === client.clientId,
  },
};

const usualOptions = {
  responseTypes: ['code'],
  clientAuthMethods: ['none'],
  clientDefaults: {
    id_token_signed_response_alg: 'ES256',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  allowOmittingSingleRegisteredRedirectUri: false,
  pkce: { required: () => true },
  routes: {
    authorization: '/oauth/authorize',
    token: '/oauth/token',
    revocation: '/oauth/revoke',
    registration: '/oauth/register',
    jwks: '/oauth/jwks',
    end_session: '/oauth/end',
  },
  interactions: {
    url: (_: unknown, { uid }: { readonly uid: string }) => `/oauth/interaction/${uid}`,
  },
  // A page may ask for tokens if it is where the client lets people come back to.
  clientBasedCORS: (_: unknown, origin: string, { redirectUris }: ProviderClient) =>
    redirectUris.some((uri) => URL.parse(uri)?.origin === origin),
  issueRefreshToken: () => true,
  rotateRefreshToken: () => true,
  expiresWithSession: () => false,
  renderError,
};

function cookieOptions({ auth, cookieKey }: AuthorizationServerInput) {
  const secure = auth.resource.startsWith('https:');
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true, secure };
  const names = { session: 'ktx_session', interaction: 'ktx_login', resume: 'ktx_resume' };
  return { cookies: { keys: [cookieKey], names, long: cookie, short: cookie } };
}

function lifetimes({ session_hours: hours }: BrokerConfig) {
  return {
    AccessToken: accessLifetime,
    AuthorizationCode: codeLifetime,
    Grant: hours * 3600,
    Interaction: interactionLifetime,
    RefreshToken: hours * 3600,
    Session: interactionLifetime,
  };
}

/** Tokens are for this server, whatever a client asks for. */
function resourceOptions({ resource, scopes }: AuthConfig, refuse: () => Error) {
  const scope = Object.values(scopes).join(' ');
  return {
    enabled: true,
    defaultResource: () => resource,
    useGrantedResource: () => true,
    getResourceServerInfo: (_: unknown, wanted: string) => {
      if (wanted !== resource) throw refuse();
      return { scope, audience: resource, accessTokenFormat: 'opaque' };
    },
  };
}

interface ErrorTexts {
  readonly error?: string;
  readonly error_description?: string;
}

function renderError(context: ProviderContext, { error, error_description: text }: ErrorTexts) {
  for (const [name, value] of Object.entries(pageHeaders())) context.set(name, value);
  const body = html`<p>${text ?? ''} <code>${error ?? ''}</code></p>
    <p>Close this page, and begin again where you came from.</p>`;
  context.body = pageText({ title: 'This login cannot go on', body });
}

async function throwAwayKey() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' };
}
