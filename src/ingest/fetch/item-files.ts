import { z } from 'zod';
import type { Catalog } from '../../context/catalog/catalog.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { type Extraction, type Item, itemPath } from '../../sources/source.ts';
import type { ReadState, SourceFindings } from './findings.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { Write } from '../publish/publish.ts';

/** Who reads what code cannot. Raise it when a prompt or the form of the answers changes: then every such item is read anew. */
export const readingVersion = 'reading@1';

const readStateSchema = z.object({ hash: z.string(), slice: z.string(), extractor: z.string() });
const unmappedSchema = z.object({ reason: z.string(), what: z.string() });
/** Something that a model read and could not claim: why, by one word, and what. */
export type UnmappedFact = Readonly<z.infer<typeof unmappedSchema>>;
/** One line of `sources/<connection>/index.jsonl`. */
const indexLineSchema = z.object({
  key: z.string(),
  path: z.string(),
  hash: z.string(),
  /** What has read this content: `docs@1`, with a model `docs@1+reading@1`; ends in `+pending` while a model has yet to. */
  extractor: z.string(),
  /** Hash of the names and types of the tables that the item speaks of. */
  slice: z.string(),
  /** Of a pending item: the state that its claims of a model come from. */
  read: readStateSchema.optional(),
  /** Of an item that a model has read: what it could not claim. */
  unmapped: z.array(unmappedSchema).optional(),
});
export type ItemIndexLine = Readonly<z.infer<typeof indexLineSchema>>;

export function hashItem({ body }: Pick<Item, 'body'>): string {
  return shortHash(body, 16);
}

/** The items of a source as one place has them, sorted by key. A body that a person changed counts as it is; one that is missing, or no text, as not there. */
export function readStoredItems(view: FileTree, connection: string): Item[] {
  return readItemIndex(view, connection).flatMap(({ key, path }) => {
    const body = view.get(itemPath(connection, path));
    return body?.isWellFormed() === true ? [{ key, path, body }] : [];
  });
}

export function readItemIndex(view: FileTree, connection: string): ItemIndexLine[] {
  return parseItemIndex(view.get(itemPath(connection, 'index.jsonl')) ?? '');
}

/** What is recorded of each item of a source; a line that cannot be read says nothing. */
export function parseItemIndex(text: string): ItemIndexLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      return indexLineSchema.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

/** Bodies come before the index that lists them, what is gone after it: at no moment does the index name a missing file. */
export function itemBodyWrites({ connection, items }: SourceFindings): Write[] {
  return items.map(({ path, body }): Write => ({
    step: 'file_written',
    path: itemPath(connection, path),
    text: body,
  }));
}

/** Claims come before the index that says where they are from: it never calls an item read whose claims a killed run left unwritten. */
export function itemIndexWrites(
  source: SourceFindings,
  sliceOf: TablesHasher,
  view: FileTree,
): Write[] {
  const { connection, items } = source;
  const code = new Map(source.extractions.map((extraction) => [extraction.key, extraction]));
  const lines = items.map(
    (item) =>
      `${canonicalJson(lineOf(item, source, { extraction: code.get(item.key), sliceOf }))}\n`,
  );
  const index: Write = {
    step: 'file_written',
    path: itemPath(connection, 'index.jsonl'),
    text: lines.length === 0 ? undefined : lines.sort().join(''),
  };
  const wanted = new Set(items.map(({ path }) => path));
  const gone = readItemIndex(view, connection).filter(
    ({ path }) =>
      !wanted.has(path) && view.get(itemPath(connection, path))?.isWellFormed() === true,
  );
  const isNothing = items.length === 0 && !view.has(index.path);
  return isNothing
    ? []
    : [
        index,
        ...gone.map(({ path }): Write => ({
          step: 'file_written',
          path: itemPath(connection, path),
          text: undefined,
        })),
      ];
}

interface Known {
  readonly extraction: Extraction | undefined;
  readonly sliceOf: TablesHasher;
}

function lineOf(
  item: Item,
  { extractor, readings }: SourceFindings,
  { extraction, sliceOf }: Known,
): ItemIndexLine {
  const reading = readings.get(item.key);
  const line = {
    key: item.key,
    path: item.path,
    hash: hashItem(item),
    slice: sliceOf(extraction, reading?.claims),
  };
  if (reading === undefined) return { ...line, extractor };
  const unmapped = reading.unmapped.length === 0 ? {} : { unmapped: [...reading.unmapped] };
  return reading.isCurrent
    ? { ...line, extractor: `${extractor}+${readingVersion}`, ...unmapped }
    : { ...line, extractor: `${extractor}+pending`, read: reading.read };
}

/** The state in which a model read the item, as the line records it. */
export function lastReadState({
  extractor,
  hash,
  slice,
  read,
}: ItemIndexLine): ReadState | undefined {
  return /\+reading@\d+$/.test(extractor) ? { hash, slice, extractor } : read;
}

export type TablesHasher = ReturnType<typeof createTablesHasher>;

/** The hash of the tables, with their columns and types, that an item speaks of by what was read in it. */
export function createTablesHasher(catalogs: readonly Catalog[]) {
  const shapes = new Map(
    catalogs.flatMap((catalog) => {
      const names = datasetNames(catalog);
      return catalog.tables.map((table) => {
        const shape = table.columns.map(({ name, nativeType }) => [name, nativeType]);
        return [`${catalog.connection}.${names.dataset(table)}`, shape] as [string, string[][]];
      });
    }),
  );
  return (extraction: Extraction | undefined, read: readonly Claim[] = []): string => {
    const claims = [...(extraction?.claims ?? []), ...read];
    const subjects = [...(extraction?.mentions ?? []), ...claims.map(({ subject }) => subject)];
    const datasets = subjects
      .flatMap((subject) => parseSubject(subject) ?? [])
      .map((parts) => `${parts.connection}.${parts.dataset}`);
    const known = [...new Set(datasets)].sort().map((dataset) => [dataset, shapes.get(dataset)]);
    return known.length === 0 ? '' : shortHash(canonicalJson(known), 12);
  };
}
