import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import type { AuthConfig } from '../../project/open/serve-config.ts';
import type { SharedRecords } from '../../store/shared/shared-records.ts';
import { interactionLifetime } from './authorization-server.ts';

const startedSchema = z.object({
  /** The interaction of a client; undefined for a login of the page. */
  uid: z.string().optional(),
  /** The hash of what the browser has that logs in to the page. */
  page: z.string().optional(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
});
type KeptLogin = z.infer<typeof startedSchema>;

const placeOf = (state: string) => ({ kind: 'Started login', id: sha256(state) });

/** Keeps what the answer of the provider has to fit. Returns the cookie of the browser. */
export async function keepStartedLogin(
  records: SharedRecords,
  { resource }: Pick<AuthConfig, 'resource'>,
  started: KeptLogin,
): Promise<string> {
  const expires = Date.now() + interactionLifetime * 1000;
  await records.put({ ...placeOf(started.state), body: started, expires });
  // The answer counts only in the browser that began.
  return stateCookie(started.state, resource);
}

/** What was kept; undefined for another browser, and for all tries but the first. */
export async function useStartedLogin(
  records: SharedRecords,
  request: IncomingMessage,
  state: string,
): Promise<KeptLogin | undefined> {
  const place = placeOf(state);
  const found = startedSchema.safeParse((await records.find(place))?.body).data;
  if (found === undefined || !hasCookie(request, stateName(state))) return undefined;
  return (await records.use(place)) ? found : undefined;
}

function stateName(state: string): string {
  return `ktx_state_${sha256(state).slice(0, 16)}`;
}

export function stateCookie(
  state: string,
  resource: string,
  seconds: number = interactionLifetime,
): string {
  const secure = resource.startsWith('https:') ? '; Secure' : '';
  return `${stateName(state)}=1; Path=/oauth/callback; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function hasCookie({ headers }: IncomingMessage, name: string): boolean {
  return (headers.cookie ?? '').split(/;\s*/).includes(`${name}=1`);
}
