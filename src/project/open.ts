import { join } from 'node:path';
import { loadCatalog } from '../context/catalog-files.ts';
import { UserError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import { nearest } from '../lib/suggest.ts';
import type { LoadedModel } from '../semantic/load.ts';
import { dialectNamed } from '../sql/dialects.ts';
import { projectPaths } from '../store/directories.ts';
import { readText } from '../store/files.ts';
import { resolveSecret } from '../store/secrets.ts';
import { openWarehouse } from '../warehouse/open.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import { readConfig } from './config-file.ts';
import { datasetPaths, markedFiles } from './model-files.ts';
import type { Project } from './project.ts';

/** Reads `ktx.yaml` in `dir`; everything else opens at first use. */
export async function openProject(dir: string, runId: string = newId('run')): Promise<Project> {
  const config = await readConfig(dir);
  const warehouses = new Map<string, Promise<Warehouse>>();
  const models = new Map<string, { readonly stamp: string; readonly model: Promise<LoadedModel> }>();
  const named = (name?: string) => chooseConnection(Object.keys(config.connections), name);
  const configOf = (name: string) => {
    const connection = config.connections[named(name)];
    if (connection === undefined) throw new Error(`no configuration for connection ${name}`);
    return connection;
  };
  const catalog = (name: string) => loadCatalog(dir, name);
  const open = async (connection: string, signal: AbortSignal) => {
    const spec = { connection, config: configOf(connection), projectDir: dir, cacheDir: projectPaths(dir).cache };
    // Without a catalog the gate asks the warehouse itself.
    const tables = (await catalog(connection))?.tables;
    return openWarehouse({ ...spec, secrets: (ref) => resolveSecret(ref, dir), tables: tables && (async () => tables) }, signal);
  };
  const loadFiles = async (connection: string, paths: readonly string[]) => {
    const { loadModel } = await import('../semantic/load.ts');
    const files = await Promise.all(paths.map(async (path) => ({ path, text: (await readText(join(dir, path), dir)) ?? '' })));
    return loadModel({ connection, dialect: dialectNamed(configOf(connection).driver), files });
  };

  return {
    dir,
    config,
    runId,
    warehouseName: named,
    catalog,
    warehouse(name, signal) {
      const known = warehouses.get(name);
      if (known !== undefined) return known;
      const opening = open(name, signal);
      warehouses.set(name, opening);
      // The next use tries again where this one failed.
      opening.catch(() => warehouses.delete(name));
      return opening;
    },
    async model(name) {
      const paths = [`semantic-layer/${name}.yaml`, ...(await datasetPaths(dir, name))];
      const files = await markedFiles(dir, paths);
      const stamp = files.map(({ path, mark }) => `${path} ${mark}`).join('\n');
      const known = models.get(name);
      if (known?.stamp === stamp) return known.model;
      const model = loadFiles(
        name,
        files.map(({ path }) => path),
      );
      models.set(name, { stamp, model });
      return model;
    },
    async close() {
      const settled = await Promise.allSettled(warehouses.values());
      for (const result of settled) if (result.status === 'fulfilled') await result.value.close();
    },
  };
}

function chooseConnection(names: readonly string[], name: string | undefined): string {
  const [only] = names;
  if (only === undefined) {
    throw new UserError('no_connection', 'ktx.yaml has no connection.', {
      hint: 'ktx connection add <name> --driver duckdb --path <file>',
      exitCode: 2,
    });
  }
  if (name === undefined && names.length === 1) return only;
  if (name !== undefined && names.includes(name)) return name;
  const [suggestion] = nearest(name ?? '', names, 1);
  const message = name === undefined ? 'There are several connections; which one?' : `ktx.yaml has no connection ${name}.`;
  throw new UserError(name === undefined ? 'connection_required' : 'connection_unknown', message, {
    hint: suggestion === undefined ? `one of ${names.join(', ')}` : `did you mean ${suggestion}?`,
    exitCode: 2,
    details: { choices: names },
  });
}
