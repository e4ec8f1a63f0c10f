import { shortHash } from '../lib/hash.ts';
import { catalogDocuments } from '../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../search/index.ts';
import { search, type SearchHit, type SearchOptions } from '../search/search.ts';
import { openState, type State } from '../store/state.ts';
import { datasetFiles, markOf } from './model-files.ts';
import type { Project } from './open.ts';
import { datasetDocuments, datasetFinder, visibleDatasets } from './visible-datasets.ts';

/** What the text may mean, best first; the index is brought up to date before. Without a connection all are searched. */
export async function searchProject(
  project: Project,
  text: string,
  { connection, ...options }: Pick<SearchOptions, 'limit' | 'kinds'> & { readonly connection?: string | undefined },
): Promise<SearchHit[]> {
  const connections = connection === undefined ? Object.keys(project.config.connections) : [project.connection(connection).name];
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
  for (const connection of Object.keys(project.config.connections)) {
    const marks = await Promise.all([markOf(dir, `sources/${connection}/index.jsonl`), datasetFiles(dir, connection)]);
    const fingerprint = shortHash(JSON.stringify(marks), 32);
    if (indexedFingerprint(state, connection) === fingerprint) continue;
    const datasets = await visibleDatasets(dir, connection);
    const catalog = await project.catalog(connection);
    const documents = [
      ...datasets.flatMap(datasetDocuments),
      ...(catalog === undefined ? [] : catalogDocuments(catalog, datasetFinder(datasets, catalog))),
    ];
    updateIndex(state, { connection, documents, fingerprint });
  }
}
