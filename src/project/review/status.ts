import { join } from 'node:path';
import type { UnreadFile } from '../../warehouse/warehouse.ts';
import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { itemPath, type SourceSight } from '../../sources/source.ts';
import { visibleMetrics } from '../../semantic/model/visible-metrics.ts';
import { tableKey } from '../../sql/dialect.ts';
import { readText } from '../../store/files.ts';
import { findUnreadableFiles } from './unreadable-files.ts';
import { loadReviewQueue } from './review-queue.ts';
import { readCommitState } from '../open/commit-state.ts';
import { listRemovedSources } from '../learn/removed-sources.ts';
import { listSources } from '../open/config.ts';
import { lookAtSource } from '../setup/add-source.ts';
import { readEmbeddingsStatus } from '../setup/embeddings-status.ts';
import { readLlmStatus, type StatusDepth } from '../setup/llm-status.ts';
import type { Connection, Project } from '../open/open.ts';
import { findRowRuleBypasses } from './row-rule-bypass.ts';

export type ConnectionStatus = Awaited<ReturnType<typeof connectionStatus>>;
export type SourceStatus = Awaited<ReturnType<typeof sourceStatus>>;

/** What a connected warehouse reports. */
interface WarehouseStatus {
  /** False if nobody approved the connection on this machine: ktx does not connect. */
  readonly approved: boolean;
  readonly reachable?: boolean;
  readonly error?: Pick<UserError, 'code' | 'message' | 'hint' | 'exitCode' | 'retryable'>;
  readonly tables?: number;
  /** What the login could write if ktx allowed it. */
  readonly privileges?: readonly string[];
  /** As in `WarehouseSchema`. */
  readonly unreadFiles?: readonly UnreadFile[];
  /** How many tables were added, removed or changed since the last ingest. */
  readonly drift?: number;
}

/** Everything that a project keeps in git. */
const projectFiles = [
  'ktx.yaml',
  '.gitattributes',
  'semantic-layer',
  'claims',
  'sources',
  'wiki',
  'conflicts.yaml',
  'pins.yaml',
];

/**
 * What is configured, reachable and fresh, as far as `depth` allows. `uncommitted` lists the
 * project's files that differ from the last commit; it is undefined outside a git repository, and
 * when `git` says why git could not be asked.
 */
export async function readProjectStatus(project: Project, depth: StatusDepth, signal: AbortSignal) {
  const names = project.warehouses;
  const live = depth === 'fast' ? undefined : signal;
  const [commit, connections, sources, former, llm, embeddings, queue, unruled, unreadable] =
    await Promise.all([
      readCommitState(project.dir, projectFiles),
      Promise.all(names.map((name) => connectionStatus(project, name, live))),
      Promise.all(
        listSources(project.config).map(([name, { driver }]) =>
          sourceStatus(project, { name, driver }, live),
        ),
      ),
      listRemovedSources(project),
      readLlmStatus(project, depth, signal),
      readEmbeddingsStatus(project, depth === 'fast', signal),
      loadReviewQueue(project),
      findRowRuleBypasses(project),
      findUnreadableFiles(project.dir),
    ]);
  return {
    dir: project.dir,
    connections,
    sources,
    former,
    unruled,
    unreadableFiles: unreadable,
    attention: queue,
    uncommitted: commit.uncommitted,
    git: commit.git,
    llm,
    embeddings,
  };
}

async function connectionStatus(project: Project, name: string, signal: AbortSignal | undefined) {
  const connection = project.connection(name);
  const approved = await project.trust.isConnectionApproved(name);
  const live: Partial<WarehouseStatus> =
    signal === undefined || !approved ? {} : await askWarehouse(project, connection, signal);
  const { model, diagnostics } = await project.model(name);
  const datasets = [...model.datasets.values()];
  return {
    connection: name,
    driver: connection.config.driver,
    approved,
    ingested: (await project.catalog(name)) !== undefined,
    datasets: datasets.length,
    metrics: visibleMetrics(model).addresses.length,
    relationships: datasets.reduce((sum, { relationships }) => sum + relationships.length, 0),
    invalid: diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
    ...live,
  };
}

/** What a source that is behind a login reports. */
type SightStatus = Pick<WarehouseStatus, 'reachable' | 'error'> & Partial<SourceSight>;

/** The project's files, and for a source behind a login, whether it lets ktx in. */
async function sourceStatus(
  project: Project,
  { name, driver }: { readonly name: string; readonly driver: string },
  signal: AbortSignal | undefined,
) {
  const { dir, trust } = project;
  const index = await readText(join(dir, itemPath(name, 'index.jsonl')), dir);
  const approved = await trust.isConnectionApproved(name);
  const live: SightStatus =
    signal === undefined || !approved ? {} : await askSource(project, name, signal);
  return {
    connection: name,
    driver,
    approved,
    ingested: index !== undefined,
    items: parseItemIndex(index ?? '').length,
    ...live,
  };
}

async function askSource(
  project: Project,
  name: string,
  signal: AbortSignal,
): Promise<SightStatus> {
  try {
    const sight = await lookAtSource(project, name, signal);
    return sight === undefined ? {} : { reachable: true, ...sight };
  } catch (error) {
    return { reachable: false, error: failureOf(error, signal) };
  }
}

/** The failure that a person can fix; throws any other error. */
function failureOf(error: unknown, signal: AbortSignal): NonNullable<WarehouseStatus['error']> {
  if (signal.aborted || !(error instanceof UserError)) throw error;
  const { code, message, hint, exitCode, retryable } = error;
  return { code, message, hint, exitCode, retryable };
}

async function askWarehouse(
  project: Project,
  { name, scope }: Connection,
  signal: AbortSignal,
): Promise<Partial<WarehouseStatus>> {
  try {
    const warehouse = await project.loginWarehouse(name, signal);
    const { tables, unreadFiles = [] } = await warehouse.introspect(scope, signal);
    const { readOnly, findings } = await warehouse.privileges();
    const known = await project.catalog(name);
    return {
      reachable: true,
      tables: tables.length,
      privileges: readOnly ? [] : findings,
      unreadFiles,
      ...(known && { drift: countDrift(known.tables, tables) }),
    };
  } catch (error) {
    return { reachable: false, error: failureOf(error, signal) };
  }
}

type TableStructure = Pick<CatalogTable, 'schema' | 'table' | 'columns'>;

/** How many tables were added, removed or have other columns or column types. */
function countDrift(before: readonly TableStructure[], now: readonly TableStructure[]): number {
  const columnsByTable = (tables: readonly TableStructure[]) =>
    new Map(
      tables.map((table) => [
        tableKey(table),
        canonicalJson(table.columns.map(({ name, nativeType }) => [name, nativeType])),
      ]),
    );
  const oldColumns = columnsByTable(before);
  const currentColumns = columnsByTable(now);
  const tables = new Set([...oldColumns.keys(), ...currentColumns.keys()]);
  return [...tables].filter((table) => oldColumns.get(table) !== currentColumns.get(table)).length;
}
