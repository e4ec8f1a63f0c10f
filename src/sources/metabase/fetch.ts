import { Readable } from 'node:stream';
import { errorMessage } from '../../lib/error.ts';
import { matchesGlob } from '../../lib/patterns/glob.ts';
import { formatCount } from '../../lib/format-count.ts';
import { apiLimits } from '../http/config.ts';
import { endAsPartial } from '../http/end-as-partial.ts';
import { type HttpClient, itemFailure, openHttp } from '../http/client.ts';
import { readPages } from '../http/read-pages.ts';
import type { FetchContext, FetchEvent, SourceSight } from '../source.ts';
import {
  cardSchema,
  collectionItemsSchema,
  collectionsSchema,
  databaseMetadataSchema,
  databasesSchema,
  type MetabaseCollection,
  userSchema,
} from './api-schemas.ts';
import type { MetabaseConfig } from './config.ts';
import { cardItem, databaseItem, tableItem } from './items.ts';

interface MetabaseFetch {
  readonly http: HttpClient;
  readonly config: MetabaseConfig;
  readonly signal: AbortSignal;
  /** Why the listing is not complete. */
  readonly gaps: string[];
}

const pageSize = 200;

/**
 * Fetches the tables of the mapped databases, and the questions, models and metrics of the
 * collections. A part that cannot be listed makes the listing incomplete; a question that cannot be
 * read stays as it was.
 */
export async function* fetchMetabase(
  context: FetchContext<MetabaseConfig>,
): AsyncGenerator<FetchEvent> {
  const { config, signal } = context;
  const http = openMetabase(context);
  const fetch: MetabaseFetch = { http, config, signal, gaps: [] };
  await http.read({ path: 'api/user/current' }, userSchema);
  yield* endAsPartial(fetchAll(fetch));
}

async function* fetchAll(fetch: MetabaseFetch): AsyncGenerator<FetchEvent> {
  const { http, config, signal } = fetch;
  const { concurrency } = apiLimits(config);
  yield* fetchDatabases(fetch);
  const collections = await http.read({ path: 'api/collection' }, collectionsSchema);
  const cards = await listCards(collections, fetch);
  yield* Readable.from(cards).map(
    ([id, path]: readonly [number, string]) => fetchCard(id, path, fetch),
    { concurrency, signal },
  ) as AsyncIterable<FetchEvent>;
  const [reason] = fetch.gaps;
  yield { kind: 'end', listingComplete: reason === undefined, reason };
}

function openMetabase(context: FetchContext<MetabaseConfig>): HttpClient {
  const { config, secrets } = context;
  return openHttp({
    ...context,
    ...apiLimits(config),
    baseUrl: config.base_url,
    headers: { 'x-api-key': secrets(config.api_key) },
  });
}

/** Who the key belongs to, the collections, and which databases are mapped. */
export async function lookAtMetabase(context: FetchContext<MetabaseConfig>): Promise<SourceSight> {
  const { config } = context;
  const http = openMetabase(context);
  const user = await http.read({ path: 'api/user/current' }, userSchema);
  const databases = await http.read({ path: 'api/database' }, databasesSchema);
  const collections = await http.read({ path: 'api/collection' }, collectionsSchema);
  const wanted = wantedCollections(collections, config);
  const nameOf = ({ id, name, engine }: (typeof databases)[number]) => `${id} ${name} (${engine})`;
  const mapped = databases.filter(({ id }) => config.databases?.[id] !== undefined);
  const others = databases.filter((database) => !mapped.includes(database));
  const arrows = mapped.map(
    (database) => `${nameOf(database)} → ${config.databases?.[database.id]}`,
  );
  return {
    login: `logged in as ${user.common_name ?? `user ${user.id}`}`,
    sees: [formatCount(wanted.length, 'collection'), ...arrows],
    misses: others.map(
      (database) =>
        `database ${nameOf(database)} is not mapped: its questions lead to no tables. Write databases: {"${database.id}": <warehouse>} into ktx.yaml if it is one of yours`,
    ),
  };
}

async function* fetchDatabases(fetch: MetabaseFetch): AsyncGenerator<FetchEvent> {
  const { http, config, gaps } = fetch;
  for (const database of await http.read({ path: 'api/database' }, databasesSchema)) {
    yield { kind: 'item', ...databaseItem(database) };
    if (config.databases?.[database.id] === undefined) continue;
    try {
      const path = `api/database/${database.id}/metadata`;
      const { tables } = await http.read({ path }, databaseMetadataSchema);
      for (const table of tables) yield { kind: 'item', ...tableItem(table, database.id) };
    } catch (error) {
      gaps.push(gapOf(error));
    }
  }
}

/** The reason of a failure that is about one part; throws any other error. */
function gapOf(error: unknown): string {
  if (itemFailure(error) === undefined) throw error;
  return errorMessage(error);
}

/** Each card once, with the path of its collection. */
async function listCards(
  collections: readonly MetabaseCollection[],
  fetch: MetabaseFetch,
): Promise<ReadonlyMap<number, string>> {
  const cards = new Map<number, string>();
  for (const { id, path } of wantedCollections(collections, fetch.config)) {
    try {
      for await (const card of cardsOfCollection(id, fetch)) cards.set(card.id, path);
    } catch (error) {
      fetch.gaps.push(gapOf(error));
    }
  }
  return cards;
}

function cardsOfCollection(id: number | 'root', { http }: MetabaseFetch) {
  return readPages(async (offset: number = 0) => {
    const query = [
      ['models', 'card'],
      ['models', 'dataset'],
      ['models', 'metric'],
      ['limit', String(pageSize)],
      ['offset', String(offset)],
    ] as const;
    const path = `api/collection/${id}/items`;
    const { data, total } = await http.read({ path, query }, collectionItemsSchema);
    const end = offset + data.length;
    return { entries: data, next: data.length > 0 && end < total ? end : undefined };
  });
}

/** The collections that the configuration asks for; never personal ones, archives and snippets. */
function wantedCollections(
  collections: readonly MetabaseCollection[],
  { include }: MetabaseConfig,
): readonly { readonly id: number | 'root'; readonly path: string }[] {
  const byId = new Map(collections.map((collection) => [String(collection.id), collection]));
  return collections.flatMap((collection) => {
    const above = collection.location?.split('/').filter((part) => part !== '') ?? [];
    const line = [...above.map((id) => byId.get(id)), collection];
    const isLeftOut = line.some((step) => step !== undefined && isPrivateFolder(step));
    if (isLeftOut) return [];
    const names = line.map((step) => step?.name.replaceAll('/', '∕') ?? '?');
    const path = collection.id === 'root' ? '' : names.join('/');
    const isWanted = include?.some((pattern) => matchesGlob(path, pattern)) ?? true;
    return isWanted ? [{ id: collection.id, path }] : [];
  });
}

/** True for what is not of the whole company: personal collections, the archive, snippets. */
function isPrivateFolder(collection: MetabaseCollection): boolean {
  const { archived, is_personal: isPersonal, personal_owner_id: owner, namespace } = collection;
  const isOther = typeof owner === 'number' || typeof namespace === 'string';
  return archived === true || isPersonal === true || isOther;
}

async function fetchCard(id: number, path: string, { http }: MetabaseFetch): Promise<FetchEvent> {
  try {
    const card = await http.read({ path: `api/card/${id}` }, cardSchema);
    return { kind: 'item', ...cardItem(card, path) };
  } catch (error) {
    return { kind: 'failed', key: `cards/${id}.jsonl`, reason: gapOf(error) };
  }
}
