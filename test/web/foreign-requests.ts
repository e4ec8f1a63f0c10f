import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { envelopeOf, sendTo } from './page.ts';

type Headers = Readonly<Record<string, string>>;

interface Refused {
  readonly headers: Headers;
  readonly status: number;
  readonly code: string;
}

export const without = (own: Headers, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(own).filter(([key]) => key !== name));

/** Requests of somebody who is not the page, in the words of both servers that have one. */
export const foreignRequests: Readonly<Record<string, (own: Headers, noLogin: string) => Refused>> =
  {
    'without the cookie': (own, code) => ({
      headers: without(own, 'cookie'),
      status: 401,
      code,
    }),
    'with a cookie that nobody gave': (own, code) => ({
      headers: { ...own, cookie: `${own['cookie']?.split('=')[0]}=${'a'.repeat(43)}` },
      status: 401,
      code,
    }),
    'with the cookie, which other servers of this machine see, and no key': (own) => ({
      headers: without(own, 'x-ktx-page'),
      status: 403,
      code: 'page',
    }),
    'with a wrong key': (own) => ({
      headers: { ...own, 'x-ktx-page': 'guess' },
      status: 403,
      code: 'page',
    }),
    'from another server of this machine': (own) => ({
      headers: { ...own, origin: 'http://127.0.0.1:1' },
      status: 403,
      code: 'origin',
    }),
    'from a frame or an image of another site': (own) => ({
      headers: {
        ...without(own, 'origin'),
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
      },
      status: 403,
      code: 'origin',
    }),
  };

/** What a form of another site can send without asking. */
export const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];

const decision = { subject: 'metric:warehouse.orders.revenue', version: 'ffff', seen: ['ffff'] };

/** Asks for what waits, and decides about it. */
export const askToDecide = (url: string, headers: Headers) =>
  sendTo(`${url}api/review/choose`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: decision,
  });

interface AskedPage {
  readonly url: string;
  /** The folder of its project. */
  readonly cwd: string;
}

export const headOf = (cwd: string): string =>
  execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });

/** Such a request reads nothing and decides nothing. */
export async function expectRefused(
  { url, cwd }: AskedPage,
  { headers, status, code }: Refused,
): Promise<void> {
  const before = headOf(cwd);
  const read = await sendTo(`${url}api/review`, { headers });
  for (const answer of [read, await askToDecide(url, headers)])
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([status, code]);
  expect(headOf(cwd)).toBe(before);
}
