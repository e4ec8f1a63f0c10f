import { createHash } from 'node:crypto';
import {
  startLoopbackServer,
  type WireAnswer,
  type WireRequest,
} from '../recorded/loopback-server.ts';
import { serveSnowflake } from './snowflake-shop.ts';

/**
 * The endpoints at which Snowflake gives tokens, as it documents them. A browser that opens an
 * address comes back as the person who sits there.
 */
async function startTokenServer() {
  const codes = new Map<string, { readonly person: string; readonly challenge: string }>();
  const forms: Readonly<Record<string, string>>[] = [];
  const given = { seconds: 600 };
  const answer = ({ form, headers }: WireRequest): WireAnswer => {
    const fields = Object.fromEntries(form ?? []);
    forms.push(fields);
    const refused = { status: 400, json: { error: 'invalid_grant', message: 'SECRET' } };
    const basic = `Basic ${Buffer.from('ktx-client:s%26cret').toString('base64')}`;
    if (headers.authorization !== basic) return refused;
    const { code = '', code_verifier: verifier = '', refresh_token: refresh = '' } = fields;
    const asked = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const renewed = /^refresh-(\w+)$/.exec(refresh)?.[1];
    const person = asked?.challenge === challenge ? asked.person : renewed;
    if (person === undefined) return refused;
    const json = {
      access_token: `for-${person}`,
      token_type: 'Bearer',
      expires_in: given.seconds,
      ...(renewed === undefined && {
        refresh_token: `refresh-${person}`,
        username: person.toUpperCase(),
      }),
    };
    return { status: 200, json };
  };
  const server = await startLoopbackServer(answer);
  return {
    server,
    forms,
    given,
    /** What the address has become after the person signed in there. */
    open(address: string, person: string): URL {
      const { pathname, searchParams } = new URL(address);
      if (pathname !== '/oauth/authorize') throw new Error(`no page at ${pathname}`);
      const code = `code-${codes.size}-${person}`;
      codes.set(code, { person, challenge: searchParams.get('code_challenge') ?? '' });
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({
        code,
        state: searchParams.get('state') ?? '',
      }).toString();
      return back;
    },
  };
}

/** A server of MCP with the login of the company, and Snowflake, where each signs in themselves. */
export async function serveSignIn() {
  const tokens = await startTokenServer();
  const served = await serveSnowflake({
    identity: {
      mode: 'login',
      url: tokens.server.url,
      client_id: 'ktx-client',
      client_secret: 'env:SIGN_IN',
      scope: 'refresh_token',
    },
    variables: { SIGN_IN: 's&cret' },
    auth: { claims: { user: 'sub' } },
    serve: { default_role: 'all' },
  });
  return {
    ...served,
    tokens,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await tokens.server.close();
    },
  };
}
