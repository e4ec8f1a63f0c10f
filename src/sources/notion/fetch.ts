import { Readable } from 'node:stream';
import { formatCount } from '../../lib/format-count.ts';
import { refusedStatus } from '../http/client.ts';
import { apiLimits } from '../http/config.ts';
import { endAsPartial } from '../http/end-as-partial.ts';
import type { FetchContext, FetchEvent, SourceSight } from '../source.ts';
import {
  isTrashed,
  type NotionBlock,
  type NotionDataSource,
  type NotionPage,
} from './api-schemas.ts';
import type { NotionConfig } from './config.ts';
import { dataSourceMarkdown } from './data-source-markdown.ts';
import { describeFailure, listNotion, type NotionInventory } from './inventory.ts';
import {
  isNotShared,
  type NotionClient,
  openNotion,
  ownPages,
  sharingHint,
} from './notion-client.ts';
import { notionId } from './notion-id.ts';
import { type BlockTree, pageMarkdown, titleOf } from './page-markdown.ts';
import { plainText } from './rich-text.ts';

interface NotionFetch {
  readonly context: FetchContext<NotionConfig>;
  readonly notion: NotionClient;
  readonly inventory: NotionInventory;
  /** The types of the blocks that name other pages and databases, by their ids. */
  readonly contained: Map<string, string>;
  /** Data sources of which only the properties are read: their rows are no pages of a wiki. */
  readonly closed: Set<string>;
}

/** Of a database whose rows are read without being asked for. */
const mostRows = 200;
/** Notion counts the time of an edit in minutes. */
const shortestAge = 3 * 60_000;

/**
 * Fetches the pages and the databases that the integration sees, or those below the roots. What the
 * search of Notion does not find and a page contains is read as well; an item that is nowhere any
 * more is asked for once before it counts as gone.
 */
export async function* fetchNotion(
  context: FetchContext<NotionConfig>,
): AsyncGenerator<FetchEvent> {
  const gaps: string[] = [];
  const notion = openNotion(context, gaps);
  await notion.bot();
  const { config, connection } = context;
  const inventory = await listNotion({ notion, config, connection, gaps });
  yield* endAsPartial(
    fetchListed({ context, notion, inventory, contained: new Map(), closed: new Set() }),
  );
}

async function* fetchListed(fetch: NotionFetch): AsyncGenerator<FetchEvent> {
  const { inventory } = fetch;
  await addForgotten(fetch);
  const read = new Set<string>();
  for (;;) {
    const sources = [...inventory.dataSources.values()].filter(({ id }) => !read.has(id));
    for (const source of sources) read.add(source.id);
    yield* mapConcurrently(sources, (source) => fetchDataSource(source, fetch), fetch);
    const pages = [...inventory.pages.values()].filter(
      (page) => !read.has(page.id) && !isRowOfClosed(page, fetch),
    );
    for (const page of pages) read.add(page.id);
    yield* mapConcurrently(pages, (page) => fetchPage(page, fetch), fetch);
    if (sources.length + pages.length === 0) break;
    await addContained(fetch);
  }
  const [reason] = inventory.gaps;
  yield { kind: 'end', listingComplete: reason === undefined, reason };
}

async function* mapConcurrently<T>(
  values: readonly T[],
  work: (value: T) => Promise<readonly FetchEvent[]>,
  { context: { config, signal } }: NotionFetch,
): AsyncGenerator<FetchEvent> {
  const { concurrency } = apiLimits(config);
  const results = Readable.from(values).map(work, { concurrency, signal });
  for await (const events of results as AsyncIterable<readonly FetchEvent[]>) yield* events;
}

const pageKey = (id: string) => `pages/${id}.md`;
const sourceKey = (id: string) => `databases/${id}.md`;

/** The id and the kind of object of an item. */
export function parseKey(key: string): { readonly kind: string; readonly id: string } | undefined {
  const [, kind, id] = /^(pages|databases)\/([0-9a-f]{32})\.md$/.exec(key) ?? [];
  return kind === undefined || id === undefined ? undefined : { kind, id };
}

/** Asks for the items that the project has and the search did not find. */
async function addForgotten({ context, notion, inventory }: NotionFetch): Promise<void> {
  for (const key of context.memory.keys) {
    const { kind, id = '' } = parseKey(key) ?? {};
    if (kind === 'pages' && !inventory.pages.has(id))
      await addIfThere(() => notion.page(id), inventory);
    if (kind === 'databases' && !inventory.dataSources.has(id))
      await addIfThere(() => notion.dataSource(id), inventory);
  }
}

async function addIfThere(
  read: () => Promise<NotionPage | NotionDataSource>,
  inventory: NotionInventory,
): Promise<void> {
  try {
    await inventory.add(await read());
  } catch (error) {
    if (!isNotShared(error)) inventory.gaps.push(describeFailure(error));
  }
}

function isListed(id: string, { pages, dataSources }: NotionInventory): boolean {
  return pages.has(id) || [...dataSources.values()].some(({ parent }) => parent.database_id === id);
}

/** Adds the pages and databases that blocks name and the search did not find. */
async function addContained({ notion, inventory, contained }: NotionFetch): Promise<void> {
  for (const [id, type] of contained) {
    contained.delete(id);
    if (isListed(id, inventory)) continue;
    if (type === 'child_page') await addIfThere(() => notion.page(id), inventory);
    else await addDatabase(id, { notion, inventory });
  }
}

