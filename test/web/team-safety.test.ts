import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callScopes } from '../../src/mcp/http/tokens.ts';
import { openServeState } from '../../src/mcp/shared/serve-state.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openTeamSessions } from '../../src/web/team/team-sessions.ts';
import { ktx } from '../cli/run-cli.ts';
import {
  askToDecide,
  expectRefused,
  foreignRequests,
  formTypes,
  headOf,
  without,
} from './foreign-requests.ts';
import { contestedProject, envelopeOf, removeFolder, sendTo, startPage } from './page.ts';
import { askToEnter, createToken, enterTeam, type StartedTeam, startTeam } from './team.ts';

let cwd: string;
let team: StartedTeam;
let token: string;
/** What the page itself sends. */
let own: Record<string, string>;
const everything = ['--scope', 'read', 'query', 'write'];

beforeAll(async () => {
  cwd = await contestedProject();
  token = await createToken(cwd, 'ann', everything);
  team = await startTeam(cwd, ['--allow-host', 'ktx.example.com']);
  own = await enterTeam(team, token);
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  removeFolder(cwd);
});

const json = { 'content-type': 'application/json' };
const head = () => headOf(cwd);
const review = (headers: Record<string, string>) => sendTo(`${team.url}api/review`, { headers });
const decide = (headers: Record<string, string>) => askToDecide(team.url, headers);

describe('the page of a server', () => {
  test('gives data to the browser that is logged in', async () => {
    const answer = await review(own);
    expect([answer.status, envelopeOf(answer).ok]).toEqual([200, true]);
  });

  test.for(Object.keys(foreignRequests))('gives nothing and decides nothing %s', async (name) => {
    const request = foreignRequests[name]?.(own, 'login');
    expect(request).toBeDefined();
    if (request !== undefined) await expectRefused({ url: team.url, cwd }, request);
  });

  test('gives nothing to the token of MCP in place of a login, and under its own name without TLS', async () => {
    const asked = { url: team.url, cwd };
    const bearer = { authorization: `Bearer ${token}` };
    await expectRefused(asked, { headers: bearer, status: 401, code: 'login' });
    const plain = { ...own, host: 'ktx.example.com', origin: 'http://ktx.example.com' };
    await expectRefused(asked, { headers: plain, status: 403, code: 'origin' });
  });

  test.for(['https://evil.example', 'null'])('answers nothing to a page of %s', async (origin) => {
    const before = head();
    for (const answer of [await review({ ...own, origin }), await decide({ ...own, origin })])
      expect(answer.status).toBe(403);
    expect(head()).toBe(before);
  });

  test('answers nothing under a name that somebody else made to lead here', async () => {
    expect((await review({ ...without(own, 'origin'), host: 'evil.example' })).status).toBe(403);
  });

  test('takes no decision that does not say which page it is from', async () => {
    const answer = await decide(without(own, 'origin'));
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'origin']);
  });

  test.for(formTypes)('takes no decision as the %s of a form', async (type) => {
    const answer = await decide({ ...own, 'content-type': type });
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([400, 'input_invalid']);
  });

  test('is shown in no frame, and runs nothing but its own files', async () => {
    for (const path of ['', 'api/review', 'session', 'api/nothing']) {
      const { headers } = await sendTo(`${team.url}${path}`, { headers: own });
      expect([path, headers['x-frame-options']]).toEqual([path, 'DENY']);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("form-action 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  test('has the headers that ktx web has', async () => {
    await using alone = await startPage(cwd);
    const lastingHeaders = (headers: object) =>
      Object.entries(headers).filter(([name]) => !['date', 'content-length'].includes(name));
    const [one, two] = [await sendTo(alone.url), await sendTo(team.url)];
    expect(lastingHeaders(two.headers)).toEqual(lastingHeaders(one.headers));
  });

  test('asks who it is before anybody logs in, which is no error of a browser', async () => {
    const answer = await sendTo(`${team.url}api/about`);
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([200, 'login']);
  });

  test('leaves MCP as it is', async () => {
    const headers = { ...json, accept: 'application/json, text/event-stream' };
    const ask = (given: Record<string, string>) =>
      sendTo(team.mcp, {
        method: 'POST',
        headers: { ...headers, ...given },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      });
    // The cookie of the page lets nobody into MCP.
    expect((await ask(own)).status).toBe(401);
    expect((await ask({ authorization: `Bearer ${token}` })).status).not.toBe(401);
  });
});

