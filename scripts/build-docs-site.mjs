// Builds docs-site/ from docs/: pages that open from the file system, with relative links and a
// search whose index is a classic script. `npm run build:docs` installs the generator first.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import MarkdownIt from 'markdown-it';
import { readMenu, readPages, slugOf } from './site/read-pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, 'node_modules/.cache/docs-site');
/** Eleventy leaves out what stands in node_modules. */
const staged = mkdtempSync(join(tmpdir(), 'ktx-docs-'));
const output = resolve(process.argv[2] ?? join(root, 'docs-site'));
const files = join(root, 'scripts/site');

const require = createRequire(join(cache, 'package.json'));
const { default: anchor } = await import(pathToFileURL(require.resolve('markdown-it-anchor')));
const generator = join(cache, 'node_modules/@11ty/eleventy/src/Eleventy.js');
const { default: Eleventy } = await import(pathToFileURL(generator));

const pages = readPages(root);
const menu = readMenu(pages);
const places = new Map(pages.map(({ source, address }) => [source, address]));

rmSync(output, { recursive: true, force: true });
for (const page of pages) stage(page);
mkdirSync(join(staged, '_includes'), { recursive: true });
cpSync(join(files, 'page.liquid'), join(staged, '_includes/page.liquid'));

process.chdir(staged);
const eleventy = new Eleventy('.', output, {
  quietMode: true,
  config(settings) {
    settings.setUseGitIgnore(false);
    settings.setLibrary('md', markdown());
    settings.setTemplateFormats(['md']);
  },
});
await eleventy.write();
process.chdir(root);
rmSync(staged, { recursive: true, force: true });

cpSync(join(root, 'docs/images'), join(output, 'images'), { recursive: true });
for (const name of ['site.css', 'search.js']) cpSync(join(files, name), join(output, name));
const search = join(cache, 'node_modules/minisearch/dist/umd/index.js');
const classic = readFileSync(search, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
writeFileSync(join(output, 'minisearch.js'), classic);
const sections = pages.flatMap(sectionsToSearch);
writeFileSync(
  join(output, 'search-index.js'),
  `window.ktxSections = ${JSON.stringify(sections)};\n`,
);
// For programs that read: the list of pages, and all of them as one text.
cpSync(join(root, 'docs/llms.txt'), join(output, 'llms.txt'));
const full = pages.filter(({ source }) => /^docs\/(?!reference)/.test(source) && isFile(source));
writeFileSync(
  join(output, 'llms-full.txt'),
  full.map(({ source, text }) => `<!-- ${source} -->\n\n${text.trim()}\n`).join('\n'),
);
console.log(`${pages.length} pages and ${sections.length} sections to search: ${output}`);

/** False for a section that is a page of its own. */
function isFile(source) {
  return existsSync(join(root, source));
}

/** Writes the Markdown of a page with what its layout needs. */
function stage({ source, address, title, text }) {
  const up = '../'.repeat(address.split('/').length - 1);
  const data = {
    title,
    up,
    permalink: address,
    layout: 'page.liquid',
    // The examples have braces of dbt and LookML.
    templateEngineOverride: 'md',
    menu: menu.map((group) => ({
      title: group.title,
      pages: group.pages.map((page) => ({
        title: page.title,
        href: up + page.address,
        isCurrent: page.address === address,
      })),
    })),
  };
  const file = join(staged, source === 'README.md' ? 'project-readme.md' : source);
  mkdirSync(dirname(file), { recursive: true });
  // A file of the repository that is no page, such as the licence, has no link.
  const linked = text.replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)/g, (_, words, link) =>
    href(link) === undefined ? words : `[${words}](${href(link)})`,
  );
  writeFileSync(file, `---json\n${JSON.stringify(data)}\n---\n${linked}`);

  function href(link) {
    const [path, anchorName] = link.split('#');
    const target = posix.normalize(posix.join(posix.dirname(source), path));
    const there =
      places.get(target) ?? (target.startsWith('docs/images/') ? target.slice(5) : undefined);
    if (there === undefined) return undefined;
    return up + there + (anchorName === undefined ? '' : `#${anchorName}`);
  }
}

function markdown() {
  return new MarkdownIt({ html: true }).use(anchor, {
    slugify: slugOf,
    permalink: anchor.permalink.headerLink({ safariReaderFix: true }),
  });
}

/** The parts of a page between its headings. The split pages stand for the page they are from. */
function sectionsToSearch({ address, title, text }) {
  const prose = text.replaceAll(/^```\w*$/gm, '');
  return prose.split(/^(?=#{1,3} )/m).flatMap((part) => {
    const heading = /^#+ (.+)$/m.exec(part)?.[1]?.replaceAll('`', '');
    const body = part.replace(/^#+ .+$/m, '').replaceAll(/[`*|]|\]\([^)]*\)|\[/g, ' ');
    const words = body.replaceAll(/\s+/g, ' ').trim();
    if (heading === undefined || words === '') return [];
    const anchorName = heading === title ? '' : `#${slugOf(heading)}`;
    return [{ page: title, heading, address: address + anchorName, text: words }];
  });
}
