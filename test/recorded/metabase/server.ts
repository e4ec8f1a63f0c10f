import { startLoopbackServer, type WireAnswer, type WireRequest } from '../loopback-server.ts';
import { cards, collections, databases, metadata } from './fernholm.ts';

export const apiKey = 'mb_fernholm_key';

/** A Metabase on loopback: the wire of its API, for one company, with faults on demand. */
export async function startMetabase() {
  const world = {
    cards: new Map(cards.map((card) => [card.id, card])),
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
  readonly pageSize: number;
}

function answerTo({ url }: WireRequest, world: World): WireAnswer {
  const [, kind, id, part] = /^\/api\/(\w+)\/?([^/]*)\/?(\w*)$/.exec(url.pathname) ?? [];
  const found = (json: unknown) => ({ status: 200, json });
  if (kind === 'user') return found({ id: 1, common_name: 'ktx' });
  if (kind === 'database' && id === '') return found({ data: databases, total: databases.length });
  if (part === 'metadata' && id === '3') return found(metadata);
  if (kind === 'collection' && id === '') return found(collections);
  if (part === 'items') return found(itemsOf(id ?? '', url, world));
  const card = kind === 'card' ? world.cards.get(Number(id)) : undefined;
  return card === undefined ? { status: 404, json: 'Not found.' } : found(card);
}

function itemsOf(collection: string, { searchParams }: URL, { cards: all, pageSize }: World) {
  const inside = [...all.values()].filter(
    (card) => String(card.collection_id ?? 'root') === collection && !card.archived,
  );
  const offset = Number(searchParams.get('offset'));
  const limit = Math.min(pageSize, Number(searchParams.get('limit')));
  const data = inside
    .slice(offset, offset + limit)
    .map(({ id, name }) => ({ id, name, model: 'card' }));
  return { data, total: inside.length, limit, offset, models: ['card', 'dataset', 'metric'] };
}
