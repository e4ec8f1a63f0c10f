import type { UserError } from '../../lib/error.ts';
import { warehouseError } from '../warehouse-error.ts';
import type { OpenContext } from '../driver.ts';
import type { SpendingAccount } from '../spending.ts';
import type { IdentityConfig, LoginConfig } from './identity-config.ts';

/** Who asks, as far as a warehouse may get to know it. */
export interface WarehouseCaller {
  /** The role of ktx. */
  readonly role: string | undefined;
  /** The name of the person, if whoever let them in vouches for it. */
  readonly person: string | undefined;
  /**
   * Gets a token for a warehouse in exchange for the one that the person came in with; undefined if
   * there was none. The warehouse never gets the latter.
   */
  readonly exchange?: ((wanted: WantedToken) => Promise<string>) | undefined;
  /**
   * Gives a token that the person got by signing in at the warehouse. Throws
   * `warehouse_login_needed` until they have. Undefined where nobody could sign in.
   */
  readonly signIn?: ((wanted: WantedSignIn) => Promise<string>) | undefined;
  /** What the caller may still read; undefined: there is no limit. */
  readonly account?: SpendingAccount | undefined;
}

/** A token that is good for a warehouse and for nothing else. */
export interface WantedToken {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** Where a person signs in, and as which client ktx asks there. */
export interface WantedSignIn {
  readonly connection: string;
  readonly url: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
}

/** As whom a statement runs, where that is not the login of the connection. */
export type StatementIdentity =
  | { readonly kind: 'role'; readonly role: string }
  | { readonly kind: 'person'; readonly person: string }
  | { readonly kind: 'token'; readonly token: string };

/**
 * As whom the statements of a caller run; undefined: as the login. Throws `identity_unknown` for a
 * caller whom the warehouse would not know: nobody falls back to the login.
 */
export async function identifyCaller(
  config: IdentityConfig | undefined,
  { role, person, exchange, signIn }: WarehouseCaller,
  context: IdentityContext,
): Promise<StatementIdentity | undefined> {
  const { connection, secrets } = context;
  if (config === undefined || config.mode === 'shared') return undefined;
  if (config.mode === 'session') {
    if (person === undefined || !/^[^\p{Cc}]{1,200}$/u.test(person)) throw nobody(connection);
    return { kind: 'person', person };
  }
  if (config.mode === 'exchange') {
    if (person === undefined || exchange === undefined) throw nobody(connection);
    const { client_id: clientId, client_secret: secret, audience, scope } = config;
    const wanted = { clientId, clientSecret: secrets(secret), audience, scope };
    return { kind: 'token', token: await exchange(wanted) };
  }
  if (config.mode === 'login')
    return { kind: 'token', token: await signInToken(config, { person, signIn }, context) };
  const { roles } = config;
  if (role === undefined || !Object.hasOwn(roles, role) || roles[role] === undefined)
    throw noRole(connection, role);
  return { kind: 'role', role: roles[role] };
}

type IdentityContext = Pick<OpenContext, 'connection' | 'secrets'>;

async function signInToken(
  { url, client_id: clientId, client_secret: secret, scope }: LoginConfig,
  { person, signIn }: Pick<WarehouseCaller, 'person' | 'signIn'>,
  { connection, secrets }: IdentityContext,
): Promise<string> {
  if (person === undefined || signIn === undefined) throw nobody(connection);
  const clientSecret = secret === undefined ? undefined : secrets(secret);
  return signIn({ connection, url, clientId, clientSecret, scope });
}

/**
 * Different for callers who may see different rows of the warehouse; undefined where all see the
 * same. For everything that remembers what a statement found.
 */
export function identityKey(
  config: IdentityConfig | undefined,
  { role, person }: WarehouseCaller,
): string | undefined {
  if (config === undefined || config.mode === 'shared') return undefined;
  return config.mode === 'role'
    ? JSON.stringify(['role', role, role === undefined ? undefined : config.roles[role]])
    : JSON.stringify([config.mode, person]);
}

/** The identity of an engine that knows roles only. */
export function roleOf(identity: StatementIdentity | undefined): string | undefined {
  if (identity === undefined) return undefined;
  if (identity.kind === 'role') return identity.role;
  throw new Error(`this engine has no identity of the kind ${identity.kind}`);
}

/** For a server that does not let the login become the identity. */
export function identityRefused(why: string): UserError {
  return warehouseError(
    'identity_unknown',
    `The login could not take the identity of the caller: ${why}`,
    { hint: 'In the warehouse, make the role and GRANT it to the login of the connection.' },
  );
}

function noRole(connection: string, role: string | undefined): UserError {
  const who = role === undefined ? 'Somebody without a role' : `The role ${role}`;
  return warehouseError(
    'identity_unknown',
    `${who} has no role in the warehouse of connection "${connection}".`,
    {
      hint: 'Use --role or KTX_ROLE with a role of identity.roles of the connection, or add yours there in ktx.yaml.',
    },
  );
}

function nobody(connection: string): UserError {
  return warehouseError(
    'identity_unknown',
    `Connection "${connection}" needs to know who asks, and nobody vouches for a name.`,
    {
      hint: 'Over HTTP, log in with the provider. On your own machine, set KTX_PERSON to the name that row security knows you by.',
    },
  );
}
