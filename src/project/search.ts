import { conflictsPath } from '../context/conflicts.ts';
import { shortHash } from '../lib/hash.ts';
import { readVersion } from '../lib/version.ts';
import { catalogDocuments } from '../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../search/index.ts';
import { search, type SearchHit, type SearchOptions } from '../search/search.ts';
import { openState, type State } from '../store/state.ts';
import { itemPath } from '../sources/source.ts';
import { notesName, sourcesOf } from './config.ts';
import { datasetFiles, markOf } from './model-files.ts';
import type { Project } from './open.ts';
import { datasetDocuments, datasetFinder, visibleDatasets } from './visible-datasets.ts';
import { wikiDocument, wikiEntries, wikiFiles } from './wiki.ts';

/** In the index the wiki stands beside the connections; none can have its name. */
const wiki = 'wiki';

/** What the text may mean, best first; the index is brought up to date before. Without a connection all are searched. */
export async function searchProject(
  project: Project,
  text: string,
  { connection, ...options }: Pick<SearchOptions, 'limit' | 'kinds'> & { readonly connection?: string | undefined },
): Promise<SearchHit[]> {
  const connections = connection === undefined ? [...project.warehouses, wiki] : [project.connection(connection).name];
  const state = openState(project.dir);
  try {
    await refreshIndex(project, state);
    return search(state, text, { ...options, connections });
  } finally {
    state.close();
  }
}

/** Brings the search index up to date with the project's files; reads them only where one changed. */
export async function refreshIndex(project: Project, state: State): Promise<void> {
  const { dir } = project;
  const read = [...sourcesOf(project.config).map(([name]) => name), notesName].map((name) => markOf(dir, itemPath(name, 'index.jsonl')));
  const marked = [markOf(dir, conflictsPath), read, readVersion()];
  await refreshWiki(project, state, marked);
  for (const connection of project.warehouses) {
    const marks = [markOf(dir, `sources/${connection}/index.jsonl`), await datasetFiles(dir, connection)];
    const fingerprint = shortHash(JSON.stringify([...marks, marked]), 32);
    if (indexedFingerprint(state, connection) === fingerprint) continue;
    const datasets = await visibleDatasets(project, connection);
    const catalog = await project.catalog(connection);
    const documents = [
      ...datasets.flatMap(datasetDocuments),
      ...(catalog === undefined ? [] : catalogDocuments(catalog, datasetFinder(datasets, catalog))),
    ];
    updateIndex(state, { connection, documents, fingerprint });
  }
}

async function refreshWiki(project: Project, state: State, marked: unknown): Promise<void> {
  const { dir } = project;
  const marks = (await wikiFiles(dir)).map((path) => markOf(dir, path));
  const fingerprint = shortHash(JSON.stringify([marks, marked]), 32);
  if (indexedFingerprint(state, wiki) === fingerprint) return;
  const documents = new Map((await wikiEntries(project)).map((entry) => [entry.subject, wikiDocument(entry)]));
  updateIndex(state, { connection: wiki, documents: [...documents.values()], fingerprint });
}
