import { existsSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { ensureStateDirectory, projectPaths } from '../../store/directories.ts';
import { readText, writeAtomically } from '../../store/files.ts';
import { findRepository, openRepository } from '../../store/git.ts';
import { withProjectLock } from '../../store/lock.ts';
import { editConfig, readConfig } from '../open/config-file.ts';
import { findConnection, configuredScope, type ConnectionConfig } from '../open/config.ts';
import type { WarehouseConfig } from '../../warehouse/config.ts';
import { openConnection } from '../open/open.ts';
import { jsonSchemaText, projectSchemas } from '../open/schemas.ts';

interface NewConnection {
  readonly dir: string;
  readonly name: string;
  readonly config: WarehouseConfig;
}

export type WarehouseProbe = Awaited<ReturnType<typeof probeConnection>>;

/**
 * Makes a project with one connection, or adds it to the one that stands. Nothing is written unless the warehouse answers.
 * `written` has the files and folders that were made or changed, relative to the project.
 */
export async function setUpProject(connection: NewConnection, signal: AbortSignal) {
  const { dir, name } = connection;
  const probe = await probeConnection(connection, signal);
  return { dir, connection: name, written: await writeConnection(connection), probe };
}

/** Makes the project, or adds the connection to the one that stands. */
export async function writeConnection({
  dir,
  name,
  config,
}: Pick<NewConnection, 'dir' | 'name'> & { readonly config: ConnectionConfig }) {
  return withProjectLock(dir, async () => {
    const isNew = !existsSync(projectPaths(dir).config);
    const present = isNew ? undefined : findConnection(await readConfig(dir), name);
    if (present !== undefined && canonicalJson(present) !== canonicalJson(config)) {
      const hint = `to replace it: ktx connection remove ${name}, then this again; or choose another name`;
      throw new UserError(
        'connection_exists',
        `ktx.yaml has a connection ${name} already, with other settings.`,
        { hint, exitCode: 2 },
      );
    }
    const made = await madeRepository(dir);
    const text = `# yaml-language-server: $schema=./.ktx/ktx.schema.json\n${stringify({ connections: { [name]: config } })}`;
    if (isNew) await writeAtomically(projectPaths(dir).config, text, { within: dir });
    else if (present === undefined)
      await editConfig(dir, (yaml) => yaml.setIn(['connections', name], yaml.createNode(config)));
    const schema = await writeChanged(
      dir,
      '.ktx/ktx.schema.json',
      jsonSchemaText(projectSchemas.ktx),
    );
    return [...(made ? ['.git'] : []), ...(present === undefined ? ['ktx.yaml'] : []), ...schema];
  });
}

/** On a machine without git scans and queries work all the same. */
async function madeRepository(dir: string): Promise<boolean> {
  try {
    return (await findRepository(dir)) === undefined && (await openRepository(dir)) !== undefined;
  } catch (error) {
    if (error instanceof UserError && error.code === 'git_missing') return false;
    throw error;
  }
}

/** Takes a connection out of `ktx.yaml`; its files stay. */
export async function removeConnection(dir: string, name: string): Promise<void> {
  await withProjectLock(dir, () =>
    editConfig(dir, (document) => void document.deleteIn(['connections', name])),
  );
}

/** Connects, reads the structure and the login's rights, disconnects. Leaves no trace where it fails. */
export async function probeConnection({ dir, name, config }: NewConnection, signal: AbortSignal) {
  const { state } = projectPaths(dir);
  const made = (await createFolder(dir)) ?? (existsSync(state) ? undefined : state);
  const started = performance.now();
  try {
    await using closing = new AsyncDisposableStack();
    const warehouse = closing.adopt(await openConnection({ dir, name, config }, signal), (open) =>
      open.close(),
    );
    const { tables } = await warehouse.introspect(configuredScope(config), signal);
    if (tables.length === 0 && 'schemas' in config && config.schemas !== undefined) {
      const { schemas: others } = await probeConnection(
        { dir, name, config: { ...config, schemas: undefined } },
        signal,
      );
      const hint =
        others.length === 0
          ? 'no schema has any that this login can see'
          : `schemas that have some: ${others.join(', ')}`;
      throw new UserError(
        'schema_empty',
        `${name} has no tables in ${config.schemas.join(', ')}.`,
        { hint, exitCode: 2 },
      );
    }
    const privileges = await warehouse.privileges();
    if (existsSync(state)) ensureStateDirectory(dir);
    const schemas = [...new Set(tables.map(({ schema }) => schema))].sort();
    return {
      tables: tables.length,
      schemas,
      privileges,
      ms: Math.round(performance.now() - started),
    };
  } catch (error) {
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Gives the topmost folder that had to be made. One after the other: where a pseudo file system (`/proc`) refuses them, Node's
 * `recursive` never returns.
 */
export async function createFolder(dir: string): Promise<string | undefined> {
  const found = statSync(dir, { throwIfNoEntry: false });
  if (found?.isDirectory()) return undefined;
  if (found !== undefined)
    throw new UserError('not_a_folder', `${dir} is a file.`, {
      hint: 'name a folder; one that is missing is made',
      exitCode: 2,
    });
  const above = await createFolder(dirname(dir));
  await mkdir(dir);
  return above ?? dir;
}

async function writeChanged(dir: string, path: string, text: string): Promise<readonly string[]> {
  if ((await readText(join(dir, path), dir)) === text) return [];
  await writeAtomically(join(dir, path), text, { within: dir });
  return [path];
}
