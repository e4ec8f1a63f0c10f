import { z } from 'zod';
import type { Catalog } from '../../context/catalog/catalog.ts';
import { datasetNames } from '../../context/catalog/dataset-names.ts';
import type { Claim } from '../../context/claims/claim.ts';
import { parseSubject } from '../../context/claims/subject.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson, parseJson } from '../../lib/json.ts';
import { isNoteLinePath, noteLinePath, notesName } from '../../sources/notes/note-files.ts';
import { type Extraction, type Item, itemPath } from '../../sources/source.ts';
import type { FileTree } from '../publish/project-files.ts';
import type { FileWrite } from '../publish/rendering.ts';
import type { ReadState, SourceFindings } from './findings.ts';

/**
 * The version of the model's reading. Raise it when the prompt or the form of the answers changes:
 * then every item is read anew.
 */
export const readingVersion = 'reading@1';

const readStateSchema = z.object({ hash: z.string(), slice: z.string(), extractor: z.string() });
const unmappedFactSchema = z.object({ reason: z.string(), what: z.string() });
/** Something that a model read and could not turn into a claim, with the reason as one word. */
export type UnmappedFact = Readonly<z.infer<typeof unmappedFactSchema>>;

const itemIndexLineSchema = z.object({
  key: z.string(),
  /** Where it is not the key: a line of each of 20,000 pages is to be short. */
  path: z.string().optional(),
  hash: z.string(),
  /**
   * Who has read this content: `docs@1`, with a model `docs@1+reading@1`. Ends in `+pending` until
   * a model has read it.
   */
  extractor: z.string(),
  /** Hash of the names and types of the tables that the item mentions, if it does. */
  slice: z.string().default(''),
  /** For a pending item: the state from which its claims of a model come. */
  read: readStateSchema.optional(),
  /** For an item that a model has read: what it could not turn into claims. */
  unmapped: z.array(unmappedFactSchema).optional(),
});
/** One line of `sources/<connection>/index.jsonl`, or all of `sources/notes/<id>.jsonl`. */
export interface ItemIndexLine extends Readonly<z.infer<typeof itemIndexLineSchema>> {
  readonly path: string;
}

export function hashItem({ body }: Pick<Item, 'body'>): string {
  return shortHash(body, 16);
}

/**
 * The items of a source in one tree (disk or HEAD), sorted by key. A body that a person changed
 * counts as it is; an item with a missing body, or one that is not text, is left out.
 */
export function readStoredItems(tree: FileTree, connection: string): Item[] {
  return readItemIndex(tree, connection).flatMap(({ key, path }) => {
    const body = tree.get(itemPath(connection, path));
    return body?.isWellFormed() === true ? [{ key, path, body }] : [];
  });
}

export function readItemIndex(tree: FileTree, connection: string): ItemIndexLine[] {
  return joinItemIndex(indexPaths(tree, connection).map((path) => tree.get(path) ?? ''));
}

/** The files of the index of a source that are there, the common one first. */
function indexPaths(tree: FileTree, connection: string): string[] {
  const paths = connection === notesName ? [...tree.keys()].filter(isNoteLinePath).sort() : [];
  const common = itemPath(connection, 'index.jsonl');
  return tree.has(common) ? [common, ...paths] : paths;
}

/** The lines of several files; of two about one item the later one counts. */
export function joinItemIndex(texts: readonly string[]): ItemIndexLine[] {
  const lines = texts.flatMap(parseItemIndex);
  return [...new Map(lines.map((line) => [line.key, line])).values()];
}

/** Parses the index of a source. Lines that cannot be parsed are skipped. */
export function parseItemIndex(text: string): ItemIndexLine[] {
  return text.split('\n').flatMap((line) => {
    const { data } = itemIndexLineSchema.safeParse(parseJson(line));
    return data === undefined ? [] : [{ ...data, path: data.path ?? data.key }];
  });
}

/**
 * The writes of all bodies. They come before the index, so that it never lists a file that is
 * missing.
 */
export function itemBodyWrites({ connection, items }: SourceFindings): FileWrite[] {
  return items.map(({ path, body }): FileWrite => ({
    step: 'file_written',
    path: itemPath(connection, path),
    text: body,
  }));
}

