import type { WarehouseCaller } from '../../warehouse/identity/statement-identity.ts';
import type { AccessToken } from './tokens.ts';

/** Who sent a request, as a token says. */
export interface Identity extends Pick<AccessToken, 'id' | 'name' | 'role' | 'scopes'> {
  /** The name that the warehouse may take for granted; undefined if nobody vouches for it. */
  readonly person: string | undefined;
  /** Undefined for a token that no provider gave. */
  readonly exchange?: WarehouseCaller['exchange'];
  /** True if the client can get a token with more scopes itself. */
  readonly canStepUp: boolean;
}

/** The answer to a request that does not get in. */
export interface RefusedLogin {
  readonly kind: 'refused';
  readonly status: 401 | 403 | 503;
  /** For logs and programs. */
  readonly code: string;
  readonly error: string;
  /** The header `WWW-Authenticate`; undefined if no other token would help. */
  readonly challenge: string | undefined;
}

export type Login = { readonly kind: 'in'; readonly identity: Identity } | RefusedLogin;
