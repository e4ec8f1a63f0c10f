import { startLoopbackServer, type WireAnswer, type WireRequest } from '../loopback-server.ts';
import {
  databases,
  type NotionWorldBlock,
  type NotionWorldDatabase,
  type NotionWorldPage,
  pages,
  text,
} from './fernholm.ts';

export const notionToken = 'ntn_fernholm';

interface World {
  readonly pages: Map<string, NotionWorldPage>;
  readonly databases: Map<string, NotionWorldDatabase>;
  token: string;
  pageSize: number;
}

/** A Notion on loopback: the wire of its API in the version 2026-03-11. */
export async function startNotion() {
  const world: World = {
    pages: new Map(pages.map((page) => [page.id, page])),
    databases: new Map(databases.map((database) => [database.id, database])),
    token: notionToken,
    pageSize: 2,
  };
  const server = await startLoopbackServer((request) => answerTo(request, world));
  return { ...server, world };
}

function answerTo(request: WireRequest, world: World): WireAnswer {
  const { headers, url, method } = request;
  if (headers.authorization !== `Bearer ${world.token}`)
    return failure(401, 'unauthorized', 'API token is invalid.');
  if (headers['notion-version'] !== '2026-03-11')
    return failure(400, 'missing_version', 'Notion-Version header failed validation.');
  const [, kind = '', id = '', part = ''] =
    /^\/v1\/(\w+)\/?([^/]*)\/?(\w*)$/.exec(url.pathname) ?? [];
  if (method === 'POST')
    return part === 'query' ? query(id, request, world) : search(request, world);
  if (method !== 'GET' || kind === '')
    return failure(400, 'invalid_request_url', 'Invalid request URL.');
  if (kind === 'users') return { status: 200, json: bot };
  const cursor = url.searchParams.get('start_cursor') ?? undefined;
  if (kind === 'blocks' && part === 'children') return children(id, cursor, world);
  return retrieve(kind, id, world);
}

const bot = {
  object: 'user',
  id: '7775f3a3-893f-43fa-b625-460c61094c78',
  name: 'ktx',
  avatar_url: null,
  type: 'bot',
  bot: { owner: { type: 'workspace', workspace: true }, workspace_name: 'Fernholm' },
};

function failure(status: number, code: string, message: string): WireAnswer {
  return { status, json: { object: 'error', status, code, message } };
}

const notFound = () =>
  failure(404, 'object_not_found', 'Could not find it. Make sure it is shared.');

function retrieve(kind: string, id: string, { pages: all, databases: bases }: World): WireAnswer {
  const found = (json: unknown) => ({ status: 200, json });
  const page = all.get(id);
  if (kind === 'pages' && page !== undefined) return found(pageObject(page));
  const database = bases.get(id);
  if (kind === 'databases' && database !== undefined) return found(databaseObject(database));
  const source = [...bases.values()].find((one) => one.source === id);
  if (kind === 'data_sources' && source !== undefined) return found(sourceObject(source));
  return notFound();
}

function search({ json }: WireRequest, world: World): WireAnswer {
  const listed = [...world.pages.values()].filter(
    ({ isFresh, inTrash }) => isFresh !== true && inTrash !== true,
  );
  const objects = [
    ...listed.map((page) => () => pageObject(page)),
    ...[...world.databases.values()].map((database) => () => sourceObject(database)),
  ];
  return list(objects, cursorOf(json), { world, type: 'page_or_data_source' });
}

function query(id: string, { json }: WireRequest, world: World): WireAnswer {
  const rows = [...world.pages.values()].filter(
    ({ parent, inTrash }) => parent['data_source_id'] === id && inTrash !== true,
  );
  const objects = rows.map((page) => () => pageObject(page));
  return list(objects, cursorOf(json), { world, type: 'page_or_data_source' });
}

function cursorOf(json: unknown): string | undefined {
  const { start_cursor: cursor } = json as { start_cursor?: string };
  return cursor;
}

