import { conflictsPath } from '../../context/compile/conflicts.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { shortHash } from '../../lib/hash.ts';
import { readVersion } from '../../lib/version.ts';
import { catalogDocuments } from '../../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../../search/index.ts';
import { searchIndex, type SearchHit, type SearchOptions } from '../../search/search.ts';
import { openState, type State } from '../../store/state.ts';
import { itemPath } from '../../sources/source.ts';
import { notesName, listSources } from '../open/config.ts';
import { fileStamp } from '../open/file-cache.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { datasetDocuments, indexDatasetsByTable, readVisibleDatasets } from './visible-datasets.ts';
import { findFieldsByValue, foldText, type ValueHit } from './values.ts';
import { wikiDocument, readWikiSections, listWikiFiles } from './wiki.ts';

/** In the index the wiki stands beside the connections; none can have its name. */
const wiki = 'wiki';

/** What the text may mean, best first; the index is brought up to date before. Without a connection all are searched. */
export async function searchProject(
  project: Project,
  text: string,
  {
    connection,
    ...options
  }: Pick<SearchOptions, 'limit' | 'kinds'> & { readonly connection?: string | undefined },
): Promise<FoundHit[]> {
  const connections =
    connection === undefined
      ? [...project.warehouses, wiki]
      : [project.connection(connection).name];
  const state = openState(project.dir);
  try {
    await refreshIndex(project, state);
    const hits = searchIndex(state, text, { ...options, connections });
    if (options.kinds?.includes('field') === false) return hits;
    return withValues(hits, await findFieldsByValue(project, state, { text, connection }), {
      text,
      ...options,
    });
  } finally {
    state.close();
  }
}

/** A hit, and the value that makes it one where the text is a value of a field. */
export type FoundHit = SearchHit & { readonly value?: string };

/** What is named as asked stands first, then the fields that have the text as a value, then the others; fields that have one of its words come last. */
function withValues(
  hits: readonly SearchHit[],
  found: readonly ValueHit[],
  { text, limit = 10 }: { text: string; limit?: number | undefined },
): FoundHit[] {
  const isAll = (value: string): boolean => foldText(value) === foldText(text);
  const known = new Map(hits.map((hit) => [hit.subject, hit]));
  const fields = found.map((one): FoundHit => {
    const { connection, dataset: parent, field: name, value } = one;
    const subject = `field:${connection}.${parent}.${name}`;
    const file = artifactPath(connection, parent);
    return {
      ...(known.get(subject) ?? {
        kind: 'field',
        connection,
        subject,
        name,
        parent,
        file,
        score: 0,
      }),
      value,
    };
  });
  const named = hits.filter(({ name }) => foldText(name) === foldText(text));
  const [whole, words] = [
    fields.filter(({ value = '' }) => isAll(value)),
    fields.filter(({ value = '' }) => !isAll(value)),
  ];
  const all = [
    ...named.filter((hit) => !whole.some(({ subject }) => subject === hit.subject)),
    ...whole,
    ...hits,
    ...words,
  ];
  const first = new Map<string, FoundHit>();
  for (const hit of all) if (!first.has(hit.subject)) first.set(hit.subject, hit);
  return [...first.values()].slice(0, Math.max(1, Math.min(200, limit)));
}

/** Brings the search index up to date with the project's files; reads them only where one changed. */
export async function refreshIndex(project: Project, state: State): Promise<void> {
  const { dir } = project;
  const read = [...listSources(project.config).map(([name]) => name), notesName].map((name) =>
    fileStamp(dir, itemPath(name, 'index.jsonl')),
  );
  const marked = [fileStamp(dir, conflictsPath), read, readVersion()];
  await refreshWiki(project, state, marked);
  for (const connection of project.warehouses) {
    const marks = [
      fileStamp(dir, `sources/${connection}/index.jsonl`),
      await listDatasetFiles(dir, connection),
    ];
    const fingerprint = shortHash(JSON.stringify([...marks, marked]), 32);
    if (indexedFingerprint(state, connection) === fingerprint) continue;
    const datasets = await readVisibleDatasets(project, connection);
    const catalog = await project.catalog(connection);
    const documents = [
      ...datasets.flatMap(datasetDocuments),
      ...(catalog === undefined
        ? []
        : catalogDocuments(catalog, indexDatasetsByTable(datasets, catalog))),
    ];
    updateIndex(state, { connection, documents, fingerprint });
  }
}

async function refreshWiki(project: Project, state: State, marked: unknown): Promise<void> {
  const { dir } = project;
  const marks = (await listWikiFiles(dir)).map((path) => fileStamp(dir, path));
  const fingerprint = shortHash(JSON.stringify([marks, marked]), 32);
  if (indexedFingerprint(state, wiki) === fingerprint) return;
  const documents = new Map(
    (await readWikiSections(project)).map((entry) => [entry.subject, wikiDocument(entry)]),
  );
  updateIndex(state, { connection: wiki, documents: [...documents.values()], fingerprint });
}
