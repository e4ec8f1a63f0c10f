import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { AuthConfig, BrokerConfig } from '../../project/open/serve-config.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { openBucket } from '../usage/limits.ts';
import { type AuthorizationServer, interactionLifetime } from './authorization-server.ts';
import type { CompanyLogin } from './company-login.ts';
import { keepStartedLogin } from './started-login.ts';

interface PageLoginInput {
  readonly auth: AuthConfig;
  readonly broker: BrokerConfig;
  readonly records: SharedRecords;
  readonly company: CompanyLogin;
  readonly server: AuthorizationServer;
  readonly report: (entry: object) => void;
}

/** Lets people log in to a page of this server, at the provider of their company. */
export interface PageLogin {
  /** The host and port of the page: only there a login ends. */
  readonly host: string;
  /** The host of the provider. */
  readonly provider: string;
  /** Where to send the browser, with the cookies that bind the login to it. */
  begin(): Promise<{ readonly url: string; readonly cookies: readonly string[] }>;
  /**
   * A token of whoever logged in in this browser, by its `Cookie` header; undefined if nobody did.
   * A login is good for one token.
   */
  redeem(cookies: string | undefined): Promise<string | undefined>;
  /** Takes the cookie of a login back. */
  readonly forget: string;
  /** Ends what a token lets in. */
  end(token: string): Promise<void>;
}

/** As whom the page gets its tokens: `ktx mcp login` lists it. */
const pageClient = 'ktx page';

/** Logins that begin in a minute, of all browsers together: nobody has logged in yet. */
const mostLogins = 300;

/** Milliseconds between the login at the provider and the page's question. */
const redeemTime = 120_000;

const kind = 'Page login';
const finishedSchema = z.object({ account: z.string() });

/** Keeps that somebody logged in, for the browser that began. */
export function keepPageLogin(records: SharedRecords, id: string, account: string): Promise<void> {
  return records.put({ kind, id, body: { account }, expires: Date.now() + redeemTime });
}

export function openPageLogin(input: PageLoginInput): PageLogin {
  const { auth, broker, records, company, server, report } = input;
  const { host, protocol } = new URL(auth.resource);
  const isSecure = protocol === 'https:';
  // No other name can set a cookie that is called so.
  const name = isSecure ? '__Host-ktx_page_login' : 'ktx_page_login';
  const rules = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const logins = openBucket(mostLogins, () => performance.now());
  return {
    host,
    provider: new URL(auth.issuer).host,
    async begin() {
      const wait = logins.take();
      if (wait > 0) throw new UserError('rate_limited', `Too many logins. Try again in ${wait} s.`);
      const secret = randomBytes(32).toString('base64url');
      const { url, ...started } = await company.begin();
      const bound = await keepStartedLogin(records, auth, { ...started, page: sha256(secret) });
      return {
        url,
        cookies: [bound, `${name}=${secret}; Max-Age=${interactionLifetime}; ${rules}`],
      };
    },
    async redeem(cookies = '') {
      const pair = cookies.split(/;\s*/).find((text) => text.startsWith(`${name}=`));
      const place = { kind, id: sha256(pair?.slice(name.length + 1) ?? '') };
      const found = finishedSchema.safeParse((await records.find(place))?.body).data;
      if (found === undefined || !(await records.use(place))) return undefined;
      report({ login: 'allowed', person: found.account, client: pageClient });
      return giveToken({ auth, broker, server }, found.account);
    },
    forget: `${name}=; Max-Age=0; ${rules}`,
    async end(token) {
      const { clientId, grantId } = (await server.AccessToken.find(token)) ?? {};
      if (clientId !== pageClient || grantId === undefined) return;
      await server.AccessToken.revokeByGrantId(grantId);
    },
  };
}

/** A token with all scopes, as a client could get it that asks for them. */
async function giveToken(
  { auth, broker, server }: Pick<PageLoginInput, 'auth' | 'broker' | 'server'>,
  account: string,
): Promise<string> {
  const scope = Object.values(auth.scopes).join(' ');
  const grant = new server.Grant({ accountId: account, clientId: pageClient });
  grant.addResourceScope(auth.resource, scope);
  const token = new server.AccessToken({
    accountId: account,
    client: { clientId: pageClient },
    grantId: await grant.save(),
    aud: auth.resource,
    scope,
    expiresIn: broker.session_hours * 3600,
  });
  return token.save();
}
