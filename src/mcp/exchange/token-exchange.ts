import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { WantedToken } from '../../warehouse/identity/statement-identity.ts';
import { fetchDocument } from '../http/fetch-json.ts';

const answerSchema = z.looseObject({
  access_token: z.string().min(1),
  token_type: z.string(),
  expires_in: z.number().optional(),
});
const refusalSchema = z.looseObject({ error: z.string().regex(/^\w{1,60}$/) });

/** In milliseconds. A token is not used in its last moments, and not longer than an hour. */
const [renewBefore, longestUse, usualLife] = [30_000, 3_600_000, 300_000];
/** Tokens beyond these are exchanged again. */
const mostKept = 1000;
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

interface ExchangedToken {
  readonly token: string;
  readonly until: number;
}

/**
 * Exchanges tokens of people for tokens of a warehouse (RFC 8693), at the provider that gave them:
 * nobody else ever sees one. What comes back is kept in memory until it ends.
 */
export function openTokenExchange(findEndpoint: () => Promise<string>) {
  const kept = new Map<string, Promise<ExchangedToken>>();
  const exchangeOnce = async (subject: string, wanted: WantedToken): Promise<string> => {
    const key = sha256(JSON.stringify([subject, wanted]));
    const known = await kept.get(key)?.catch(() => undefined);
    if (known !== undefined && known.until > Date.now()) return known.token;
    if (kept.size > mostKept) kept.clear();
    const exchanging = findEndpoint().then((endpoint) => exchange(endpoint, subject, wanted));
    kept.set(key, exchanging);
    // The next statement tries again.
    exchanging.catch(() => kept.delete(key));
    return (await exchanging).token;
  };
  return (subject: string) =>
    (wanted: WantedToken): Promise<string> =>
      exchangeOnce(subject, wanted);
}

async function exchange(
  endpoint: string,
  subject: string,
  { clientId, clientSecret, audience, scope }: WantedToken,
): Promise<ExchangedToken> {
  const login = [clientId, clientSecret].map(encodeURIComponent).join(':');
  const response = await fetchDocument(endpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: subject,
      subject_token_type: accessToken,
      requested_token_type: accessToken,
      ...(audience !== undefined && { audience }),
      ...(scope !== undefined && { scope }),
    }),
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw refused(refusalSchema.safeParse(body).data?.error ?? response.status);
  const { data } = answerSchema.safeParse(body);
  if (data === undefined || data.token_type.toLowerCase() !== 'bearer')
    throw refused('the answer has no token that could be sent');
  // A provider that gives back what it got would have ktx pass on the token of the person.
  if (data.access_token === subject) throw refused('it gives back the same token');
  const life = data.expires_in === undefined ? usualLife : data.expires_in * 1000;
  const use = Math.min(life - renewBefore, longestUse);
  return { token: data.access_token, until: Date.now() + use };
}

/** Nothing of a token is in the message, whatever the provider says. */
function refused(reason: string | number): UserError {
  return new UserError(
    'exchange_refused',
    `The provider gives no token for the warehouse: ${reason}.`,
    {
      hint: 'Ask the person who runs the server: client_id, audience and scope of identity in ktx.yaml, and what the provider lets that client exchange.',
    },
  );
}