/** Ids of blocks without one are their place: `<page>-3-0`, in the digits that an id has. */
function children(id: string, cursor: string | undefined, world: World): WireAnswer {
  const blocks = blocksOf(id, world);
  if (blocks === undefined) return notFound();
  const objects = blocks.map((block, index) => () => blockObject(block, childId(id, index)));
  return list(objects, cursor, { world, type: 'block' });
}

const childIds = new Map<string, { readonly owner: string; readonly index: number }>();

function childId(owner: string, index: number): string {
  const id = `b${owner.slice(-24)}${String(index).padStart(7, '0')}`;
  childIds.set(id, { owner, index });
  return id;
}

function blocksOf(id: string, world: World): readonly NotionWorldBlock[] | undefined {
  const page = world.pages.get(id);
  if (page !== undefined) return page.blocks;
  const place = childIds.get(id);
  return place && (blocksOf(place.owner, world)?.[place.index]?.children ?? []);
}

function list(
  objects: readonly (() => unknown)[],
  cursor: string | undefined,
  { world, type }: { readonly world: World; readonly type: string },
): WireAnswer {
  const start = cursor === undefined ? 0 : Number(cursor.split('-').at(-1));
  const end = start + world.pageSize;
  const hasMore = end < objects.length;
  const results = objects.slice(start, end).map((make) => make());
  const json = {
    object: 'list',
    results,
    next_cursor: hasMore ? `cursor-${end}` : null,
    has_more: hasMore,
    type,
    [type]: {},
  };
  return { status: 200, json };
}

const dashed = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const editor = { object: 'user', id: '7775f3a3-893f-43fa-b625-460c61094c78' };

export function pageObject({ id, title, parent, edited, inTrash, properties }: NotionWorldPage) {
  const titled = { id: 'title', type: 'title', title: [text(title)] };
  return {
    object: 'page',
    id: dashed(id),
    created_time: '2026-07-04T09:08:00.000Z',
    last_edited_time: edited,
    created_by: editor,
    last_edited_by: editor,
    cover: null,
    icon: null,
    parent,
    in_trash: inTrash === true,
    is_archived: false,
    is_locked: false,
    properties: { ...properties, [properties === undefined ? 'title' : 'Name']: titled },
    url: `https://app.notion.com/p/${id}`,
    public_url: null,
  };
}

function databaseObject({ id, title, parent, source }: NotionWorldDatabase) {
  return {
    object: 'database',
    id: dashed(id),
    title: [text(title)],
    description: [],
    parent: { type: 'page_id', page_id: parent },
    is_inline: false,
    in_trash: false,
    data_sources: [{ id: dashed(source), name: title }],
    url: `https://app.notion.com/p/${id}`,
  };
}

export function sourceObject({ id, title, parent, source, properties }: NotionWorldDatabase) {
  const withIds = Object.entries(properties).map(([name, { type }]) => [
    name,
    { id: name.slice(0, 4), name, description: null, type, [type]: {} },
  ]);
  return {
    object: 'data_source',
    id: dashed(source),
    cover: null,
    icon: null,
    created_time: '2026-07-04T09:09:00.000Z',
    created_by: editor,
    last_edited_by: editor,
    last_edited_time: '2026-07-04T09:09:00.000Z',
    title: [text(title)],
    description: [],
    is_inline: false,
    properties: Object.fromEntries(withIds) as Record<string, object>,
    parent: { type: 'database_id', database_id: dashed(id) },
    database_parent: { type: 'page_id', page_id: dashed(parent) },
    url: `https://app.notion.com/p/${id}`,
    public_url: null,
    in_trash: false,
  };
}

export function blockObject(block: NotionWorldBlock, id: string) {
  const { type, content, children: inner = [] } = block;
  return {
    object: 'block',
    id: dashed(block.id ?? id),
    parent: { type: 'page_id', page_id: dashed(id) },
    created_time: '2026-07-04T09:08:00.000Z',
    last_edited_time: '2026-07-04T09:08:00.000Z',
    created_by: editor,
    last_edited_by: editor,
    has_children: inner.length > 0 || type === 'child_page',
    in_trash: false,
    type,
    [type]: content,
  };
}
