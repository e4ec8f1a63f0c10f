import { join } from 'node:path';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import { fieldTypes } from '../sql/field-type.ts';
import { readText } from '../store/files.ts';
import type { Catalog, CatalogTable } from './catalog.ts';
import { slug } from './slug.ts';

/** A file of the project: its path with forward slashes, relative to the folder of `ktx.yaml`, and its whole text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

const tableRefSchema = z.object({ catalog: z.string().optional(), schema: z.string(), table: z.string() });

const tableSchema = tableRefSchema.extend({
  kind: z.string(),
  comment: z.string().optional(),
  columns: z.array(
    z.object({
      name: z.string(),
      nativeType: z.string(),
      type: z.enum(fieldTypes),
      nullable: z.boolean(),
      comment: z.string().optional(),
      values: z.array(z.string()).optional(),
    }),
  ),
  primaryKey: z.array(z.string()).optional(),
  uniqueKeys: z.array(z.array(z.string())),
  foreignKeys: z.array(
    z.object({
      columns: z.array(z.string()),
      to: z.object({ table: tableRefSchema, columns: z.array(z.string()) }),
    }),
  ),
});

const headSchema = z.object({ dialect: z.string(), firstSchema: z.string() });
const entrySchema = z.object({ key: z.string(), path: z.string(), hash: z.string() });

/** The path of a schema's structure, relative to the project; a name that is no safe file name gets a suffix of its own. */
export function catalogPath(connection: string, schema: string): string {
  const name = slug(schema);
  const isSafe = name === schema && name !== 'index';
  return `${catalogFolder(connection)}/${isSafe ? name : `${name}_${shortHash(schema, 6)}`}.jsonl`;
}

/**
 * The catalog as files: `sources/<connection>/index.jsonl` (dialect and first schema, then a line a schema file) and one
 * `<schema>.jsonl` a schema with one line a table. Equal catalogs give equal bytes, whatever the order of their tables.
 */
export function catalogFiles(catalog: Catalog): ProjectFile[] {
  const folder = catalogFolder(catalog.connection);
  const bySchema = Map.groupBy(catalog.tables, ({ schema }) => schema);
  const files = [...bySchema]
    .map(([schema, tables]) => ({ schema, path: catalogPath(catalog.connection, schema), text: schemaText(tables) }))
    .sort((a, b) => (a.schema < b.schema ? -1 : 1));
  const entries = files.map(({ schema, path, text }) =>
    canonicalJson({ key: schema, path: path.slice(folder.length + 1), hash: shortHash(text) }),
  );
  const head = canonicalJson({ dialect: catalog.dialect, firstSchema: catalog.firstSchema });
  const index = { path: `${folder}/index.jsonl`, text: [head, ...entries, ''].join('\n') };
  return [index, ...files.map(({ path, text }) => ({ path, text }))];
}

/** The catalog that the files hold; a line that cannot be read is an error with its file and line. */
export function parseCatalog(connection: string, files: readonly ProjectFile[]): Catalog | undefined {
  const index = files.find(({ path }) => path === `${catalogFolder(connection)}/index.jsonl`);
  if (!index) return undefined;
  const head = parsedLines({ ...index, text: index.text.slice(0, index.text.indexOf('\n') + 1) }, headSchema)[0];
  if (!head) return undefined;
  const tables = files.filter((file) => file !== index).flatMap((file): CatalogTable[] => parsedLines(file, tableSchema));
  return { connection, ...head, tables: tables.sort(byName) };
}

/** The catalog of a connection from the project's files; undefined where nothing was published yet. */
export async function loadCatalog(projectDir: string, connection: string): Promise<Catalog | undefined> {
  const folder = catalogFolder(connection);
  const index = await readProjectFile(projectDir, `${folder}/index.jsonl`);
  if (!index) return undefined;
  const body = { ...index, text: index.text.slice(index.text.indexOf('\n') + 1) };
  const paths = parsedLines(body, entrySchema).map(({ path }) => `${folder}/${path}`);
  const files = await Promise.all(paths.map((path) => readProjectFile(projectDir, path)));
  const missing = paths.find((_path, position) => !files[position]);
  if (missing) throw damaged(`${missing} is missing, but ${index.path} lists it.`);
  return parseCatalog(connection, [index, ...files.filter((file) => file !== undefined)]);
}

async function readProjectFile(projectDir: string, path: string): Promise<ProjectFile | undefined> {
  const text = await readText(join(projectDir, path), projectDir);
  return text === undefined ? undefined : { path, text };
}

function catalogFolder(connection: string): string {
  return `sources/${connection}`;
}

function schemaText(tables: readonly CatalogTable[]): string {
  return tables
    .toSorted(byName)
    .map((table) => `${JSON.stringify(tableSchema.parse(table))}\n`)
    .join('');
}

function sortKey({ catalog, schema, table }: CatalogTable): string {
  return JSON.stringify([catalog ?? '', schema, table]);
}

function byName(a: CatalogTable, b: CatalogTable): number {
  return sortKey(a) < sortKey(b) ? -1 : 1;
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
