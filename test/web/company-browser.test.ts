import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ktxJson } from '../cli/run-cli.ts';
import { axeViolations, chromium, goTo, looks, openTab, settle } from './browser.ts';
import { startCompanyTeam } from './company-team.ts';

/** Where screenshots go, if a person wants to look. */
const shots = process.env['KTX_SCREENSHOTS'];

let served: Awaited<ReturnType<typeof startCompanyTeam>>;
let cwd: string;
let company: typeof served.company;
let team: typeof served.team;

beforeAll(async () => {
  if (chromium === undefined) return;
  served = await startCompanyTeam();
  ({ cwd, company, team } = served);
});
afterAll(() => served?.[Symbol.asyncDispose]());

describe.skipIf(chromium === undefined)('in a browser, the login of the company', () => {
  test.for(looks)('at $width px, $scheme is a button that leads back in', async (look) => {
    const { page: tab, problems } = await openTab(team.url, look);
    const button = tab.locator('.company button');
    await button.waitFor();
    expect(await button.innerText()).toContain(new URL(company.issuer).host);
    expect(await axeViolations(tab)).toEqual([]);
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await tab.screenshot({ path: join(shots, `company-${look.width}-${look.scheme}.png`) });
    }
    await button.focus();
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('nav.menu');
    await settle(tab);
    expect(await tab.locator('.person').innerText()).toContain('ann@x.example (dach)');
    expect(tab.url()).toBe(team.url);
    await goTo(tab, '#/datasets');
    expect(await tab.locator('.failure').count()).toBe(0);
    await tab.locator('.person button').click();
    await tab.waitForSelector('.company button');
    // The way to the provider and back is the only one that leaves.
    const left = problems.filter((problem) => !problem.startsWith(`left: ${company.issuer}/`));
    expect(left).toEqual([]);
    expect(problems.length).toBeGreaterThan(0);
  });

  test('is nothing that a link can do: neither a token nor a login of somebody else', async () => {
    const { envelope } = await ktxJson(['mcp', 'token', 'create', 'mallory'], { cwd });
    const { token } = z.object({ token: z.string() }).parse(envelope.data);
    for (const hash of [`#token=${token}`, '#login']) {
      const { page: tab } = await openTab(`${team.url}${hash}`, looks[0] ?? never());
      expect(await tab.locator('h1').innerText()).toBe('Log in');
      expect(await tab.locator('.person').count()).toBe(0);
      expect(await tab.evaluate('localStorage.length')).toBe(0);
    }
  });
});

function never(): never {
  throw new Error('there are looks');
}
