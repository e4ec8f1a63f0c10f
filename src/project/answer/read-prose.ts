import { join } from 'node:path';
import { indexNames } from '../../context/claims/name-index.ts';
import { parseItemIndex } from '../../ingest/fetch/item-files.ts';
import type { SearchDocument } from '../../search/documents.ts';
import { proseSources } from '../../sources/config.ts';
import { itemPath } from '../../sources/source.ts';
import { parseCorrection } from '../../sources/notes/correction.ts';
import { readTextOrReason, whyUnreadable } from '../../store/files.ts';
import { listSources } from '../open/config.ts';
import { listNotes } from '../open/known-notes.ts';
import type { Project } from '../open/open.ts';
import { buildPassages, type ProsePage } from './passages.ts';

/** The search documents of the prose of all documents and notes. */
export async function buildPassageDocuments(project: Project): Promise<SearchDocument[]> {
  const catalogs = await Promise.all(project.warehouses.map((name) => project.catalog(name)));
  const names = indexNames(catalogs.filter((catalog) => catalog !== undefined));
  const pages = [...(await readPages(project)), ...(await readNotes(project))];
  return pages.flatMap((page) => buildPassages(page, names));
}

/** Sources whose items are documents of prose. */
const proseDrivers: ReadonlySet<string> = new Set(proseSources);

async function readPages({ dir, config }: Project): Promise<readonly ProsePage[]> {
  const sources = listSources(config).filter(([, { driver }]) => proseDrivers.has(driver));
  const pages = sources.map(async ([name]) => {
    const index = (await readTextOrReason(join(dir, itemPath(name, 'index.jsonl')), dir)) ?? '';
    const items = parseItemIndex(index).map(async ({ key, path: own }) => {
      const path = itemPath(name, own);
      const body = (await readTextOrReason(join(dir, path), dir)) ?? '';
      return whyUnreadable(body) === undefined ? [{ path, key, body }] : [];
    });
    return (await Promise.all(items)).flat();
  });
  return (await Promise.all(pages)).flat();
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
