import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { contestedProject, removeFolder, startPage } from './page.ts';

const built = join(import.meta.dirname, '../../dist/page');
const root = join(import.meta.dirname, '../..');

/** Bytes, gzipped, of everything that a browser loads. */
const budget = 150_000;

beforeAll(async () => {
  const cwd = await contestedProject();
  const page = await startPage(cwd);
  await page[Symbol.asyncDispose]();
  return () => removeFolder(cwd);
});

test('the page is small: 150 kB gzipped, with everything', () => {
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(?:html|js|css)$/.test(path),
  );
  expect(files.length).toBeGreaterThanOrEqual(3);
  const sizes = files.map((path) => gzipSync(readFileSync(join(built, path))).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(10_000);
  expect(total).toBeLessThan(budget);
});

test('an app is small: less than the page, in one file', () => {
  const folder = join(root, 'dist/apps');
  const apps = readdirSync(folder);
  expect(apps.toSorted()).toEqual(['answer.html', 'conflict.html']);
  for (const app of apps) {
    const size = gzipSync(readFileSync(join(folder, app))).length;
    expect(size).toBeGreaterThan(5_000);
    expect(size).toBeLessThan(40_000);
  }
});

test('nothing in it comes from elsewhere, and its HTML runs nothing', () => {
  const html = readFileSync(join(built, 'index.html'), 'utf8');
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
});

test('it costs an installation no package: all that it is made of is for the build', () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  for (const name of [
    'preact',
    'vite',
    'axe-core',
    'playwright-core',
    '@modelcontextprotocol/ext-apps',
  ]) {
    // dagre draws the picture of `ktx sl graph --svg` as well.
    expect(devDependencies).toHaveProperty([name]);
    expect(dependencies).not.toHaveProperty([name]);
  }
});

test('no text of others is ever parsed as HTML', () => {
  const client = join(root, 'web');
  const files = readdirSync(client, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  expect(files.length).toBeGreaterThan(20);
  const found = files.filter((path) =>
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(
      readFileSync(join(client, path), 'utf8'),
    ),
  );
  expect(found).toEqual([]);
});
