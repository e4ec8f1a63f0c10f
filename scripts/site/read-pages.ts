import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { navigation, splitPages } from './navigation.ts';

export interface SitePage {
  /** Where it stands in the repository. */
  readonly source: string;
  /** Where it stands in the site. */
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

/** Every page of the site. Sections of some pages are pages of their own. */
export function readPages(root: string): readonly SitePage[] {
  const files = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();
  const whole = files.map((source) => {
    const text = readFileSync(join(root, source), 'utf8');
    return { source, address: addressOf(source), title: titleOf(text), text };
  });
  const parts = whole.flatMap((page) => sectionsOf(page));
  return [...whole, ...parts];
}

/** The pages of each task, in order; a page that no task names is an error. */
export function readMenu(pages: readonly SitePage[]) {
  const menu = navigation.map(({ title, pages: patterns }) => ({
    title,
    pages: patterns.flatMap((pattern) => {
      const found = pages.filter(({ source }) => posix.matchesGlob(source, pattern));
      if (found.length === 0) throw new Error(`No page of the documentation is ${pattern}.`);
      return found;
    }),
  }));
  const named = new Set(menu.flatMap((group) => group.pages));
  const missing = pages.filter((page) => !named.has(page)).map(({ source }) => source);
  if (missing.length > 0) throw new Error(`No task names ${missing.join(', ')}.`);
  return menu;
}

function addressOf(source: string): string {
  if (source === 'docs/README.md') return 'index.html';
  const inSite = source.startsWith('docs/') ? source.slice(5) : `project/${source.toLowerCase()}`;
  return inSite.replace(/\.md$/, '.html');
}

function titleOf(text: string): string {
  return (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '');
}

function sectionsOf({ source, text }: SitePage): readonly SitePage[] {
  const others = splitPages[source];
  if (others === undefined) return [];
  return text
    .split(/^(?=## )/m)
    .slice(1)
    .flatMap((section) => {
      const title = /^## (.+)$/m.exec(section)?.[1] ?? '';
      if (others.test(title)) return [];
      const name = slugOf(title.replace(/^A /, '').replace(/,.*| and .*| project$/g, ''));
      const path = source.replace(/\.md$/, `/${name}.md`);
      const whole = `[All of ${titleOf(text).toLowerCase()}](../${posix.basename(source)})`;
      // Its links start one folder further down.
      const moved = section
        .replaceAll(/^#(?=#+ )/gm, '')
        .replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, '](../$1)')
        .replaceAll(/\]\((#[^)]+)\)/g, `](../${posix.basename(source)}$1)`);
      return [{ source: path, address: addressOf(path), title, text: `${moved}\n${whole}\n` }];
    });
}

/** The anchor of a heading, as GitHub makes it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
