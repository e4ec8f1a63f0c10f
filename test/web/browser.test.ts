import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { axeViolations, chromium, goTo, looks, openPage, settle } from './browser.ts';
import { drawnProject } from './drawn-project.ts';
import { hostileProject } from './hostile-text.ts';
import { projectWithDemo, removeFolder, startPage, waitingProject } from './page.ts';

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
  '#/joins?of=orders',
  '#/datasets',
  '#/about/dataset%3Ashop.orders',
  '#/about/metric%3Ashop.orders.revenue',
  '#/about/field%3Ashop.orders.status',
  '#/about/relationship%3Ashop.orders(buyer_id)',
  '#/about/term%3Arevenue',
  '#/search/revenue',
  '#/ask',
  '#/evals',
  '#/models',
];

describe.skipIf(chromium === undefined)('the pages in a browser', () => {
  test.for(looks)(
    'at $width px, $scheme: no error, nothing leaves, axe is content',
    async (look) => {
      await using page = await startPage(demo);
      const { page: tab, problems } = await openPage(page, look);
      for (const hash of pages) {
        await goTo(tab, hash);
        const text = await tab.locator('main').innerText();
        expect([hash, text.includes('There is no such page')]).toEqual([hash, false]);
        expect([hash, await tab.locator('.failure').count()]).toEqual([hash, 0]);
        expect([hash, await axeViolations(tab)]).toEqual([hash, []]);
        const isWide = await tab.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect([hash, isWide]).toEqual([hash, false]);
        const current = tab.locator('.menu [aria-current]');
        if ((await current.count()) > 0) {
          const box = await current.boundingBox();
          expect([hash, (box?.x ?? 999) + (box?.width ?? 0) <= look.width]).toEqual([hash, true]);
        }
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true });
          const name = `${hash.replaceAll(/\W+/g, '_')}-${look.width}-${look.scheme}.png`;
          await tab.screenshot({ path: join(shots, name), fullPage: true });
        }
      }
      expect(problems).toEqual([]);
    },
  );

  test('the first screen of the demo has the two truths', async () => {
    await using page = await startPage(demo);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await settle(tab);
    const lead = tab.locator('.lead', { hasText: 'orders.revenue' });
    expect(await lead.locator('.amount').allInnerTexts()).toEqual(['1,767,173', '1,891,712']);
    const box = await lead.boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(860);
  });

  test.for(looks)(
    'at $width px, $scheme a conflict shows its versions month by month',
    async (look) => {
      await using page = await startPage(demo);
      const { page: tab, problems } = await openPage(page, look);
      await goTo(tab, '#/review?subject=metric%3Ashop.orders.revenue');
      await tab.waitForSelector('.over-time');
      expect(await tab.locator('.version-line').count()).toBe(2);
      const text = tab.locator('.over-time text').first();
      const height = await text.evaluate((own) => own.getBoundingClientRect().height);
      expect(height).toBeGreaterThanOrEqual(10);
      await tab.locator('.over-time summary').click();
      expect(await tab.locator('.over-time tbody tr').count()).toBeGreaterThan(2);
      expect(await axeViolations(tab)).toEqual([]);
      if (shots !== undefined) {
        mkdirSync(shots, { recursive: true });
        await tab.screenshot({
          path: join(shots, `over-time-${look.width}-${look.scheme}.png`),
          fullPage: true,
        });
      }
      expect(problems).toEqual([]);
    },
  );

  test('a metric shows what it is made of down to dbt’s sources, and what depends on it', async () => {
    await using page = await startPage(demo);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/about/metric%3Ashop.orders.revenue');
    const made = tab.getByLabel('What it is made of').locator('> .tree');
    expect(await made.innerText()).toMatch(
      /field orders\.amount.*dataset orders.*table main\.orders.*model orders.*source webshop\.order_headers/s,
    );
    const used = tab.getByLabel('What depends on it').locator('> .tree');
    expect(await used.innerText()).toMatch(/metric orders\.average_order/);
    await made.locator('a', { hasText: 'orders.amount' }).click();
    await settle(tab);
    expect(await tab.locator('h1').innerText()).toBe('orders.amount');
    expect(problems).toEqual([]);
  });

  test('a query is built, written as a command and run', async () => {
    await using page = await startPage(demo);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/about/metric%3Ashop.orders.revenue');
    await tab.locator('.builder select').selectOption('orders.channel');
    expect(await tab.locator('.command').first().innerText()).toBe(
      'ktx sl query -m orders.revenue -d orders.channel',
    );
    await tab.locator('.builder button').click();
    await tab.waitForSelector('.chart .mark-bar');
    expect(await tab.locator('.rows tbody tr').count()).toBe(3);
    const [saved] = await Promise.all([
      tab.waitForEvent('download'),
      tab.locator('.chart figcaption button', { hasText: 'PNG' }).click(),
    ]);
    const png = readFileSync(await saved.path());
    expect([saved.suggestedFilename(), png.readUInt32BE(16)]).toEqual(['chart.png', 1440]);
    // The same as a drawing and for other tools.
    const save = async (kind: string): Promise<string> => {
      const button = tab.locator('.chart figcaption button', { hasText: kind });
      const [file] = await Promise.all([tab.waitForEvent('download'), button.click()]);
      return readFileSync(await file.path(), 'utf8');
    };
    expect(await save('SVG')).toMatch(/^<svg[^>]+>.*<rect[^>]+fill="rgb/s);
    const vega = vegaSchema.parse(JSON.parse(await save('Vega')));
    expect([vega.mark, vega.data.values.length]).toEqual(['bar', 3]);
    // Bars in their colour on the background: neither black nor empty.
    const bar = await tab.evaluate("getComputedStyle(document.querySelector('.mark-bar')).fill");
    const share = await tab.evaluate(
      `(${shareOfColor})(${JSON.stringify([png.toString('base64'), bar])})`,
    );
    expect(share).toBeGreaterThan(0.1);
    expect(share).toBeLessThan(0.7);
    expect(await axeViolations(tab)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('without a model the page for questions says so, and names the command', async () => {
    await using page = await startPage(cwd);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/ask');
    const note = await tab.locator('[role=note]').innerText();
    expect(note).toContain('No model is configured');
    expect(note).toContain('ktx setup --llm-backend');
  });

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

  test('what is taken back comes next, and no key decides before it is there', async () => {
    const dir = await waitingProject();
    onTestFinished(() => removeFolder(dir));
    await ktx(['ingest'], { cwd: dir });
    await using page = await startPage(dir);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/review');
    const log = () =>
      execFileSync('git', ['log', '--format=%s'], { cwd: dir, encoding: 'utf8' }).split('\n');
    const currently = () => tab.locator('.questions [aria-current=true]').innerText();
    const [before, first] = [log().length, await currently()];
    await tab.keyboard.press('2');
    await tab.waitForSelector('.decision-made');
    await settle(tab);
    expect(await currently()).not.toBe(first);
    await tab.keyboard.press('z');
    await tab.keyboard.press('1');
    await tab.waitForSelector('.decision-undone');
    await settle(tab);
    await expect.poll(currently).toBe(first);
    expect(log()).toHaveLength(before + 2);
    expect(log()[0]).toMatch(/^ktx: reopen/);
    expect(problems).toEqual([]);
  });

  test('joins and a metric that are selected by the keyboard are one decision, and one undo', async () => {
    const dir = await waitingProject();
    onTestFinished(() => removeFolder(dir));
    await ktx(['ingest'], { cwd: dir });
    await using page = await startPage(dir);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/review');
    const count = () =>
      Number(execFileSync('git', ['rev-list', '--count', 'HEAD'], { cwd: dir, encoding: 'utf8' }));
    const before = count();
    // Past the conflicts, which are decided one by one.
    for (const key of ['x', 'j', 'j', 'j', 'x', 'j', 'j', 'Shift+X']) await tab.keyboard.press(key);
    expect(await tab.locator('.selection strong').innerText()).toBe('3 selected');
    expect(await axeViolations(tab)).toEqual([]);
    await tab.keyboard.press('2');
    await tab.waitForSelector('.decision-made');
    await settle(tab);
    expect(await tab.locator('.decision-made').innerText()).toContain('and 2 more: rejected');
    expect(count()).toBe(before + 1);
    await expect.poll(() => tab.locator('.questions li').count()).toBe(3);
    await tab.keyboard.press('z');
    await tab.waitForSelector('.decision-undone');
    await settle(tab);
    expect(count()).toBe(before + 2);
    await expect.poll(() => tab.locator('.questions li').count()).toBe(6);
    expect(problems).toEqual([]);
  });

  test('a join in doubt is accepted under a name in the graph, by the keyboard', async () => {
    const dir = await waitingProject();
    onTestFinished(() => removeFolder(dir));
    await ktx(['ingest'], { cwd: dir });
    await using page = await startPage(dir);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/joins');
    await tab.locator('main summary').focus();
    await tab.keyboard.press('Enter');
    const row = tab.locator('main table tr', { hasText: 'in doubt' }).first();
    await row.locator('button').first().focus();
    await tab.keyboard.press('Enter');
    await tab.locator('.role input').fill('packed_by');
    expect(await axeViolations(tab)).toEqual([]);
    await tab.keyboard.press('Enter');
    await tab.waitForSelector('.decision-made');
    await settle(tab);
    expect(await tab.locator('.decision-made').innerText()).toContain('named packed_by');
    const { envelope } = await ktxJson(['sl', 'graph'], { cwd: dir });
    expect(JSON.stringify(envelope.data)).toContain('"role":"packed_by"');
    expect(problems).toEqual([]);
  });

  test('what another person decided meanwhile is refused, said and gone from the list', async () => {
    const dir = await waitingProject();
    onTestFinished(() => removeFolder(dir));
    await using page = await startPage(dir);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/review');
    const { envelope } = await ktxJson(['review', 'list'], { cwd: dir });
    const { conflicts } = waitingSchema.parse(envelope.data);
    const [conflict] = conflicts;
    const { subject = '', variants = [] } = conflict ?? {};
    const [version] = variants;
    await ktx(['review', 'choose', subject, version?.id ?? ''], { cwd: dir });
    await tab.keyboard.press('2');
    await tab.waitForSelector('.decision-failed');
    await settle(tab);
    expect(await tab.locator('.decision-failed').innerText()).toContain(
      `changed since you looked: no longer open`,
    );
    expect(await tab.locator('.questions li').count()).toBe(5);
    const head = execFileSync('git', ['log', '-1', '--format=%s'], { cwd: dir, encoding: 'utf8' });
    expect(head.trim()).toBe(`ktx: decide ${subject}`);
  });
});

/** In the browser: how much of a picture has a colour. */
const shareOfColor = `async ([png, color]) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + png;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width, image.height];
  const drawing = canvas.getContext('2d');
  drawing.drawImage(image, 0, 0);
  const { data } = drawing.getImageData(0, 0, image.width, image.height);
  const wanted = color.match(/\\d+/g).map(Number);
  let found = 0;
  for (let at = 0; at < data.length; at += 4)
    if (wanted.slice(0, 3).every((part, index) => Math.abs(part - data[at + index]) < 3)) found += 1;
  return found / (data.length / 4);
}`;

const vegaSchema = z.object({
  $schema: z.literal('https://vega.github.io/schema/vega-lite/v6.json'),
  mark: z.string(),
  data: z.object({ values: z.array(z.object({ label: z.string(), value: z.number() })) }),
  encoding: z.object({ x: z.object({ field: z.literal('value') }) }),
});

const waitingSchema = z.object({
  conflicts: z.array(
    z.object({ subject: z.string(), variants: z.array(z.object({ id: z.string() })) }),
  ),
});

describe.skipIf(chromium === undefined)('in a browser, text of others', () => {
  test('runs nothing, loads nothing and reorders nothing, in any field of any page', async () => {
    const dir = hostileProject();
    onTestFinished(() => removeFolder(dir));
    await using page = await startPage(dir);
    const { page: tab, problems } = await openPage(page, { width: 1280, scheme: 'light' });
    const hostile = [
      '#/',
      '#/review',
      '#/joins',
      '#/datasets',
      '#/about/dataset%3Ashop.orders',
      '#/about/metric%3Ashop.orders.revenue',
      '#/search/revenue',
      `#/about/${encodeURIComponent('<img src=x onerror=window.hacked=1>')}`,
      `#/search/${encodeURIComponent('<img src=x onerror=window.hacked=1>')}`,
    ];
    let shown = '';
    for (const hash of hostile) {
      await goTo(tab, hash);
      shown += await tab.locator('main').innerText();
      expect([hash, await tab.evaluate('window.hacked')]).toEqual([hash, undefined]);
      expect([hash, await tab.locator('main img, main script').count()]).toEqual([hash, 0]);
      const links = await tab
        .locator('main a')
        .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
      expect(links.filter((href) => !/^(?:#|https?:)/.test(href))).toEqual([]);
    }
    expect(shown).toContain('<img src=x onerror="window.hacked=1">');
    expect(shown).toContain('\\u{202e}');
    expect(shown).not.toContain('\u202E');
    expect(problems).toEqual([]);
  });

  test('another site gets nothing: no frame, no answer, no decision', async () => {
    await using page = await startPage(cwd);
    const { page: tab, context } = await openPage(page, { width: 1280, scheme: 'light' });
    await settle(tab);
    const head = () => execFileSync('git', ['rev-parse', 'HEAD'], { cwd, encoding: 'utf8' });
    const before = head();
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><iframe id="frame" src="${page.url}"></iframe>
        <form id="form" method="post" action="${page.url}api/review/choose" target="sink">
        <input name="subject" value="a"></form><iframe name="sink"></iframe>`);
    });
    await new Promise<void>((resolve) => void evil.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void evil.close());
    const { port } = evil.address() as AddressInfo;
    const foreign = await context.newPage();
    await foreign.goto(`http://127.0.0.1:${port}/`);
    const asked = await foreign.evaluate(`Promise.all(['api/review', 'api/review/choose'].map(
      (path, index) => fetch('${page.url}' + path, index === 0 ? { credentials: 'include' } : {
        method: 'POST', credentials: 'include', body: '{}',
      }).then((answer) => answer.text(), () => 'refused')))`);
    expect(asked).toEqual(['refused', 'refused']);
    await foreign.evaluate("document.getElementById('form').submit()");
    await foreign.waitForLoadState('networkidle');
    const framed = foreign.frames().find((frame) => frame.url().startsWith(page.url));
    expect(await framed?.locator('main').count()).toBeFalsy();
    expect(head()).toBe(before);
  });
});

/** Every page of `pages`, about what a project of 1,000 datasets has. */
const largePages = [
  '#/',
  '#/review',
  '#/joins',
  '#/joins?of=sales_orders',
  '#/datasets',
  '#/about/dataset%3Ashop.sales_orders',
  '#/about/dataset%3Ashop.sales_accounts_2',
  '#/about/metric%3Ashop.sales_orders.total',
  '#/about/field%3Ashop.sales_orders.amount',
  '#/about/relationship%3Ashop.sales_orders(sales_accounts_id)',
  '#/search/orders',
  '#/ask',
  '#/evals',
  '#/models',
];

describe.skipIf(chromium === undefined)('in a browser, large projects', () => {
  test.for(looks)(
    '1,000 datasets at $width px, $scheme: every page comes, the graph is a neighbourhood',
    async (look) => {
      const dir = drawnProject({ datasets: 1000, joins: 1500 });
      onTestFinished(() => removeFolder(dir));
      await using page = await startPage(dir);
      const { page: tab, problems } = await openPage(page, look);
      const shown = await tab.evaluate('performance.now()');
      for (const hash of largePages) {
        await goTo(tab, hash);
        expect([hash, await tab.locator('.failure').count()]).toEqual([hash, 0]);
        expect([hash, await axeViolations(tab)]).toEqual([hash, []]);
        const isWide = await tab.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect([hash, isWide]).toEqual([hash, false]);
        if (shots !== undefined) {
          mkdirSync(shots, { recursive: true });
          const name = `large-${hash.replaceAll(/\W+/g, '_')}-${look.width}-${look.scheme}.png`;
          await tab.screenshot({ path: join(shots, name) });
        }
      }
      await goTo(tab, '#/joins');
      const drawn = await tab.locator('.graph .node').count();
      expect(drawn).toBeGreaterThan(5);
      expect(drawn).toBeLessThanOrEqual(70);
      await goTo(tab, '#/datasets');
      expect(await tab.locator('.datasets li').count()).toBe(300);
      expect(problems).toEqual([]);
      const paint = await tab.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime",
      );
      expect(Number(paint)).toBeGreaterThan(0);
      const painted = `first paint of 1,000 datasets, ${look.width} px ${look.scheme}`;
      if (shots !== undefined)
        process.stdout.write(`${painted}: ${String(paint)} ms, with data ${String(shown)}\n`);
    },
  );

  test('70 datasets and 90 joins are in one drawing as wide as the page; no two datasets overlap', async () => {
    const dir = drawnProject({ datasets: 70, joins: 90 });
    onTestFinished(() => removeFolder(dir));
    await using page = await startPage(dir);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'light' });
    await goTo(tab, '#/joins');
    if (shots !== undefined)
      await tab.screenshot({ path: join(shots, 'joins-70.png'), fullPage: true });
    const boxes = await tab.locator('.graph .node rect').evaluateAll((nodes) =>
      nodes.map((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
    expect(boxes).toHaveLength(70);
    expect(await tab.locator('.graph .join').count()).toBe(90);
    const overlaps = boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter(
          (two) =>
            one.left < two.right &&
            two.left < one.right &&
            one.top < two.bottom &&
            two.top < one.bottom,
        ),
    );
    expect(overlaps).toEqual([]);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(1280);
    const size = await tab
      .locator('.graph .node text')
      .first()
      .evaluate((text) => text.getBoundingClientRect().height);
    expect(size).toBeGreaterThanOrEqual(10);
    const lines = linesSchema.parse(await tab.evaluate(walkLines));
    // No line runs over a dataset, and no two begin or end at one point.
    expect(lines.over).toEqual([]);
    expect([lines.starts, lines.ends]).toEqual([90, 90]);
    // What a person points at names the columns, which the drawing has no room for.
    expect(await tab.locator('.graph .join title').first().textContent()).toMatch(/_id = id$/);
    await tab.locator('.graph .node', { hasText: 'sales_regions' }).hover();
    expect(await tab.locator('.graph .node:not(.dim)').count()).toBe(6);
    expect(await tab.locator('.graph .join.lit').count()).toBe(5);
    if (shots !== undefined) await tab.screenshot({ path: join(shots, 'joins-70-lit.png') });
  });

  test('a link to another neighbourhood goes there, and the drawing has room beside its panel', async () => {
    const dir = drawnProject({ datasets: 500, joins: 700 });
    onTestFinished(() => removeFolder(dir));
    await using page = await startPage(dir);
    const { page: tab } = await openPage(page, { width: 1280, scheme: 'dark' });
    await goTo(tab, '#/joins');
    for (const name of ['web_orders', 'stock_lines']) {
      await goTo(tab, `#/joins?of=${name}`);
      await expect.poll(() => tab.locator('.graph-bar').innerText()).toContain(`around ${name}`);
      expect(await tab.locator('.panel h2').innerText()).toBe(name);
      expect(await tab.locator('.panel .keys-of-join').first().innerText()).toMatch(/_id = id$/);
    }
    const isCut = '(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)';
    await expect
      .poll(() => tab.evaluate(`${isCut}(document.querySelector('.canvas'))`))
      .toBe(false);
    if (shots !== undefined) await tab.screenshot({ path: join(shots, 'joins-panel.png') });
  });
});

const linesSchema = z.object({
  over: z.array(z.string()),
  starts: z.number(),
  ends: z.number(),
});

/** In the browser: where the lines of the graph run. */
const walkLines = `(() => {
  const boxes = [...document.querySelectorAll('.graph .node rect')].map((rect) => rect.getBBox());
  const isInside = ({ x, y }, box) => x > box.x + 3 && x < box.x + box.width - 3 &&
    y > box.y + 1 && y < box.y + box.height - 1;
  const over = [];
  const [starts, ends] = [new Set(), new Set()];
  for (const join of document.querySelectorAll('.graph .join')) {
    const line = join.querySelector('.line');
    const length = line.getTotalLength();
    const at = (share) => line.getPointAtLength(length * share);
    starts.add(Math.round(at(0).x) + ' ' + at(0).y.toFixed(1));
    ends.add(Math.round(at(1).x) + ' ' + at(1).y.toFixed(1));
    const points = Array.from({ length: 100 }, (_, step) => at(step / 100));
    if (points.some((point) => boxes.some((box) => isInside(point, box))))
      over.push(join.textContent);
  }
  return { over, starts: starts.size, ends: ends.size };
})()`;
