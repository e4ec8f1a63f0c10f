import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { ktxJson } from '../cli/run-cli.ts';
import { axeViolations, chromium, goTo, looks, openPage, settle } from './browser.ts';
import { removeFolder, startPage, waitingProject } from './page.ts';

let cwd: string;

beforeAll(async () => {
  if (chromium === undefined) return undefined;
  cwd = await waitingProject();
  return () => removeFolder(cwd);
});

const pages = ['#/', '#/review'];

describe.skipIf(chromium === undefined)('the pages in a browser', () => {
  test.for(looks)(
    'at $width px, $scheme: no error, nothing leaves, axe is content',
    async (look) => {
      await using page = await startPage(cwd);
      const watched = await openPage(page, look);
      for (const hash of pages) {
        await goTo(watched.page, hash);
        expect([hash, await axeViolations(watched.page)]).toEqual([hash, []]);
        const isWide = await watched.page.evaluate(
          'document.documentElement.scrollWidth > innerWidth',
        );
        expect([hash, isWide]).toEqual([hash, false]);
      }
      expect(watched.problems).toEqual([]);
    },
  );

  test('three conflicts, two joins and an unreviewed metric are decided by the keyboard alone', async () => {
    await using page = await startPage(cwd);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/review');
    const log = () =>
      execFileSync('git', ['log', '--format=%s', '-20'], { cwd, encoding: 'utf8' }).split('\n');
    const before = log().filter((line) => line.startsWith('ktx: decide')).length;
    // Conflicts first, then joins, then metrics: the second version, the first, a refusal.
    for (const [index, key] of ['2', '1', '2', '1', '2', '1'].entries()) {
      await tab.keyboard.press(key);
      await tab.waitForSelector(`.decided[data-made="${index + 1}"]`);
      await settle(tab);
    }
    expect(log().filter((line) => line.startsWith('ktx: decide'))).toHaveLength(before + 6);
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    expect(envelope.data).toMatchObject({ conflicts: [], joins: [], unreviewed: [] });
    expect(problems).toEqual([]);
    await tab.keyboard.press('z');
    await tab.waitForSelector('.decision-undone');
    expect(log()[0]).toMatch(/^ktx: reopen metric:/);
  });
});
