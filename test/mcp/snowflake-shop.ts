import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { approve } from '../support/approve.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/postgres-server.ts';
import { makeSnowflake, secrets } from '../support/snowflake.ts';
import { serveRegions } from './http-shop.ts';

const script = `CREATE TABLE orders (word VARCHAR, region VARCHAR);
  INSERT INTO orders VALUES ('canary-dach', 'dach'), ('canary-us', 'us');`;
const regions: Readonly<Record<string, string>> = { ann: 'dach', bob: 'us' };

/** What people ask here. */
export const askWords = ['run_sql', { sql: 'SELECT word FROM orders' }] as const;

interface SnowflakeShop {
  /** `identity` of the connection. */
  readonly identity: object;
  /** Of the project, beside the token of the login. */
  readonly variables: Readonly<Record<string, string>>;
  /** Beside the issuer and the resource. */
  readonly auth?: object;
  readonly serve: object;
}

/**
 * A server of MCP with the login of the company, and Snowflake, which lets each person in with the
 * token `for-<person>` and shows them the rows of their region.
 */
export async function serveSnowflake({ identity, variables, auth, serve }: SnowflakeShop) {
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
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const provider = await startIdentityProvider(resource);
  const dir = mkdtempSync(join(tmpdir(), 'ktx-snowflake-'));
  const all = { TOKEN: secrets['env:TOKEN'] ?? '', ...variables };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(dir, '.env'), lines.join(''));
  const config = {
    connections: { shop: { ...snowflake.config, identity } },
    query: { run_sql: 'on' },
    serve: { auth: { issuer: provider.issuer, resource, ...auth }, ...serve },
  };
  writeFileSync(join(dir, 'ktx.yaml'), JSON.stringify(config));
  mkdirSync(join(dir, 'semantic-layer/shop'), { recursive: true });
  await approve(dir);
  const served = await serveRegions({ port, oidc: { keyCooldownMs: 0 } }, {}, dir);
  return {
    ...served,
    provider,
    snowflake,
    async [Symbol.asyncDispose](): Promise<void> {
      await served[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await snowflake.remove();
    },
  };
}