/**
 * The removals of bodies that are gone, and then the write of the index. Only the old index tells
 * which bodies are ktx's: a run that is killed in between leaves none for ever, and an entry
 * without a body counts as no item. They come after the claims, so that the index never calls an
 * item read whose claims a killed run did not write.
 */
export function itemIndexWrites(
  source: SourceFindings,
  hashTables: TablesHasher,
  tree: FileTree,
): FileWrite[] {
  const { connection, items } = source;
  const known = indexPaths(tree, connection);
  if (items.length === 0 && known.length === 0) return [];
  const extractions = new Map(source.extractions.map((extraction) => [extraction.key, extraction]));
  const lines = items.map((item) => {
    const extraction = extractions.get(item.key);
    const slice = hashTables(extraction, source.readings.get(item.key)?.claims);
    const text = `${canonicalJson(shortLine(indexLine(item, source, slice)))}\n`;
    return { item, text };
  });
  const wanted = new Set(items.map(({ path }) => path));
  const gone = readItemIndex(tree, connection).filter(
    ({ path }) =>
      !wanted.has(path) && tree.get(itemPath(connection, path))?.isWellFormed() === true,
  );
  const removals = gone.map(({ path }) => ({ path: itemPath(connection, path), text: undefined }));
  return [...removals, ...indexFiles(source, lines, known)].map((write): FileWrite => ({
    step: 'file_written',
    ...write,
  }));
}

interface WrittenLine {
  readonly item: Item;
  readonly text: string;
}

/**
 * The files of an index, and those of `known` that go. Each note has a line in a file of its own:
 * two branches with a note each have no file in common, so that they merge in any order.
 */
function indexFiles(
  { connection }: Pick<SourceFindings, 'connection'>,
  lines: readonly WrittenLine[],
  known: readonly string[],
): readonly { readonly path: string; readonly text: string | undefined }[] {
  const texts = lines.map(({ text }) => text).sort();
  const written =
    connection === notesName
      ? lines.map(({ item: { key }, text }) => ({ path: noteLinePath(key), text }))
      : texts.length === 0
        ? []
        : [{ path: itemPath(connection, 'index.jsonl'), text: texts.join('') }];
  const kept = new Set(written.map(({ path }) => path));
  const former = known.filter((path) => !kept.has(path));
  return [...written, ...former.map((path) => ({ path, text: undefined }))];
}

function indexLine(
  item: Item,
  { extractor, readings }: SourceFindings,
  slice: string,
): ItemIndexLine {
  const line = { key: item.key, path: item.path, hash: hashItem(item), slice };
  const reading = readings.get(item.key);
  if (reading === undefined) return { ...line, extractor };
  if (!reading.isCurrent) return { ...line, extractor: `${extractor}+pending`, read: reading.read };
  const unmapped = reading.unmapped.length === 0 ? {} : { unmapped: [...reading.unmapped] };
  return { ...line, extractor: `${extractor}+${readingVersion}`, ...unmapped };
}

function shortLine({ path, slice, ...line }: ItemIndexLine) {
  return {
    ...line,
    ...(path !== line.key && { path }),
    ...(slice !== '' && { slice }),
  };
}

/** The state in which a model last read the item; undefined if none did. */
export function lastReadState({
  extractor,
  hash,
  slice,
  read,
}: ItemIndexLine): ReadState | undefined {
  return /\+reading@\d+$/.test(extractor) ? { hash, slice, extractor } : read;
}

export type TablesHasher = ReturnType<typeof createTablesHasher>;

/**
 * A function that hashes the tables which an item mentions, with their columns and types, given
 * what code and models read in it. The hash is empty if it mentions none.
 */
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
  return (extraction: Extraction | undefined, readClaims: readonly Claim[] = []): string => {
    const claims = [...(extraction?.claims ?? []), ...readClaims];
    const subjects = [...(extraction?.mentions ?? []), ...claims.map(({ subject }) => subject)];
    const datasets = subjects
      .flatMap((subject) => parseSubject(subject) ?? [])
      .map(({ connection, dataset }) => `${connection}.${dataset}`);
    const mentioned = [...new Set(datasets)].sort().map((name) => [name, shapes.get(name)]);
    return mentioned.length === 0 ? '' : shortHash(canonicalJson(mentioned), 12);
  };
}
