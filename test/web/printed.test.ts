import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { chromium, goTo, openPage, settle } from './browser.ts';
import { drawnProject } from './drawn-project.ts';
import { projectWithDemo, removeFolder, startPage } from './page.ts';

/** Where screenshots go, if a person wants to look. */
const shots = process.env['KTX_SCREENSHOTS'];

let cwd: string;
let demo: string;

beforeAll(async () => {
  if (chromium === undefined) return undefined;
  ({ cwd, demo } = await projectWithDemo());
  return () => removeFolder(cwd);
});

const pages = [
  '#/',
  '#/review',
  '#/joins',
  '#/datasets',
  '#/about/dataset%3Ashop.orders',
  '#/about/metric%3Ashop.orders.revenue',
  '#/about/term%3Arevenue',
  '#/search/revenue',
  '#/models',
];

/** The width of A4 between its margins, at 96 dots an inch. */
const paper = { width: 718, height: 1_000 };

const lookSchema = z.object({
  /** Of what is for a screen only. */
  shownControls: z.array(z.string()),
  /** Elements that are cut off, or stand out of the paper. */
  cut: z.array(z.string()),
  /** Dark areas, and text that nobody can read on white. */
  dark: z.array(z.string()),
  pale: z.array(z.string()),
  text: z.string(),
});

/** In the browser: what a person would see on paper. */
const look = `(() => {
  const isShown = (element) => element.checkVisibility() && element.getClientRects().length > 0;
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + element.getAttribute('class');
  const brightness = (color) => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\\d.]+/g) ?? []).map(Number);
    return alpha === 0 ? undefined : (red * 299 + green * 587 + blue * 114) / 1000;
  };
  const all = [...document.querySelectorAll('body *')].filter(isShown);
  const controls = 'nav, input, select, textarea, form, button:not(.link), .skip';
  const isCut = (element) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    const hides = [overflowX, overflowY].some((value) => value !== 'visible');
    return (hides && (element.scrollWidth > element.clientWidth + 1 ||
      element.scrollHeight > element.clientHeight + 1)) ||
      element.getBoundingClientRect().right > innerWidth + 1;
  };
  const hasText = (element) => [...element.childNodes].some(
    (node) => node.nodeType === 3 && node.textContent.trim() !== '');
  return {
    shownControls: all.filter((element) => element.matches(controls)).map(nameOf),
    cut: all.filter((element) => !element.closest('svg *, .visually-hidden') && isCut(element)).map(nameOf),
    dark: all.filter((element) => element.clientWidth > 200 && element.clientHeight > 30 &&
      (brightness(getComputedStyle(element).backgroundColor) ?? 255) < 200).map(nameOf),
    pale: all.filter((element) => hasText(element) && !element.closest('.mark, .chip, svg') &&
      (brightness(getComputedStyle(element).color) ?? 255) > 140).map(nameOf),
    text: document.body.innerText,
  };
})()`;

describe.skipIf(chromium === undefined)('on paper', () => {
  test.for(['light', 'dark'] as const)(
    'every page of a %s screen is readable: no menu, nothing cut off, dark on white',
    async (scheme) => {
      await using page = await startPage(demo);
      const { page: tab } = await openPage(page, { width: 1280, scheme });
      for (const hash of pages) {
        await goTo(tab, hash);
        await tab.emulateMedia({ media: 'print' });
        await tab.setViewportSize(paper);
        await settle(tab);
        const { text, ...wrong } = lookSchema.parse(await tab.evaluate(look));
        const nothing = { shownControls: [], cut: [], dark: [], pale: [] };
        expect([hash, wrong]).toEqual([hash, nothing]);
        expect([hash, text.length > 100]).toEqual([hash, true]);
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true });
          const name = `print-${hash.replaceAll(/\W+/g, '_')}-${scheme}.png`;
          await tab.screenshot({ path: join(shots, name), fullPage: true });
        }
        const pdf = await tab.pdf({ format: 'A4' });
        expect([hash, pdf.subarray(0, 5).toString()]).toEqual([hash, '%PDF-']);
        await tab.emulateMedia({ media: 'screen' });
        await tab.setViewportSize({ width: 1280, height: 860 });
      }
    },
  );

  test('what a click opens is open, and a link has its address', async () => {
    await using page = await startPage(demo);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/joins');
    await tab.emulateMedia({ media: 'print' });
    const table = tab.locator('details table').first();
    expect(await table.isVisible()).toBe(true);
    expect(await table.locator('tbody tr').count()).toBeGreaterThan(3);
    const added = await tab.evaluate(`(() => {
      const link = document.createElement('a');
      link.href = 'https://wiki.example/page';
      document.querySelector('main').append(link);
      return getComputedStyle(link, '::after').content;
    })()`);
    expect(String(added)).toContain('https://wiki.example/page');
  });

  test('a table that is longer than a page is whole, with its head on each', async () => {
    const dir = drawnProject({ datasets: 70, joins: 90 });
    onTestFinished(() => removeFolder(dir));
    await using page = await startPage(dir);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/joins');
    await tab.emulateMedia({ media: 'print' });
    await tab.setViewportSize(paper);
    expect(await tab.locator('details tbody tr').count()).toBe(90);
    const head = "getComputedStyle(document.querySelector('details thead')).display";
    expect(await tab.evaluate(head)).toBe('table-header-group');
    const graph = await tab.locator('.graph').boundingBox();
    expect((graph?.x ?? 0) + (graph?.width ?? 0)).toBeLessThanOrEqual(paper.width);
    // On a screen it is 90 lines below; on paper it takes pages.
    const pdf = (await tab.pdf({ format: 'A4' })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0).toBeGreaterThan(2);
  });
});
