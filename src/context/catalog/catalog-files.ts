import { basename, join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { canonicalJson } from '../../lib/json.ts';
import { findShards, shardFolder, shardLines, shardPath } from './shards.ts';
import { tableKey } from '../../sql/dialect.ts';
import { listConfinedFolder } from '../../store/confined-file.ts';
import { readText } from '../../store/files.ts';
import { catalogPath, catalogTableSchema, type Catalog, type CatalogTable } from './catalog.ts';

/**
 * A file of the project. The path has forward slashes and is relative to the folder of `ktx.yaml`.
 */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const catalogIndexLineSchema = z.union([
  z.strictObject({
    dialect: z.string(),
    firstSchema: z.string(),
    letters: z.literal('latin').optional(),
  }),
  // A hash is what versions before wrote: it changed with every column.
  z.strictObject({ key: z.string(), path: z.string(), hash: z.string().optional() }),
]);

/**
 * The files of a catalog: `sources/<connection>/index.jsonl` (dialect and first schema, then one
 * line per schema) and `<schema>.jsonl` for each schema, with one line per table; a large schema
 * has shards in `<schema>/`. Equal catalogs give equal bytes, whatever the order of tables.
 * `existing` are the paths of the files that there are.
 */
export function catalogFiles(
  { connection, dialect, firstSchema, letters, tables }: Catalog,
  existing: Iterable<string> = [],
): ProjectFile[] {
  const bySchema = [...Map.groupBy(tables, ({ schema }) => schema)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const ownPaths = [...existing].filter((path) => path.startsWith(`sources/${connection}/`));
  const files = bySchema.flatMap(([schema, schemaTables]) => {
    const path = catalogPath(connection, schema);
    const lines = schemaTables.toSorted(compareTables).map((table) => ({
      key: table.table,
      line: JSON.stringify(catalogTableSchema.parse(table)),
    }));
    const shards = shardLines(lines, { existing: new Set(findShards(path, ownPaths).values()) });
    return [...shards].map(([prefix, text]) => ({ path: shardPath(path, prefix), text }));
  });
  const entries = bySchema.map(([schema]) => ({
    key: schema,
    path: basename(catalogPath(connection, schema)),
  }));
  const index = [{ dialect, firstSchema, ...(letters && { letters }) }, ...entries]
    .map((line) => `${canonicalJson(line)}\n`)
    .join('');
  return [{ path: `sources/${connection}/index.jsonl`, text: index }, ...files];
}

type OnDamage = (error: UserError) => void;
const throwDamage: OnDamage = (error) => {
  throw error;
};

/**
 * Loads the catalog of a connection; undefined if nothing was published yet. A line that cannot be
 * parsed is an error that names its file and line.
 */
export async function loadCatalog(
  projectDir: string,
  connection: string,
): Promise<Catalog | undefined> {
  return loadLines(projectDir, connection, throwDamage);
}

/** What can be read of a catalog that a run is about to write again, amid a merge, for example. */
export async function loadReadableCatalog(
  projectDir: string,
  connection: string,
): Promise<Catalog | undefined> {
  return loadLines(projectDir, connection, () => {});
}

async function loadLines(
  projectDir: string,
  connection: string,
  onDamage: OnDamage,
): Promise<Catalog | undefined> {
  const folder = `sources/${connection}`;
  const path = `${folder}/index.jsonl`;
  const text = await readText(join(projectDir, path), projectDir);
  const lines =
    text === undefined ? [] : parseLines({ path, text }, catalogIndexLineSchema, onDamage);
  const head = lines.find((line) => 'dialect' in line);
  if (!head) return undefined;
  const paths = lines.flatMap((line) => ('path' in line ? [`${folder}/${line.path}`] : []));
  const tables = await Promise.all(
    [...new Set(paths)].map((schemaPath) => loadTables(projectDir, schemaPath, onDamage)),
  );
  // A merge of branches, one of which has split a file, leaves a table in both.
  const byKey = new Map(tables.flat().map((table) => [tableKey(table), table]));
  return { connection, ...head, tables: [...byKey.values()].sort(compareTables) };
}

async function loadTables(
  projectDir: string,
  path: string,
  onDamage: OnDamage,
): Promise<CatalogTable[]> {
  const folder = shardFolder(path);
  const entries = await listConfinedFolder(join(projectDir, folder), projectDir);
  const candidates = [path, ...(entries ?? []).map(({ name }) => `${folder}/${name}`)];
  const files = await Promise.all(
    [...findShards(path, candidates).keys()].map(async (shard) => ({
      path: shard,
      text: await readText(join(projectDir, shard), projectDir),
    })),
  );
  const present = files.flatMap(({ path: shard, text }) =>
    text === undefined ? [] : [{ path: shard, text }],
  );
  if (present.length === 0)
    onDamage(catalogDamaged(`${path} is missing, but index.jsonl in its folder lists it.`));
  return present.flatMap((file) => parseLines(file, catalogTableSchema, onDamage));
}

function compareTables(a: CatalogTable, b: CatalogTable): number {
  return tableKey(a) < tableKey(b) ? -1 : 1;
}

function parseLines<T>({ path, text }: ProjectFile, schema: z.ZodType<T>, onDamage: OnDamage): T[] {
  return text.split('\n').flatMap((line, position) => {
    if (line.trim() === '') return [];
    try {
      return [schema.parse(JSON.parse(line.trim()))];
    } catch (cause) {
      onDamage(catalogDamaged(`${path}:${position + 1} cannot be read.`, cause));
      return [];
    }
  });
}

function catalogDamaged(message: string, cause?: unknown): UserError {
  const hint = 'Restore the file from git, or run `ktx ingest` to write it again.';
  return new UserError('catalog_damaged', message, { hint, cause });
}
