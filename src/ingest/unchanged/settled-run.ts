import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson, parseJson } from '../../lib/json.ts';
import { openSealedText, sealText } from '../../store/ownership/sealed-text.ts';
import { hasPendingIndex } from '../../store/commit/commit.ts';
import { readTextOrNothing } from '../../store/files.ts';
import { findRepository, unfinishedGitOperation } from '../../store/git.ts';
import type { State } from '../../store/state.ts';
import type { WarehouseSchema } from '../../warehouse/warehouse.ts';
import { fetchSources, type FetchedSource } from '../fetch/read-sources.ts';
import { forEachWarehouse } from '../fetch/scan-warehouses.ts';
import { measureStage, type PipelineRun } from '../ingest-run.ts';
import { type FileTree, readProjectFiles } from '../publish/project-files.ts';
import { ownedPaths } from '../render/owned-paths.ts';
import type { IngestReport } from '../report.ts';
import { readPackageStamp } from '../../store/package-stamp.ts';

/**
 * A run after which nothing was left to do, in `state.db`: what it started from, and what the next
 * run reports if that is still so. Sealed, so that a file that somebody else made says nothing.
 */
interface SettledRun {
  /** Of everything but the warehouses: see `markProject`. */
  readonly project: string;
  /** By connection: see `markWarehouse`. */
  readonly warehouses: Readonly<Record<string, string>>;
  /** In milliseconds since 1970: then a table counts as changed although its marker is the same. */
  readonly freshUntil: number | null;
  readonly report: SettledReport;
}

/** The part of a report that does not depend on when the run was. */
type SettledReport = Pick<
  IngestReport,
  'connections' | 'sources' | 'conflicts' | 'keptEdits' | 'stale' | 'unfit'
>;

/** What a run has read before it knew whether anything changed; it need not be read again. */
export interface ReadAlready {
  /** All files of the project. */
  readonly files?: FileTree;
  readonly schemas?: ReadonlyMap<string, WarehouseSchema>;
  readonly fetched?: readonly FetchedSource[];
}

export type UnchangedCheck =
  | { readonly isUnchanged: false; readonly read: ReadAlready }
  | {
      readonly isUnchanged: true;
      readonly report: SettledReport;
      readonly files: FileTree;
    };

const changed: UnchangedCheck = { isUnchanged: false, read: {} };

/**
 * Whether everything is as a run left it that had nothing left to do: the files on disk and the
 * commit, ktx and its settings, the structure and the change markers of all tables, and every item
 * of every source. Compares contents, never times. If so, no later step could find anything.
 */
export async function checkUnchanged(run: PipelineRun, state: State): Promise<UnchangedCheck> {
  const settled = canSettle(run) ? loadSettledRun(state) : undefined;
  if (settled === undefined || (settled.freshUntil ?? Infinity) <= Date.now()) return changed;
  const files = await readProjectFiles(run.dir, ownedPaths(connectionNames(run)));
  const commit = await settledCommit(run.dir);
  if (commit === undefined || markProject(run, { files, commit }) !== settled.project)
    return { isUnchanged: false, read: { files } };
  const schemas = new Map<string, WarehouseSchema>();
  const opened = await forEachWarehouse(run, 'scan', async (warehouse, { scope }) => {
    schemas.set(warehouse.connection, await warehouse.introspect(scope, run.signal));
    return {};
  });
  const isSame = ({ name }: { readonly name: string }) =>
    markWarehouse(schemas.get(name)) === settled.warehouses[name];
  if (opened.some(({ failure }) => failure !== undefined) || !run.connections.every(isSame))
    return { isUnchanged: false, read: { files, schemas } };
  const fetched = await measureStage(run, 'fetch', () => fetchSources(run, state, files));
  if (!fetched.every(hasNothingNew))
    return { isUnchanged: false, read: { files, schemas, fetched } };
  const report = withCounts(settled.report, { schemas, fetched });
  return { isUnchanged: true, report, files };
}

interface FinishedRun {
  readonly report: SettledReport;
  /** The files on disk; undefined if some of them are not in the commit. */
  readonly files: FileTree | undefined;
  readonly schemas: ReadonlyMap<string, WarehouseSchema>;
  readonly freshUntil: number;
}

