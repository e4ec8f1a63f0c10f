import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  contentsSchema,
  pageBodySchema,
  pagesSchema,
  spacesSchema,
} from '../../src/sources/confluence/api-schemas.ts';
import { confluenceConfigSchema } from '../../src/sources/confluence/config.ts';
import { pageMarkdown } from '../../src/sources/confluence/page-markdown.ts';
import { openSource } from '../../src/sources/registry.ts';
import type { FetchEvent } from '../../src/sources/source.ts';
import { pages } from '../recorded/confluence/fernholm.ts';
import {
  confluenceEmail,
  confluenceToken,
  startConfluence,
} from '../recorded/confluence/server.ts';
import { fetchContext } from './fetch-context.ts';

let server: Awaited<ReturnType<typeof startConfluence>>;
beforeEach(async () => {
  server = await startConfluence();
});
afterEach(() => server.close());

async function fetch(kind: 'cloud' | 'dataCenter', config: object = {}) {
  const login = kind === 'cloud' ? { email: confluenceEmail } : {};
  const source = await openSource(
    confluenceConfigSchema.parse({
      driver: 'confluence',
      base_url: server[kind],
      token: 'env:TOKEN',
      ...login,
      ...config,
    }),
  );
  const events: FetchEvent[] = [];
  for await (const event of source.fetch(fetchContext(confluenceToken))) events.push(event);
  const items = events.flatMap((event) => (event.kind === 'item' ? [event] : []));
  return {
    source,
    items,
    keys: items.map(({ key }) => key).sort(),
    failed: events.flatMap((event) => (event.kind === 'failed' ? [event] : [])),
    end: events.at(-1),
  };
}

const page = (id: number) => `pages/${id}.md`;

describe.each(['cloud', 'dataCenter'] as const)('Confluence (%s)', (kind) => {
  test('becomes Markdown, without what only some people may see, also below such a page', async () => {
    const { items, keys, end, source } = await fetch(kind);
    expect(keys).toEqual([page(11), page(12), page(15)]);
    expect(end).toMatchObject({ listingComplete: true });
    expect(items.find(({ key }) => key === page(11))?.body).toBe(
      [
        '---\nlabels: ["data-dictionary"]\n---',
        '# Definitions',
        '## Revenue',
        'Net revenue is the sum of `orders.amount` of paid orders – without orders that were cancelled. Ask @person.',
        'A return lowers the revenue of the day it arrives.',
        '| Term | Definition | Formula |\n|---|---|---|\n| Average order value | What an order is worth on average. | `avg(orders.amount)` |',
        '<!-- not read: Confluence macro mystery -->\n',
      ].join('\n\n'),
    );
    const read = source.extract(items, { connection: 'wiki', catalogs: new Map() });
    const subjects = read.flatMap(({ claims }) => claims.map(({ subject }) => subject));
    expect(new Set(subjects)).toEqual(new Set(['term:average_order_value']));
    const base = server[kind];
    expect(source.address?.(page(11))).toBe(`${base}/pages/viewpage.action?pageId=11`);
    expect(source.address?.('pages/../x.md')).toBeUndefined();
  });

  test('reads what the configuration asks for, restricted pages only then', async () => {
    const all = await fetch(kind, { restricted: true });
    expect(all.keys).toEqual([11, 12, 13, 14, 15].map(page));
    const labelled = await fetch(kind, { labels: ['data-dictionary'] });
    expect(labelled.keys).toEqual([page(11)]);
    const below = await fetch(kind, { pages: ['13'], restricted: true });
    expect(below.keys).toEqual([page(13), page(14)]);
    const spaces = await fetch(kind, { spaces: ['OPS', 'GONE', '~ada'] });
    expect(spaces.keys).toEqual([page(15), page(16)]);
    expect(spaces.end).toMatchObject({
      listingComplete: false,
      reason: 'there is no space GONE for this login',
    });
  });

  test('does not read a page of which nobody knows who may see it', async () => {
    server.faults.push({
      match: /restriction|content\/search|rest\/api\/content\?/,
      times: 99,
      status: 403,
    });
    const { keys, failed, end } = await fetch(kind);
    expect(keys).toEqual([]);
    expect(end).toMatchObject({ listingComplete: false });
    if (kind === 'cloud') expect(failed.map(({ key }) => key)).toContain(page(13));
  });
});

test('a folder above a page is looked through in the cloud', async () => {
  const [first] = pages;
  if (first) server.world.pages.set('12', { ...first, id: '12', parent: '77', isInFolder: true });
  const { keys } = await fetch('cloud', { pages: ['11'] });
  expect(keys).toEqual([page(11), page(12)]);
});

