import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cards, collections, databases, metadata } from './fernholm.ts';

export const apiKey = 'mb_fernholm_key';

/** What the server does with the next requests whose path and query match. */
export interface Fault {
  readonly match: RegExp;
  times: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the answer. */
  readonly body?: string;
  /** Ends the connection in the middle of the answer. */
  readonly isCut?: boolean;
}

/** A Metabase on loopback: the wire of its API, for one company, with faults on demand. */
export async function startMetabase() {
  const world = {
    cards: new Map(cards.map((card) => [card.id, card])),
    key: apiKey,
    pageSize: 2,
  };
  const faults: Fault[] = [];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const fault = faults.find(({ match, times }) => times > 0 && match.test(request.url ?? ''));
    if (fault !== undefined) {
      fault.times -= 1;
      return fail(fault, response);
    }
    const isKnown = request.headers['x-api-key'] === world.key;
    const answer = isKnown ? answerTo(request, world) : { status: 401, json: 'Unauthenticated' };
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.json));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    world,
    faults,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function fail({ status = 200, headers = {}, body = '{}', isCut }: Fault, response: ServerResponse) {
  if (isCut === true) {
    response.writeHead(status, { 'content-length': '1000' });
    response.write(body, () => response.destroy());
    return;
  }
  response.writeHead(status, headers);
  response.end(body);
}

interface World {
  readonly cards: ReadonlyMap<number, (typeof cards)[number]>;
  readonly pageSize: number;
}

function answerTo({ url: path = '' }: IncomingMessage, world: World) {
  const url = new URL(path, 'http://metabase');
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