/** Records the state that a complete run left; forgets the one before. */
export async function recordSettledRun(
  run: PipelineRun,
  state: State,
  { report, files, schemas, freshUntil }: FinishedRun,
): Promise<void> {
  createTable(state);
  state.db.exec('DELETE FROM settled_run');
  const commit = canSettle(run) && files !== undefined ? await settledCommit(run.dir) : undefined;
  if (commit === undefined || files === undefined) return;
  const names = run.connections.map(({ name }) => name);
  const settled: SettledRun = {
    project: markProject(run, { files, commit }),
    warehouses: Object.fromEntries(names.map((name) => [name, markWarehouse(schemas.get(name))])),
    freshUntil: Number.isFinite(freshUntil) ? freshUntil : null,
    report,
  };
  const sealed = sealText(state.db, JSON.stringify(settled));
  state.db.prepare('INSERT INTO settled_run VALUES (1, ?)').run(sealed);
}

function loadSettledRun(state: State): SettledRun | undefined {
  createTable(state);
  const row = state.db.prepare('SELECT run FROM settled_run').get();
  const text = row && openSealedText(state.db, row['run']);
  // Nobody without the key can have written it.
  return text === undefined ? undefined : (parseJson(text) as SettledRun | undefined);
}

function createTable({ db }: State): void {
  db.exec('CREATE TABLE IF NOT EXISTS settled_run (id INTEGER PRIMARY KEY, run NOT NULL)');
}

/** What people ran is read in every run, and what a person asks for is done. */
function canSettle({ connections, scan, pins, reExtract, branch }: PipelineRun): boolean {
  const hasHistory = connections.some(({ history }) => history?.enabled === true);
  const isAsked = pins !== undefined || reExtract === true || branch !== undefined;
  return !isAsked && !hasHistory && scan.query_logs.length === 0;
}

/** The commit of HEAD; undefined if git has unfinished work there. */
async function settledCommit(dir: string): Promise<string | undefined> {
  const repository = await findRepository(dir);
  if (repository === undefined || hasPendingIndex(dir)) return undefined;
  return unfinishedGitOperation(repository) === undefined ? repository.head?.commit : undefined;
}

interface ProjectState {
  readonly files: FileTree;
  readonly commit: string;
}

function markProject(run: PipelineRun, { files, commit }: ProjectState): string {
  const { dir, connections, otherWarehouses, sources, authority, scan, git } = run;
  const asked = sources?.map(({ name, isAsked }) => [name, isAsked]);
  const helpers = [run.model, run.reader].map((model) => model !== undefined);
  const settings = [connections, otherWarehouses, asked, authority, scan, git, helpers];
  const configuration = readTextOrNothing(join(dir, 'ktx.yaml'), dir);
  const state = [run.embeddings?.fingerprint, configuration, commit, hashFiles(files)];
  return sha256(canonicalJson([readPackageStamp(), settings, state]));
}

function hashFiles(files: FileTree): string {
  const hash = createHash('sha256');
  for (const path of [...files.keys()].sort()) {
    const text = files.get(path) ?? '';
    hash.update(`${path}\0${text.length}\0${text}`);
  }
  return hash.digest('hex');
}

/** Sizes are estimates of the engine, and change without a change. */
function markWarehouse(schema: WarehouseSchema | undefined): string {
  const tables = (schema?.tables ?? []).map((table) => ({
    ...table,
    rowEstimate: undefined,
    bytes: undefined,
  }));
  return sha256(JSON.stringify(tables));
}

function connectionNames({ connections, otherWarehouses = [], sources = [] }: PipelineRun) {
  const warehouses = [...connections.map(({ name }) => name), ...otherWarehouses];
  return { warehouses, sources: sources.map(({ name }) => name) };
}

function hasNothingNew({ input, report: { items, failure } }: FetchedSource): boolean {
  if (!input.isAsked) return true;
  if (failure !== undefined || items === undefined || !items.listing.complete) return false;
  const news = [items.added, items.changed, items.gone, items.failed];
  return news.every(({ length }) => length === 0);
}

/** The report with the statements that were sent now, and the items as they were listed now. */
function withCounts(
  report: SettledReport,
  { schemas, fetched }: Required<Omit<ReadAlready, 'files'>>,
): SettledReport {
  const items = new Map(fetched.map(({ input, report: { items: own } }) => [input.name, own]));
  return {
    ...report,
    connections: report.connections.map((connection) => ({
      ...connection,
      profiled: 0,
      reused: connection.profiled + connection.reused,
      queries: schemas.get(connection.connection)?.queries ?? 0,
    })),
    sources: report.sources.map((source) => ({ ...source, items: items.get(source.connection) })),
  };
}