async function addDatabase(
  id: string,
  { notion, inventory }: Pick<NotionFetch, 'notion' | 'inventory'>,
): Promise<void> {
  try {
    const { data_sources: sources } = await notion.database(id);
    for (const source of sources) await addIfThere(() => notion.dataSource(source.id), inventory);
  } catch (error) {
    // A view of a database that is somewhere else has no data of its own.
    if (!isNotShared(error) && refusedStatus(error) !== 400)
      inventory.gaps.push(describeFailure(error));
  }
}

function isRowOfClosed({ parent }: NotionPage, { closed }: NotionFetch): boolean {
  return parent.data_source_id !== undefined && closed.has(parent.data_source_id);
}

async function fetchDataSource(
  source: NotionDataSource,
  { context, notion, inventory, closed }: NotionFetch,
): Promise<readonly FetchEvent[]> {
  const { databases } = context.config;
  const key = sourceKey(source.id);
  if (databases !== 'rows') closed.add(source.id);
  if (databases === 'off') return [];
  try {
    const most = databases === undefined ? mostRows : Number.POSITIVE_INFINITY;
    const rows = databases === 'schema' ? undefined : await readRows(source, most, notion);
    if (rows !== undefined) closed.delete(source.id);
    for (const row of rows ?? []) await inventory.add(row);
    const body = dataSourceMarkdown(source, rows);
    return [{ kind: 'item', key, path: key, body }];
  } catch (error) {
    return [{ kind: 'failed', key, reason: describeFailure(error) }];
  }
}

/** The rows of a data source; undefined if there are more. */
async function readRows(
  { id }: NotionDataSource,
  most: number,
  notion: NotionClient,
): Promise<readonly NotionPage[] | undefined> {
  const rows: NotionPage[] = [];
  for await (const row of notion.rows(id)) {
    if (!isTrashed(row)) rows.push(row);
    if (rows.length > most) return undefined;
  }
  return rows;
}

async function fetchPage(
  page: NotionPage,
  { context, notion, inventory, contained }: NotionFetch,
): Promise<readonly FetchEvent[]> {
  const key = pageKey(page.id);
  const version = stampOf(page);
  const { maxAge } = apiLimits(context.config);
  if (version !== undefined && context.memory.isKnown(key, { stamp: version, maxAge }))
    return [{ kind: 'known', key }];
  try {
    const blocks = await notion.blocks(page.id);
    const inside = containedBlocks(blocks);
    for (const block of inside) contained.set(block.id, block.type);
    // What the search does not know is found only by reading this page, also in the next run.
    const stamp = inside.every(({ id }) => isListed(id, inventory)) ? version : undefined;
    const body = pageMarkdown(titleOf(page.properties), blocks);
    return body === undefined
      ? [{ kind: 'empty', key, stamp }]
      : [{ kind: 'item', key, path: key, body, stamp }];
  } catch (error) {
    return [{ kind: 'failed', key, reason: describeFailure(error) }];
  }
}

/** The version of a page; undefined while another edit can still fall into the same minute. */
function stampOf({ last_edited_time: edited }: NotionPage): string | undefined {
  return Date.parse(edited) < Date.now() - shortestAge ? edited : undefined;
}

function containedBlocks(trees: readonly BlockTree[]): NotionBlock[] {
  return trees.flatMap(({ block, children }) => [
    ...(ownPages.has(block.type) ? [block] : []),
    ...containedBlocks(children),
  ]);
}

const mostShownTitles = 8;

/** The workspace, and the first page of what the integration sees. */
export async function lookAtNotion(context: FetchContext<NotionConfig>): Promise<SourceSight> {
  const notion = openNotion(context, []);
  const { name, bot } = await notion.bot();
  const seen: (NotionPage | NotionDataSource)[] = [];
  for await (const object of notion.search()) {
    seen.push(object);
    if (seen.length >= 100) break;
  }
  const pages = seen.flatMap((object) => (object.object === 'page' ? [object] : []));
  const sources = seen.flatMap((object) => (object.object === 'data_source' ? [object] : []));
  const more = seen.length >= 100 ? ' or more' : '';
  const titles = [
    ...sources.map(({ title }) => plainText(title)),
    ...pages.map(({ properties }) => titleOf(properties)),
  ].filter((title) => title !== '');
  const misses = seen.length === 0 ? [`the integration sees no page: ${sharingHint}`] : [];
  for (const root of context.config.roots ?? []) {
    const id = notionId(root) ?? '';
    if (seen.some((object) => object.id === id || object.parent.database_id === id)) continue;
    try {
      await Promise.any([notion.page(id), notion.database(id), notion.dataSource(id)]);
    } catch {
      misses.push(`root ${root} cannot be read: ${sharingHint}`);
    }
  }
  return {
    login: `logged in as the integration ${name ?? '(no name)'} of ${bot?.workspace_name ?? 'a workspace'}`,
    sees: [
      `${formatCount(pages.length, 'page')} and ${formatCount(sources.length, 'database')}${more}`,
      ...titles.slice(0, mostShownTitles),
    ],
    misses,
  };
}
