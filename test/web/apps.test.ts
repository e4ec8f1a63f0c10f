import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Frame } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { approve } from '../support/approve.ts';
import { connectStdio, showApp } from './app-host.ts';
import { chromium } from './browser.ts';
import { contestedProject, removeFolder, startPage } from './page.ts';

const shots = process.env['KTX_SCREENSHOTS'];
const revenue = 'metric:warehouse.orders.revenue';
let cwd: string;

beforeAll(async () => {
  if (chromium === undefined) return undefined;
  cwd = await contestedProject();
  await approve(cwd);
  // Builds the apps if they are old.
  await (await startPage(cwd))[Symbol.asyncDispose]();
  return () => removeFolder(cwd);
});

const head = () => execFileSync('git', ['log', '-1', '--format=%s'], { cwd, encoding: 'utf8' });
const question = { metrics: ['orders.revenue'], dimensions: ['orders.status'] };

async function axeIn(frame: Frame): Promise<readonly string[]> {
  // The frame's policy lets no script in but its own; the browser's tools may.
  await frame.evaluate(axe.source);
  const found = await frame.evaluate('axe.run().then(({ violations }) => violations)');
  return z
    .array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }))
    .parse(found)
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

describe.skipIf(chromium === undefined)('in the frame of a client', () => {
  test.for(['light', 'dark'] as const)(
    'an answer shows its chart, its rows and what it rests on: %s',
    async (theme) => {
      const client = await connectStdio(cwd);
      const shown = await showApp({ client, tool: 'query_metrics', input: question, theme });
      const { frame, tab, problems } = shown;
      expect(await frame.locator('.mark-bar').count()).toBe(2);
      expect(await frame.locator('tbody tr').count()).toBe(2);
      const text = await frame.locator('main').innerText();
      expect(text).toContain('contested');
      expect(text).toContain('semantic-layer/warehouse/orders.yaml');
      expect(await axeIn(frame)).toEqual([]);
      const paper = await frame.evaluate(
        'getComputedStyle(document.documentElement).backgroundColor',
      );
      expect(paper).toBe(theme === 'light' ? 'rgb(250, 250, 247)' : 'rgb(18, 20, 18)');
      // As high as what it shows.
      const heights = await tab.evaluate(
        "[document.querySelector('iframe').clientHeight, innerHeight]",
      );
      expect(z.tuple([z.number(), z.number()]).parse(heights)[0]).toBeGreaterThan(300);
      if (shots !== undefined) {
        mkdirSync(shots, { recursive: true });
        await tab.screenshot({ path: join(shots, `app-answer-${theme}.png`), fullPage: true });
      }
      expect(problems).toEqual([]);
    },
  );

  test('text of others runs nothing and loads nothing', async () => {
    const client = await connectStdio(cwd);
    const { frame, tab, problems } = await showApp({
      client,
      tool: 'query_metrics',
      input: question,
    });
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202E';
    const result = {
      content: [],
      structuredContent: {
        trust: { status: 'curated', contested: [hostile] },
        untrusted: {
          columns: [
            { name: hostile, kind: 'dimension' },
            { name: hostile, kind: 'metric' },
          ],
          rows: [
            [hostile, 1],
            [`${hostile}2`, hostile],
          ],
          sql: hostile,
          receipt: { metrics: [{ metric: hostile, owners: [hostile] }], files: [hostile] },
        },
      },
    };
    await tab.evaluate(`window.sendResult(${JSON.stringify(result)})`);
    await expect.poll(() => frame.locator('main').innerText()).toContain('<img src=x');
    expect(await frame.locator('main').innerText()).not.toContain('\u202E');
    expect(await frame.locator('img, main script').count()).toBe(0);
    expect(await frame.evaluate('window.hacked')).toBeUndefined();
    expect(problems).toEqual([]);
  });

  test('a failure is said in words', async () => {
    const client = await connectStdio(cwd);
    const input = { metrics: ['orders.nothing'] };
    const { frame } = await showApp({ client, tool: 'query_metrics', input });
    expect(await frame.locator('[role=alert]').innerText()).toContain('orders.nothing');
  });

  test('a conflict is decided: the commit of ktx review, and taken back', async () => {
    const client = await connectStdio(cwd);
    const { frame, tab, problems, called } = await showApp({ client, tool: 'review_status' });
    await frame.waitForSelector('.versions');
    expect(await frame.locator('.version').count()).toBe(2);
    expect(await frame.locator('.amount').count()).toBe(2);
    expect(await frame.locator('blockquote').count()).toBeGreaterThan(0);
    expect(await axeIn(frame)).toEqual([]);
    if (shots !== undefined)
      await tab.screenshot({ path: join(shots, 'app-conflict.png'), fullPage: true });
    const before = head();
    await frame.locator('.choose').nth(1).click();
    await frame.waitForSelector('.decision-made');
    expect(head().trim()).toBe(`ktx: decide ${revenue}`);
    expect(await frame.locator('.empty').innerText()).toContain('Nothing is contested');
    await frame.locator('.decision button').click();
    await frame.waitForSelector('.decision-undone');
    await expect.poll(() => frame.locator('.version').count()).toBe(2);
    expect([before, head().trim()]).toEqual([before, `ktx: reopen ${revenue}`]);
    expect(new Set(called.map(({ name }) => name))).toEqual(
      new Set(['read_conflicts', 'decide_conflict']),
    );
    expect(problems).toEqual([]);
  });

  test('what somebody decided meanwhile is refused, and said', async () => {
    const client = await connectStdio(cwd);
    const { frame } = await showApp({ client, tool: 'review_status' });
    await frame.waitForSelector('.versions');
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    const { conflicts } = z
      .object({ conflicts: z.array(z.object({ variants: z.array(z.object({ id: z.string() })) })) })
      .parse(envelope.data);
    await ktx(['review', 'choose', revenue, conflicts[0]?.variants[0]?.id ?? ''], { cwd });
    onTestFinished(async () => void (await ktx(['review', 'undo', revenue], { cwd })));
    const before = head();
    await frame.locator('.choose').nth(1).click();
    await frame.waitForSelector('.decision-failed');
    expect(await frame.locator('.decision-failed').innerText()).toContain(
      'changed since you looked',
    );
    expect(head()).toBe(before);
  });
});

test('an app is one file that loads nothing, and runs no other script', () => {
  for (const app of ['answer', 'conflict']) {
    const html = readFileSync(join(import.meta.dirname, `../../dist/apps/${app}.html`), 'utf8');
    expect(html).toMatch(
      /content-security-policy" content="default-src 'none'; script-src 'sha256-/,
    );
    expect(html).not.toMatch(
      /<(?:link|img|iframe)\b|<script[^>]*\bsrc=|@import|url\((?!["']?data:)/,
    );
    expect(html.match(/<script/g)).toHaveLength(1);
  }
});
