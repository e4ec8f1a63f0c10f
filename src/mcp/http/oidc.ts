import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { openTokenExchange } from '../exchange/token-exchange.ts';
import { UserError } from '../../lib/error.ts';
import type { AuthConfig, ServeConfig } from '../../project/open/serve-config.ts';
import { fetchDocument, unreachable } from './fetch-json.ts';
import type { Identity, Login, RefusedLogin } from './identity.ts';
import { roleOfGroups } from './person-role.ts';
import { resourceMetadataUrl } from './resource-metadata.ts';
import { type CallScope, callScopes } from './tokens.ts';

/** Only signatures that nobody can make who has the public key. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** Access tokens. Some providers write `JWT`, or nothing. */
const tokenTypes = new Set(['at+jwt', 'application/at+jwt', 'jwt', '']);

const clockSkewSeconds = 30;

const metadataSchema = z.looseObject({
  issuer: z.string(),
  jwks_uri: z.url(),
  token_endpoint: z.url().optional(),
});
type ProviderMetadata = z.infer<typeof metadataSchema>;

/** More or longer ones are no groups of a person. */
const groupsSchema = z.array(z.string().max(1000)).max(5000);

type AccessClaims = Readonly<Record<string, unknown>>;

interface OidcOptions {
  /** Milliseconds between two fetches of the keys that unknown keys may cause. */
  readonly keyCooldownMs?: number;
}

/** Lets people in by what the company's provider says about them. */
export interface OidcLogin {
  /** For a request without a token. */
  missing(): RefusedLogin;
  /** What a client has to get for a call that its token does not allow. */
  stepUp(identity: Identity, wanted: CallScope): string;
  login(token: string): Promise<Login>;
}

/** Lets people in with access tokens of one OpenID provider, which are for this server. */
export function openOidc(
  auth: AuthConfig,
  rules: Pick<ServeConfig, 'roles' | 'default_role'>,
  { keyCooldownMs = 30_000 }: OidcOptions = {},
): OidcLogin {
  const refuse = openRefusals(auth);
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const openKeys = (): Promise<JWTVerifyGetKey> => {
    keys ??= discoverKeys(auth.issuer, keyCooldownMs);
    // The next request tries again.
    keys.catch(() => (keys = undefined));
    return keys;
  };
  const exchangeFor = openTokenExchange(() => findTokenEndpoint(auth.issuer));
  return {
    missing: refuse.missing,
    stepUp: refuse.stepUp,
    async login(token: string): Promise<Login> {
      try {
        const { payload } = await jwtVerify(token, await openKeys(), {
          issuer: auth.issuer,
          audience: auth.audience ?? auth.resource,
          algorithms,
          clockTolerance: clockSkewSeconds,
          requiredClaims: ['exp', 'sub'],
        });
        const login = identify(payload, tokenType(token));
        if (login === undefined) return refuse.invalid('it is no access token');
        if (login.kind === 'refused') return login;
        return { ...login, identity: { ...login.identity, exchange: exchangeFor(token) } };
      } catch (error) {
        if (error instanceof UserError || isKeyFault(error)) return refuse.unavailable();
        if (error instanceof errors.JOSEError) return refuse.invalid(reasonOf(error));
        throw error;
      }
    },
  };

  /** Undefined for a token that is signed for something else. */
  function identify(claims: AccessClaims, type: string): Login | undefined {
    // A token that is bound to a key of the client proves nothing without that key.
    if (!tokenTypes.has(type) || claims['cnf'] !== undefined) return undefined;
    const groups = readGroups(claims[auth.claims.groups]);
    const role = roleOfGroups(groups, rules);
    if (role === undefined) return refuse.role(groups);
    const user = claims[auth.claims.user];
    const name = typeof user === 'string' && user !== '' ? user : String(claims['sub']);
    const scopes = readScopes(claims, auth.scopes);
    const id = `${auth.issuer} ${String(claims['sub'])}`;
    return {
      kind: 'in',
      identity: {
        id,
        name: name.slice(0, 200),
        person: vouchedName(claims, auth.claims.user),
        role,
        scopes,
        canStepUp: true,
      },
    };
  }
}

/**
 * The name for row security of a warehouse. An address that the provider has not verified may be
 * that of somebody else.
 */
function vouchedName(claims: AccessClaims, claim: string): string | undefined {
  const name = claims[claim];
  const isDoubted = claim === 'email' && claims['email_verified'] === false;
  return typeof name === 'string' && name !== '' && !isDoubted ? name : undefined;
}

