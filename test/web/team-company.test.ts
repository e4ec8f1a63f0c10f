import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ktxJson } from '../cli/run-cli.ts';
import { type Browser, openBrowser } from '../mcp/broker/browser.ts';
import { startCompanyTeam } from './company-team.ts';
import { envelopeOf, sendTo } from './page.ts';

let served: Awaited<ReturnType<typeof startCompanyTeam>>;
let cwd: string;
let company: typeof served.company;
let origin: string;

beforeAll(async () => {
  served = await startCompanyTeam();
  ({ cwd, company, origin } = served);
});
afterAll(() => served?.[Symbol.asyncDispose]());
beforeEach(() => company.signIn('p-1'));

const startedSchema = z.object({ data: z.object({ url: z.string() }) });
const keySchema = z.object({ data: z.object({ key: z.string() }) });

/** What a page of this origin sends. */
function post(browser: Browser, [path, key = '']: readonly [string, string?], body: object) {
  const headers = { origin, 'content-type': 'application/json', 'x-ktx-page': key };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return browser.visit(`${origin}/${path}`, init);
}

const begin = async (browser: Browser): Promise<string> =>
  startedSchema.parse(JSON.parse((await post(browser, ['session/company'], {})).text)).data.url;

/** The whole login, up to the key of the page. */
async function logIn(browser: Browser): Promise<string> {
  const back = await browser.follow(await begin(browser));
  expect(back.url).toBe(`${origin}/#login`);
  const { text } = await post(browser, ['session'], { company: true });
  return keySchema.parse(JSON.parse(text)).data.key;
}

const cities = { metrics: ['orders.revenue'], dimensions: ['orders.city'] };
const query = (browser: Browser, key: string) => post(browser, ['api/query', key], cities);

describe('the login of the company on the page of a server', () => {
  test('gives each person the role of their groups, and ends with the page', async () => {
    const [ann, bob] = [openBrowser(), openBrowser()];
    const annKey = await logIn(ann);
    company.signIn('p-2');
    const bobKey = await logIn(bob);
    expect((await query(ann, annKey)).text).toMatch(/canary-dach/);
    expect((await query(ann, annKey)).text).not.toMatch(/canary-us/);
    expect((await query(bob, bobKey)).text).toMatch(/canary-us/);
    const about = await ann.visit(`${origin}/api/about`, { headers: { 'x-ktx-page': annKey } });
    expect(JSON.parse(about.text)).toMatchObject({
      data: { login: { name: 'ann@x.example', role: 'dach', scopes: ['read', 'query', 'write'] } },
    });
    // A decision is signed with the name that the provider vouches for.
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    const [conflict] = waitingSchema.parse(envelope.data).conflicts;
    const { subject = '', variants = [] } = conflict ?? {};
    const seen = variants.map(({ id }) => id);
    const decision = { subject, version: seen[0], seen };
    const decided = await post(ann, ['api/review/choose', annKey], decision);
    expect([decided.status, envelopeOf({ ...decided, headers: {} }).ok]).toEqual([200, true]);
    expect(readFileSync(join(cwd, 'pins.yaml'), 'utf8')).toContain('by: ann@x.example');
    const pages = await ktxJson(['mcp', 'login', 'list'], { cwd });
    expect(JSON.stringify(pages.envelope.data)).toContain('ktx page');
    // Logged out here: what the company let in is gone for good.
    const left = await ann.visit(`${origin}/session`, { method: 'DELETE', headers: { origin } });
    expect(left.status).toBe(200);
    expect((await query(ann, annKey)).status).toBe(401);
    const rest = await ktxJson(['mcp', 'login', 'list'], { cwd });
    expect(JSON.stringify(rest.envelope.data)).not.toContain('ann@x.example');
  });

  test('ends at once when the person who runs the server ends it, or the person has left', async () => {
    const browser = openBrowser();
    const key = await logIn(browser);
    expect((await query(browser, key)).status).toBe(200);
    await ktxJson(['mcp', 'login', 'end', 'ann@x.example'], { cwd });
    expect((await query(browser, key)).status).toBe(401);
  });

  test('lets nobody in who has no role', async () => {
    company.signIn('p-3');
    const browser = openBrowser();
    const back = await browser.follow(await begin(browser));
    expect([back.status, back.text]).toEqual([403, expect.stringContaining('role_unknown')]);
    expect((await post(browser, ['session'], { company: true })).status).toBe(403);
  });

  test('counts only in the browser that began, once, and sends nobody elsewhere', async () => {
    const [mine, theirs] = [openBrowser(), openBrowser()];
    const url = await begin(mine);
    // The answer of the provider, opened in the browser of somebody else.
    const answer = await openBrowser().follow(url, [`${origin}/oauth/callback`]);
    const stolen = await theirs.visit(answer.location ?? '');
    expect([stolen.status, stolen.text]).toEqual([400, expect.stringContaining('login_expired')]);
    expect((await post(theirs, ['session'], { company: true })).status).toBe(403);
    const back = await mine.visit(answer.location ?? '');
    expect([back.status, back.location]).toEqual([303, `${origin}/#login`]);
    // Another browser may open the same address; only mine has the cookie.
    expect((await post(theirs, ['session'], { company: true })).status).toBe(403);
    expect((await mine.visit(answer.location ?? '')).status).toBe(400);
    const cookie = [...mine.jar].find(([name]) => name.startsWith('ktx_page_login'));
    expect(cookie?.[1].attributes).toMatch(/; HttpOnly; SameSite=Strict$/);
    const taken = mine.jar.get(cookie?.[0] ?? '');
    expect((await post(mine, ['session'], { company: true })).status).toBe(200);
    if (taken !== undefined) mine.jar.set(cookie?.[0] ?? '', taken);
    expect((await post(mine, ['session'], { company: true })).status).toBe(403);
  });

  test('begins with state, nonce and PKCE, and only from this page', async () => {
    const browser = openBrowser();
    const { searchParams } = new URL(await begin(browser));
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('redirect_uri')).toBe(`${origin}/oauth/callback`);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    const json = { 'content-type': 'application/json' };
    const send = (headers: Record<string, string>, path = 'session/company') =>
      sendTo(`${origin}/${path}`, { method: 'POST', headers: { ...json, ...headers }, body: {} });
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({})).status).toBe(403);
    expect((await send({ origin, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await sendTo(`${origin}/session/company`)).status).toBe(404);
    // Under another name of the server the login could not end: there it is not offered.
    const other = origin.replace('127.0.0.1', 'localhost');
    const host = new URL(other).host;
    expect((await send({ origin: other, host })).status).toBe(404);
    const about = await sendTo(`${origin}/api/about`, { headers: { host } });
    expect(envelopeOf(about).error).not.toHaveProperty('company');
    expect(envelopeOf(await sendTo(`${origin}/api/about`)).error).toMatchObject({
      code: 'login',
      company: new URL(company.issuer).host,
    });
  });

  test('leaves no token in the files of the server and in its logs', async () => {
    const browser = openBrowser();
    const key = await logIn(browser);
    const secrets = [key, ...[...browser.jar.values()].map(({ value }) => value)];
    for (const secret of secrets.filter(({ length }) => length > 20)) {
      const { status } = spawnSync('grep', ['-rqF', '--exclude-dir=.git', '--', secret, cwd]);
      // Nothing was found.
      expect(status).toBe(1);
    }
  });
});

const waitingSchema = z.object({
  conflicts: z.array(
    z.object({ subject: z.string(), variants: z.array(z.object({ id: z.string() })) }),
  ),
});
