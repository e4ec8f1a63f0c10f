import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  askToDecide,
  expectRefused,
  foreignRequests,
  formTypes,
  headOf,
  without,
} from './foreign-requests.ts';
import {
  contestedProject,
  enterPage,
  envelopeOf,
  removeFolder,
  sendTo,
  startPage,
  type StartedPage,
} from './page.ts';

let cwd: string;
let page: StartedPage;
/** What the page itself sends. */
let own: Record<string, string>;
const head = () => headOf(cwd);

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
describe('the data of the page', () => {
  test('are for the page that came in by the link', async () => {
    const answer = await sendTo(`${page.url}api/review`, { headers: own });
    expect(answer.status).toBe(200);
    expect(envelopeOf(answer)).toMatchObject({ ok: true });
  });

  test.for(Object.keys(foreignRequests))('are refused %s', async (name) => {
    const request = foreignRequests[name]?.(own, 'session');
    expect(request).toBeDefined();
    if (request !== undefined) await expectRefused({ url: page.url, cwd }, request);
  });

  test('are refused from the page of another site, and under a name that it made to lead here', async () => {
    const asked = { url: page.url, cwd };
    const elsewhere = { ...own, origin: 'https://evil.example' };
    await expectRefused(asked, { headers: elsewhere, status: 403, code: 'origin' });
    const renamed = { ...without(own, 'origin'), host: 'evil.example' };
    await expectRefused(asked, { headers: renamed, status: 403, code: 'host' });
  });
});

describe('a decision', () => {
  test('is refused if nothing says which page it is from', async () => {
    const answer = await askToDecide(page.url, without(own, 'origin'));
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'origin']);
  });

  test.for(formTypes)('is refused as the %s of a form', async (type) => {
    const answer = await askToDecide(page.url, { ...own, 'content-type': type });
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([400, 'input_invalid']);
  });

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
      const sent = { method: 'POST', headers: { ...json, ...headers }, body: {} };
      const answer = await sendTo(`${reader.url}api/review/${path}`, sent);
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
      body: { link: token },
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
      body: { link: token },
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
