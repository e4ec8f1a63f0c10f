import type { AccessToken, TokenStore } from './tokens.ts';

type Login =
  | { readonly kind: 'token'; readonly token: AccessToken }
  | { readonly kind: 'refused'; readonly error: string; readonly challenge: string };

/**
 * Who sent a request, by its `Authorization` header. Reads the tokens at every request, so that a
 * revoked one is refused at once.
 */
export function authenticate(tokens: TokenStore, header: string | undefined): Login {
  const text = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (text === undefined)
    return {
      kind: 'refused',
      error: 'This server needs a token. Send it as: Authorization: Bearer ktx_…',
      challenge: 'Bearer realm="ktx"',
    };
  const token = tokens.find(text);
  if (token?.state === 'valid') return { kind: 'token', token };
  const error =
    token === undefined
      ? 'The server does not know this token. Ask the person who runs it for one.'
      : `This token is ${token.state}. Ask the person who runs the server for a new one.`;
  return { kind: 'refused', error, challenge: 'Bearer realm="ktx", error="invalid_token"' };
}
