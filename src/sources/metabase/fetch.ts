import { Readable } from 'node:stream';
import type { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { matchesGlob } from '../../lib/patterns/glob.ts';
import { apiLimits } from '../http/config.ts';
import { endAsPartial } from '../http/end-as-partial.ts';
import { type HttpClient, itemFailure, openHttp, refusedStatus } from '../http/client.ts';
import { knownEntries } from '../http/known-entries.ts';
import { readPages } from '../http/read-pages.ts';
import type { FetchContext, FetchEvent } from '../source.ts';
import {
  cardSchema,
  collectionItemsSchema,
  collectionsSchema,
  dashboardSchema,
  databaseMetadataSchema,
  databasesSchema,
  type MetabaseCollection,
  segmentsSchema,
  settingsSchema,
  snippetsSchema,
  userSchema,
} from './api-schemas.ts';
import type { MetabaseConfig } from './config.ts';
import {
  cardItem,
  dashboardItem,
  databaseItem,
  segmentItem,
  settingsItem,
  snippetItem,
  tableItem,
} from './items.ts';

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
  yield* fetchDefinitions(fetch);
  const listed = await http.read({ path: 'api/collection' }, collectionsSchema);
  const collections = knownEntries(listed, { what: 'the list of collections', gaps: fetch.gaps });
  const { cards, dashboards } = await listContent(collections, fetch);
  const shown = Readable.from(dashboards).map(
    ([id, path]: readonly [number, string]) => fetchDashboard(id, path, fetch),
    { concurrency, signal },
  );
  for await (const { event, saved } of shown as AsyncIterable<FetchedDashboard>) {
    yield event;
    for (const [id, path] of saved) cards.set(id, path);
  }
  yield* Readable.from(cards).map(
    ([id, path]: readonly [number, string]) => fetchCard(id, path, fetch),
    { concurrency, signal },
  ) as AsyncIterable<FetchEvent>;
  const [reason] = fetch.gaps;
  yield { kind: 'end', listingComplete: reason === undefined, reason };
}

/** The client of a Metabase, with the key. */
export function openMetabase(context: FetchContext<MetabaseConfig>): HttpClient {
  const { config, secrets } = context;
  return openHttp({
    ...context,
    ...apiLimits(config),
    baseUrl: config.base_url,
    headers: { 'x-api-key': secrets(config.api_key) },
  });
}

