import type { Login, RefusedLogin } from './identity.ts';
import type { OidcLogin } from './oidc.ts';
import type { TokenStore } from './tokens.ts';

interface Logins {
  readonly tokens: TokenStore;
  readonly oidc: OidcLogin | undefined;
}

/**
 * Who sent a request, by its `Authorization` header. Reads the tokens at every request, so that a
 * revoked one is refused at once.
 */
export async function authenticate(
  { tokens, oidc }: Logins,
  header: string | undefined,
): Promise<Login> {
  const text = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (text === undefined)
    return oidc?.missing() ?? refuse('token_missing', missingText, 'Bearer realm="ktx"');
  if (oidc !== undefined && !text.startsWith('ktx_')) return oidc.login(text);
  const token = await tokens.find(text);
  if (token?.state === 'valid')
    return { kind: 'in', identity: { ...token, person: token.name, canStepUp: false } };
  const error =
    token === undefined
      ? 'The server does not know this token. Ask the person who runs it for one.'
      : `This token is ${token.state}. Ask the person who runs the server for a new one.`;
  return refuse('invalid_token', error, 'Bearer realm="ktx", error="invalid_token"');
}

const missingText = 'This server needs a token. Send it as: Authorization: Bearer ktx_…';

function refuse(code: string, error: string, challenge: string): RefusedLogin {
  return { kind: 'refused', status: 401, code, error, challenge };
}
