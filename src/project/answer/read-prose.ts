import { join } from 'node:path';
import { indexNames } from '../../context/claims/name-index.ts';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import type { SearchDocument } from '../../search/documents.ts';
import { proseSources } from '../../sources/config.ts';
import { itemPath } from '../../sources/source.ts';
import { parseCorrection } from '../../sources/notes/correction.ts';
import { readTextOrReasonSync, whyUnreadable } from '../../store/text-or-reason.ts';
import { listSources } from '../open/config.ts';
import { listNotes } from '../open/known-notes.ts';
import type { Project } from '../open/open.ts';
import { buildPassages, type ProsePage } from './passages.ts';

/**
 * The search documents of the prose of all documents and notes. The text of a page is read when its
 * documents are asked for: all pages together can be larger than memory should be.
 */
export async function openPassageDocuments(project: Project): Promise<Iterable<SearchDocument>> {
  const catalogs = await Promise.all(project.warehouses.map((name) => project.catalog(name)));
  const names = indexNames(catalogs.filter((catalog) => catalog !== undefined));
  const notes = await readNotes(project);
  return (function* () {
    for (const page of readPages(project)) yield* buildPassages(page, names);
    for (const note of notes) yield* buildPassages(note, names);
  })();
}

/** Sources whose items are documents of prose. */
const proseDrivers: ReadonlySet<string> = new Set(proseSources);

function* readPages({ dir, config }: Project): Generator<ProsePage> {
  for (const [name, { driver }] of listSources(config)) {
    if (!proseDrivers.has(driver)) continue;
    const index = readTextOrReasonSync(join(dir, itemPath(name, 'index.jsonl')), dir) ?? '';
    for (const { key, path: own } of parseItemIndex(index)) {
      const path = itemPath(name, own);
      const body = readTextOrReasonSync(join(dir, path), dir) ?? '';
      if (whyUnreadable(body) === undefined) yield { path, key, body };
    }
  }
}

async function readNotes(project: Project): Promise<readonly ProsePage[]> {
  const notes = await listNotes(project);
  // What an agent proposed is no knowledge before a person accepts it.
  const accepted = notes.filter(({ text }) => parseCorrection(text) === undefined);
  return accepted.map(({ id, text, path }) => ({
    path: path ?? `note ${id}`,
    key: id,
    body: text,
  }));
}
