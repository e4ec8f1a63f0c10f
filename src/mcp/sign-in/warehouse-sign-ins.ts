import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import type { WantedSignIn } from '../../warehouse/identity/statement-identity.ts';
import { openPendingSignIns } from './pending-sign-ins.ts';
import { type KeptToken, requestToken } from './request-token.ts';

/** Where the browser of a person comes back to. */
export const signInPath = '/warehouse/callback';

/** In milliseconds: clients give up on a call after a minute. */
const longestWait = 50_000;

/** What a browser that comes back shows. */
interface ShownAnswer {
  readonly status: number;
  readonly text: string;
}

const answers = {
  over: { status: 400, text: 'This sign-in has ended. Ask again in your client.' },
  refused: { status: 400, text: 'The warehouse did not let you in. Ask again in your client.' },
  other: { status: 403, text: 'You signed in as somebody else than the person who asked.' },
  done: { status: 200, text: 'You are signed in. You can close this window.' },
} as const;

export type WarehouseSignIns = ReturnType<typeof openWarehouseSignIns>;

/**
 * Lets people sign in at a warehouse themselves. What they get there is kept in memory: whoever
 * asks after a restart signs in again. A token counts only if the warehouse says that it belongs to
 * the person who asked: somebody else may have been made to open the address.
 */
export function openWarehouseSignIns(origin: string) {
  const redirect = `${origin}${signInPath}`;
  const kept = new Map<string, KeptToken>();
  const pending = openPendingSignIns(redirect);
  const renewing = new Map<string, Promise<string | undefined>>();

  const renew = async (key: string, wanted: WantedSignIn): Promise<string | undefined> => {
    const former = kept.get(key);
    kept.delete(key);
    if (former?.refresh === undefined) return undefined;
    const form = { grant_type: 'refresh_token', refresh_token: former.refresh };
    const renewed = await requestToken(wanted, form);
    // The warehouse need not say again whose it is.
    const { username = former.username } = renewed ?? {};
    if (renewed === undefined || username !== former.username) return undefined;
    kept.set(key, { ...renewed, username, refresh: renewed.refresh ?? former.refresh });
    return renewed.token;
  };

  const finish = async (asked: ReturnType<typeof pending.take>, code: string | null) => {
    if (asked === undefined) return answers.over;
    const { wanted, verifier, person, key } = asked;
    if (code === null) return answers.refused;
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirect };
    const given = await requestToken(wanted, { ...form, code_verifier: verifier });
    if (given === undefined) return answers.refused;
    if (given.username?.toLowerCase() !== person.toLowerCase()) return answers.other;
    kept.set(key, given);
    return answers.done;
  };

  return {
    /** Gives the tokens of one person. */
    tokenOf: (person: string) => async (wanted: WantedSignIn) => {
      const { url, clientId, scope } = wanted;
      const key = sha256(JSON.stringify([person, url, clientId, scope]));
      const known = kept.get(key);
      if (known !== undefined && known.until > Date.now()) return known.token;
      const renewal = renewing.get(key) ?? renew(key, wanted);
      renewing.set(key, renewal);
      const token = await renewal.finally(() => renewing.delete(key));
      if (token === undefined) throw signInNeeded(wanted, pending.begin({ key, person, wanted }));
      return token;
    },
    /** What a browser brings back. The address is good for one try. */
    async finish(query: URLSearchParams): Promise<ShownAnswer> {
      const asked = pending.take(query.get('state') ?? '');
      try {
        return await finish(asked, query.get('code'));
      } finally {
        asked?.ended.resolve();
      }
    },
    /** Waits until the sign-in of that id has ended, well or not, but not for ever. */
    async settled(id: string, signal: AbortSignal): Promise<void> {
      const wait = sleep(longestWait, undefined, { signal, ref: false }).catch(() => undefined);
      await Promise.race([pending.ended(id), wait]);
    },
  };
}

function signInNeeded(
  { connection }: WantedSignIn,
  signIn: { readonly id: string; readonly url: string },
): UserError {
  return new UserError(
    'warehouse_login_needed',
    `Connection "${connection}" wants you to sign in at the warehouse yourself.`,
    { hint: `Open ${signIn.url} in your browser, then ask again.`, details: { signIn } },
  );
}