async function discoverKeys(issuer: string, cooldownDuration: number): Promise<JWTVerifyGetKey> {
  const { jwks_uri: keys } = await readMetadata(issuer);
  return createRemoteJWKSet(new URL(keys), {
    cooldownDuration,
    [customFetch]: (url) => fetchDocument(url),
  });
}

async function findTokenEndpoint(issuer: string): Promise<string> {
  const endpoint = (await readMetadata(issuer)).token_endpoint;
  if (endpoint === undefined) throw unreachable(issuer, 'it names no token endpoint');
  return endpoint;
}

/** Reads where the provider has what, and checks that it is the one that was meant. */
async function readMetadata(issuer: string): Promise<ProviderMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetchDocument(url);
  const { data } = metadataSchema.safeParse(await response.json().catch(() => undefined));
  if (!response.ok || data === undefined) throw unreachable(url, `status ${response.status}`);
  if (data.issuer !== issuer) throw unreachable(url, `it is the document of ${data.issuer}`);
  const addresses = [data.jwks_uri, data.token_endpoint ?? 'https:'];
  const isSafe = addresses.every((address) => address.startsWith('https:'));
  if (!isSafe && !issuer.startsWith('http:'))
    throw unreachable(url, 'what it names is not behind https');
  return data;
}

/** True if the provider's keys cannot be had, which is no fault of the token. */
function isKeyFault(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  // The base class: an answer that is no list of keys.
  return error instanceof errors.JOSEError && error.code === errors.JOSEError.code;
}

function tokenType(token: string): string {
  const [header = ''] = token.split('.');
  const { typ } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { typ?: unknown };
  return typeof typ === 'string' ? typ.toLowerCase() : '';
}

export function readGroups(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return [claim];
  return groupsSchema.safeParse(claim).data ?? [];
}

/** `scope` has spaces between them, `scp` may be a list. */
export function readScopes(claims: AccessClaims, names: AuthConfig['scopes']): Identity['scopes'] {
  const given = new Set([claims['scope'], claims['scp']].flatMap(scopeNames));
  return callScopes.filter((scope) => given.has(names[scope]));
}

function scopeNames(claim: unknown): readonly unknown[] {
  if (typeof claim === 'string') return claim.split(' ');
  return Array.isArray(claim) ? claim : [];
}

/** In words that name nothing of the token. */
function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) return `its ${error.claim} does not fit`;
  if (error instanceof errors.JWKSNoMatchingKey) return 'the provider has no such key';
  return 'its signature does not hold';
}

/** The answers to requests that do not get in by the provider. */
export function openRefusals({ resource, scopes }: AuthConfig) {
  const metadata = `resource_metadata="${resourceMetadataUrl(resource)}"`;
  const named = (wanted: readonly CallScope[]) => wanted.map((scope) => scopes[scope]).join(' ');
  const usual = `scope="${named(['read', 'query'])}"`;
  const failed = 'Bearer error=';
  return {
    missing: (): RefusedLogin => ({
      kind: 'refused',
      status: 401,
      code: 'token_missing',
      error: 'This server needs a login. Clients that know OAuth find it by the header.',
      challenge: `Bearer ${metadata}, ${usual}`,
    }),
    invalid: (reason: string): RefusedLogin => ({
      kind: 'refused',
      status: 401,
      code: 'invalid_token',
      error: `This token does not let in: ${reason}.`,
      challenge: `${failed}"invalid_token", ${metadata}, ${usual}`,
    }),
    stepUp: (identity: Identity, wanted: CallScope): string => {
      const all = callScopes.filter((scope) => scope === wanted || identity.scopes.includes(scope));
      return `${failed}"insufficient_scope", scope="${named(all)}", ${metadata}`;
    },
    role: (groups: readonly string[]): RefusedLogin => ({
      kind: 'refused',
      status: 403,
      code: 'role_unknown',
      error: `No role here belongs to your groups (${listed(groups)}). Ask the person who runs the server: serve.roles in ktx.yaml.`,
      challenge: undefined,
    }),
    unavailable: (): RefusedLogin => ({
      kind: 'refused',
      status: 503,
      code: 'issuer_unreachable',
      error: 'The login cannot be checked: the OpenID provider gives no usable answer.',
      challenge: undefined,
    }),
  };
}

function listed(groups: readonly string[]): string {
  if (groups.length === 0) return 'your token names none';
  const more = groups.length > 20 ? ` and ${groups.length - 20} more` : '';
  return `${groups.slice(0, 20).join(', ')}${more}`;
}
