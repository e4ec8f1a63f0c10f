import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, chromium, goTo, looks, openTab, settle } from './browser.ts';
import { removeFolder } from './page.ts';
import { createToken, type StartedTeam, startTeam } from './team.ts';
import { rolesProject } from './team-project.ts';

/** Where screenshots go, if a person wants to look. */
const shots = process.env['KTX_SCREENSHOTS'];

let cwd: string;
let team: StartedTeam;
let token: string;

beforeAll(async () => {
  if (chromium === undefined) return undefined;
  cwd = await rolesProject();
  token = await createToken(cwd, 'uma', ['--role', 'us', '--scope', 'read', 'query', 'write']);
  team = await startTeam(cwd);
  return async () => {
    await team[Symbol.asyncDispose]();
    removeFolder(cwd);
  };
});

const pages = [
  '#/',
  '#/review',
  '#/joins',
  '#/datasets',
  '#/about/dataset%3Awarehouse.orders',
  '#/about/metric%3Awarehouse.orders.revenue',
  '#/about/term%3Arevenue',
  '#/search/revenue',
];

describe.skipIf(chromium === undefined)('the page of a server in a browser', () => {
  test.for(looks)('at $width px, $scheme: log in, look at every page, log out', async (look) => {
    const { page: tab, problems } = await openTab(team.url, look);
    expect(await tab.locator('h1').innerText()).toBe('Log in');
    expect(await axeViolations(tab)).toEqual([]);
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await tab.screenshot({ path: join(shots, `login-${look.width}-${look.scheme}.png`) });
    }
    await tab.keyboard.press('Tab');
    await tab.keyboard.type(token);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('nav.menu');
    await settle(tab);
    const menu = await tab.locator('nav.menu a').allInnerTexts();
    expect(menu.map((title) => title.replace(/\s*\d+$/, ''))).toEqual([
      'Home',
      'Review',
      'Joins',
      'Datasets',
    ]);
    expect(await tab.locator('.person').innerText()).toContain('uma (us)');
    let shown = '';
    for (const hash of pages) {
      await goTo(tab, hash);
      shown += await tab.locator('body').innerText();
      expect([hash, await tab.locator('.failure').count()]).toEqual([hash, 0]);
      expect([hash, await axeViolations(tab)]).toEqual([hash, []]);
      const isWide = await tab.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect([hash, isWide]).toEqual([hash, false]);
      if (shots === undefined) continue;
      const name = `team-${hash.replaceAll(/\W+/g, '_')}-${look.width}-${look.scheme}.png`;
      await tab.screenshot({ path: join(shots, name), fullPage: true });
    }
    expect(shown).toContain('Revenue');
    expect(shown).not.toMatch(/canary-dach|cost_secret|rule_secret|18300|18,300/);
    for (const own of ['#/ask', '#/evals', '#/models']) {
      await goTo(tab, own);
      expect(await tab.locator('main').innerText()).toContain('There is no such page');
    }
    expect(problems).toEqual([]);
    await tab.locator('.person button').click();
    await tab.waitForSelector('form.login');
    expect(await tab.locator('body').innerText()).not.toContain('uma');
    // Nothing of the session is left in the browser.
    expect(await tab.evaluate('localStorage.length')).toBe(0);
    expect(problems).toEqual([]);
  });
});
