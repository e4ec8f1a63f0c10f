import { basename, join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../../lib/error.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { tableKey } from '../../sql/dialect.ts';
import { readText } from '../../store/files.ts';
import { catalogPath, catalogTableSchema, type Catalog, type CatalogTable } from './catalog.ts';

/** A file of the project: its path with forward slashes, relative to the folder of `ktx.yaml`, and its whole text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const indexLineSchema = z.union([
  z.strictObject({ dialect: z.string(), firstSchema: z.string() }),
  z.strictObject({ key: z.string(), path: z.string(), hash: z.string() }),
]);

/**
 * The catalog as files: `sources/<connection>/index.jsonl` (dialect and first schema, then a line a schema file) and one
 * `<schema>.jsonl` a schema with one line a table. Equal catalogs give equal bytes, whatever the order of their tables.
 */
export function catalogFiles({ connection, dialect, firstSchema, tables }: Catalog): ProjectFile[] {
  const bySchema = [...Map.groupBy(tables, ({ schema }) => schema)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const files = bySchema.map(([schema, own]) => {
    const lines = own
      .toSorted(byName)
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
 * The catalog of a connection from the project's files; undefined where nothing was published yet. A line that cannot be
 * read is an error with its file and line.
 */
export async function loadCatalog(
  projectDir: string,
  connection: string,
): Promise<Catalog | undefined> {
  const folder = `sources/${connection}`;
  const path = `${folder}/index.jsonl`;
  const text = await readText(join(projectDir, path), projectDir);
  const lines = text === undefined ? [] : parsedLines({ path, text }, indexLineSchema);
  const head = lines.find((line) => 'dialect' in line);
  if (!head) return undefined;
  const entries = lines.filter((line) => 'path' in line);
  const tables = await Promise.all(
    entries.map((entry) => loadTables(projectDir, `${folder}/${entry.path}`)),
  );
  return { connection, ...head, tables: tables.flat().sort(byName) };
}

async function loadTables(projectDir: string, path: string): Promise<CatalogTable[]> {
  const text = await readText(join(projectDir, path), projectDir);
  if (text === undefined)
    throw damaged(`${path} is missing, but the index of its folder lists it.`);
  return parsedLines({ path, text }, catalogTableSchema);
}

function byName(a: CatalogTable, b: CatalogTable): number {
  return tableKey(a) < tableKey(b) ? -1 : 1;
}

function parsedLines<T>({ path, text }: ProjectFile, schema: z.ZodType<T>): T[] {
  return text.split('\n').flatMap((line, position) => {
    if (line.trim() === '') return [];
    try {
      return [schema.parse(JSON.parse(line))];
    } catch (cause) {
      throw damaged(`${path}:${position + 1} is not a line that ktx wrote.`, cause);
    }
  });
}

function damaged(message: string, cause?: unknown): UserError {
  const hint = 'Restore the file from git, or run `ktx ingest` to write it again.';
  return new UserError('catalog_damaged', message, { hint, cause });
}
