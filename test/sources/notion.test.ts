import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { databaseSchema, searchSchema } from '../../src/sources/notion/api-schemas.ts';
import { notionConfigSchema } from '../../src/sources/notion/config.ts';
import { notionId } from '../../src/sources/notion/notion-id.ts';
import { type BlockTree, pageMarkdown } from '../../src/sources/notion/page-markdown.ts';
import { blocksSchema } from '../../src/sources/notion/api-schemas.ts';
import { openSource } from '../../src/sources/registry.ts';
import type { FetchEvent } from '../../src/sources/source.ts';
import { databases, pageId, pages, text } from '../recorded/notion/fernholm.ts';
import {
  blockObject,
  notionToken,
  pageObject,
  sourceObject,
  startNotion,
} from '../recorded/notion/server.ts';
import { fetchContext } from './fetch-context.ts';

let server: Awaited<ReturnType<typeof startNotion>>;
beforeEach(async () => {
  server = await startNotion();
});
afterEach(() => server.close());

async function open(config: object = {}) {
  const parsed = notionConfigSchema.parse({
    driver: 'notion',
    token: 'env:TOKEN',
    base_url: server.url,
    ...config,
  });
  return openSource(parsed);
}

/** The events of a fetch: bodies by key, and everything else. */
async function fetch(config: object = {}, known: readonly string[] = []) {
  const source = await open(config);
  const context = fetchContext(notionToken, known);
  const events: FetchEvent[] = [];
  for await (const event of source.fetch(context)) events.push(event);
  const items = events.flatMap((event) => (event.kind === 'item' ? [event] : []));
  return {
    source,
    items,
    bodies: new Map(items.map(({ key, body }) => [key, body])),
    failed: events.filter(({ kind }) => kind === 'failed'),
    end: events.at(-1),
  };
}

const page = (number: number) => `pages/${pageId(number)}.md`;
const metrics = `databases/${pageId(101)}.md`;

describe('Notion over the sample company', () => {
  test('becomes Markdown without people, signed links and what Notion computes', async () => {
    const { bodies, end, failed } = await fetch();
    expect(failed).toEqual([]);
    expect(end).toMatchObject({ listingComplete: true });
    expect(bodies.get(page(1))).toBe(
      [
        '# How we count',
        '## Revenue',
        'Net revenue is the sum of `orders.amount` of paid orders, without orders that were cancelled. Ask @person',
        'Details about returns',
        '- A return lowers the revenue of the day it arrives.',
        '  - Not of the day of the order.',
        '| Term | Definition |\n|---|---|\n| Churned customer | A customer without an order for 90 days. |',
        'The funnel of orders',
        '<!-- not read: Notion block of the type ai_block -->\n',
      ].join('\n\n'),
    );
    expect(bodies.get(metrics)).toContain('| Name | Definition | Formula | Status |');
    const all = [...bodies.values()].join('\n');
    for (const hidden of ['Ada', 'X-Amz', 'files.example', 'Views'])
      expect(all).not.toContain(hidden);
  });

  test('finds what the search does not know in the pages that contain it', async () => {
    const { bodies, items } = await fetch();
    expect(bodies.get(page(3))).toContain('does not know yet');
    // Only the page that contains it leads to it, so that one is read in each run.
    expect(items.find(({ key }) => key === page(1))?.stamp).toBeUndefined();
    // A row without text is no page of its own.
    expect(bodies.has(page(10))).toBe(false);
  });

  test('reads terms and metrics of a database by code, and names what it does not know', async () => {
    const { source, items } = await fetch();
    const read = source.extract(items, { connection: 'wiki', catalogs: new Map() });
    const subjects = read.flatMap(({ claims }) => claims.map(({ subject }) => subject));
    expect(new Set(subjects)).toEqual(
      new Set(['term:average_order_value', 'term:churned_customer']),
    );
    expect(read.flatMap(({ leftOut = [] }) => leftOut.map(({ what }) => what)).sort()).toEqual([
      'Notion block of the type ai_block',
      // Without a catalog, no table has the columns of the average order value.
      'formula over no table that ktx knows',
      'row that its table calls out of use',
    ]);
    expect(source.address?.(page(1))).toBe(`https://app.notion.com/p/${pageId(1)}`);
    expect(source.address?.('../evil')).toBeUndefined();
  });

  test('reads only below its roots, and says which root is not shared', async () => {
    const { bodies, end } = await fetch({
      roots: [`https://www.notion.so/x/How-${pageId(1)}?v=1`],
    });
    expect([...bodies.keys()].sort()).toEqual([metrics, page(1), page(2), page(3)]);
    expect(end).toMatchObject({ listingComplete: true });
    const lost = await fetch({ roots: [pageId(77), pageId(2)] });
    expect([...lost.bodies.keys()]).toEqual([page(2)]);
    expect(lost.end).toMatchObject({
      listingComplete: false,
      reason: expect.stringMatching(/root .*0077: .*share it with the integration/) as unknown,
    });
    const database = await fetch({ roots: [pageId(100)] });
    expect([...database.bodies.keys()]).toEqual([metrics]);
  });

  test('keeps only the properties of a large database, and asks before a page counts as gone', async () => {
    for (let number = 0; number < 205; number += 1) {
      const [row] = pages.filter(({ id }) => id === pageId(10));
      if (row) server.world.pages.set(pageId(5000 + number), { ...row, id: pageId(5000 + number) });
    }
    server.world.pageSize = 100;
    // The search has forgotten a page; it is there all the same.
    const lunch = server.world.pages.get(pageId(4));
    if (lunch) server.world.pages.set(pageId(4), { ...lunch, isFresh: true });
    const { bodies } = await fetch({}, [page(4), page(999)]);
    expect(bodies.get(metrics)).toContain('properties:\n  - {"name":"Definition"');
    expect(bodies.get(metrics)).not.toContain('| Name |');
    expect(bodies.has(page(4))).toBe(true);
    expect(server.requests.filter((request) => request.includes('blocks/')).length).toBeLessThan(
      30,
    );
    expect(server.requests).toContain(`GET /v1/pages/${pageId(999)}`);
    const off = await fetch({ databases: 'off' });
    expect(off.bodies.has(metrics)).toBe(false);
  });

  test('has no more pages than the configuration allows', async () => {
    await expect(fetch({ max_items: 2 })).rejects.toMatchObject({
      code: 'too_many_items',
      exitCode: 2,
    });
  });

  test('reads a page again while an edit can still fall into the same minute', async () => {
    const now = new Date().toISOString();
    const [, , , lunch] = pages;
    if (lunch) server.world.pages.set(lunch.id, { ...lunch, edited: now });
    const { items } = await fetch();
    const stamps = new Map(items.map(({ key, stamp }) => [key, stamp]));
    expect(stamps.get(page(4))).toBeUndefined();
    expect(stamps.get(page(2))).toBe(pages[1]?.edited);
  });
});

