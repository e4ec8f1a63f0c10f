import type { CatalogTable } from '../context/catalog.ts';
import { shortHash } from '../lib/hash.ts';
import type { Project } from '../project/project.ts';
import { catalogDocuments, type SearchDocument } from '../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../search/index.ts';
import { datasetSchema, sourceParts, spanningMetricsSchema } from '../semantic/dataset.ts';
import type { State } from '../store/state.ts';
import { datasetDocuments, spanningDocuments } from './dataset-documents.ts';
import { datasetFiles, markOf, readYaml } from './model-files.ts';

/** Brings the search index up to date with the project's files; reads them only where one changed. */
export async function refreshIndex(project: Project, state: State): Promise<void> {
  for (const connection of Object.keys(project.config.connections)) await refresh(project, state, connection);
}

async function refresh(project: Project, state: State, connection: string): Promise<void> {
  const { dir } = project;
  const files = await datasetFiles(dir, connection);
  const spanningFile = `semantic-layer/${connection}.yaml`;
  const others = [spanningFile, `sources/${connection}/index.jsonl`];
  const marks = await Promise.all(others.map((path) => markOf(dir, path)));
  const fingerprint = shortHash(JSON.stringify([marks, files]), 32);
  if (indexedFingerprint(state, connection) === fingerprint) return;
  const documents: SearchDocument[] = [];
  const covered = new Set<string>();
  for (const { path } of files) {
    const dataset = await readYaml(dir, path, datasetSchema);
    if (dataset === undefined) continue;
    covered.add((sourceParts(dataset.source ?? '') ?? []).join('\0'));
    documents.push(...datasetDocuments(connection, dataset, path));
  }
  const spanning = await readYaml(dir, spanningFile, spanningMetricsSchema);
  documents.push(...spanningDocuments(connection, spanning?.metrics ?? [], spanningFile));
  const catalog = await project.catalog(connection);
  const isCovered = ({ catalog: database, schema, table }: CatalogTable): boolean =>
    covered.has([database, schema, table].join('\0')) || covered.has([schema, table].join('\0')) ||
    (schema === catalog?.firstSchema && covered.has(table)); // prettier-ignore
  if (catalog !== undefined) documents.push(...catalogDocuments(catalog, isCovered));
  updateIndex(state, { connection, documents, fingerprint });
}
