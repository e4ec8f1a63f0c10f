import { matchesGlob } from 'node:path';
import { Readable } from 'node:stream';
import { errorMessage, UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import { type HttpClient, itemFailure, openHttp } from '../http/client.ts';
import { apiLimits } from '../http/config.ts';
import { endAsPartial } from '../http/end-as-partial.ts';
import { knownEntries } from '../http/known-entries.ts';
import { readPages } from '../http/read-pages.ts';
import type { FetchContext, FetchEvent, SourceSight } from '../source.ts';
import {
  activitySchema,
  dashboardSchema,
  exploreSchema,
  type FoundContent,
  foldersSchema,
  foundSchema,
  type LookerExplore,
  type LookerFolder,
  lookSchema,
  modelsSchema,
  tokenSchema,
  userSchema,
  versionsSchema,
} from './api-schemas.ts';
import type { LookerConfig } from './config.ts';
import { contentKey, dashboardItem, lookItem, modelItem, modelKey, usageItem } from './items.ts';

interface LookerFetch {
  readonly http: HttpClient;
  readonly config: LookerConfig;
  readonly memory: FetchContext<LookerConfig>['memory'];
  readonly signal: AbortSignal;
  /** Why the listing is not complete. */
  readonly gaps: string[];
}

const api = 'api/4.0/';
const pageSize = 100;

/**
 * Fetches the explores of all models, and the looks and dashboards of the folders. A part that
 * cannot be listed makes the listing incomplete; an object that cannot be read stays as it was.
 */
export async function* fetchLooker(
  context: FetchContext<LookerConfig>,
): AsyncGenerator<FetchEvent> {
  const { config, signal, memory } = context;
  const http = await openLooker(context);
  await requireVersion(http);
  yield* endAsPartial(fetchAll({ http, config, memory, signal, gaps: [] }));
}

async function* fetchAll(fetch: LookerFetch): AsyncGenerator<FetchEvent> {
  const { http, gaps, config } = fetch;
  yield* fetchModels(fetch);
  const listed = await http.read({ path: `${api}folders` }, foldersSchema);
  const known = knownEntries(listed, { what: 'the list of folders', gaps });
  const folders = folderPaths(known, config);
  yield* fetchContent('looks', folders, fetch);
  yield* fetchContent('dashboards', folders, fetch);
  if (config.usage !== 'off') yield* fetchUsage(fetch);
  const [reason] = gaps;
  yield { kind: 'end', listingComplete: reason === undefined, reason };
}

/** Logs in with the key; later once more if the server refuses the token. */
async function openLooker(context: FetchContext<LookerConfig>): Promise<HttpClient> {
  const { config, secrets } = context;
  const options = { ...context, ...apiLimits(config), baseUrl: config.base_url };
  const logIn = async () => {
    const http = openHttp({ ...options, headers: {} });
    const form = {
      client_id: secrets(config.client_id),
      client_secret: secrets(config.client_secret),
    };
    try {
      const { access_token: token } = await http.read({ path: `${api}login`, form }, tokenSchema);
      return { authorization: `token ${token}` };
    } catch (error) {
      // Looker answers 404 to a key that it does not know.
      if (itemFailure(error) === undefined) throw error;
      throw new UserError(
        'login_refused',
        `${context.connection}: the server refused the login, or has no API 4.0 there.`,
        {
          hint: `Check base_url, and renew the API key that the connection names, then: ktx connection test ${context.connection}`,
          exitCode: 4,
        },
      );
    }
  };
  return openHttp({ ...options, headers: await logIn(), renewLogin: logIn });
}

async function requireVersion(http: HttpClient): Promise<void> {
  const { supported_versions: versions } = await http.read(
    { path: `${api}versions` },
    versionsSchema,
  );
  if (versions?.some(({ version }) => version === '4.0') !== false) return;
  throw new UserError('unsupported_version', 'This Looker has no API 4.0.', {
    hint: 'Update Looker. Nothing has changed.',
    exitCode: 2,
  });
}

async function* fetchModels(fetch: LookerFetch): AsyncGenerator<FetchEvent> {
  const { http, signal, config, gaps, memory } = fetch;
  const { concurrency } = apiLimits(config);
  const models = readPages(async (offset: number = 0) => {
    const query = [
      ['fields', 'name,explores(name,hidden)'],
      ['exclude_empty', 'true'],
      ['limit', String(pageSize)],
      ['offset', String(offset)],
    ] as const;
    const all = await http.read({ path: `${api}lookml_models`, query }, modelsSchema);
    const entries = knownEntries(all, { what: 'the list of models', gaps });
    return { entries, next: nextOffset(all, offset) };
  });
  for await (const { name, explores } of models) {
    const path = `${api}lookml_models/${encodeURIComponent(name)}/explores/`;
    const read = Readable.from(explores ?? []).map(
      (explore: { readonly name: string }) =>
        readOrReason(() =>
          http.read({ path: `${path}${encodeURIComponent(explore.name)}` }, exploreSchema),
        ),
      { concurrency, signal },
    );
    const answers = (await read.toArray()) as (LookerExplore | string)[];
    const known = answers.filter((answer) => typeof answer !== 'string');
    const [reason] = answers.filter((answer) => typeof answer === 'string');
    const key = modelKey(name);
    // What the project has of the model is whole. At first, some explores are better than none.
    if (reason !== undefined && (known.length === 0 || memory.keys.has(key))) {
      yield { kind: 'failed', key, reason };
      continue;
    }
    if (reason !== undefined) gaps.push(`the model ${name} without some explores: ${reason}`);
    yield { kind: 'item', ...modelItem(name, known) };
  }
}

async function readOrReason<T>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (error) {
    return reasonOf(error);
  }
}

