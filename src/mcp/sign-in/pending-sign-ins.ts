import { createHash, randomBytes } from 'node:crypto';
import { sha256 } from '../../lib/hash.ts';
import type { WantedSignIn } from '../../warehouse/identity/statement-identity.ts';
import { withoutSlash } from './request-token.ts';

/** A sign-in that a person was asked for, and that has not ended. */
interface PendingSignIn {
  /** Of the person at this warehouse. */
  readonly key: string;
  readonly person: string;
  readonly wanted: WantedSignIn;
  /** Proves to the warehouse that the code was asked for here. */
  readonly verifier: string;
  /** What the person opens. */
  readonly url: string;
  readonly until: number;
  readonly ended: PromiseWithResolvers<void>;
}

/** In milliseconds. */
const longestSignIn = 600_000;
const mostPending = 1000;

/** The sign-ins that are under way; each is good for one try, and for ten minutes. */
export function openPendingSignIns(redirect: string) {
  const pending = new Map<string, PendingSignIn>();
  const tidy = (): void => {
    for (const [state, { until, ended }] of pending) {
      if (until > Date.now() && pending.size <= mostPending) continue;
      pending.delete(state);
      ended.resolve();
    }
  };
  return {
    /** A new one, or the one that the person was asked for already. */
    begin(asked: Pick<PendingSignIn, 'key' | 'person' | 'wanted'>) {
      tidy();
      const known = [...pending].find(([, own]) => own.key === asked.key);
      const state = known?.[0] ?? randomToken();
      const verifier = randomToken();
      const url = known?.[1].url ?? addressOf(asked.wanted, { redirect, verifier, state });
      if (known === undefined) {
        const until = Date.now() + longestSignIn;
        const ended = Promise.withResolvers<void>();
        pending.set(state, { ...asked, verifier, url, until, ended });
      }
      return { id: sha256(state), url };
    },
    /** Undefined if there is none of that state, or was. */
    take(state: string): PendingSignIn | undefined {
      tidy();
      const asked = pending.get(state);
      pending.delete(state);
      return asked;
    },
    /** Resolves when it has ended, well or not; undefined if it has. */
    ended: (id: string): Promise<void> | undefined =>
      [...pending].find(([state]) => sha256(state) === id)?.[1].ended.promise,
  };
}

interface AddressParts {
  readonly redirect: string;
  readonly verifier: string;
  readonly state: string;
}

function addressOf(
  { url, clientId, scope }: WantedSignIn,
  { redirect, verifier, state }: AddressParts,
): string {
  const address = new URL(`${withoutSlash(url)}/oauth/authorize`);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirect,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope !== undefined && { scope }),
    state,
  }).toString();
  return address.href;
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}
