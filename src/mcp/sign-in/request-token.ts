import { z } from 'zod';
import type { WantedSignIn } from '../../warehouse/identity/statement-identity.ts';
import { fetchDocument } from '../http/fetch-json.ts';

const answerSchema = z.looseObject({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive().optional(),
  refresh_token: z.string().min(1).optional(),
  /** Whose token it is, as Snowflake says it. */
  username: z.string().optional(),
});

/** The token of a warehouse, as long as it is in use. */
export interface KeptToken {
  readonly token: string;
  readonly until: number;
  readonly refresh: string | undefined;
  readonly username: string | undefined;
}

/** In milliseconds. A token is not used in its last moments. */
const [renewBefore, usualLife] = [30_000, 300_000];

/**
 * Asks a warehouse for a token. Undefined if it gives none: nothing of its answer is told to
 * anybody.
 */
export async function requestToken(
  { url, clientId, clientSecret }: WantedSignIn,
  form: Readonly<Record<string, string>>,
): Promise<KeptToken | undefined> {
  const login = [clientId, clientSecret ?? ''].map(encodeURIComponent).join(':');
  const headers = { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  const isPublic = clientSecret === undefined;
  const body = new URLSearchParams({ ...form, ...(isPublic && { client_id: clientId }) });
  const request = { method: 'POST', body, ...(isPublic ? {} : { headers }) };
  try {
    const response = await fetchDocument(`${withoutSlash(url)}/oauth/token-request`, request);
    if (!response.ok) return undefined;
    const { data } = answerSchema.safeParse(await response.json());
    return data && keep(data);
  } catch {
    return undefined;
  }
}

function keep(answer: z.infer<typeof answerSchema>): KeptToken {
  const { access_token: token, expires_in: seconds, refresh_token: refresh, username } = answer;
  const life = seconds === undefined ? usualLife : seconds * 1000;
  return { token, until: Date.now() + life - renewBefore, refresh, username };
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
