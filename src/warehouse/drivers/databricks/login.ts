import { z } from 'zod';
import { isSecretReference } from '../../../store/secrets.ts';
import type { OpenContext } from '../../driver.ts';
import { openRest } from '../../rest/client.ts';
import { parseExactJson } from '../../result/exact-json.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { DatabricksConfig } from './config.ts';

type LoginHeaders = Readonly<Record<string, string>>;

export interface DatabricksLogin {
  /** `fresh`: the server took the last token no longer. */
  readonly headers: (fresh: boolean, signal: AbortSignal) => Promise<LoginHeaders>;
  close(): void;
}

const tokenSchema = z.looseObject({
  access_token: z.string().min(1),
  expires_in: z.number().optional(),
});

/** In milliseconds: a token is renewed so long before it expires. */
const renewalTime = 60_000;

/** The address of the workspace. Throws `config_url`. */
export function workspaceUrl(
  { url: configured = '' }: DatabricksConfig,
  { connection, secrets }: OpenContext,
): string {
  const text = isSecretReference(configured) ? secrets(configured) : configured;
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const hasMore = url !== undefined && (url.username !== '' || url.pathname.length > 1);
  if (url === undefined || hasMore)
    throw warehouseError(
      'config_url',
      `The url of connection "${connection}" is not the URL of a workspace.`,
      {
        hint: 'Write it like https://dbc-a1b2c3d4-e5f6.cloud.databricks.com, and nothing after it.',
      },
    );
  return url.origin;
}

/** The login of a connection: a token, or a service principal whose token lasts an hour. */
export function databricksLogin(
  config: DatabricksConfig,
  context: OpenContext,
  baseUrl: string,
): DatabricksLogin {
  const { token, client_id: id = '', client_secret: secret = '' } = config;
  if (token !== undefined) {
    const headers = bearer(context.secrets(token), context);
    return { headers: () => Promise.resolve(headers), close: () => undefined };
  }
  const pair = `${context.secrets(id)}:${context.secrets(secret)}`;
  const client = openRest({
    connection: context.connection,
    baseUrl,
    login: () =>
      Promise.resolve({ authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` }),
  });
  let known: { readonly headers: LoginHeaders; readonly until: number } | undefined;
  return {
    async headers(fresh, signal) {
      if (known !== undefined && !fresh && Date.now() < known.until) return known.headers;
      const { status, text } = await client.send(
        {
          method: 'POST',
          path: 'oidc/v1/token',
          text: 'grant_type=client_credentials&scope=all-apis',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          repeatable: true,
        },
        signal,
      );
      const answer = status === 200 ? tokenSchema.safeParse(jsonOrNothing(text)).data : undefined;
      if (answer === undefined)
        throw warehouseError(
          'warehouse_auth',
          `${new URL(baseUrl).host} gave the service principal no token (${status}).`,
          {
            hint: 'Check client_id and client_secret, and that the principal is in the workspace.',
          },
        );
      const lasts = (answer.expires_in ?? 3600) * 1000 - renewalTime;
      known = { headers: bearer(answer.access_token, context), until: Date.now() + lasts };
      return known.headers;
    },
    close: () => client.close(),
  };
}

function bearer(token: string, { connection }: OpenContext): LoginHeaders {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw warehouseError(
      'warehouse_auth',
      `The token of connection "${connection}" is no token: it has white space or other characters that no header takes.`,
      { hint: 'Check the variable or file that token names; it must hold the token only.' },
    );
  return { authorization: `Bearer ${token}` };
}

/** The value of a JSON text; undefined if it is none. */
export function jsonOrNothing(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
