import { timingSafeEqual } from 'node:crypto';
import { hashText, newSecret } from './secret.ts';

/** A browser that was let in. The server keeps hashes only. */
interface PageSession {
  readonly keyHash: Buffer;
}

export type PageSessions = ReturnType<typeof openPageSessions>;

/** Browsers that a link lets in, in the memory of this process: a restart lets nobody in. */
export function openPageSessions() {
  const sessions = new Map<string, PageSession>();
  let cookieName = 'ktx_page';
  let link: Buffer | undefined;
  return {
    /** Cookies are shared by all ports of a machine: each has a name of its own. */
    usePort: (port: number): void => void (cookieName = `ktx_page_${port}`),
    /** The token of a link, in place of an earlier one that nobody has used. */
    newToken(): string {
      const token = newSecret();
      link = hashText(token);
      return token;
    },
    /** Lets one browser in; undefined if the token is wrong, or was used before. */
    redeem(token: string): { readonly cookie: string; readonly key: string } | undefined {
      if (link === undefined || !timingSafeEqual(hashText(token), link)) return undefined;
      link = undefined;
      const [id, key] = [newSecret(), newSecret()];
      sessions.set(hashText(id).toString('hex'), { keyHash: hashText(key) });
      return { cookie: `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Strict`, key };
    },
    /** By the `Cookie` header of a request. */
    find(header: string | undefined): PageSession | undefined {
      const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('='));
      const [, id] = pairs.find(([name]) => name === cookieName) ?? [];
      return id === undefined ? undefined : sessions.get(hashText(id).toString('hex'));
    },
  };
}
