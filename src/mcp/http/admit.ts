import type { IncomingMessage, ServerResponse } from 'node:http';
import { UserError } from '../../lib/error.ts';
import type { AuthConfig } from '../../project/open/serve-config.ts';
import { authenticate } from './authenticate.ts';
import type { HttpCaller } from './callers.ts';
import { sendJson } from './exchange.ts';
import type { Identity, Login, RefusedLogin } from './identity.ts';
import type { OidcLogin } from './oidc.ts';
import type { TokenStore } from './tokens.ts';

/** Who may come in, and what is told to the others. */
export interface AdmitInput {
  readonly tokens: TokenStore;
  /** The OpenID provider that lets people in; undefined without one. */
  readonly provider: { readonly auth: AuthConfig; readonly oidc: OidcLogin } | undefined;
  /** Takes what went wrong in the server itself, and who was refused. */
  readonly report: (entry: object) => void;
}

/** Answers requests that do not get in. */
export function openAdmission({ tokens, provider, report }: AdmitInput) {
  const logins = { tokens, oidc: provider?.oidc };
  let needsLogin = provider !== undefined;
  const refuse = (response: ServerResponse, refused: RefusedLogin): undefined => {
    const { status, code, error, challenge } = refused;
    report({ refused: code, from: response.req.socket.remoteAddress });
    const headers: Record<string, string> =
      challenge === undefined ? {} : { 'www-authenticate': challenge };
    sendJson(response, status, { body: { error: code, error_description: error }, headers });
    return undefined;
  };
  return {
    /** Undefined if the request was answered: its sender may not come in. */
    async admit(
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<Extract<Login, { kind: 'in' }> | typeof withoutLogin | undefined> {
      // Stays once it is: a server does not open up when its tokens are removed.
      try {
        needsLogin ||= await tokens.hasAny();
        if (!needsLogin) return withoutLogin;
        const login = await authenticate(logins, request.headers.authorization);
        return login.kind === 'in' ? login : refuse(response, login);
      } catch (error) {
        // Who cannot be checked does not come in.
        if (error instanceof UserError && error.retryable) return refuse(response, unchecked);
        throw error;
      }
    },
    /** Who has that token, by the same rules; without a login of the server nobody has one. */
    async whoHas(token: string): Promise<Login> {
      try {
        return await authenticate(logins, `Bearer ${token}`);
      } catch (error) {
        if (error instanceof UserError && error.retryable) return unchecked;
        throw error;
      }
    },
    /** True if the message was answered: it needs a scope that the client can get. */
    asksForScope(
      response: ServerResponse,
      identity: Identity | undefined,
      scope: ReturnType<HttpCaller['missingScope']>,
    ): boolean {
      if (scope === undefined || provider === undefined || identity?.canStepUp !== true)
        return false;
      const challenge = provider.oidc.stepUp(identity, scope);
      const error = `This call needs the scope ${provider.auth.scopes[scope]}.`;
      const step = { kind: 'refused', status: 403, code: 'insufficient_scope' } as const;
      refuse(response, { ...step, error, challenge });
      return true;
    },
  };
}

const unchecked: RefusedLogin = {
  kind: 'refused',
  status: 503,
  code: 'state_unreachable',
  error: 'The login cannot be checked: the database of the server gives no usable answer.',
  challenge: undefined,
};

const withoutLogin = { kind: 'in', identity: undefined } as const;
