import { Readable } from 'node:stream';
import { formatCount } from '../../lib/format-count.ts';
import { UserError } from '../../lib/error.ts';
import { apiLimits } from '../http/config.ts';
import { itemFailure } from '../http/client.ts';
import { endAsPartial } from '../http/end-as-partial.ts';
import type { FetchContext, FetchEvent, SourceSight } from '../source.ts';
import type { ConfluenceSpace } from './api-schemas.ts';
import type { ConfluenceConfig } from './config.ts';
import {
  type ConfluenceClient,
  type ListedPage,
  openConfluence,
  type PageFacts,
} from './confluence-client.ts';
import { pageMarkdown } from './page-markdown.ts';
import { openPageTree, type PageTree } from './page-tree.ts';

interface ConfluenceFetch {
  readonly context: FetchContext<ConfluenceConfig>;
  readonly confluence: ConfluenceClient;
  readonly facts: Map<string, PageFacts>;
  /** Why the listing is not complete. */
  readonly gaps: string[];
}

/**
 * Fetches the pages that the configuration asks for. Pages that Confluence shows only to some
 * people are left out, unless the configuration asks for them as well; so are those of which nobody
 * knows.
 */
export async function* fetchConfluence(
  context: FetchContext<ConfluenceConfig>,
): AsyncGenerator<FetchEvent> {
  const gaps: string[] = [];
  const confluence = openConfluence(context, gaps);
  await confluence.user();
  yield* endAsPartial(fetchPages({ context, confluence, facts: new Map(), gaps }));
}

async function* fetchPages(fetch: ConfluenceFetch): AsyncGenerator<FetchEvent> {
  const { context, confluence, facts, gaps } = fetch;
  const { config, signal } = context;
  const { concurrency } = apiLimits(config);
  const pages = new Map<string, ListedPage>();
  const { wanted, missing } = chooseSpaces(await readSpaces(confluence), config);
  gaps.push(...missing.map((key) => `there is no space ${key} for this login`));
  for (const space of wanted)
    try {
      await listSpace(space, pages, fetch);
    } catch (error) {
      gaps.push(reasonOf(error));
    }
  const tree = openPageTree({ confluence, pages, facts });
  const results = Readable.from([...pages.values()]).map(
    (page: ListedPage) => fetchPage(page, tree, fetch),
    { concurrency, signal },
  );
  for await (const events of results as AsyncIterable<readonly FetchEvent[]>) yield* events;
  const [reason] = gaps;
  yield { kind: 'end', listingComplete: reason === undefined, reason };
}

/** The reason of a failure that is about one part; throws any other error. */
function reasonOf(error: unknown): string {
  const reason = itemFailure(error);
  if (reason === undefined) throw error;
  return reason;
}

function tooManyPages(connection: string, most: number): UserError {
  return new UserError('too_many_items', `${connection} has more than ${most} pages.`, {
    hint: 'Set `spaces`, `labels` or `pages` to those that define your data, or raise `max_items`.',
    exitCode: 2,
  });
}

async function readSpaces(confluence: ConfluenceClient): Promise<readonly ConfluenceSpace[]> {
  const spaces: ConfluenceSpace[] = [];
  for await (const space of confluence.spaces()) spaces.push(space);
  return spaces;
}

/** Personal spaces are read only by their key. */
function chooseSpaces(all: readonly ConfluenceSpace[], { spaces }: ConfluenceConfig) {
  const keys = new Set(all.map(({ key }) => key));
  return {
    wanted: all.filter(({ key, type }) => spaces?.includes(key) ?? type !== 'personal'),
    missing: (spaces ?? []).filter((key) => !keys.has(key)),
  };
}

async function listSpace(
  space: ConfluenceSpace,
  pages: Map<string, ListedPage>,
  { confluence, facts, context: { config, connection } }: ConfluenceFetch,
): Promise<void> {
  const { mostItems } = apiLimits(config);
  for await (const listed of confluence.pages(space)) {
    pages.set(listed.page.id, listed.page);
    if (listed.facts !== undefined) facts.set(listed.page.id, listed.facts);
    if (pages.size > mostItems) throw tooManyPages(connection, mostItems);
  }
  if (!confluence.isCloud) return;
  for await (const { id, restrictions, metadata } of confluence.facts(space.key))
    facts.set(id, { labels: metadata.labels, isRestricted: restrictions.read });
}

const pageKey = (id: string) => `pages/${id}.md`;

async function fetchPage(
  page: ListedPage,
  tree: PageTree,
  { context, confluence, facts }: ConfluenceFetch,
): Promise<readonly FetchEvent[]> {
  const key = pageKey(page.id);
  const { config, memory } = context;
  try {
    // The search, which knows the labels, lags behind the listing.
    const labels = facts.get(page.id)?.labels ?? (await confluence.labels(page.id));
    if (!(await isWanted(page, { labels, tree, config }))) return [];
    const stamp = JSON.stringify([page.version, page.title, labels]);
    if (memory.isKnown(key, { stamp, maxAge: apiLimits(config).maxAge }))
      return [{ kind: 'known', key }];
    const { title, body } = await confluence.body(page.id);
    const text = pageMarkdown({ title, labels }, body.storage.value);
    return text === undefined
      ? [{ kind: 'empty', key, stamp }]
      : [{ kind: 'item', key, path: key, body: text, stamp }];
  } catch (error) {
    return [{ kind: 'failed', key, reason: reasonOf(error) }];
  }
}

async function isWanted(
  page: ListedPage,
  {
    labels,
    tree,
    config,
  }: {
    readonly labels: readonly string[];
    readonly tree: PageTree;
    readonly config: ConfluenceConfig;
  },
): Promise<boolean> {
  if (config.labels !== undefined && !labels.some((label) => config.labels?.includes(label)))
    return false;
  const roots = new Set(config.pages ?? []);
  if (roots.size > 0 && !(await tree.isBelow(page, roots))) return false;
  return config.restricted === true || !(await tree.isRestricted(page));
}

const mostShownSpaces = 12;

/** Who is logged in, the spaces, and what of them will not be read. */
export async function lookAtConfluence(
  context: FetchContext<ConfluenceConfig>,
): Promise<SourceSight> {
  const { config } = context;
  const confluence = openConfluence(context, []);
  const user = await confluence.user();
  const { wanted, missing } = chooseSpaces(await readSpaces(confluence), config);
  const names = wanted.slice(0, mostShownSpaces).map(({ key, name }) => `${key} ${name}`);
  const others = wanted.length - names.length;
  const more = others > 0 ? `, and ${others} more` : '';
  const who = user.displayName ?? user.publicName ?? user.username ?? 'a user without a name';
  return {
    login: `logged in as ${who}`,
    sees: [
      `${formatCount(wanted.length, 'space')}: ${names.join(', ')}${more}`,
      config.restricted === true
        ? 'pages that only some people may see are read as well: everyone who has the project can read them'
        : 'pages that only some people may see are not read (restricted: true reads them)',
    ],
    misses: [
      ...missing.map((key) => `there is no space ${key} for this login`),
      ...(wanted.length === 0 ? ['the login sees no space: give it the right to view one'] : []),
    ],
  };
}