test.each([
  ['https://fernholm.atlassian.net', 'a@b.example', 'ends with /wiki'],
  ['https://fernholm.atlassian.net/wiki', undefined, 'needs the address of the account'],
  ['https://me:secret@fernholm.example', undefined, 'never written into an address'],
])('the configuration of %s says what is wrong', (url, email, problem) => {
  const config = { driver: 'confluence', base_url: url, token: 'env:TOKEN', email };
  expect(confluenceConfigSchema.safeParse(config).error?.message).toContain(problem);
});

describe('storage format', () => {
  const read = (storage: string) => pageMarkdown({ title: 'T', labels: [] }, storage);

  test('keeps text, code, tables and states, and drops what shows other things', () => {
    const storage =
      '<h2><ac:emoticon ac:name="blue-star" />&nbsp;Date</h2><p><time datetime="2024-01-01" /> see <ac:link><ri:page ri:content-title="Regions" /></ac:link>' +
      ' or <ac:link><ri:page ri:content-title="Regions" /><ac:plain-text-link-body><![CDATA[here]]></ac:plain-text-link-body></ac:link>' +
      ' <ac:structured-macro ac:name="status"><ac:parameter ac:name="title">DRAFT</ac:parameter></ac:structured-macro></p>' +
      '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sql</ac:parameter><ac:plain-text-body><![CDATA[select 1 < 2]]></ac:plain-text-body></ac:structured-macro>' +
      '<table><tbody><tr><th>Owner</th><td>a | b</td></tr><tr><th>State</th><td><p>x</p><p>y</p><table><tr><td>in</td></tr></table></td></tr></tbody></table>' +
      '<ac:structured-macro ac:name="toc" /><ol><li><p>one</p><ul><li>two</li></ul></li></ol><p># no heading</p>';
    expect(read(storage)).toBe(
      '# T\n\n### Date\n\n2024-01-01 see Regions or here DRAFT\n\n```sql\nselect 1 < 2\n```\n\n' +
        '| Owner | a \\| b |\n|---|---|\n| State | x y in |\n\n- one\n\n  - two\n\n\\# no heading\n',
    );
  });

  test('that is broken, deep or empty is text or nothing, in linear time', () => {
    expect(read('<p>a<b')).toBe('# T\n\na\n');
    expect(read('</p></td>x')).toBe('# T\n\nx\n');
    expect(read('<p> </p><ac:structured-macro ac:name="toc"/>')).toBeUndefined();
    const deep = '<table><tr><td><ac:link>x'.repeat(60_000) + '</q>'.repeat(60_000);
    const start = performance.now();
    expect(read(deep)?.length).toBeGreaterThan(10_000);
    expect(performance.now() - start).toBeLessThan(30_000);
  });
});

const recorded = new URL('../../../shared/data/sources/confluence/', import.meta.url).pathname;

describe.skipIf(!existsSync(recorded))('true payloads of Confluence', () => {
  const load = (file: string) => JSON.parse(readFileSync(join(recorded, file), 'utf8')) as unknown;

  test('are read', () => {
    expect(
      spacesSchema.parse(load('atlassian-python-api-v2/spaces_result.json')).results,
    ).toHaveLength(2);
    const listed = load('atlassian-python-api-v2/page_result_list.json') as { results: object[] };
    const [whole, short] =
      pagesSchema.safeParse({ results: listed.results.slice(0, 1) }).data?.results ?? [];
    expect([whole?.id, short]).toEqual(['123456', undefined]);
    expect(pageBodySchema.parse(load('mcp-atlassian/page_response.json')).title).toBe(
      'Example Meeting Notes',
    );
    expect(contentsSchema.safeParse({ results: [] }).success).toBe(true);
  });

  test('in storage format lose no word and name every macro', () => {
    const files = globSync('md2conf-storage-format/*.xml', { cwd: recorded });
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      const storage = readFileSync(join(recorded, file), 'utf8');
      const markdown = pageMarkdown({ title: file, labels: [] }, storage) ?? '';
      const words = storage
        .replaceAll(/<!--[^]*?-->|<ac:parameter[^>]*>[^<]*<\/ac:parameter>|<[^>[]*>/g, ' ')
        .match(/\b[a-z]{6,}\b/g);
      const lost = new Set(words).difference(new Set(markdown.match(/[a-z]{6,}/g)));
      expect([...lost], file).toEqual([]);
    }
  });
});
