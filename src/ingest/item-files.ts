import { z } from 'zod';
import type { Catalog } from '../context/catalog.ts';
import { datasetNames } from '../context/names.ts';
import { subjectParts } from '../context/subject.ts';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import { type Extraction, type Item, itemPath } from '../sources/source.ts';
import type { SourceFindings } from './findings.ts';
import type { FileView } from './project-files.ts';
import type { Write } from './publish.ts';

/** One line of `sources/<connection>/index.jsonl`. */
const indexLineSchema = z.object({
  key: z.string(),
  path: z.string(),
  hash: z.string(),
  /** What has read this content; ends in `+pending` while a model has yet to. */
  extractor: z.string(),
  /** Hash of the names and types of the tables that the item speaks of. */
  slice: z.string(),
});
type IndexLine = Readonly<z.infer<typeof indexLineSchema>>;

export function hashOf({ body }: Pick<Item, 'body'>): string {
  return shortHash(body, 16);
}

/** The items of a source as one place has them, sorted by key. A body that a person changed counts as it is; one that is missing, or no text, as not there. */
export function itemsIn(view: FileView, connection: string): Item[] {
  return indexIn(view, connection).flatMap(({ key, path }) => {
    const body = view.get(itemPath(connection, path));
    return body?.isWellFormed() === true ? [{ key, path, body }] : [];
  });
}

function indexIn(view: FileView, connection: string): IndexLine[] {
  return indexLines(view.get(itemPath(connection, 'index.jsonl')) ?? '');
}

/** What is recorded of each item of a source; a line that cannot be read says nothing. */
export function indexLines(text: string): IndexLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      return indexLineSchema.safeParse(JSON.parse(line)).data ?? [];
    } catch {
      return [];
    }
  });
}

/** Bodies before the index that lists them, what is gone after it: at no moment does the index name a missing file. */
export function itemWrites(source: SourceFindings, catalogs: readonly Catalog[], view: FileView): Write[] {
  const { connection, extractor, items, extractions } = source;
  const bodies = items.map(({ path, body }): Write => ({ step: 'file_written', path: itemPath(connection, path), text: body }));
  const read = new Map(extractions.map((extraction) => [extraction.key, extraction]));
  const slices = slicer(catalogs);
  const lines = items.map((item) => {
    const extraction = read.get(item.key);
    const isPending = (extraction?.unread ?? []).length > 0;
    const line = { key: item.key, path: item.path, hash: hashOf(item), slice: slices(extraction) };
    return `${canonicalJson({ ...line, extractor: isPending ? `${extractor}+pending` : extractor } satisfies IndexLine)}\n`;
  });
  const index: Write = { step: 'file_written', path: itemPath(connection, 'index.jsonl'), text: lines.sort().join('') };
  const wanted = new Set(items.map(({ path }) => path));
  const gone = indexIn(view, connection).filter(
    ({ path }) => !wanted.has(path) && view.get(itemPath(connection, path))?.isWellFormed() === true,
  );
  const isNothing = items.length === 0 && !view.has(index.path);
  return isNothing ? [] : [...bodies, index, ...gone.map(({ path }): Write => ({ step: 'file_written', path: itemPath(connection, path), text: undefined }))]; // prettier-ignore
}

/** The hash of the tables, with their columns and types, that an extraction speaks of. */
function slicer(catalogs: readonly Catalog[]) {
  const shapes = new Map(
    catalogs.flatMap((catalog) => {
      const names = datasetNames(catalog);
      return catalog.tables.map((table) => {
        const shape = table.columns.map(({ name, nativeType }) => [name, nativeType]);
        return [`${catalog.connection}.${names.dataset(table)}`, shape] as [string, string[][]];
      });
    }),
  );
  return (extraction: Extraction | undefined): string => {
    const subjects = [...(extraction?.mentions ?? []), ...(extraction?.claims ?? []).map(({ subject }) => subject)];
    const datasets = subjects.flatMap((subject) => subjectParts(subject) ?? []).map((parts) => `${parts.connection}.${parts.dataset}`);
    const known = [...new Set(datasets)].sort().map((dataset) => [dataset, shapes.get(dataset)]);
    return known.length === 0 ? '' : shortHash(canonicalJson(known), 12);
  };
}
