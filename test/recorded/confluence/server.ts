import { startLoopbackServer, type WireAnswer, type WireRequest } from '../loopback-server.ts';
import { type ConfluenceWorldPage, pages, spaces } from './fernholm.ts';

export const confluenceToken = 'ATATT_fernholm';
export const confluenceEmail = 'ktx@fernholm.example';

interface World {
  readonly pages: Map<string, ConfluenceWorldPage>;
  token: string;
  pageSize: number;
}

/**
 * A Confluence on loopback: the wire of the cloud (v2, and v1 for searches) below `/wiki`, and of a
 * server of one's own (v1) below `/confluence`.
 */
export async function startConfluence() {
  const world: World = {
    pages: new Map(pages.map((page) => [page.id, page])),
    token: confluenceToken,
    pageSize: 2,
  };
  const server = await startLoopbackServer((request) => answerTo(request, world));
  return {
    ...server,
    world,
    cloud: `${server.url}/wiki`,
    dataCenter: `${server.url}/confluence`,
  };
}

function answerTo(request: WireRequest, world: World): WireAnswer {
  const [, base = '', path = ''] = /^\/(wiki|confluence)\/(.*)$/.exec(request.url.pathname) ?? [];
  const isCloud = base === 'wiki';
  const basic = Buffer.from(`${confluenceEmail}:${world.token}`).toString('base64');
  const login = isCloud ? `Basic ${basic}` : `Bearer ${world.token}`;
  if (request.headers.authorization !== login || request.method !== 'GET')
    return { status: 401, json: { statusCode: 401, message: 'Unauthorized' } };
  const answer = isCloud
    ? (cloudAnswer(path, request.url, world) ?? sharedAnswer(path, request.url, world))
    : (serverAnswer(path, request.url, world) ?? sharedAnswer(path, request.url, world));
  return answer ?? { status: 404, json: { statusCode: 404, message: 'Not found' } };
}

const found = (json: unknown): WireAnswer => ({ status: 200, json });

/** The API v2. */
function cloudAnswer(path: string, url: URL, world: World): WireAnswer | undefined {
  const [, kind, id, part] = /^api\/v2\/(\w+)\/?(\w*)\/?(\w*)$/.exec(path) ?? [];
  if (kind === 'spaces' && id === '') return list(spaces, url, { world, isCloud: true });
  if (kind === 'spaces' && part === 'pages') {
    const key = spaces.find((space) => space.id === id)?.key;
    const inside = [...world.pages.values()].filter(({ space }) => space === key);
    return list(
      inside.map((page) => pageV2(page, false)),
      url,
      { world, isCloud: true },
    );
  }
  if (kind === 'folders') return found({ id, parentId: '11', parentType: 'page' });
  const page = world.pages.get(id ?? '');
  if (kind !== 'pages' || page === undefined) return undefined;
  if (part === 'labels') return list(labelsOf(page), url, { world, isCloud: true });
  return found(pageV2(page, url.searchParams.get('body-format') === 'storage'));
}

/** The API v1 of a server of one's own. */
function serverAnswer(path: string, url: URL, world: World): WireAnswer | undefined {
  if (path === 'rest/api/space')
    return list(
      spaces.map((space) => ({ ...space, id: Number(space.id) })),
      url,
      { world, isCloud: false },
    );
  if (path === 'rest/api/content') {
    const key = url.searchParams.get('spaceKey');
    const inside = [...world.pages.values()].filter(({ space }) => space === key);
    return list(
      inside.map((page) => contentV1(page, url, world)),
      url,
      { world, isCloud: false },
    );
  }
  const [, id = '', part] = /^rest\/api\/content\/(\d+)\/?(label)?$/.exec(path) ?? [];
  const page = world.pages.get(id);
  if (page === undefined) return undefined;
  if (part === 'label') return list(labelsOf(page), url, { world, isCloud: false });
  return found(contentV1(page, url, world));
}

