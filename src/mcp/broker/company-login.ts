import { UserError } from '../../lib/error.ts';
import type { AuthConfig, BrokerConfig } from '../../project/open/serve-config.ts';
import { fetchDocument, unreachable } from '../http/fetch-json.ts';

/** What has to be kept of a login between its two halves. */
export interface StartedLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the provider says about a person. */
export type PersonClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

interface CompanyLoginInput {
  readonly auth: Pick<AuthConfig, 'issuer' | 'claims'>;
  readonly broker: BrokerConfig;
  readonly clientSecret: string | undefined;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
}

export type CompanyLogin = ReturnType<typeof openCompanyLogin>;

/**
 * Logs people in at the company's OpenID provider. Its tokens are read once, for what they say
 * about the person, and kept nowhere.
 */
export function openCompanyLogin({ auth, broker, clientSecret, redirectUri }: CompanyLoginInput) {
  const { issuer } = auth;
  let opening: ReturnType<typeof discover> | undefined;
  const open = () => {
    opening ??= discover({ issuer, clientId: broker.client_id, clientSecret });
    // The next login tries again.
    opening.catch(() => (opening = undefined));
    return opening;
  };
  return {
    /** Where to send the browser. */
    async begin(): Promise<StartedLogin & { readonly url: string }> {
      const { client, config } = await open();
      const started = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: broker.login_scopes.join(' '),
        state: started.state,
        nonce: started.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(started.verifier),
        code_challenge_method: 'S256',
      });
      return { ...started, url: url.href };
    },
    /** Who logged in. Throws for an answer that is not the provider's to this login. */
    async finish(query: string, started: StartedLogin): Promise<PersonClaims> {
      const { client, config } = await open();
      const answer = await client.authorizationCodeGrant(
        config,
        new URL(`${redirectUri}${query}`),
        {
          expectedState: started.state,
          expectedNonce: started.nonce,
          pkceCodeVerifier: started.verifier,
          idTokenExpected: true,
        },
      );
      const claims = answer.claims();
      if (claims === undefined) throw new Error('the provider gave no ID token');
      if (auth.claims.groups in claims || config.serverMetadata().userinfo_endpoint === undefined)
        return claims;
      const more = await client.fetchUserInfo(config, answer.access_token, claims.sub);
      return { ...more, ...claims };
    },
  };
}

interface ProviderAddress {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

async function discover({ issuer, clientId, clientSecret }: ProviderAddress) {
  const client = await import('openid-client');
  const isPlain = new URL(issuer).protocol === 'http:';
  const config = await client
    .discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
      {
        [client.customFetch]: fetchDocument,
        // The signature too, though the token comes from the provider itself.
        execute: [
          client.enableNonRepudiationChecks,
          ...(isPlain ? [client.allowInsecureRequests] : []),
        ],
      },
    )
    .catch((error: unknown) => {
      throw error instanceof UserError ? error : unreachable(issuer, 'it is no such document');
    });
  return { client, config };
}
