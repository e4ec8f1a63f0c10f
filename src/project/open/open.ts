import { join } from 'node:path';
import type { Catalog } from '../../context/catalog/catalog.ts';
import { loadCatalog } from '../../context/catalog/catalog-files.ts';
import { UserError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { nearest } from '../../lib/suggest.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import type { LoadedModel } from '../../semantic/load/load.ts';
import { findDialect } from '../../sql/dialects.ts';
import { projectPaths } from '../../store/directories.ts';
import { readAnyText } from '../../store/files.ts';
import { resolveSecret } from '../../store/secrets.ts';
import { fileConnectionFlags, type WarehouseConfig } from '../../warehouse/config.ts';
import { openWarehouse, type WarehouseSpec } from '../../warehouse/open.ts';
import type { Scope, Warehouse } from '../../warehouse/warehouse.ts';
import { readConfig } from './config-file.ts';
import {
  findConnection,
  isWarehouse,
  configuredScope,
  warehouseNames,
  type ProjectConfig,
} from './config.ts';
import { cacheByStamp, type StampedFile, fileStamp, watchDatasetFiles } from './model-files.ts';
import { openProjectLlm, type LlmNotices } from './llm.ts';

/** A warehouse of `ktx.yaml`, and what of it the connection is about. */
export interface Connection {
  readonly name: string;
  readonly config: WarehouseConfig;
  readonly scope: Scope;
}

interface ProjectOptions {
  /** On all that this run writes or sends. */
  readonly runId?: string;
  readonly notices?: LlmNotices;
  /** What a local Claude Code session runs in; that of the process where it is left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** A model runtime in place of the one that `ktx.yaml` names. */
  readonly runtime?: LlmRuntime | undefined;
  /** Who asks; else KTX_ROLE, else `query.role` of `ktx.yaml`. */
  readonly role?: string | undefined;
}

const silent: LlmNotices = { warn: () => undefined, onPause: () => undefined };

/** An open project: configuration, and the things that are opened once and shared by every command and tool. */
export type Project = Awaited<ReturnType<typeof openProject>>;

/** Reads `ktx.yaml` in `dir`, an absolute path; everything else opens at first use. */
export async function openProject(dir: string, options: ProjectOptions = {}) {
  const { runId = newId('run'), notices = silent, env = process.env, runtime } = options;
  const config = await readConfig(dir);
  const role = options.role ?? (env['KTX_ROLE'] || config.query.role);
  const languageModel = openProjectLlm({ dir, config: config.llm, runId, notices, env, runtime });
  const warehouses = new Map<string, Promise<Warehouse>>();
  const [models, catalogs, texts] = [
    cacheByStamp<LoadedModel>(),
    cacheByStamp<Catalog | undefined>(),
    cacheByStamp<string>(),
  ];
  const currentFiles = watchDatasetFiles(dir);
  const connection = (name?: string) => chooseConnection(config, name);
  const catalogMark = (name: string) => fileStamp(dir, `sources/${name}/index.jsonl`)?.mark ?? '';
  const catalog = (name: string) =>
    catalogs(name, [catalogMark(name)], () => loadCatalog(dir, name));
  const open = async (name: string, signal: AbortSignal) => {
    // Without a catalog the gate asks the warehouse itself.
    const tables = (await catalog(name))?.tables;
    return openConnection(
      { dir, ...connection(name), tables: tables && (async () => tables) },
      signal,
    );
  };
  const loadFiles = async (name: string, marked: readonly StampedFile[]) => {
    const [{ loadModel }, { modelForRole: modelFor }] = await Promise.all([
      import('../../semantic/load/load.ts'),
      import('../../semantic/resolve/row-rules.ts'),
    ]);
    const textOf = (path: string, mark: string) =>
      texts(path, [mark], async () => (await readAnyText(join(dir, path), dir)) ?? '');
    const read = Promise.all(
      marked.map(async ({ path, mark }) => ({ path, text: await textOf(path, mark) })),
    );
    const [files, known] = await Promise.all([read, catalog(name)]);
    const loaded = await loadModel({
      dialect: findDialect(connection(name).config.driver),
      files,
      tables: known?.tables,
    });
    return { ...loaded, model: modelFor(loaded.model, role) };
  };

  return {
    dir,
    config,
    runId,
    /** Names of all warehouses. */
    warehouses: warehouseNames(config),
    /** The named warehouse, or the only one; else an error that lists the names. */
    connection,
    /** As the files in git have it; undefined where nothing was ingested yet. */
    catalog,
    /** Closed by `close`. */
    warehouse(name: string, signal: AbortSignal): Promise<Warehouse> {
      const known = warehouses.get(name);
      if (known !== undefined) return known;
      const opening = open(name, signal);
      warehouses.set(name, opening);
      // The next use tries again where this one failed.
      opening.catch(() => warehouses.delete(name));
      return opening;
    },
    /** Whose row rules hold. */
    role,
    /** The datasets of one connection as the role may read them; what changed in files and catalog is read again. */
    async model(name: string): Promise<LoadedModel> {
      const files = await currentFiles(name);
      return models(name, [files, catalogMark(name)], () => loadFiles(name, files));
    },
    /** The model runtime; undefined where `llm.provider.backend` is `none`. Opens at first use and calls nothing by itself. */
    llm: () => languageModel.llm(),
    /** As `llm`, for an agent whose file says something else. */
    llmOf: (wanted: LlmConfig) => languageModel.llmOf(wanted),
    llmRun: (run: Parameters<typeof languageModel.llmRun>[0]) => languageModel.llmRun(run),
    /** Tells of every wait of model calls for a limit, until the result is disposed of. */
    hearPauses: (listener: LlmNotices['onPause']) => languageModel.hearPauses(listener),
    /** What was paid for. */
    journal: () => languageModel.journal(),
    async close(): Promise<void> {
      await languageModel.close();
      for (const opened of await Promise.allSettled(warehouses.values()))
        if (opened.status === 'fulfilled') await opened.value.close();
    },
  };
}

interface Opening extends Pick<WarehouseSpec, 'config' | 'tables'> {
  readonly dir: string;
  readonly name: string;
}

/** Opens a connection for the project in `dir`, which need not exist yet. */
export function openConnection(
  { dir, name, ...spec }: Opening,
  signal: AbortSignal,
): Promise<Warehouse> {
  const secrets = (ref: string) => resolveSecret(ref, dir);
  return openWarehouse(
    { ...spec, connection: name, projectDir: dir, cacheDir: projectPaths(dir).cache, secrets },
    signal,
  );
}

function chooseConnection(project: ProjectConfig, name: string | undefined): Connection {
  const names = warehouseNames(project);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined) ?? '';
  const config = findConnection(project, chosen);
  if (config !== undefined && !isWarehouse(config)) {
    const hint = `one of ${names.join(', ') || `none: ktx connection add <name> ${fileConnectionFlags}`}`;
    throw new UserError(
      'not_a_warehouse',
      `${chosen} is a source of context (${config.driver}), and no warehouse.`,
      { hint, exitCode: 2 },
    );
  }
  if (config !== undefined) return { name: chosen, config, scope: configuredScope(config) };
  if (names.length === 0) {
    const hint = `ktx connection add <name> ${fileConnectionFlags}`;
    throw new UserError('no_connection', 'ktx.yaml has no warehouse.', { hint, exitCode: 2 });
  }
  const [suggestion] = name === undefined ? [] : nearest(name, names, 1);
  const hint =
    suggestion === undefined ? `one of ${names.join(', ')}` : `did you mean ${suggestion}?`;
  const options = { hint, exitCode: 2, details: { choices: names } } as const;
  if (name === undefined)
    throw new UserError('connection_required', 'There are several warehouses; which one?', options);
  throw new UserError('connection_unknown', `ktx.yaml has no connection ${name}.`, options);
}
