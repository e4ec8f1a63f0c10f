interface Cookie {
  readonly value: string;
  readonly path: string;
  readonly attributes: string;
}

interface Request {
  readonly method?: string;
  readonly body?: string | URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Visit {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it sends the browser; undefined if nowhere. */
  readonly location: string | undefined;
}

/** A browser: keeps cookies by name and path, and follows redirects as far as they go here. */
export function openBrowser() {
  const jar = new Map<string, Cookie>();
  const cookiesFor = (url: string): string => {
    const { pathname } = new URL(url);
    return [...jar]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');
  };
  const keep = (headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/s.exec(line) ?? [];
      const path = /;\s*path=([^;]+)/i.exec(attributes)?.[1] ?? '/';
      const isGone = value === '' || /max-age=0\b|expires=Thu, 01 Jan 1970/i.test(attributes);
      if (isGone) jar.delete(`${name} ${path}`);
      else jar.set(`${name} ${path}`, { value, path, attributes });
    }
  };
  const visit = async (url: string, init: Request = {}): Promise<Visit> => {
    const headers = { accept: 'text/html', cookie: cookiesFor(url), ...init.headers };
    const response = await fetch(url, { ...init, redirect: 'manual', headers });
    keep(response.headers);
    const to = response.headers.get('location');
    const location = to === null ? undefined : new URL(to, url).href;
    const text = await response.text();
    return { url, status: response.status, headers: response.headers, text, location };
  };
  return {
    jar,
    visit,
    /** Follows redirects until a page, or an address that begins with one of these. */
    async follow(url: string, until: readonly string[] = []): Promise<Visit> {
      let last = await visit(url);
      for (let steps = 0; steps < 20 && last.location !== undefined; steps += 1) {
        const { location } = last;
        if (until.some((start) => location.startsWith(start))) return last;
        last = await visit(location);
      }
      return last;
    },
    /** Answers the question of the page. */
    answer(page: Visit, answer: 'allow' | 'deny', change: Request = {}): Promise<Visit> {
      const proof = /name="proof" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      return visit(page.url, {
        method: 'POST',
        body: new URLSearchParams({ proof, answer }),
        ...change,
        headers: { origin: new URL(page.url).origin, ...change.headers },
      });
    },
  };
}

export type Browser = ReturnType<typeof openBrowser>;
