import type { z } from 'zod';
import { apiLimits } from '../http/config.ts';
import { openHttp } from '../http/client.ts';
import { knownEntries } from '../http/known-entries.ts';
import { readPages } from '../http/read-pages.ts';
import type { FetchContext } from '../source.ts';
import {
  type ConfluencePageBody,
  contentsSchema,
  folderSchema,
  labelListSchema,
  pageBodySchema,
  pagesSchema,
  readersSchema,
  spacesSchema,
  userSchema,
} from './api-schemas.ts';
import type { ConfluenceConfig } from './config.ts';

const pageSize = 100;

type UrlQuery = readonly (readonly [name: string, value: string])[];

/** A page as a listing shows it. */
export interface ListedPage {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  /** The nearest first; the ids of what is above a folder are asked for. */
  readonly parent: { readonly id: string; readonly isPage: boolean } | undefined;
}

/** What the listing of a space says of a page beside its text. */
export interface PageFacts {
  readonly labels: readonly string[];
  /** True if Confluence shows the page itself only to some people. */
  readonly isRestricted: boolean;
}

export type ConfluenceClient = ReturnType<typeof openConfluence>;

const factsExpansion = [
  'restrictions.read.restrictions.user',
  'restrictions.read.restrictions.group',
  'metadata.labels',
];

/**
 * The calls of the Confluence API that ktx makes; all of them read. The cloud has the API v2, and
 * v1 for searches and restrictions; a server of one's own has v1. What is in no known form is told
 * in `gaps`.
 */
export function openConfluence(context: FetchContext<ConfluenceConfig>, gaps: string[]) {
  const { config, secrets } = context;
  const isCloud = config.email !== undefined;
  const http = openHttp({
    ...context,
    ...apiLimits(config),
    baseUrl: config.base_url,
    headers: { authorization: loginHeader(config, secrets(config.token)) },
  });
  /** A listing goes on where the link to its next page says; the link itself is not followed. */
  const list = <Entry>(
    path: string,
    query: UrlQuery,
    schema: z.ZodType<ListAnswer<Entry>>,
  ): AsyncGenerator<Entry> => {
    let read = 0;
    return readPages(async (cursor: string | undefined) => {
      const place = cursor?.split(' ') ?? [];
      const [name, value] = place;
      const more: UrlQuery = name === undefined || value === undefined ? [] : [[name, value]];
      const { results, _links: links } = await http.read(
        { path, query: [...query, ['limit', String(pageSize)], ...more] },
        schema,
      );
      read += results.length;
      const entries = knownEntries(results, { what: path, gaps });
      return { entries, next: nextPlace(links?.next, read) };
    });
  };
  return {
    isCloud,
    user: () => http.read({ path: 'rest/api/user/current' }, userSchema),
    spaces: () =>
      isCloud
        ? list('api/v2/spaces', [['status', 'current']], spacesSchema)
        : list('rest/api/space', [['status', 'current']], spacesSchema),
    /** The pages of a space; on a server of one's own, with what is known of them. */
    pages: (space: { readonly id: string; readonly key: string }) =>
      isCloud ? listCloudPages(list, space.id) : listServerPages(list, space.key),
    /** Labels and restrictions of the pages of a space in the cloud. */
    facts: (spaceKey: string) =>
      list(
        'rest/api/content/search',
        [
          ['cql', `type=page and space="${spaceKey}"`],
          ['expand', factsExpansion.join(',')],
        ],
        contentsSchema,
      ),
    isRestricted: (id: string): Promise<boolean> =>
      http.read({ path: `rest/api/content/${id}/restriction/byOperation/read` }, readersSchema),
    labels: async (id: string): Promise<string[]> => {
      const path = isCloud ? `api/v2/pages/${id}/labels` : `rest/api/content/${id}/label`;
      const names: string[] = [];
      for await (const { name } of list(path, [], labelListSchema)) names.push(name);
      return names.sort();
    },
    folder: (id: string) => http.read({ path: `api/v2/folders/${id}` }, folderSchema),
    body: (id: string): Promise<ConfluencePageBody> =>
      isCloud
        ? http.read(
            { path: `api/v2/pages/${id}`, query: [['body-format', 'storage']] },
            pageBodySchema,
          )
        : http.read(
            { path: `rest/api/content/${id}`, query: [['expand', 'body.storage,version']] },
            pageBodySchema,
          ),
  };
}

function loginHeader({ email }: ConfluenceConfig, token: string): string {
  if (email === undefined) return `Bearer ${token}`;
  return `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`;
}

/**
 * The cursor or the start of the next page, as a name and a value. A server gives fewer entries
 * than it was asked for, and then counts its start too high: what was read decides.
 */
function nextPlace(next: string | null | undefined, read: number): string | undefined {
  if (next === undefined || next === null) return undefined;
  const { searchParams } = new URL(next, 'https://confluence.invalid');
  const cursor = searchParams.get('cursor');
  return cursor === null ? `start ${read}` : `cursor ${cursor}`;
}

interface ListAnswer<Entry> {
  readonly results: (Entry | undefined)[];
  readonly _links?: { readonly next?: string | null | undefined } | null | undefined;
}

type Lister = <Entry>(
  path: string,
  query: UrlQuery,
  schema: z.ZodType<ListAnswer<Entry>>,
) => AsyncGenerator<Entry>;

interface PageWithFacts {
  readonly page: ListedPage;
  readonly facts: PageFacts | undefined;
}

async function* listCloudPages(list: Lister, spaceId: string): AsyncGenerator<PageWithFacts> {
  const query: UrlQuery = [['status', 'current']];
  const pages = list(`api/v2/spaces/${spaceId}/pages`, query, pagesSchema);
  for await (const { id, title, version, parentId, parentType } of pages) {
    const parent = parentId ? { id: parentId, isPage: parentType !== 'folder' } : undefined;
    yield { page: { id, title, version: version.number, parent }, facts: undefined };
  }
}

async function* listServerPages(list: Lister, spaceKey: string): AsyncGenerator<PageWithFacts> {
  const query: UrlQuery = [
    ['spaceKey', spaceKey],
    ['type', 'page'],
    ['status', 'current'],
    ['expand', ['version', 'ancestors', ...factsExpansion].join(',')],
  ];
  for await (const content of list('rest/api/content', query, contentsSchema)) {
    const { id, title, version, ancestors = [], restrictions, metadata } = content;
    const above = ancestors.at(-1);
    const parent = above && { id: above.id, isPage: true };
    const facts = { labels: metadata.labels, isRestricted: restrictions.read };
    yield { page: { id, title, version: version?.number ?? 0, parent }, facts };
  }
}
