import { basename, join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { tableKey } from '../../sql/dialect.ts';
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
  z.strictObject({ dialect: z.string(), firstSchema: z.string() }),
  z.strictObject({ key: z.string(), path: z.string(), hash: z.string() }),
]);

/**
 * The files of a catalog: `sources/<connection>/index.jsonl` (dialect and first schema, then one
 * line per schema) and `<schema>.jsonl` for each schema, with one line per table. Equal catalogs
 * give equal bytes, whatever the order of tables.
 */
export function catalogFiles({ connection, dialect, firstSchema, tables }: Catalog): ProjectFile[] {
  const bySchema = [...Map.groupBy(tables, ({ schema }) => schema)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const files = bySchema.map(([schema, schemaTables]) => {
    const lines = schemaTables
      .toSorted(compareTables)
      .map((table) => `${JSON.stringify(catalogTableSchema.parse(table))}\n`);
    return { schema, path: catalogPath(connection, schema), text: lines.join('') };
  });
  const entries = files.map(({ schema, path, text }) => ({
    key: schema,
    path: basename(path),
    hash: shortHash(text),
  }));
  const index = [{ dialect, firstSchema }, ...entries]
    .map((line) => `${canonicalJson(line)}\n`)
    .join('');
  return [
    { path: `sources/${connection}/index.jsonl`, text: index },
    ...files.map(({ path, text }) => ({ path, text })),
  ];
}

/**
 * Loads the catalog of a connection; undefined if nothing was published yet. A line that cannot be
 * parsed is an error that names its file and line.
 */
export async function loadCatalog(
  projectDir: string,
  connection: string,
): Promise<Catalog | undefined> {
  const folder = `sources/${connection}`;
  const path = `${folder}/index.jsonl`;
  const text = await readText(join(projectDir, path), projectDir);
  const lines = text === undefined ? [] : parseLines({ path, text }, catalogIndexLineSchema);
  const head = lines.find((line) => 'dialect' in line);
  if (!head) return undefined;
  const entries = lines.filter((line) => 'path' in line);
  const tables = await Promise.all(
    entries.map((entry) => loadTables(projectDir, `${folder}/${entry.path}`)),
  );
  return { connection, ...head, tables: tables.flat().sort(compareTables) };
}

async function loadTables(projectDir: string, path: string): Promise<CatalogTable[]> {
  const text = await readText(join(projectDir, path), projectDir);
  if (text === undefined)
    throw catalogDamaged(`${path} is missing, but index.jsonl in its folder lists it.`);
  return parseLines({ path, text }, catalogTableSchema);
}

function compareTables(a: CatalogTable, b: CatalogTable): number {
  return tableKey(a) < tableKey(b) ? -1 : 1;
}

function parseLines<T>({ path, text }: ProjectFile, schema: z.ZodType<T>): T[] {
  return text.split('\n').flatMap((line, position) => {
    if (line.trim() === '') return [];
    try {
      return [schema.parse(JSON.parse(line))];
    } catch (cause) {
      throw catalogDamaged(`${path}:${position + 1} cannot be read.`, cause);
    }
  });
}

function catalogDamaged(message: string, cause?: unknown): UserError {
  const hint = 'Restore the file from git, or run `ktx ingest` to write it again.';
  return new UserError('catalog_damaged', message, { hint, cause });
}
