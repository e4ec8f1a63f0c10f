import { importPKCS8, SignJWT } from 'jose';
import {
  type AuthorizedUser,
  credentialsError,
  type GoogleCredentials,
  type ServiceAccount,
} from './credentials.ts';
import { metadataHost } from './machine-login.ts';
import { type GoogleToken, requestToken } from './token-request.ts';

const tokenUri = 'https://oauth2.googleapis.com/token';
const bigqueryScope = 'https://www.googleapis.com/auth/bigquery';
/** Needed by the service that creates tokens for another service account. */
const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';
/** In milliseconds: a token is not used in the last minute of its time. */
const reserve = 60_000;
/** In milliseconds, for one token. */
const longestRequest = 30_000;
/** In seconds, as Google counts the life of tokens and of signed requests for them. */
const lifetime = 3600;

export interface GoogleLogin {
  /** The headers of a request; `fresh`: the server took the last token no longer. */
  headers(fresh: boolean, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** The token that requests have now, to take it out of what a server says. */
  secrets(): readonly string[];
}

/** Asks for a token when one is needed, once for all requests that wait for it. */
export function openLogin(credentials: GoogleCredentials): GoogleLogin {
  let current: GoogleToken | undefined;
  let pending: Promise<GoogleToken> | undefined;
  const renew = (): Promise<GoogleToken> => {
    pending ??= createToken(credentials, AbortSignal.timeout(longestRequest))
      .then((token) => (current = token))
      .finally(() => (pending = undefined));
    return pending;
  };
  return {
    async headers(fresh, signal) {
      signal.throwIfAborted();
      const isUsable = !fresh && current !== undefined && Date.now() < current.endsAt - reserve;
      const { token } =
        isUsable && current !== undefined ? current : await orAborted(renew(), signal);
      return { authorization: `Bearer ${token}` };
    },
    secrets: () => (current === undefined ? [] : [current.token]),
  };
}

/** One caller that gives up leaves the token to the others. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function createToken(
  { source, impersonationUrl }: GoogleCredentials,
  signal: AbortSignal,
): Promise<GoogleToken> {
  const scope = impersonationUrl === undefined ? bigqueryScope : cloudScope;
  const own = await ownToken(source, scope, signal);
  if (impersonationUrl === undefined) return own;
  return requestToken(
    {
      url: impersonationUrl,
      method: 'POST',
      headers: { authorization: `Bearer ${own.token}` },
      json: { scope: [bigqueryScope], lifetime: `${lifetime}s` },
      secrets: [own.token],
    },
    signal,
  );
}

function ownToken(
  source: GoogleCredentials['source'],
  scope: string,
  signal: AbortSignal,
): Promise<GoogleToken> {
  switch (source.type) {
    case 'service_account':
      return tokenOfKey(source, scope, signal);
    case 'authorized_user':
      return tokenOfUser(source, signal);
    case 'metadata_server':
      return tokenOfMachine(scope, signal);
  }
  return source satisfies never;
}

async function tokenOfKey(
  {
    client_email: email,
    private_key: key,
    private_key_id: keyId,
    token_uri: url = tokenUri,
  }: ServiceAccount,
  scope: string,
  signal: AbortSignal,
): Promise<GoogleToken> {
  const privateKey = await importPKCS8(key, 'RS256').catch(() => {
    throw credentialsError(
      `The private key of ${email} cannot be read.`,
      'Refer to the key file as Google wrote it, with its line breaks.',
    );
  });
  const now = Math.floor(Date.now() / 1000);
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(url)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime)
    .sign(privateKey);
  return requestToken(
    {
      url,
      method: 'POST',
      form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion },
      secrets: [assertion, key],
    },
    signal,
  );
}

function tokenOfUser(
  {
    client_id: id,
    client_secret: secret,
    refresh_token: refresh,
    token_uri: url = tokenUri,
  }: AuthorizedUser,
  signal: AbortSignal,
): Promise<GoogleToken> {
  const form = {
    grant_type: 'refresh_token',
    client_id: id,
    client_secret: secret,
    refresh_token: refresh,
  };
  return requestToken({ url, method: 'POST', form, secrets: [secret, refresh] }, signal);
}

/** The service account of a machine in Google's cloud. */
async function tokenOfMachine(scope: string, signal: AbortSignal): Promise<GoogleToken> {
  const host = metadataHost();
  const path = 'computeMetadata/v1/instance/service-accounts/default/token';
  const request = {
    url: `http://${host}/${path}?scopes=${encodeURIComponent(scope)}`,
    method: 'GET',
    headers: { 'metadata-flavor': 'Google' },
    secrets: [],
    allowPlain: true,
  } as const;
  return requestToken(request, signal).catch((error: unknown) => {
    const isMissing = error instanceof Error && /cannot be reached/.test(error.message);
    if (!isMissing) throw error;
    throw credentialsError(
      'There is no login for Google on this machine: no key, no login by gcloud, no metadata server.',
      'Set credentials of the connection to the key of a service account (file:key.json), or run: gcloud auth application-default login',
    );
  });
}