/** The parts of v1 that the cloud has as well. */
function sharedAnswer(path: string, url: URL, world: World): WireAnswer | undefined {
  if (path === 'rest/api/user/current')
    return found({ type: 'known', accountId: 'u0', displayName: 'ktx', email: '' });
  if (path === 'rest/api/content/search') {
    const key = /space="([^"]+)"/.exec(url.searchParams.get('cql') ?? '')?.[1];
    const inside = [...world.pages.values()].filter(
      ({ space, isFresh }) => space === key && isFresh !== true,
    );
    return list(
      inside.map((page) => contentV1(page, url, world)),
      url,
      { world, isCloud: true },
    );
  }
  const [, id = ''] =
    /^rest\/api\/content\/(\d+)\/restriction\/byOperation\/read$/.exec(path) ?? [];
  const page = world.pages.get(id);
  return page && found(readersOf(page));
}

function pageV2(
  { id, title, parent, space, version, storage, isInFolder }: ConfluenceWorldPage,
  hasBody: boolean,
) {
  return {
    id,
    title,
    status: 'current',
    spaceId: spaces.find(({ key }) => key === space)?.id,
    parentId: parent ?? null,
    parentType: parent === undefined ? null : isInFolder === true ? 'folder' : 'page',
    authorId: '112233',
    createdAt: '2023-08-01T12:00:00Z',
    version: { number: version, message: '', createdAt: '2023-08-01T12:00:00Z', authorId: '1' },
    ...(hasBody && { body: { storage: { value: storage, representation: 'storage' } } }),
    _links: { webui: `/spaces/${space}/pages/${id}`, tinyui: '/x/AbCdEf' },
  };
}

function contentV1(page: ConfluenceWorldPage, url: URL, world: World) {
  const expanded = new Set((url.searchParams.get('expand') ?? '').split(','));
  const { id, title, version, storage } = page;
  return {
    id,
    type: 'page',
    status: 'current',
    title,
    macroRenderedOutput: {},
    ...(expanded.has('version') && { version: { number: version, when: '2024-01-20T14:30:00Z' } }),
    ...(expanded.has('ancestors') && { ancestors: ancestorsOf(page, world) }),
    ...(expanded.has('body.storage') && {
      body: { storage: { value: storage, representation: 'storage' } },
    }),
    ...(expanded.has('metadata.labels') && { metadata: { labels: { results: labelsOf(page) } } }),
    ...(expanded.has('restrictions.read.restrictions.user') && {
      restrictions: { read: readersOf(page) },
    }),
    _links: { webui: `/spaces/${page.space}/pages/${id}` },
  };
}

function ancestorsOf({ parent }: ConfluenceWorldPage, world: World): { readonly id: string }[] {
  const above = world.pages.get(parent ?? '');
  return above === undefined ? [] : [...ancestorsOf(above, world), { id: above.id }];
}

function labelsOf({ labels }: ConfluenceWorldPage) {
  return labels.map((name, index) => ({ id: String(index), name, prefix: 'global' }));
}

function readersOf({ readers = [] }: ConfluenceWorldPage) {
  const user = { results: readers.map((username) => ({ type: 'known', username })) };
  return {
    operation: 'read',
    restrictions: {
      user: { ...user, start: 0, limit: 200, size: readers.length },
      group: { results: [], start: 0, limit: 200, size: 0 },
    },
  };
}

/** The cloud goes on from a cursor, a server of one's own from a number. */
function list(
  entries: readonly unknown[],
  { pathname, searchParams }: URL,
  { world, isCloud }: { readonly world: World; readonly isCloud: boolean },
): WireAnswer {
  const name = isCloud ? 'cursor' : 'start';
  const start = Number(searchParams.get(name) ?? 0);
  const limit = Number(searchParams.get('limit') ?? 25);
  const results = entries.slice(start, start + Math.min(limit, world.pageSize));
  const end = start + results.length;
  const next = new URLSearchParams(searchParams);
  // A server counts on by what was asked for, not by what it gave.
  next.set(name, String(isCloud ? end : start + limit));
  const link = `${pathname}?${next.toString()}`;
  const json = {
    results,
    start,
    limit,
    size: results.length,
    _links: {
      base: 'https://fernholm.atlassian.net/wiki',
      ...(end < entries.length && { next: link }),
    },
  };
  return found(json);
}