async function* fetchDatabases(fetch: MetabaseFetch): AsyncGenerator<FetchEvent> {
  const { http, config, gaps } = fetch;
  const databases = await http.read({ path: 'api/database' }, databasesSchema);
  for (const database of knownEntries(databases, { what: 'the list of databases', gaps })) {
    yield { kind: 'item', ...databaseItem(database) };
    if (config.databases?.[database.id] === undefined) continue;
    try {
      const path = `api/database/${database.id}/metadata`;
      const { tables } = await http.read({ path }, databaseMetadataSchema);
      const what = `the metadata of database ${database.id}`;
      for (const table of knownEntries(tables, { what, gaps }))
        yield { kind: 'item', ...tableItem(table, database.id) };
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

/** What questions share: the first day of a week, snippets of SQL, segments. */
async function* fetchDefinitions(fetch: MetabaseFetch): AsyncGenerator<FetchEvent> {
  const settings = await readIfThere('api/session/properties', settingsSchema, fetch);
  const startOfWeek = settings?.['start-of-week'];
  if (startOfWeek) yield { kind: 'item', ...settingsItem(startOfWeek) };
  const snippets = await readIfThere('api/native-query-snippet', snippetsSchema, fetch);
  const { gaps } = fetch;
  for (const snippet of knownEntries(snippets ?? [], { what: 'the list of snippets', gaps }))
    if (snippet.archived !== true) yield { kind: 'item', ...snippetItem(snippet) };
  const segments = await readIfThere('api/segment', segmentsSchema, fetch);
  // Questions that use an archived segment still work.
  for (const segment of knownEntries(segments ?? [], { what: 'the list of segments', gaps }))
    yield { kind: 'item', ...segmentItem(segment) };
}

/** Undefined if this server has no such list, and, as a gap, if it cannot be read. */
async function readIfThere<T>(
  path: string,
  schema: z.ZodType<T>,
  { http, gaps }: MetabaseFetch,
): Promise<T | undefined> {
  try {
    return await http.read({ path }, schema);
  } catch (error) {
    if (refusedStatus(error) !== 404) gaps.push(gapOf(error));
    return undefined;
  }
}

interface ListedQuestions {
  /** The path of the collection by the number of the object. */
  readonly cards: Map<number, string>;
  readonly dashboards: ReadonlyMap<number, string>;
}

/** Each card and each dashboard once. */
async function listContent(
  collections: readonly MetabaseCollection[],
  fetch: MetabaseFetch,
): Promise<ListedQuestions> {
  const cards = new Map<number, string>();
  const dashboards = new Map<number, string>();
  const { mostItems } = apiLimits(fetch.config);
  for (const { id, path } of wantedCollections(collections, fetch.config)) {
    try {
      for await (const { id: own, model } of contentOfCollection(id, fetch))
        (model === 'dashboard' ? dashboards : cards).set(own, path);
    } catch (error) {
      fetch.gaps.push(gapOf(error));
    }
    if (cards.size + dashboards.size > mostItems)
      throw new UserError('too_many_items', `Metabase has more than ${mostItems} questions.`, {
        hint: 'Set `include` to the collections that define your data, or raise `max_items`.',
        exitCode: 2,
      });
  }
  return { cards, dashboards };
}

function contentOfCollection(id: number | 'root', { http, gaps }: MetabaseFetch) {
  return readPages(async (offset: number = 0) => {
    const query = [
      ['models', 'card'],
      ['models', 'dataset'],
      ['models', 'metric'],
      ['models', 'dashboard'],
      ['limit', String(pageSize)],
      ['offset', String(offset)],
    ] as const;
    const path = `api/collection/${id}/items`;
    const { data, total } = await http.read({ path, query }, collectionItemsSchema);
    const end = offset + data.length;
    const entries = knownEntries(data, { what: `collection ${id}`, gaps });
    return { entries, next: data.length > 0 && end < total ? end : undefined };
  });
}

/** The collections that the configuration asks for; never personal ones, archives and snippets. */
export function wantedCollections(
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
  return archived === true || isPersonal === true || isOther || collection.type === 'trash';
}

interface FetchedDashboard {
  readonly event: FetchEvent;
  /** The questions that are saved in the dashboard, which no collection lists. */
  readonly saved: readonly (readonly [id: number, path: string])[];
}

async function fetchDashboard(
  id: number,
  path: string,
  { http }: MetabaseFetch,
): Promise<FetchedDashboard> {
  try {
    const dashboard = await http.read({ path: `api/dashboard/${id}` }, dashboardSchema);
    const tiles = dashboard.dashcards ?? dashboard.ordered_cards ?? [];
    const saved = tiles.flatMap(({ card, card_id: cardId }) =>
      typeof cardId === 'number' && card?.dashboard_id === id ? [[cardId, path] as const] : [],
    );
    return { event: { kind: 'item', ...dashboardItem(dashboard, path) }, saved };
  } catch (error) {
    const key = `dashboards/${id}.jsonl`;
    return { event: { kind: 'failed', key, reason: gapOf(error) }, saved: [] };
  }
}

async function fetchCard(id: number, path: string, { http }: MetabaseFetch): Promise<FetchEvent> {
  try {
    const card = await http.read({ path: `api/card/${id}` }, cardSchema);
    return { kind: 'item', ...cardItem(card, path) };
  } catch (error) {
    return { kind: 'failed', key: `cards/${id}.jsonl`, reason: gapOf(error) };
  }
}
