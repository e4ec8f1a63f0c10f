import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startLoopbackServer,
  type WireAnswer,
  type WireRequest,
} from '../recorded/loopback-server.ts';
import { approve } from '../support/approve.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/postgres-server.ts';
import { makeSnowflake, secrets } from '../support/snowflake.ts';
import { serveRegions } from './http-shop.ts';

const script = `CREATE TABLE orders (word VARCHAR, region VARCHAR);
  INSERT INTO orders VALUES ('canary-dach', 'dach'), ('canary-us', 'us');`;
const regions: Readonly<Record<string, string>> = { ann: 'dach', bob: 'us' };

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
  const snowflake = await makeSnowflake(script, {
    secure: (text, { token }) => {
      const region = regions[token.replace('for-', '')] ?? 'none';
      const rows = `(SELECT * FROM orders WHERE region = '${region}') AS orders`;
      return text.replace(/FROM orders\b/, `FROM ${rows}`);
    },
    logins: {
      account: 'TESTORG-TESTACCOUNT',
      user: 'KTX_READER',
      tokens: [secrets['env:TOKEN'] ?? ''],
      oauthTokens: Object.keys(regions).map((name) => `for-${name}`),
    },
  });
  const tokens = await startTokenServer();
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const provider = await startIdentityProvider(resource);
  const identity = {
    mode: 'login',
    url: tokens.server.url,
    client_id: 'ktx-client',
    client_secret: 'env:SIGN_IN',
    scope: 'refresh_token',
  };
  const dir = mkdtempSync(join(tmpdir(), 'ktx-sign-in-'));
  writeFileSync(join(dir, '.env'), `TOKEN=${secrets['env:TOKEN']}\nSIGN_IN=s&cret\n`);
  const config = {
    connections: { shop: { ...snowflake.config, identity } },
    query: { run_sql: 'on' },
    serve: {
      auth: { issuer: provider.issuer, resource, claims: { user: 'sub' } },
      default_role: 'all',
    },
  };
  writeFileSync(join(dir, 'ktx.yaml'), JSON.stringify(config));
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  await approve(dir);
  const served = await serveRegions({ port, oidc: { keyCooldownMs: 0 } }, {}, dir);
  return {
    ...served,
    provider,
    snowflake,
    tokens,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await tokens.server.close();
      await snowflake.remove();
    },
  };
}