describe('a login', () => {
  test.for(['', 'nothing', `ktx_${'0'.repeat(12)}_${'0'.repeat(64)}`])(
    'with the token "%s" is refused',
    async (wrong) => {
      const answer = await askToEnter(team, wrong);
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([401, 'login']);
      expect(String(answer.headers['set-cookie'])).not.toMatch(/=[\w-]{20}/);
    },
  );

  test('is refused from the page of another site, which would log somebody in as another', async () => {
    for (const origin of ['https://evil.example', 'http://127.0.0.1:1']) {
      const headers = { ...json, origin };
      const sent = { method: 'POST', headers, body: { token } };
      expect((await sendTo(`${team.url}session`, sent)).status).toBe(403);
    }
    const nowhere = { method: 'POST', headers: json, body: { token } };
    expect((await sendTo(`${team.url}session`, nowhere)).status).toBe(403);
  });

  test('is no link: nothing of an address logs in', async () => {
    for (const path of [`session?token=${token}`, `?token=${token}`, `api/review?token=${token}`]) {
      const answer = await sendTo(`${team.url}${path}`, { headers: without(own, 'cookie') });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('gives a cookie that no script reads and no other site sends', async () => {
    const { headers, text } = await askToEnter(team, token);
    const [cookie] = headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^ktx_team_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(`${cookie}${text}`).not.toContain(token);
  });

  test('under a name of others goes over TLS only', async () => {
    const headers = { ...json, host: 'ktx.example.com', origin: 'https://ktx.example.com' };
    const answer = await sendTo(`${team.url}session`, { method: 'POST', headers, body: { token } });
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-ktx_team=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  test('ends when the person logs out', async () => {
    const headers = await enterTeam(team, token);
    const left = await sendTo(`${team.url}session`, { method: 'DELETE', headers });
    expect(String(left.headers['set-cookie'])).toContain('Max-Age=0');
    expect((await review(headers)).status).toBe(401);
    expect((await review(own)).status).toBe(200);
  });

  test('ends with its token, at once', async () => {
    const other = await createToken(cwd, 'leaver', everything);
    const headers = await enterTeam(team, other);
    expect((await review(headers)).status).toBe(200);
    await ktx(['mcp', 'token', 'revoke', 'leaver'], { cwd });
    const before = head();
    for (const answer of [await review(headers), await decide(headers)])
      expect([answer.status, envelopeOf(answer).error?.code]).toEqual([401, 'login']);
    expect(head()).toBe(before);
    expect((await askToEnter(team, other)).status).toBe(401);
  });

  test('ends when its token expires', async () => {
    const project = await openProject(cwd);
    await using state = await openServeState(project, process.env);
    const expires = new Date(Date.now() + 1_000).toISOString();
    const scopes = [...callScopes];
    const { text } = await state.tokens.create({ name: 'guest', scopes, expires });
    const headers = await enterTeam(team, text);
    await expect.poll(async () => (await review(headers)).status, { timeout: 5_000 }).toBe(401);
    expect((await askToEnter(team, text)).status).toBe(401);
    await project.close();
  });

  test('ends after half a day, also if the token still holds', () => {
    let now = 0;
    const sessions = openTeamSessions(() => now);
    const { cookie } = sessions.begin({ token: 'ktx_token', who: 'ann' }, 'ktx.example.com');
    const header = cookie.split(';')[0];
    now = 11 * 60 * 60_000;
    expect(sessions.find(header, 'ktx.example.com')?.token).toBe('ktx_token');
    expect(sessions.find(header, '127.0.0.1:7878')).toBeUndefined();
    now = 13 * 60 * 60_000;
    expect(sessions.find(header, 'ktx.example.com')).toBeUndefined();
  });

  test('is not ended by the logins of somebody else, however many', () => {
    const sessions = openTeamSessions();
    const begin = (given: string, who: string) =>
      sessions.begin({ token: given, who }, 'ktx.example.com').cookie.split(';')[0];
    const ann = begin('ktx_ann', 'ann');
    const first = begin('ktx_eve', 'eve');
    const later = Array.from({ length: 6_000 }, (_, index) => begin(`ktx_${index}`, 'eve'));
    const find = (cookie: string | undefined) => sessions.find(cookie, 'ktx.example.com')?.token;
    expect([find(ann), find(first), find(later.at(-1))]).toEqual([
      'ktx_ann',
      undefined,
      'ktx_5999',
    ]);
  });

  test('of somebody who may only be counted shows nothing', async () => {
    const counting = await createToken(cwd, 'prometheus', ['--scope', 'metrics']);
    const answer = await review(await enterTeam(team, counting));
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([403, 'scope_missing']);
  });
});

describe('the limits of a token', () => {
  test('hold for the page as for MCP', async () => {
    await using slow = await startTeam(cwd, ['--requests-per-minute', '1']);
    const headers = await enterTeam(slow, token);
    const ask = () => sendTo(`${slow.url}api/datasets`, { headers });
    expect((await ask()).status).toBe(200);
    const answer = await ask();
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([429, 'rate_limited']);
  });

  test('stop a flood of requests that are no calls', async () => {
    await using slow = await startTeam(cwd, ['--requests-per-minute', '1']);
    const headers = await enterTeam(slow, token);
    const statuses = [];
    for (let sent = 0; sent < 12; sent += 1)
      statuses.push((await sendTo(`${slow.url}api/explain`, { headers })).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([400, 429]);
  });

  test('of a day hold for its queries', async () => {
    await using short = await startTeam(cwd, ['--queries-per-day', '1']);
    const headers = { ...(await enterTeam(short, token)), ...json };
    const body = { metrics: ['orders.count'] };
    const ask = () => sendTo(`${short.url}api/query`, { method: 'POST', headers, body });
    expect(envelopeOf(await ask()).ok).toBe(true);
    const answer = await ask();
    expect([answer.status, envelopeOf(answer).error?.code]).toEqual([429, 'day_used_up']);
  });
});

test('--page is for the server over HTTP', async () => {
  const { code, stderr } = await ktx(['mcp', 'serve', '--page'], { cwd });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--page is for the server over HTTP'),
  ]);
});
