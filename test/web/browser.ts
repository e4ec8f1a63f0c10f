import axe from 'axe-core';
import { type BrowserContext, chromium as playwright, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { chromium } from '../support/browser.ts';
import type { StartedPage } from './page.ts';

export { chromium };

/** What went wrong in a browser, apart from what a test looks for. */
export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, defects of scripts, requests that left the origin. */
  readonly problems: string[];
}

export interface Look {
  readonly width: 1280 | 390;
  readonly scheme: 'light' | 'dark';
}

export const looks: readonly Look[] = ([1280, 390] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
);

/** Opens the link of `ktx web` in a browser of its own, which ends with the test. */
export function openPage({ link }: StartedPage, look: Look): Promise<Watched> {
  return openTab(link, look);
}

/** The same for any address; nothing may leave its origin. */
export async function openTab(address: string, look: Look): Promise<Watched> {
  const browser = await playwright.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  onTestFinished(() => browser.close());
  const { width, scheme } = look;
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 860 },
    colorScheme: scheme,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'log') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${new URL(address).origin}/`) || url.startsWith('data:');
    if (!isOwn) problems.push(`left: ${url}`);
  });
  await page.goto(address);
  await page.waitForSelector('main h1');
  return { page, context, problems };
}

/** Goes to a page and waits until its data are there. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await settle(page);
}

/** Waits until nothing is loading. */
export async function settle(page: Page): Promise<void> {
  await expect.poll(() => page.locator('main .waiting').count()).toBe(0);
  await page.waitForLoadState('networkidle');
}

const violationsSchema = z.array(
  z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }),
);

/** What axe finds wrong, with the places. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)');
  return violationsSchema
    .parse(found)
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}