function nextOffset(entries: readonly unknown[], offset: number): number | undefined {
  return entries.length < pageSize ? undefined : offset + entries.length;
}

/** The reason of a failure that is about one part; throws any other error. */
function reasonOf(error: unknown): string {
  if (itemFailure(error) === undefined) throw error;
  return errorMessage(error);
}

/** The paths of the folders that are asked for, by id; never personal ones. */
function folderPaths(
  folders: readonly LookerFolder[],
  { include }: LookerConfig,
): ReadonlyMap<string, string> {
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const pathOf = (folder: LookerFolder, open: readonly string[] = []): string => {
    const parent = byId.get(folder.parent_id ?? '');
    const name = folder.name.replaceAll('/', '∕');
    if (parent === undefined || open.includes(folder.id)) return name;
    return `${pathOf(parent, [...open, folder.id])}/${name}`;
  };
  const isPersonal = (folder: LookerFolder) =>
    [folder.is_personal, folder.is_personal_descendant, folder.is_users_root].includes(true);
  return new Map(
    folders.flatMap((folder) => {
      const path = pathOf(folder);
      const isWanted = include?.some((pattern) => matchesGlob(path, pattern)) ?? true;
      return isPersonal(folder) || !isWanted ? [] : [[folder.id, path] as const];
    }),
  );
}

interface ListedContent {
  readonly id: string;
  readonly folder: string;
  readonly stamp: string | undefined;
}

const contentFields = {
  looks: 'id,deleted,folder,title,description,certification_metadata,query_id',
  // The list says nothing about the tiles of a dashboard, so that each is asked for.
  dashboards: 'id,deleted,folder',
} as const;

/** All that ktx reads of a look, its query by its number; undefined for what has none. */
function stampOf(
  { title, description, certification_metadata: certification, query_id: query }: FoundContent,
  folder: string,
): string | undefined {
  if (query === undefined || query === null) return undefined;
  return JSON.stringify([title, description, certification?.certification_status, query, folder]);
}

