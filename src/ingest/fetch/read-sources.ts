import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { collectEarly } from '../../lib/collect-early.ts';
import { formatCount } from '../../lib/format-count.ts';
import { UserError } from '../../lib/error.ts';
import type { OpenSource } from '../../sources/registry.ts';
import type { Item } from '../../sources/source.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import type { State } from '../../store/state.ts';
import { measureStage, type PipelineRun, type SourceInput } from '../ingest-run.ts';
import { type FileTree, readProjectFiles } from '../publish/project-files.ts';
import { toFailure, type ItemReport, type SourceReport } from '../report.ts';
import type { SourceFindings } from './findings.ts';
import { extractItems } from './extract-items.ts';
import { openFetchMemory, type RecordingMemory, unrecordedMemory } from './fetch-memory.ts';
import { hashItem, readItemIndex, readStoredItems, type ItemIndexLine } from './item-files.ts';
import { loadReadingClaims, restoreReadings } from './readings.ts';

/** A source with all its items, fetched now or before. */
export interface FetchedSource {
  readonly input: SourceInput;
  readonly source: OpenSource;
  readonly items: readonly Item[];
  /** The items that the last run left. */
  readonly stored: readonly Item[];
  /** The index that the last run left. */
  readonly recorded: readonly ItemIndexLine[];
  readonly report: Pick<SourceReport, 'items' | 'failure'>;
}

export interface ReadSource {
  readonly fetched: FetchedSource;
  readonly findings: SourceFindings;
}

interface SourceReading {
  /** Without it, nothing is recorded and every body is asked for. */
  readonly state?: State;
  /** The sources, if they were fetched already. */
  readonly fetched?: readonly FetchedSource[] | undefined;
  /** The files of the project, if they were read already. */
  readonly files?: FileTree | undefined;
}

/**
 * Fetches the sources of the run and extracts what code can read. Unchanged items are extracted
 * again as well: what an item says depends on others.
 */
export async function readSources(
  run: PipelineRun,
  catalogs: readonly Catalog[],
  { state, fetched: fetchedAlready, files }: SourceReading = {},
): Promise<readonly ReadSource[]> {
  const fetched =
    fetchedAlready ?? (await measureStage(run, 'fetch', () => fetchSources(run, state, files)));
  const claims = await loadReadingClaims(run.dir, catalogs, files);
  return measureStage(run, 'extract', async () =>
    Promise.all(fetched.map((source) => extractSource(source, { catalogs, claims }, run))),
  );
}

/**
 * Fetches the sources that were asked for. A source that fails, or was not asked for, keeps its
 * stored items. `files` are those of the project, if they were read already.
 */
export async function fetchSources(
  run: PipelineRun,
  state?: State,
  files?: FileTree,
): Promise<FetchedSource[]> {
  const fetched: FetchedSource[] = [];
  for (const input of run.sources ?? []) {
    run.signal.throwIfAborted();
    const source = await input.open();
    const folder = `sources/${input.name}`;
    const tree =
      files ?? (await readProjectFiles(run.dir, [folder], { tidy: run.dryRun !== true }));
    const stored = readStoredItems(tree, input.name);
    fetched.push({
      input,
      source,
      stored,
      recorded: readItemIndex(tree, input.name),
      ...(await fetchSource({ input, source, stored, state }, run)),
    });
  }
  return fetched;
}

interface StoredSource extends Pick<FetchedSource, 'input' | 'source'> {
  readonly stored: readonly Item[];
  readonly state: State | undefined;
}

async function fetchSource(
  { input, ...known }: StoredSource,
  run: PipelineRun,
): Promise<Pick<FetchedSource, 'items' | 'report'>> {
  const { stored } = known;
  if (!input.isAsked) return { items: stored, report: {} };
  const { name: connection } = input;
  run.emit({ type: 'connection_started', connection });
  // A source behind an API can have thousands of objects, and the run mostly waits for its server.
  if (known.source.look !== undefined) collectEarly(25);
  try {
    const { items, report } = await fetchItems({ input, ...known }, run);
    const [added, changed, gone] = [report.added.length, report.changed.length, report.gone.length];
    run.emit({ type: 'items_fetched', connection, added, changed, gone });
    return { items, report: { items: report } };
  } catch (error) {
    if (!(error instanceof UserError) || run.signal.aborted) throw error;
    return { items: stored, report: { failure: toFailure(error) } };
  }
}

/**
 * Fetches the items of a source and compares them with the stored ones. An item that could not be
 * fetched stays as it was. An item is gone only if the listing was complete, does not have it, and
 * the configuration still covers it. A listing that lacks everything that was there fails as a
 * whole: an unmounted folder looks the same as an emptied one.
 */
