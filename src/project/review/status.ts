import { join } from 'node:path';
import type { CatalogTable } from '../../context/catalog/catalog.ts';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { itemPath } from '../../sources/source.ts';
import { tableKey } from '../../sql/dialect.ts';
import { readText } from '../../store/files.ts';
import { loadReviewQueue } from './review-queue.ts';
import { commitState } from '../open/commit.ts';
import { listRemovedSources } from '../learn/removed-sources.ts';
import { listSources } from '../open/config.ts';
import { llmStatus } from '../setup/llm-setup.ts';
import type { Connection, Project } from '../open/open.ts';
import { findRowRuleBypasses } from './row-rule-bypass.ts';

export type ConnectionStatus = Awaited<ReturnType<typeof connectionStatus>>;
export type SourceStatus = Awaited<ReturnType<typeof sourceStatus>>;

/** What the warehouse says: what the login could write if ktx let it, and how many tables came, went or changed since the last ingest. */
interface Answer {
  readonly reachable: boolean;
  readonly error?: Pick<UserError, 'code' | 'message' | 'hint' | 'exitCode' | 'retryable'>;
  readonly tables?: number;
  readonly privileges?: readonly string[];
  readonly drift?: number;
}

const ownPaths = [
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
 * What is configured, reachable, fresh. With `fast` no warehouse is asked and no model is paid. `uncommitted` are the project's files that differ
 * from the last commit; undefined outside a git repository, and where `git` has why git does not say.
 */
export async function projectStatus(project: Project, fast: boolean, signal: AbortSignal) {
  const names = project.warehouses;
  const [{ uncommitted, git }, connections, sources, former, llm, open, unruled] =
    await Promise.all([
      commitState(project.dir, ownPaths),
      Promise.all(names.map((name) => connectionStatus(project, name, fast ? undefined : signal))),
      Promise.all(
        listSources(project.config).map(([name, { driver }]) =>
          sourceStatus(project, name, driver),
        ),
      ),
      listRemovedSources(project),
      llmStatus(project, fast, signal),
      loadReviewQueue(project),
      findRowRuleBypasses(project),
    ]);
  return {
    dir: project.dir,
    connections,
    sources,
    former,
    unruled,
    attention: open,
    uncommitted,
    git,
    llm,
  };
}

async function connectionStatus(project: Project, name: string, signal: AbortSignal | undefined) {
  const connection = project.connection(name);
  const answer: Partial<Answer> =
    signal === undefined ? {} : await live(project, connection, signal);
  const { model, diagnostics } = await project.model(name);
  const datasets = [...model.datasets.values()];
  return {
    connection: name,
    driver: connection.config.driver,
    ingested: (await project.catalog(name)) !== undefined,
    datasets: datasets.length,
    metrics: datasets.reduce((sum, { metrics }) => sum + metrics.size, 0),
    relationships: datasets.reduce((sum, { relationships }) => sum + relationships.length, 0),
    // Dataset files with something wrong.
    invalid: diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`),
    ...answer,
  };
}

/** From the files alone: a source is read by an ingest. */
async function sourceStatus({ dir }: Project, connection: string, driver: string) {
  const index = await readText(join(dir, itemPath(connection, 'index.jsonl')), dir);
  return {
    connection,
    driver,
    ingested: index !== undefined,
    items: parseItemIndex(index ?? '').length,
  };
}

async function live(
  project: Project,
  { name, scope }: Connection,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const warehouse = await project.warehouse(name, signal);
    const { tables } = await warehouse.introspect(scope, signal);
    const { readOnly, findings } = await warehouse.privileges();
    const known = await project.catalog(name);
    return {
      reachable: true,
      tables: tables.length,
      privileges: readOnly ? [] : findings,
      ...(known && { drift: drift(known.tables, tables) }),
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const { code, message, hint, exitCode, retryable } = error;
    return { reachable: false, error: { code, message, hint, exitCode, retryable } };
  }
}

type Structure = Pick<CatalogTable, 'schema' | 'table' | 'columns'>;

function drift(before: readonly Structure[], now: readonly Structure[]): number {
  const shapes = (tables: readonly Structure[]) =>
    new Map(
      tables.map((table) => [
        tableKey(table),
        canonicalJson(table.columns.map(({ name, nativeType }) => [name, nativeType])),
      ]),
    );
  const [old, fresh] = [shapes(before), shapes(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].filter(
    (key) => old.get(key) !== fresh.get(key),
  ).length;
}