test('hostile blocks stay the text of one page', () => {
  const tree = (type: string, content: object): BlockTree => ({
    block: { id: pageId(1), has_children: false, in_trash: false, type, [type]: content },
    children: [],
  });
  const markdown = pageMarkdown('a\n# b', [
    tree('paragraph', { rich_text: [text('# no heading\n| a | b |\n|---|---|\n1. x')] }),
    tree('code', { rich_text: [text('```\n# out\n````')], language: 'x\n# y' }),
    tree('__proto__', { rich_text: [text('x')] }),
    tree('constructor', { rich_text: 7 }),
  ]);
  expect(markdown).toBe(
    '# a # b\n\n\\# no heading\n\\| a | b |\n\\|---|---|\n1\\. x\n\n`````\n```\n# out\n````\n`````\n\n' +
      '<!-- not read: Notion block of the type __proto__ -->\n\n<!-- not read: Notion block of the type constructor -->\n',
  );
});

test.each([
  ['https://app.notion.com/p/Data-393abc1eedcd81c38d54000000000001?v=1#2', true],
  ['393ABC1E-edcd-81c3-8d54-000000000001', true],
  ['https://app.notion.com/p/Data', false],
  ['', false],
])('finds the id in %s', (address, isFound) => {
  expect(notionId(address)).toBe(isFound ? pageId(1) : undefined);
});

const recorded = new URL('../../../shared/data/sources/notion/', import.meta.url).pathname;

describe.skipIf(!existsSync(recorded))('recorded answers of Notion', () => {
  interface Exchange {
    readonly request: { readonly url: string };
    readonly response: {
      readonly status: number;
      readonly body: Readonly<Record<string, unknown>>;
    };
  }
  const exchanges = globSync('recorded-*/*.json', { cwd: recorded }).flatMap(
    (file) => JSON.parse(readFileSync(join(recorded, file), 'utf8')) as Exchange[],
  );
  const answers = (match: RegExp) =>
    exchanges.filter(({ request, response }) => response.status === 200 && match.test(request.url));

  test('are read, and the server of these tests answers with the same members', () => {
    const bodies = answers(/\/v1\//).map(({ response }) => response.body);
    const objectsOf = (kind: string) => bodies.filter(({ object }) => object === kind);
    for (const body of [...objectsOf('page'), ...objectsOf('data_source')])
      expect(searchSchema.safeParse({ results: [body] }).error).toBeUndefined();
    for (const body of objectsOf('database'))
      expect(databaseSchema.safeParse(body).error).toBeUndefined();
    const lists = answers(/\/children/).map(({ response }) => response.body);
    for (const body of lists) expect(blocksSchema.safeParse(body).error).toBeUndefined();
    expect(bodies.length).toBeGreaterThan(60);
    const [ownPage, ownSource] = [pages[0], databases[0]];
    if (ownPage === undefined || ownSource === undefined) throw new Error('no page');
    const membersOf = (kind: string) => new Set(objectsOf(kind).flatMap(Object.keys));
    const unknownMembers = (kind: string, made: object) =>
      Object.keys(made).filter((name) => !membersOf(kind).has(name));
    expect(unknownMembers('page', pageObject(ownPage))).toEqual([]);
    expect(unknownMembers('data_source', sourceObject(ownSource))).toEqual([]);
    const block = blockObject({ type: 'paragraph', content: {} }, pageId(1));
    expect(unknownMembers('block', block).filter((name) => name !== 'paragraph')).toEqual([]);
  });
});
