import { shortHash } from '../lib/hash.ts';
import { datasetFiles, markOf } from '../project/model-files.ts';
import type { Project } from '../project/project.ts';
import { catalogDocuments } from '../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../search/index.ts';
import type { State } from '../store/state.ts';
import { datasetDocuments, datasetFinder, visibleDatasets } from './datasets.ts';

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
