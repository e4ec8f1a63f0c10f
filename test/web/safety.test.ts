import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  contestedProject,
  enterPage,
  envelopeOf,
  removeFolder,
  type Sent,
  sendTo,
  startPage,
  type StartedPage,
} from './page.ts';

let cwd: string;
let page: StartedPage;
/** What the page itself sends. */
let own: Record<string, string>;
const head = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });

beforeAll(async () => {
  cwd = await contestedProject();
  page = await startPage(cwd);
  own = await enterPage(page);
});
afterAll(async () => {
  await page[Symbol.asyncDispose]();
  removeFolder(cwd);
});

const json = { 'content-type': 'application/json' };
const without = (name: string) =>
  Object.fromEntries(Object.entries(own).filter(([key]) => key !== name));
const decision = { subject: 'metric:warehouse.orders.revenue', version: 'ffff', seen: ['ffff'] };
const decide = (headers: Record<string, string>): Sent => ({
  method: 'POST',
  headers: { ...json, ...headers },
  body: decision,
});

describe('the data of the page', () => {
  test('are for the page that came in by the link', async () => {
    const answer = await sendTo(`${page.url}api/review`, { headers: own });
    expect(answer.status).toBe(200);
    expect(envelopeOf(answer)).toMatchObject({ ok: true });
  });

  const refused: Readonly<Record<string, () => [Record<string, string>, number, string]>> = {
    'without the cookie': () => [without('cookie'), 401, 'session'],
    'with a cookie of somebody else': () => [
      { ...own, cookie: `${own['cookie']?.split('=')[0]}=${'a'.repeat(43)}` },
      401,
      'session',
    ],
    'with the cookie, which other servers of this machine see, and no key': () => [
      without('x-ktx-page'),
      403,
      'page',
    ],
    'with a wrong key': () => [{ ...own, 'x-ktx-page': 'guess' }, 403, 'page'],
    'from the page of another site': () => [
      { ...own, origin: 'https://evil.example' },
      403,
      'origin',
    ],
    'from another server of this machine': () => [
      { ...own, origin: 'http://127.0.0.1:1' },
      403,
      'origin',
    ],
    'from a frame or an image of another site': () => [
      { ...without('origin'), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      403,
      'origin',
    ],
    'under a name that somebody else made to lead here': () => [
      { ...without('origin'), host: 'evil.example' },
      403,
      'host',
    ],
  };
  test.for(Object.keys(refused))('are refused %s', async (name) => {
    const [headers, status, code] = refused[name]?.() ?? [{}, 0, ''];
    const answer = await sendTo(`${page.url}api/review`, { headers });
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([status, code]);
    const before = head();
    const decided = await sendTo(`${page.url}api/review/choose`, decide(headers));
    expect([decided.status, envelopeOf(decided).error?.code]).toEqual([status, code]);
    expect(head()).toBe(before);
  });
});

describe('a decision', () => {
  test('is refused if nothing says which page it is from', async () => {
    const answer = await sendTo(`${page.url}api/review/choose`, decide(without('origin')));
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'origin']);
  });

  test.for(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])(
    'is refused as the %s of a form',
    async (type) => {
      const headers = { ...own, 'content-type': type };
      const sent = { method: 'POST', headers, body: JSON.stringify(decision) };
      const answer = await sendTo(`${page.url}api/review/choose`, sent);
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([400, 'input_invalid']);
    },
  );

  test('is refused as a link', async () => {
    const answer = await sendTo(`${page.url}api/review/choose?subject=a&version=b`, {
      headers: own,
    });
    expect(answer.status).toBe(404);
  });

  test('is refused with --read-only', async () => {
    await using reader = await startPage(cwd, ['--read-only']);
    const headers = await enterPage(reader);
    const before = head();
    for (const path of ['choose', 'accept', 'reject', 'edit', 'defer', 'undo']) {
      const answer = await sendTo(`${reader.url}api/review/${path}`, decide(headers));
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'read_only']);
    }
    expect(head()).toBe(before);
  });

  test('takes a name that looks like a flag as a name', async () => {
    const body = { subject: '--project-dir=/', version: '--json', seen: ['--trust'] };
    const sent = { method: 'POST', headers: { ...json, ...own }, body };
    const answer = await sendTo(`${page.url}api/review/choose`, sent);
    expect(envelopeOf(answer).error).toMatchObject({
      code: 'question_changed',
      message: expect.stringContaining('--project-dir=/') as unknown,
    });
  });
});

describe('the link', () => {
  const open = (token: string, headers: Record<string, string> = {}) =>
    sendTo(`${page.url}session`, {
      method: 'POST',
      headers: { ...json, ...headers },
      body: { token },
    });

  test('lets in once: whoever finds it later gets nothing', async () => {
    const token = page.link.split('#token=')[1] ?? '';
    const answer = await open(token);
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'link_used']);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('does not leave the browser: the token is no part of what is sent for the page', () => {
    const { pathname, search, hash } = new URL(page.link);
    expect([pathname, search]).toEqual(['/', '']);
    expect(hash).toMatch(/^#token=[\w-]{43}$/);
  });

  test('gives a cookie that no script reads and no other site sends', async () => {
    await using other = await startPage(cwd);
    const token = other.link.split('#token=')[1] ?? '';
    const { headers } = await sendTo(`${other.url}session`, {
      method: 'POST',
      headers: json,
      body: { token },
    });
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^ktx_page_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
  });
});

describe('every answer', () => {
  test.for(['', 'api/review', 'nothing', 'session'])(
    'at /%s forbids frames, foreign scripts and guesses',
    async (path) => {
      const { headers } = await sendTo(`${page.url}${path}`);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "connect-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy.join(' ')).not.toMatch(/unsafe|https?:|\*/);
    },
  );

  test('serves the files of the page only', async () => {
    for (const path of ['../package.json', '%2e%2e/package.json', 'assets/', 'ktx.yaml']) {
      const answer = await sendTo(`${page.url}${path}`);
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });
});
