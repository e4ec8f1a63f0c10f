import { existsSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { findDialect } from '../../sql/dialects.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { findRepository, openRepository } from '../../store/git.ts';
import { withProjectLock } from '../../store/lock.ts';
import { editConfig, readConfig } from '../open/config-file.ts';
import { findConnection, readConfiguredScope, type ConnectionConfig } from '../open/config.ts';
import type { HostEnvironment } from '../../store/secrets.ts';
import type { ReadSecret } from '../../store/secrets.ts';
import type { WarehouseConfig } from '../../warehouse/config.ts';
import { scanConfigSchema } from '../../scan/config.ts';
import { connectionGrant } from '../trust/entry-grants.ts';
import { approveTyped } from '../trust/typed-approval.ts';
import { openConnection } from '../open/open.ts';
import { jsonSchemaText, projectSchemas } from '../open/schemas.ts';

interface NewConnection {
  readonly dir: string;
  readonly name: string;
  readonly config: WarehouseConfig;
}

interface TypedConnection extends NewConnection {
  readonly env: HostEnvironment;
  /** Into which dbt builds: its tables get names without a schema. */
  readonly firstSchema?: string | undefined;
}

interface ConnectionProbe extends NewConnection {
  readonly secrets: ReadSecret;
}

export type WarehouseProbe = Awaited<ReturnType<typeof probeConnection>>;

/**
 * Creates a project with the connection that a person has typed, or adds it to the existing
 * project, and approves it. Writes nothing unless the warehouse answers. `written` lists the
 * created or changed files and folders, relative to the project, `schemas` those that `ktx.yaml`
 * has so that names of datasets are short.
 */
export async function setUpProject(
  { env, firstSchema, ...connection }: TypedConnection,
  signal: AbortSignal,
) {
  const { dir, name, config } = connection;
  const grantOf = connectionGrant.bind(undefined, name, config);
  const approval = await approveTyped({ dir, env, grantOf });
  const probe = await probeConnection({ ...connection, secrets: approval.secrets }, signal);
  const schemas = schemasFrom(firstSchema, config, probe.schemas);
  const settings = schemas === undefined ? config : { ...config, schemas: [...schemas] };
  const written = await writeConnection({ ...connection, config: settings });
  await approval.remember();
  return { dir, connection: name, written, probe, schemas };
}

/**
 * The schemas with the first one first: that of dbt, or the only one that has tables. Undefined if
 * the settings or the engine say which it is.
 */
function schemasFrom(
  named: string | undefined,
  config: WarehouseConfig,
  found: readonly string[],
): readonly string[] | undefined {
  const { defaultSchema } = findDialect(config.driver);
  const first = named ?? (found.length === 1 ? found[0] : undefined);
  const isOpen = !('schemas' in config) && !('database' in config && config.database === first);
  if (first === undefined || !isOpen || defaultSchema === '' || defaultSchema === first)
    return undefined;
  return found.includes(first) ? [first, ...found.filter((name) => name !== first)] : undefined;
}

/**
 * Creates the project, or adds the connection to the existing one. Returns the paths that it
 * created or changed.
 */
export async function writeConnection({
  dir,
  name,
  config,
}: Pick<NewConnection, 'dir' | 'name'> & { readonly config: ConnectionConfig }) {
  return withProjectLock(dir, async () => {
    const isNew = !existsSync(projectPaths(dir).config);
    const present = isNew ? undefined : findConnection(await readConfig(dir), name);
    if (present !== undefined && canonicalJson(present) !== canonicalJson(config)) {
      const hint = `to replace it, run ktx connection remove ${name} first; or choose another name`;
      throw new UserError(
        'connection_exists',
        `ktx.yaml already has a connection ${name} with other settings.`,
        { hint, exitCode: 2 },
      );
    }
    const isNewRepository = await createRepositoryIfMissing(dir);
    const text = `# yaml-language-server: $schema=./.ktx/ktx.schema.json\n${stringify({ connections: { [name]: config } })}`;
    if (isNew) await writeAtomically(projectPaths(dir).config, text, { within: dir });
    else if (present === undefined)
      await editConfig(dir, (yaml) => yaml.setIn(['connections', name], yaml.createNode(config)));
    const schema = await writeChanged(
      dir,
      '.ktx/ktx.schema.json',
      jsonSchemaText(projectSchemas.ktx),
    );
    return [
      ...(isNewRepository ? ['.git'] : []),
      ...(present === undefined ? ['ktx.yaml'] : []),
      ...schema,
    ];
  });
}

/** True if it created one. False without git: scans and queries work without it. */
async function createRepositoryIfMissing(dir: string): Promise<boolean> {
  try {
    return (await findRepository(dir)) === undefined && (await openRepository(dir)) !== undefined;
  } catch (error) {
    if (error instanceof UserError && error.code === 'git_missing') return false;
    throw error;
  }
}

/** Removes a connection from `ktx.yaml`; its files stay. */
export async function removeConnection(dir: string, name: string): Promise<void> {
  await withProjectLock(dir, () =>
    editConfig(dir, (document) => void document.deleteIn(['connections', name])),
  );
}

/**
 * Connects, reads the tables and the login's privileges, disconnects. If that fails, it removes
 * what it created.
 */
export async function probeConnection(connection: ConnectionProbe, signal: AbortSignal) {
  const { dir, config, name } = connection;
  const newFolder = await createFolder(dir);
  const { state } = projectPaths(dir);
  const created = newFolder ?? (existsSync(state) ? undefined : state);
  const started = performance.now();
  try {
    await using closing = new AsyncDisposableStack();
    const warehouse = closing.adopt(await openConnection(connection, signal), (open) =>
      open.close(),
    );
    const { tables, unreadFiles, assumptions } = await warehouse.introspect(
      readConfiguredScope(config),
      signal,
    );
    if (tables.length === 0 && 'schemas' in config && config.schemas !== undefined) {
      const { schemas: others } = await probeConnection(
        { ...connection, config: { ...config, schemas: undefined } },
        signal,
      );
      const hint =
        others.length === 0
          ? 'this login sees no tables in any schema'
          : `schemas with tables: ${others.join(', ')}`;
      throw new UserError(
        'schema_empty',
        `${name} has no tables in ${config.schemas.join(', ')}.`,
        { hint, exitCode: 2 },
      );
    }
    const privileges = await warehouse.privileges();
    const history = await warehouse.history?.access(signal);
    if (existsSync(state)) ensureStateDirectory(dir);
    const schemas = [...new Set(tables.map(({ schema }) => schema))].sort();
    const { planFirstScan } = await import('../../scan/plan-scan.ts');
    const sizes = tables.flatMap(({ bytes }) => bytes ?? []);
    return {
      tables: tables.length,
      schemas,
      /** Of all tables, as the engine counts them; undefined if it counts none. */
      bytes: sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0),
      firstScan: planFirstScan(tables, scanConfigSchema.parse({}), warehouse),
      privileges,
      /** Whether the login could read what people ran; undefined if the engine does not tell. */
      history,
      ...(unreadFiles && { unreadFiles }),
      ...(assumptions && { assumptions }),
      ms: Math.round(performance.now() - started),
    };
  } catch (error) {
    if (created !== undefined) await rm(created, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Creates the folder and its missing parents. Returns the topmost folder that it created. It
 * creates them one by one because Node's `recursive` never returns on a pseudo file system such as
 * `/proc`.
 */
export async function createFolder(dir: string): Promise<string | undefined> {
  const existing = statSync(dir, { throwIfNoEntry: false });
  if (existing?.isDirectory()) return undefined;
  if (existing !== undefined)
    throw new UserError('not_a_folder', `${dir} is a file.`, {
      hint: 'Name a folder; ktx creates a missing one.',
      exitCode: 2,
    });
  const topmost = await createFolder(dirname(dir));
  await mkdir(dir);
  return topmost ?? dir;
}

async function writeChanged(dir: string, path: string, text: string): Promise<readonly string[]> {
  if ((await readText(join(dir, path), dir)) === text) return [];
  await writeAtomically(join(dir, path), text, { within: dir });
  return [path];
}
