import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify, type Document } from 'yaml';
import { UserError } from '../lib/error.ts';
import { canonicalJson } from '../lib/json.ts';
import { ensureStateDirectory, projectPaths } from '../store/directories.ts';
import { readText, writeAtomically } from '../store/files.ts';
import { findRepository, openRepository } from '../store/git.ts';
import { withProjectLock } from '../store/lock.ts';
import { resolveSecret } from '../store/secrets.ts';
import { openWarehouse } from '../warehouse/open.ts';
import type { PrivilegeReport } from '../warehouse/warehouse.ts';
import { editConfig, parseConfig, readConfig } from './config-file.ts';
import { scopeOf, type ConnectionConfig, type ProjectConfig } from './config.ts';
import { jsonSchemaText } from './schemas.ts';

interface NewConnection {
  readonly dir: string;
  readonly name: string;
  readonly config: ConnectionConfig;
}

export interface Probe {
  readonly tables: number;
  readonly schemas: readonly string[];
  readonly privileges: PrivilegeReport;
  readonly ms: number;
}

export interface SetupReport {
  readonly dir: string;
  readonly connection: string;
  /** Files and folders that were made or changed, relative to the project; empty where everything stood already. */
  readonly written: readonly string[];
  readonly probe: Probe;
}

const schemaLine = '# yaml-language-server: $schema=./.ktx/ktx.schema.json\n';

/** Makes a project with one connection, or completes one that stands. Nothing is written unless the warehouse answers. */
export async function setUpProject(connection: NewConnection, signal: AbortSignal): Promise<SetupReport> {
  const { dir, name, config } = connection;
  const paths = projectPaths(dir);
  const exists = existsSync(paths.config);
  if (exists) requireSame(await readConfig(dir), name, config);
  const probe = await probeConnection(connection, signal);
  await mkdir(dir, { recursive: true });
  const written = await withProjectLock(dir, async () => {
    const repository = await findRepository(dir);
    if (repository === undefined) await openRepository(dir);
    const configText = schemaLine + stringify({ connections: { [name]: config } });
    await parseConfig(configText);
    const changed = [
      exists ? undefined : await writeChanged(dir, 'ktx.yaml', configText),
      await writeChanged(dir, '.ktx/ktx.schema.json', jsonSchemaText('ktx')),
    ];
    return [repository === undefined ? '.git' : undefined, ...changed].filter((path) => path !== undefined);
  });
  return { dir, connection: name, written, probe };
}

/** Adds a connection to `ktx.yaml`; nothing is written unless the warehouse answers. */
export async function addConnection(connection: NewConnection, signal: AbortSignal): Promise<Probe> {
  const { dir, name, config } = connection;
  requireFree(await readConfig(dir), name);
  const probe = await probeConnection(connection, signal);
  await withProjectLock(dir, async () => {
    requireFree(await readConfig(dir), name);
    await editConfig(dir, (document) => document.setIn(['connections', name], document.createNode(config)));
  });
  return probe;
}

/** Takes a connection out of `ktx.yaml`; its files stay. */
export async function removeConnection(dir: string, name: string): Promise<void> {
  await withProjectLock(dir, () =>
    editConfig(dir, (document: Document) => {
      document.deleteIn(['connections', name]);
    }),
  );
}

/** Connects, reads the structure and the login's rights, disconnects. Leaves no trace where it fails. */
export async function probeConnection({ dir, name, config }: NewConnection, signal: AbortSignal): Promise<Probe> {
  const { state, cache } = projectPaths(dir);
  const before = { dir: existsSync(dir), state: existsSync(state) };
  const started = performance.now();
  try {
    const secrets = (ref: string) => resolveSecret(ref, dir);
    await using closing = new AsyncDisposableStack();
    const spec = { connection: name, config, projectDir: dir, cacheDir: cache, secrets };
    const warehouse = closing.adopt(await openWarehouse(spec, signal), (open) => open.close());
    const { tables } = await warehouse.introspect(scopeOf(config), signal);
    const privileges = await warehouse.privileges();
    if (before.state) ensureStateDirectory(dir);
    const schemas = [...new Set(tables.map(({ schema }) => schema))].sort();
    return { tables: tables.length, schemas, privileges, ms: Math.round(performance.now() - started) };
  } catch (error) {
    const made = before.dir ? (before.state ? undefined : state) : dir;
    if (made !== undefined) await rm(made, { recursive: true, force: true });
    throw error;
  }
}

function requireSame(config: ProjectConfig, name: string, wanted: ConnectionConfig): void {
  const present = config.connections[name];
  if (present !== undefined && canonicalJson(present) === canonicalJson(wanted)) return;
  if (present === undefined && Object.keys(config.connections).length === 0) return;
  throw new UserError('project_exists', `ktx.yaml stands already${present === undefined ? '' : ` and says otherwise about ${name}`}.`, {
    hint:
      present === undefined ? `ktx connection add ${name} adds a warehouse to it` : `edit ktx.yaml, or type: ktx connection remove ${name}`,
    exitCode: 2,
  });
}

function requireFree(config: ProjectConfig, name: string): void {
  if (config.connections[name] === undefined) return;
  throw new UserError('connection_exists', `ktx.yaml has a connection ${name} already.`, {
    hint: `choose another name, or type: ktx connection remove ${name}`,
    exitCode: 2,
  });
}

async function writeChanged(dir: string, path: string, text: string): Promise<string | undefined> {
  if ((await readText(join(dir, path), dir)) === text) return undefined;
  await writeAtomically(join(dir, path), text, { within: dir });
  return path;
}
