import { readCatalogStamp } from './catalog-stamp.ts';
import { join } from 'node:path';
import type { Catalog } from '../../context/catalog/catalog.ts';
import { loadCatalog } from '../../context/catalog/catalog-files.ts';
import { UserError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { nearest, oneOf } from '../../lib/suggest.ts';
import type { LlmConfig } from '../../llm/config.ts';
import type { LlmRuntime } from '../../llm/governor/govern.ts';
import type { LoadedModel } from '../../semantic/load/load.ts';
import { findDialect } from '../../sql/dialects.ts';
import { projectPaths } from '../../store/directories.ts';
import { readTextOrReason } from '../../store/text-or-reason.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import { fileConnectionFlags, type WarehouseConfig } from '../../warehouse/config.ts';
import { openWarehouse, type WarehouseSpec } from '../../warehouse/open.ts';
import type { HistoryConfig } from '../../warehouse/history/history-config.ts';
import { identityConfigOf } from '../../warehouse/identity/identity-config.ts';
import { identityKey, type WarehouseCaller } from '../../warehouse/identity/statement-identity.ts';
import type { Scope, Warehouse } from '../../warehouse/warehouse.ts';
import { readConfig } from './config-file.ts';
import {
  readConfiguredScope,
  findConnection,
  isWarehouse,
  type ProjectConfig,
  listWarehouses,
  mostAllowedBytes,
  spendingLimits,
} from './config.ts';
import { cacheByStamp, type StampedFile } from './file-cache.ts';
import { type LlmNotices, openProjectLlm } from './llm.ts';
import { createDatasetFileLister } from './model-files.ts';
import { openTrust, type AskForTrust } from '../trust/trust.ts';

/** A warehouse of `ktx.yaml`, and the part of it that the connection covers. */
export interface Connection {
  readonly name: string;
  readonly config: WarehouseConfig;
  readonly scope: Scope;
  /** What may be learned from the statements that people ran. */
  readonly history: HistoryConfig | undefined;
}

interface ProjectOptions {
  /** Recorded with everything that this run writes or sends. */
  readonly runId?: string;
  readonly notices?: LlmNotices;
  /**
   * The environment that references resolve in, and that of a local Claude Code session; defaults
   * to that of the process.
   */
  readonly env?: NodeJS.ProcessEnv;
  /** Replaces the model runtime that `ktx.yaml` configures. */
  readonly runtime?: LlmRuntime | undefined;
  /** US dollars that all model calls may cost, instead of the limit in `ktx.yaml`. */
  readonly budget?: number | undefined;
  /** Whose row rules apply; defaults to KTX_ROLE, then to `query.role` of `ktx.yaml`. */
  readonly role?: string | undefined;
  /** What the warehouses are opened for; undefined: for answers. */
  readonly workload?: WarehouseSpec['workload'];
  /** The hash of what a person approved; defaults to KTX_TRUST. */
  readonly trust?: string | undefined;
  /** Asks a person to approve what the project would do. Without it, what is not approved fails. */
  readonly ask?: AskForTrust | undefined;
}

const noNotices: LlmNotices = { warn: () => undefined, onPause: () => undefined };

/** An open project: its configuration, and the resources that all commands and tools share. */
export type Project = Awaited<ReturnType<typeof openProject>> & {
  /** False in an eval: what answered its questions before must not answer them again. */
  readonly offersVerified?: false;
  /** What a person has allowed the statements of this call to read. */
  readonly allowedBytes?: number | undefined;
  /** False where a benchmark asks without the wiki. */
  readonly offersWiki?: false;
  /** True where what somebody changes is proposed on a branch: this folder stays as it is. */
  readonly proposes?: boolean;
};

/** Reads `ktx.yaml` in `dir`, an absolute path. Everything else opens at first use. */
export async function openProject(dir: string, options: ProjectOptions = {}) {
  const { runId = newId('run'), notices = noNotices, env = process.env, runtime } = options;
  const config = await readConfig(dir);
  const role = options.role ?? (env['KTX_ROLE'] || config.query.role);
  const caller: WarehouseCaller = { role, person: env['KTX_PERSON'] || undefined };
  const trust = openProjectTrust(dir, config, options);
  const { budget } = options;
  const llm = { dir, config: config.llm, embeddings: config.ingest.embeddings, runId };
  const projectLlm = openProjectLlm({ ...llm, budget, notices, env, runtime, ...trust });
  const catalogs = openCatalogs(dir);
  const modelAs = openModels({ dir, config, catalogs });
  const connection = (name?: string) => chooseConnection(config, name);
  const { workload } = options;
  const opened = openWarehouses({ dir, config, catalogs, trust, caller, workload });

  return {
    dir,
    config,
    runId,
    /** What a person has approved of what the project does on this machine. */
    trust,
    /** Whose row rules apply. */
    role,
    /** Who decides, if somebody else than the person of this machine asks. */
    person: undefined as string | undefined,
    /** Who asks, as far as a warehouse may get to know it. */
    caller,
    /** The most that a person may allow a statement to read; undefined: nobody is asked. */
    mostAllowedBytes: mostAllowedBytes(config),
    /** Names of all warehouses. */
    warehouses: listWarehouses(config),
    /** The named warehouse, or the only one; otherwise throws an error that lists the names. */
    connection,
    /** The catalog in the project's files; undefined before the first ingest. */
    catalog: (name: string) => catalogs.load(name),
    /** The datasets of one connection as the role may read them. Changed files are read again. */
    model: (name: string): Promise<LoadedModel> => modelAs(name, role),
    /** Like `model`, for another role. Only `viewAs` calls it. */
    modelAs,
    ...opened.members,
    /** The model runtime; undefined if the backend is `none`. Opening it calls no model. */
    llm: () => projectLlm.llm(),
    /** Like `llm`, with the settings of an agent's file. */
    llmOf: (agentConfig: LlmConfig) => projectLlm.llmOf(agentConfig),
    /** Like `llm`, with a budget and usage records of its own. The caller closes it. */
    llmRun: (run: Parameters<typeof projectLlm.llmRun>[0]) => projectLlm.llmRun(run),
    /** Turns texts into vectors; undefined without a provider. The caller closes it. */
    embeddings: (run?: Parameters<typeof projectLlm.embeddings>[0]) => projectLlm.embeddings(run),
    /** Calls the listener for each wait for a rate limit, until the result is disposed. */
    hearPauses: (listener: LlmNotices['onPause']) => projectLlm.hearPauses(listener),
    /** The journal of paid model calls. */
    journal: () => projectLlm.journal(),
    /** The ledger of values that were sent to models. */
    egress: () => projectLlm.egress(),
    async close(): Promise<void> {
      await projectLlm.close();
      await opened.close();
    },
  };
}

interface WarehousesInput extends ModelInput {
  readonly trust: ReturnType<typeof openProjectTrust>;
  /** Who asks. */
  readonly caller: WarehouseCaller;
  readonly workload: WarehouseSpec['workload'];
}

function openWarehouses(input: WarehousesInput) {
  const { dir, config, catalogs, trust, caller, workload } = input;
  const openNamed = async (name: string, secrets: ReadSecret, signal: AbortSignal) => {
    // Without a catalog the gate reads the tables from the warehouse.
    const tables = (await catalogs.load(name).catch(undefinedIfDamaged))?.tables;
    const spending = spendingLimits(config);
    const loadTables = tables && (async () => tables);
    const connection = chooseConnection(config, name);
    const spec = { dir, secrets, spending, workload, ...connection, tables: loadTables };
    return openConnection(spec, signal);
  };
  const shared = shareWarehouses(openNamed);
  const loginWarehouse = async (name: string, signal: AbortSignal): Promise<Warehouse> => {
    // Also for a warehouse that is open: the approval may have been revoked.
    const secrets = await trust.requireConnections([name]);
    return shared.open(name, secrets, signal);
  };
  const identityAs = (name: string, asking: WarehouseCaller): string | undefined =>
    identityKey(identityConfigOf(chooseConnection(config, name).config), asking);
  const members = {
    /** An open warehouse as whoever asks; it is shared by all callers, and `close` closes it. */
    warehouse: async (name: string, signal: AbortSignal): Promise<Warehouse> =>
      (await loginWarehouse(name, signal)).as(caller),
    /**
     * Like `warehouse`, as the login of the connection: for work on behalf of everyone, whose
     * result is no answer to a caller.
     */
    loginWarehouse,
    /**
     * Different for callers who may see different rows of the connection; undefined where the
     * warehouse shows everyone the same.
     */
    warehouseIdentity: (name: string): string | undefined => identityAs(name, caller),
    /** Like `warehouseIdentity`, for another caller. Only `viewAs` calls it. */
    identityAs,
  };
  return { members, close: () => shared.close() };
}

/** Opens each warehouse once, for all who ask for it. */
function shareWarehouses(
  openNamed: (name: string, secrets: ReadSecret, signal: AbortSignal) => Promise<Warehouse>,
) {
  interface SharedWarehouse {
    readonly opening: Promise<Warehouse>;
    /** Of the call that opens it. */
    readonly opener: AbortSignal;
  }
  const known = new Map<string, SharedWarehouse>();
  const open = async (
    name: string,
    secrets: ReadSecret,
    signal: AbortSignal,
  ): Promise<Warehouse> => {
    const shared = known.get(name);
    if (shared !== undefined) {
      const [opened] = await Promise.allSettled([shared.opening]);
      // Whoever began to open it went away, which is no failure of this call.
      const isAbandoned = opened.status === 'rejected' && shared.opener.aborted && !signal.aborted;
      return isAbandoned ? open(name, secrets, signal) : shared.opening;
    }
    const opening = openNamed(name, secrets, signal);
    known.set(name, { opening, opener: signal });
    // If this attempt fails, the next call tries again.
    opening.catch(() => known.delete(name));
    return opening;
  };
  return {
    open,
    async close(): Promise<void> {
      const openings = [...known.values()].map(({ opening }) => opening);
      for (const opened of await Promise.allSettled(openings))
        if (opened.status === 'fulfilled') await opened.value.close();
    },
  };
}

interface ProjectCaller extends WarehouseCaller {
  /** What decisions and notes of the caller are signed with. */
  readonly name?: string | undefined;
}

/**
 * The project as another caller sees it. It shares everything else with the project, which has to
 * be closed in its place. An undefined role stands for no role: row rules then hide all their rows.
 */
export function viewAs(project: Project, { name: person, ...caller }: ProjectCaller): Project {
  const { role } = caller;
  return {
    ...project,
    role,
    person,
    caller,
    model: (name) => project.modelAs(name, role),
    warehouse: async (name, signal) => (await project.loginWarehouse(name, signal)).as(caller),
    warehouseIdentity: (name) => project.identityAs(name, caller),
  };
}

/** The files of another working tree, for the caller of this project and with its connections. */
export function viewIn({ dir, catalog, modelAs }: Project, project: Project): Project {
  return { ...project, dir, catalog, modelAs, model: (name) => modelAs(name, project.role) };
}

function openProjectTrust(dir: string, config: ProjectConfig, options: ProjectOptions) {
  const { env = process.env, trust, ask, runtime } = options;
  const hash = trust ?? (env['KTX_TRUST'] || undefined);
  return openTrust({ dir, config, env, hash, ask, hasRuntime: runtime !== undefined });
}

interface Catalogs {
  /** Changes whenever the catalog of the connection does. */
  readonly stamp: (name: string) => string;
  readonly load: (name: string) => Promise<Catalog | undefined>;
}

function openCatalogs(dir: string): Catalogs {
  const cached = cacheByStamp<Catalog | undefined>();
  const stamp = (name: string) => readCatalogStamp(dir, name);
  return {
    stamp,
    load: (name) => cached(name, [stamp(name)], () => loadCatalog(dir, name)),
  };
}

interface ModelInput {
  readonly dir: string;
  readonly config: ProjectConfig;
  readonly catalogs: Catalogs;
}

/**
 * Loads the semantic model of a connection for a role; reads it again only when its files or its
 * catalog changed.
 */
function openModels({ dir, config, catalogs }: ModelInput) {
  const cached = cacheByStamp<LoadedModel>();
  const cachedTexts = cacheByStamp<string>();
  const currentFiles = createDatasetFileLister(dir);
  const readFiles = (files: readonly StampedFile[]) =>
    Promise.all(
      files.map(async ({ path, stamp }) => {
        const read = async () => (await readTextOrReason(join(dir, path), dir)) ?? '';
        return { path, text: await cachedTexts(path, [stamp], read) };
      }),
    );
  const load = async (name: string, stamped: readonly StampedFile[]): Promise<LoadedModel> => {
    // The parser is large: it loads with the first model.
    const { loadModel } = await import('../../semantic/load/load.ts');
    const [files, catalog] = await Promise.all([readFiles(stamped), catalogs.load(name)]);
    const dialect = findDialect(chooseConnection(config, name).config.driver);
    return loadModel({ dialect, files, tables: catalog?.tables });
  };
  return async (name: string, role: string | undefined): Promise<LoadedModel> => {
    const files = await currentFiles(name);
    const loaded = await cached(name, [files, catalogs.stamp(name)], () => load(name, files));
    const { modelForRole } = await import('../../semantic/resolve/row-rules.ts');
    return { ...loaded, model: modelForRole(loaded.model, role) };
  };
}

/** A catalog that cannot be read keeps nobody out: an ingest has to get in to write it again. */
function undefinedIfDamaged(error: unknown): undefined {
  if (error instanceof UserError && error.code === 'catalog_damaged') return undefined;
  throw error;
}

interface ConnectionSpec extends Pick<
  WarehouseSpec,
  'config' | 'tables' | 'spending' | 'workload'
> {
  readonly dir: string;
  readonly name: string;
  readonly secrets: ReadSecret;
}

/** Opens a connection for the project in `dir`, which need not exist yet. */
export function openConnection(
  { dir, name, ...spec }: ConnectionSpec,
  signal: AbortSignal,
): Promise<Warehouse> {
  return openWarehouse(
    { ...spec, connection: name, projectDir: dir, cacheDir: projectPaths(dir).cache },
    signal,
  );
}

/** What to type when a project has no warehouse yet. */
export const addWarehouseHint = `ktx connection add <name> ${fileConnectionFlags}`;

function chooseConnection(project: ProjectConfig, name: string | undefined): Connection {
  const names = listWarehouses(project);
  const chosen = name ?? (names.length === 1 ? names[0] : undefined) ?? '';
  const config = findConnection(project, chosen);
  if (config === undefined) throw noSuchConnection(name, names);
  if (isWarehouse(config))
    return {
      name: chosen,
      config,
      scope: readConfiguredScope(config),
      history: 'history' in config ? config.history : undefined,
    };
  throw new UserError(
    'not_a_warehouse',
    `${chosen} is a context source (${config.driver}), not a warehouse.`,
    {
      hint: names.length === 0 ? addWarehouseHint : oneOf(names),
      exitCode: 2,
    },
  );
}

function noSuchConnection(name: string | undefined, names: readonly string[]): UserError {
  if (names.length === 0)
    return new UserError('no_connection', 'ktx.yaml has no warehouse.', {
      hint: addWarehouseHint,
      exitCode: 2,
    });
  const choices = oneOf(names);
  const options = { exitCode: 2, details: { choices: names } } as const;
  if (name === undefined)
    return new UserError('connection_required', 'ktx.yaml has several warehouses. Name one.', {
      hint: choices,
      ...options,
    });
  const [suggestion] = nearest(name, names, 1);
  return new UserError('connection_unknown', `ktx.yaml has no connection ${name}.`, {
    hint: suggestion === undefined ? choices : `did you mean ${suggestion}?`,
    ...options,
  });
}
