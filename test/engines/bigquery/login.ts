import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { importSPKI, jwtVerify } from 'jose';

/** The tokens of the server, the key that it takes, and the refresh token of a person. */
export interface TestLogins {
  /** The JSON text of a service account key; `tokenUri` is that of the server. */
  keyFile(tokenUri: string): string;
  /** The JSON text of a login by gcloud. */
  userFile(tokenUri: string): string;
  /** The JSON text of a login by gcloud in the name of a service account. */
  impersonatingFile(tokenUri: string, impersonationUrl: string): string;
  /** Answers `POST /token`. */
  token(form: URLSearchParams, audience: string): Promise<TokenAnswer>;
  /** The token of the metadata server, or in the name of a service account. */
  issue(): string;
  /** True if a request has a token that the server takes. */
  takes(request: IncomingMessage): boolean;
  /** The server takes no token of before any longer. */
  expireAll(): void;
  /** How many tokens were issued. */
  readonly issued: number;
  /** What no error, log or file may show. */
  readonly secrets: readonly string[];
}
interface TokenAnswer {
  readonly status: number;
  readonly body: unknown;
}

export const serviceAccount = 'ktx-reader@shop-1.iam.gserviceaccount.com';
const scope = 'https://www.googleapis.com/auth/bigquery';
const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';

let keys: ReturnType<typeof createKeys> | undefined;
function createKeys() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

export function openLogins(): TestLogins {
  keys ??= createKeys();
  const { privateKey, publicKey } = keys;
  const [clientSecret, refreshToken] = [secret('GOCSPX-'), secret('1//')];
  const valid = new Set<string>();
  const all: string[] = [];
  const issue = (): string => {
    const token = secret('ya29.');
    valid.add(token);
    all.push(token);
    return token;
  };
  const granted = (): TokenAnswer => ({
    status: 200,
    body: { access_token: issue(), expires_in: 3599, token_type: 'Bearer' },
  });
  const refused = (text: string): TokenAnswer => ({
    status: 400,
    body: { error: 'invalid_grant', error_description: text },
  });
  const userOf = (tokenUri: string) => ({
    type: 'authorized_user',
    client_id: '764086051850.apps.googleusercontent.com',
    client_secret: clientSecret,
    refresh_token: refreshToken,
    token_uri: tokenUri,
  });
  return {
    keyFile: (tokenUri) =>
      JSON.stringify({
        type: 'service_account',
        project_id: 'shop-1',
        private_key_id: 'abc123',
        private_key: privateKey,
        client_email: serviceAccount,
        token_uri: tokenUri,
      }),
    userFile: (tokenUri) => JSON.stringify(userOf(tokenUri)),
    impersonatingFile: (tokenUri, impersonationUrl) =>
      JSON.stringify({
        type: 'impersonated_service_account',
        service_account_impersonation_url: impersonationUrl,
        source_credentials: userOf(tokenUri),
      }),
    async token(form, audience) {
      if (form.get('grant_type') === 'refresh_token') {
        const isRight =
          form.get('refresh_token') === refreshToken && form.get('client_secret') === clientSecret;
        return isRight ? granted() : refused('Token has been expired or revoked.');
      }
      const assertion = form.get('assertion') ?? '';
      try {
        const { payload } = await jwtVerify(assertion, await importSPKI(publicKey, 'RS256'), {
          audience,
          issuer: serviceAccount,
        });
        const { iat = 0, exp = 0 } = payload;
        const isShort = exp - iat <= 3600;
        const isScoped = [scope, cloudScope].includes(String(payload['scope']));
        return isShort && isScoped ? granted() : refused('Invalid JWT: scope or lifetime.');
      } catch {
        return refused(`Invalid JWT Signature. ${assertion}`);
      }
    },
    issue,
    takes: ({ headers: { authorization = '' } }) => valid.has(authorization.replace('Bearer ', '')),
    expireAll: () => valid.clear(),
    get issued() {
      return all.length;
    },
    get secrets() {
      const [line = ''] = privateKey.split('\n').slice(1);
      return [clientSecret, refreshToken, line, ...all];
    },
  };
}

function secret(prefix: string): string {
  return prefix + randomBytes(18).toString('base64url');
}
