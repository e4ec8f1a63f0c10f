import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { validateHostHeader } from '@modelcontextprotocol/server';
import { hashText } from './secret.ts';
import type { PageSessions } from './page-sessions.ts';

/** What the page sends with every request: a form, an image or a link of another site cannot. */
export const pageKeyHeader = 'x-ktx-page';

/** Names under which this machine reaches itself. */
const ownNames = ['localhost', '127.0.0.1', '[::1]'];

export interface RequestRefusal {
  readonly status: 401 | 403;
  readonly code: 'host' | 'origin' | 'session' | 'page';
  readonly message: string;
}

/**
 * Why the server does not talk to the sender at all: another name leads here (DNS rebinding), or
 * the page of another site asks.
 */
export function refuseForeign({ headers }: IncomingMessage): RequestRefusal | undefined {
  const host = validateHostHeader(headers.host, ownNames);
  if (!host.ok) return { status: 403, code: 'host', message: `${host.message}.` };
  return refuseOtherSites({ headers }, (origin, own) => origin === `http://${own}`);
}

/** Why the server does not talk to the page that asks, if it is one of another site. */
export function refuseOtherSites(
  { headers }: Pick<IncomingMessage, 'headers'>,
  isOwn: (origin: string, host: string | undefined) => boolean,
): RequestRefusal | undefined {
  const { origin } = headers;
  if (origin !== undefined && !isOwn(origin, headers.host))
    return { status: 403, code: 'origin', message: 'Pages of other sites may not ask ktx.' };
  const site = headers['sec-fetch-site'];
  // A link to the page from elsewhere is fine: it carries neither cookie nor key.
  const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isForeign && headers['sec-fetch-mode'] !== 'navigate')
    return { status: 403, code: 'origin', message: 'Pages of other sites may not ask ktx.' };
  return undefined;
}

/**
 * Why a request for data is refused. It needs the cookie, which no script can read, and the key,
 * which only the page itself has: other servers of this machine see the cookie, and no key.
 */
export function refuseStranger(
  { headers, method }: IncomingMessage,
  sessions: PageSessions,
): RequestRefusal | undefined {
  const session = sessions.find(headers.cookie);
  if (session === undefined)
    return { status: 401, code: 'session', message: 'Open the link that ktx web printed.' };
  const key = headers[pageKeyHeader];
  if (typeof key !== 'string' || !timingSafeEqual(hashText(key), session.keyHash))
    return { status: 403, code: 'page', message: 'Only the page of ktx may ask for data.' };
  // Browsers send it with every POST; what sends none is no page.
  if (method !== 'GET' && headers.origin === undefined)
    return { status: 403, code: 'origin', message: 'A change has to say which page it is from.' };
  return undefined;
}