async function fetchItems(
  found: StoredSource,
  run: PipelineRun,
): Promise<{ items: readonly Item[]; report: ItemReport }> {
  const { input, source, stored } = found;
  const before = new Map(stored.map((item) => [item.key, item]));
  const { listing, fetched, seen, failed } = await listItems(found, run);
  const items = new Map([...before, ...fetched]);
  const gone = [...before.keys()].filter(
    (key) => listing.complete && !seen.has(key) && source.covers(key),
  );
  const hasOnlyConfiguration = [...seen].every((key) => source.isConfiguration(key));
  const goneCount = gone.filter((key) => !source.isConfiguration(key)).length;
  if (hasOnlyConfiguration && goneCount > 0 && run.allowEmpty !== true)
    throw sourceEmptiedError(input.name, goneCount);
  for (const key of gone) items.delete(key);
  const isChanged = (item: Item) => {
    const old = before.get(item.key);
    return old !== undefined && (hashItem(item) !== hashItem(old) || item.path !== old.path);
  };
  const added = [...items.keys()].filter((key) => !before.has(key));
  const changed = [...items.values()].filter(isChanged).map(({ key }) => key);
  const report = {
    listing,
    added: added.sort(),
    changed: changed.sort(),
    gone: gone.sort(),
    failed,
    unchanged: items.size - added.length - changed.length,
  };
  return { items: [...items.values()].sort((a, b) => (a.key < b.key ? -1 : 1)), report };
}

async function listItems(
  { input, source, stored, state }: StoredSource,
  { dir, sourceDir = dir, dryRun, signal, emit, longestServerWait }: PipelineRun,
) {
  const { name: connection } = input;
  const { cache } = dryRun === true ? projectPaths(dir) : ensureStateDirectory(dir);
  const memory = state && openFetchMemory(state.db, { connection, source, stored });
  const fetched = new Map<string, Item>();
  const seen = new Set<string>();
  const keysByPath = new Map<string, string>();
  const failed: { key: string; reason: string }[] = [];
  let listing: ItemReport['listing'] = {
    complete: false,
    reason: 'the source ended without saying so',
  };
  const results = source.fetch({
    connection,
    projectDir: sourceDir,
    cacheDir: cache,
    secrets: input.secrets,
    memory: memory ?? unrecordedMemory(stored),
    longestWait: longestServerWait,
    onWait: ({ host, until }) =>
      emit({ type: 'server_awaited', connection, host, until: until.toISOString() }),
    signal,
  });
  for await (const result of results) {
    signal.throwIfAborted();
    if (result.kind === 'end') {
      listing = { complete: result.listingComplete, reason: result.reason };
      continue;
    }
    const { key } = result;
    if (result.kind === 'empty') {
      recordVersion(memory, { key, path: key, body: '' }, result.stamp);
      continue;
    }
    seen.add(key);
    if (result.kind === 'failed') {
      failed.push({ key, reason: result.reason });
      continue;
    }
    const item = result.kind === 'known' ? memory?.unpublished(key) : result;
    // An item that the project has already.
    if (item === undefined) continue;
    const { path, body } = item;
    const reason = findPathError({ key, path }, keysByPath);
    if (reason !== undefined) failed.push({ key, reason });
    else fetched.set(key, { key, path, body });
    if (result.kind === 'item' && reason === undefined)
      recordVersion(memory, { key, path, body }, result.stamp);
  }
  return { listing, fetched, seen, failed };
}

function recordVersion(
  memory: RecordingMemory | undefined,
  item: Item,
  stamp: string | undefined,
): void {
  if (stamp !== undefined) memory?.record(item, stamp);
}

/**
 * Why a body cannot be stored at the path: it would be outside of its folder, replace the index, or
 * collide with another item on a disk that ignores case. Records the path in `keysByPath`.
 */
function findPathError(
  { key, path }: Pick<Item, 'key' | 'path'>,
  keysByPath: Map<string, string>,
): string | undefined {
  const folded = path.toLowerCase();
  // eslint-disable-next-line no-control-regex -- characters that a file name must not have
  const hasForbiddenCharacter = /[\\\u0000-\u001f:*?"<>|]/.test(path);
  const hasForbiddenPart = folded.split('/').some((part) => ['', '.', '..', '.git'].includes(part));
  const isIndex = folded === 'index.jsonl';
  if (hasForbiddenCharacter || hasForbiddenPart || isIndex || path.length > 400)
    return `its path cannot be used: ${JSON.stringify(path)}`;
  const otherKey = keysByPath.get(folded);
  keysByPath.set(folded, key);
  return otherKey === undefined ? undefined : `${otherKey} already has the path ${path}`;
}

function sourceEmptiedError(connection: string, count: number): UserError {
  const message = `${connection} is empty, but it had ${formatCount(count, 'item')}. What came from ${count === 1 ? 'it' : 'them'} stays.`;
  const hint = `Check that it is the right folder and that it is mounted. If it is meant to be empty, run: ktx ingest ${connection} --allow-empty`;
  return new UserError('source_emptied', message, { hint });
}

interface KnownFacts {
  readonly catalogs: readonly Catalog[];
  /** What models read in earlier runs, by the path of the item. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
}

/** What code reads in the items of a source, and what a model read in them in earlier runs. */
async function extractSource(
  fetched: FetchedSource,
  { catalogs, claims }: KnownFacts,
  { signal }: PipelineRun,
): Promise<ReadSource> {
  const { input, source, recorded } = fetched;
  const catalogsByName = new Map(catalogs.map((catalog) => [catalog.connection, catalog]));
  const context = { connection: input.name, catalogs: catalogsByName };
  const read = await extractItems(fetched, { context, signal });
  const { extractor } = source;
  const { items } = read.fetched;
  const found = { connection: input.name, extractor, items, extractions: read.extractions };
  const readings = restoreReadings(found, { catalogs, claims, recorded });
  return { fetched: read.fetched, findings: { ...found, readings } };
}