async function* fetchContent(
  kind: 'looks' | 'dashboards',
  folders: ReadonlyMap<string, string>,
  { http, config, signal, gaps, memory }: LookerFetch,
): AsyncGenerator<FetchEvent> {
  const found: ListedContent[] = [];
  try {
    const pages = readPages(async (offset: number = 0) => {
      const query = [
        ['fields', contentFields[kind]],
        ['deleted', 'false'],
        ['sorts', 'id'],
        ['limit', String(pageSize)],
        ['offset', String(offset)],
      ] as const;
      const all = await http.read({ path: `${api}${kind}/search`, query }, foundSchema);
      const entries = knownEntries(all, { what: `the list of ${kind}`, gaps });
      return { entries, next: nextOffset(all, offset) };
    });
    for await (const entry of pages) {
      const folder = folders.get(entry.folder?.id ?? '');
      if (folder === undefined || entry.deleted === true) continue;
      found.push({ id: entry.id, folder, stamp: stampOf(entry, folder) });
    }
  } catch (error) {
    gaps.push(reasonOf(error));
  }
  const { concurrency, maxAge, mostItems } = apiLimits(config);
  if (found.length > mostItems) throw tooManyItems(kind, mostItems);
  yield* Readable.from(found).map(
    async ({ id, folder, stamp }: ListedContent): Promise<FetchEvent> => {
      const key = contentKey(kind, id);
      if (stamp !== undefined && memory.isKnown(key, { stamp, maxAge }))
        return { kind: 'known', key };
      const path = `${api}${kind}/${encodeURIComponent(id)}`;
      try {
        const item =
          kind === 'looks'
            ? lookItem(await http.read({ path }, lookSchema), folder)
            : dashboardItem(await http.read({ path }, dashboardSchema), folder);
        return { kind: 'item', ...item, stamp };
      } catch (error) {
        return { kind: 'failed', key, reason: reasonOf(error) };
      }
    },
    { concurrency, signal },
  ) as AsyncIterable<FetchEvent>;
}

function tooManyItems(kind: string, most: number): UserError {
  return new UserError('too_many_items', `Looker has more than ${most} ${kind}.`, {
    hint: 'Set `include` to the folders that define your data, or raise `max_items`.',
    exitCode: 2,
  });
}

const activity = { look: 'look.id', dashboard: 'dashboard.id' } as const;
const runsField = 'history.query_run_count';

/** How often looks and dashboards ran; without the right to know, nothing is missing. */
async function* fetchUsage({ http }: LookerFetch): AsyncGenerator<FetchEvent> {
  const runs = new Map<string, number>();
  try {
    for (const [kind, field] of Object.entries(activity)) {
      const json = {
        model: 'system__activity',
        view: 'history',
        fields: [field, runsField],
        filters: { 'history.created_date': '90 days', [field]: 'NOT NULL' },
        limit: '5000',
      };
      const rows = await http.read({ path: `${api}queries/run/json`, json }, activitySchema);
      for (const row of rows)
        runs.set(`${kind} ${String(row[field])}`, Number(row[runsField]) || 0);
    }
  } catch (error) {
    yield {
      kind: 'failed',
      key: 'usage.jsonl',
      reason: `how often looks ran is unknown: set usage: off, or give the login see_system_activity (${reasonOf(error)})`,
    };
    return;
  }
  yield { kind: 'item', ...usageItem(runs) };
}

/** Who the key belongs to, and what it sees. */
export async function lookAtLooker(context: FetchContext<LookerConfig>): Promise<SourceSight> {
  const { config } = context;
  const http = await openLooker(context);
  await requireVersion(http);
  const user = await http.read({ path: `${api}user` }, userSchema);
  const query = [['fields', 'name,explores(name,hidden)']] as const;
  const gaps: string[] = [];
  const all = await http.read({ path: `${api}lookml_models`, query }, modelsSchema);
  const models = knownEntries(all, { what: 'the list of models', gaps });
  const listed = await http.read({ path: `${api}folders` }, foldersSchema);
  const folders = folderPaths(knownEntries(listed, { what: 'the list of folders', gaps }), config);
  const explores = models.reduce((sum, model) => sum + (model.explores?.length ?? 0), 0);
  return {
    login: `logged in as ${user.display_name ?? `user ${user.id}`}`,
    sees: [
      `${formatCount(models.length, 'model')} with ${formatCount(explores, 'explore')}`,
      formatCount(folders.size, 'folder'),
    ],
    misses: [
      ...gaps,
      ...(config.warehouse === undefined
        ? [
            'no warehouse is set: tables are found by their names. Set warehouse in ktx.yaml if several have them',
          ]
        : []),
    ],
  };
}
