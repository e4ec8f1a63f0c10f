import { hashText, newSecret } from '../secret.ts';

/** A browser in which somebody has given their token. */
export interface TeamSession {
  readonly keyHash: Buffer;
  /** In memory only, to ask at every request whether it still lets somebody in. */
  readonly token: string;
  /** Whose token it is. */
  readonly who: string;
  readonly ends: number;
}

export type TeamSessions = ReturnType<typeof openTeamSessions>;

/** Milliseconds until a person gives their token again. */
const longest = 12 * 60 * 60_000;

/** More than a team has browsers; beyond it the oldest ends. */
const mostSessions = 5_000;

/** Of one person; beyond it their own oldest ends, so that nobody can end those of others. */
const mostOfOne = 20;

const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** True for names under which a machine reaches itself: nobody listens in between. */
export function isLoopbackName(hostname: string): boolean {
  return loopbackNames.includes(hostname);
}

/**
 * The browsers that are logged in, in the memory of this process. `now` is a clock in milliseconds.
 */
export function openTeamSessions(now: () => number = () => Date.now()) {
  const sessions = new Map<string, TeamSession>();
  const keyOf = (id: string): string => hashText(id).toString('hex');
  const idIn = (header: string | undefined, host: string): string | undefined => {
    const wanted = cookieName(host);
    const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('='));
    return pairs.find(([name]) => name === wanted)?.[1];
  };
  return {
    begin(
      { token, who }: Pick<TeamSession, 'token' | 'who'>,
      host: string,
    ): { readonly cookie: string; readonly key: string } {
      const [id, key] = [newSecret(), newSecret()];
      const [oldest] = sessions.keys();
      const own = [...sessions].filter(([, session]) => session.who === who);
      if (own.length >= mostOfOne) sessions.delete(own[0]?.[0] ?? '');
      else if (sessions.size >= mostSessions && oldest !== undefined) sessions.delete(oldest);
      sessions.set(keyOf(id), { keyHash: hashText(key), token, who, ends: now() + longest });
      return { cookie: `${cookieName(host)}=${id}; ${cookieRules(host)}`, key };
    },
    /** By the `Cookie` header of a request. */
    find(header: string | undefined, host: string): TeamSession | undefined {
      const id = idIn(header, host);
      const session = id === undefined ? undefined : sessions.get(keyOf(id));
      return session !== undefined && session.ends > now() ? session : undefined;
    },
    /** Ends the session of a request, and takes its cookie back. */
    end(header: string | undefined, host: string): string {
      const id = idIn(header, host);
      if (id !== undefined) sessions.delete(keyOf(id));
      return `${cookieName(host)}=; ${cookieRules(host)}; Max-Age=0`;
    },
  };
}

/** Cookies are shared by all ports of a machine; `__Host-` keeps those of other names out. */
function cookieName(host: string): string {
  const { hostname, port } = new URL(`http://${host}`);
  return isLoopbackName(hostname) ? `ktx_team_${port}` : '__Host-ktx_team';
}

function cookieRules(host: string): string {
  const { hostname } = new URL(`http://${host}`);
  const secure = isLoopbackName(hostname) ? '' : '; Secure';
  return `Path=/; HttpOnly; SameSite=Strict${secure}`;
}
