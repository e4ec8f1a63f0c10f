import { startLoopbackServer, type WireAnswer, type WireRequest } from '../loopback-server.ts';
import {
  cards,
  collections,
  dashboards,
  databases,
  metadata,
  segments,
  snippets,
} from './fernholm.ts';

export const apiKey = 'mb_fernholm_key';

/** A Metabase on loopback: the wire of its API, for one company, with faults on demand. */
export async function startMetabase() {
  const world = {
    cards: new Map(cards.map((card) => [card.id, card])),
    dashboards: new Map(dashboards.map((dashboard) => [dashboard.id, dashboard])),
    snippets: [...snippets],
    segments: [...segments],
    startOfWeek: 'monday',
    key: apiKey,
    pageSize: 2,
  };
  const server = await startLoopbackServer((request) =>
    request.headers['x-api-key'] === world.key
      ? answerTo(request, world)
      : { status: 401, json: 'Unauthenticated' },
  );
  return { ...server, world };
}

interface World {
  readonly cards: ReadonlyMap<number, (typeof cards)[number]>;
  readonly dashboards: ReadonlyMap<number, (typeof dashboards)[number]>;
  readonly snippets: readonly object[];
  readonly segments: readonly object[];
  readonly startOfWeek: string;
  readonly pageSize: number;
}

function answerTo({ url }: WireRequest, world: World): WireAnswer {
  const [, kind, id, part] = /^\/api\/([\w-]+)\/?([^/]*)\/?(\w*)$/.exec(url.pathname) ?? [];
  const found = (json: unknown) => ({ status: 200, json });
  if (kind === 'user') return found({ id: 1, common_name: 'ktx' });
  if (kind === 'database' && id === '') return found({ data: databases, total: databases.length });
  if (part === 'metadata' && id === '3') return found(metadata);
  if (kind === 'collection' && id === '') return found(collections);
  if (part === 'items') return found(itemsOf(id ?? '', url, world));
  const shared: Readonly<Record<string, unknown>> = {
    'native-query-snippet': world.snippets,
    segment: world.segments,
    session: { 'start-of-week': world.startOfWeek, version: {} },
  };
  const objects = kind === 'dashboard' ? world.dashboards : world.cards;
  const object = shared[kind ?? ''] ?? objects.get(Number(id));
  return object === undefined ? { status: 404, json: 'Not found.' } : found(object);
}

function itemsOf(collection: string, { searchParams }: URL, world: World) {
  const { pageSize } = world;
  const models = searchParams.getAll('models');
  const all = [
    ...[...world.cards.values()].map((card) => ({ ...card, model: 'card' })),
    ...[...world.dashboards.values()].map((own) => ({ ...own, model: 'dashboard' })),
  ];
  const inside = all.filter(
    (own) =>
      String(own.collection_id ?? 'root') === collection &&
      !own.archived &&
      // A question that is saved in a dashboard is in no collection.
      (!('dashboard_id' in own) || own.dashboard_id === null) &&
      models.includes(own.model),
  );
  const offset = Number(searchParams.get('offset'));
  const limit = Math.min(pageSize, Number(searchParams.get('limit')));
  const data = inside
    .slice(offset, offset + limit)
    .map(({ id, name, model }) => ({ id, name, model }));
  return { data, total: inside.length, limit, offset, models };
}
