import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromium, withPage } from '../support/browser.ts';

const root = join(import.meta.dirname, '../..');
/** `npm run build:docs` fetches it; a test fetches nothing. */
const hasGenerator = existsSync(join(root, 'node_modules/.cache/docs-site/node_modules'));

describe.skipIf(!hasGenerator)('the documentation as a site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-site-'));
  const site = join(folder, 'site');

  beforeAll(() => {
    execFileSync(process.execPath, [join(root, 'scripts/build-docs-site.mjs'), site]);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has only relative links, and each leads to a page and a heading that is there', () => {
    const texts = new Map(
      globSync('**/*.html', { cwd: site }).map((name) => [
        join(site, name),
        readFileSync(join(site, name), 'utf8'),
      ]),
    );
    expect(texts.size).toBeGreaterThan(45);
    const broken = [...texts].flatMap(([page, html]) => {
      const links = [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
      expect(html).not.toMatch(/type="module"|<script(?! src=)/);
      return links.filter((link) => {
        if (link.startsWith('https://')) return false;
        const [path = '', anchor] = decodeURI(link).split('#');
        const target = path === '' ? page : join(dirname(page), path);
        if (path.startsWith('/') || !existsSync(target)) return true;
        return anchor !== undefined && !texts.get(target)?.includes(` id="${anchor}"`);
      });
    });
    expect(broken).toEqual([]);
  });

  it('has all pages as one text', () => {
    const full = readFileSync(join(site, 'llms-full.txt'), 'utf8');
    expect(full).toContain('<!-- docs/quickstart.md -->\n\n# Quickstart');
    expect(full).toContain('<!-- docs/coming-from/dbt.md -->');
    expect(existsSync(join(site, 'llms.txt'))).toBe(true);
  });

  it.skipIf(chromium === undefined)('searches without a server', async () => {
    const address = pathToFileURL(join(site, 'warehouses/postgres.html')).href;
    await withPage(address, async ({ evaluate, requests, console: said }) => {
      const found = await evaluate(`(() => {
        const query = document.getElementById('query');
        query.value = 'row rules';
        query.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('#results a')].map((link) => link.href);
      })()`);
      const [first = ''] = found as string[];
      expect(first).toMatch(/^file:.*semantic-layer\.html#/);
      expect(await evaluate('document.querySelectorAll("nav a").length')).toBeGreaterThan(45);
      expect(await evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect([said, requests.filter((url) => !url.startsWith('file:'))]).toEqual([[], []]);
    });
  });
});
