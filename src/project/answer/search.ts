import { savedQuerySubject } from '../../context/claims/saved-query-claims.ts';
import { conflictsPath } from '../../context/compile/conflicts.ts';
import { usagePath } from '../../context/usage/usage.ts';
import { artifactPath } from '../../context/merge/merge-dataset.ts';
import { shortHash } from '../../lib/hash.ts';
import { readVersion } from '../../lib/version.ts';
import { catalogDocuments } from '../../search/documents.ts';
import { indexedFingerprint, updateIndex } from '../../search/index.ts';
import { searchIndex, type SearchHit, type SearchOptions } from '../../search/search.ts';
import type { State } from '../../store/state.ts';
import { readStoredNotes } from '../../sources/notes/inbox.ts';
import { itemPath } from '../../sources/source.ts';
import { listSources } from '../open/config.ts';
import { readCatalogStamp } from '../open/catalog-stamp.ts';
import { readFileStamp } from '../open/file-cache.ts';
import { openCleanState } from '../open/column-labels.ts';
import { listDatasetFiles } from '../open/model-files.ts';
import type { Project } from '../open/open.ts';
import { buildDatasetDocuments } from './build-dataset-documents.ts';
import { openPassageDocuments } from './read-prose.ts';
import { indexDatasetsByTable, readVisibleDatasets } from './visible-datasets.ts';
import { hasAnswer, listSavedQueryFiles, readSavedQueries } from '../saved/saved-queries.ts';
import {
  findLikeQuestions,
  findMarkOfQuery,
  questionSubject,
  verifiedMark,
  type VerifiedMark,
} from '../verified/find-verified.ts';
import { buildSavedQueryDocument } from '../saved/saved-query-documents.ts';
import { findByMeaning } from './search-meanings.ts';
import { findFieldsByValue, foldText, type ValueHit } from './values.ts';
import { buildWikiDocument, readWikiSections, listWikiFiles } from './wiki.ts';
import { notesName } from '../../sources/notes/note-files.ts';
import { listNoteLines } from '../../ingest/fetch/load-item-index.ts';

/** The wiki's name in the index, beside the connections. No connection can have this name. */
const wikiName = 'wiki';

export interface ProjectSearchOptions extends Pick<SearchOptions, 'limit' | 'kinds'> {
  readonly connection?: string | undefined;
  /** False compares words only, and sends nothing. */
  readonly embeddings?: boolean | undefined;
  readonly signal: AbortSignal;
}

export interface ProjectSearch {
  /** Best match first. */
  readonly hits: readonly ProjectHit[];
  /** Why meanings were not compared, or not all of them, in a project that has embeddings. */
  readonly lexical?: string | undefined;
}

/**
 * What the text may mean. Updates the index first. Without a connection it searches all of them and
 * the wiki. Compares meanings where the project has embeddings; without them it finds by words.
 */
export async function searchProject(
  project: Project,
  text: string,
  { connection, embeddings = true, signal, ...options }: ProjectSearchOptions,
): Promise<ProjectSearch> {
  const connections =
    connection === undefined
      ? [...project.warehouses, ...(project.offersWiki === false ? [] : [wikiName])]
      : [project.connection(connection).name];
  const state = await openCleanState(project);
  try {
    // Views of a project share the index, which has the wiki.
    await refreshSearchIndex({ ...project, offersWiki: undefined }, state);
    const meanings = embeddings ? await findByMeaning(project, state, { text, signal }) : {};
    const { near, lexical } = meanings;
    const found = searchIndex(state, text, { ...options, connections, near });
    const hits = await withoutHiddenQueries(project, found);
    const questions = await questionHits(project, text, { ...options, connections });
    const first = [...questions, ...hits].slice(0, mostHits(options.limit));
    if (options.kinds?.includes('field') === false) return { hits: first, lexical };
    const valueHits = await findFieldsByValue(project, state, { text, connection });
    return { hits: mergeValueHits(first, valueHits, { text, ...options }), lexical };
  } finally {
    state.close();
  }
}

function mostHits(limit = 10): number {
  return Math.max(1, Math.min(200, limit));
}

/** The verified questions that ask the same. They are not in the index: they are few. */
async function questionHits(
  project: Project,
  text: string,
  { kinds, connections }: Pick<SearchOptions, 'kinds'> & { connections: readonly string[] },
): Promise<readonly ProjectHit[]> {
  if (kinds?.includes('question') === false) return [];
  const found = await findLikeQuestions(project, text, connections);
  return found.map(({ question, likeness }) => ({
    kind: 'question',
    connection: question.connection,
    subject: questionSubject(question),
    name: question.id,
    parent: '',
    description: question.question,
    file: question.file,
    detail: 'verified question',
    score: likeness,
    verified: verifiedMark(question),
  }));
}

/** Without the saved queries that have no answer for the role, and with what is verified. */
async function withoutHiddenQueries(
  project: Project,
  hits: readonly SearchHit[],
): Promise<readonly ProjectHit[]> {
  if (!hits.some(({ kind }) => kind === 'query')) return hits;
  const connections = [...new Set(hits.map(({ connection }) => connection))];
  const { queries } = await readSavedQueries(
    project,
    project.warehouses.filter((name) => connections.includes(name)),
  );
  const shown = await Promise.all(
    hits.map(async (hit): Promise<readonly ProjectHit[]> => {
      if (hit.kind !== 'query') return [hit];
      const saved = queries.find((query) => savedQuerySubject(query) === hit.subject);
      if (saved === undefined || !(await hasAnswer(project, saved))) return [];
      const verified = await findMarkOfQuery(project, saved);
      return [verified === undefined ? hit : { ...hit, verified }];
    }),
  );
  return shown.flat();
}

/** `value` is set if the text is a value of the field. */
type ProjectHit = SearchHit & { readonly value?: string; readonly verified?: VerifiedMark };

/**
 * Things named like the text come first, then fields that have the whole text as a value, then the
 * other hits, then fields that have one of its words as a value.
 */
function mergeValueHits(
  hits: readonly ProjectHit[],
  valueHits: readonly ValueHit[],
  { text, limit }: { text: string; limit?: number | undefined },
): ProjectHit[] {
  const isWholeText = (value: string): boolean => foldText(value) === foldText(text);
  const known = new Map(hits.map((hit) => [hit.subject, hit]));
  const fields = valueHits.map((hit): ProjectHit => {
    const { connection, dataset: parent, field: name, value } = hit;
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
  const wholeText = fields.filter(({ value = '' }) => isWholeText(value));
  const oneWord = fields.filter(({ value = '' }) => !isWholeText(value));
  const ordered = [
    ...hits.filter(({ kind }) => kind === 'question'),
    ...named.filter((hit) => !wholeText.some(({ subject }) => subject === hit.subject)),
    ...wholeText,
    ...hits,
    ...oneWord,
  ];
  const bySubject = new Map<string, ProjectHit>();
  for (const hit of ordered) if (!bySubject.has(hit.subject)) bySubject.set(hit.subject, hit);
  return [...bySubject.values()].slice(0, mostHits(limit));
}

/**
 * Updates the search index from the project's files; reads those of a connection only if one of
 * them changed.
 */
export async function refreshSearchIndex(project: Project, state: State): Promise<void> {
  const { dir } = project;
  const itemIndexes = [
    ...[...listSources(project.config).map(([name]) => name), notesName].map((name) =>
      itemPath(name, 'index.jsonl'),
    ),
    ...(await listNoteLines(dir)),
  ].map((path) => readFileStamp(dir, path));
  const sharedStamps = [readFileStamp(dir, conflictsPath), itemIndexes, readVersion()];
  await refreshWiki(project, state, sharedStamps);
  for (const connection of project.warehouses) {
    const stamps = [
      readCatalogStamp(dir, connection),
      await listDatasetFiles(dir, connection),
      (await listSavedQueryFiles(dir, connection)).map((path) => readFileStamp(dir, path)),
      readFileStamp(dir, usagePath(connection)),
    ];
    const fingerprint = shortHash(JSON.stringify([...stamps, sharedStamps]), 32);
    if (indexedFingerprint(state, connection) === fingerprint) continue;
    const datasets = await readVisibleDatasets(project, connection);
    const saved = await readSavedQueries(project, [connection]);
    const catalog = await project.catalog(connection);
    const documents = [
      ...datasets.flatMap(buildDatasetDocuments),
      ...saved.queries.map(buildSavedQueryDocument),
      ...(catalog === undefined
        ? []
        : catalogDocuments(catalog, indexDatasetsByTable(datasets, catalog))),
    ];
    updateIndex(state, { connection, documents, fingerprint });
  }
}

async function refreshWiki(project: Project, state: State, sharedStamps: unknown): Promise<void> {
  const { dir } = project;
  const stamps = (await listWikiFiles(dir)).map((path) => readFileStamp(dir, path));
  const notes = (await readStoredNotes(dir)).map(({ id }) => id);
  const fingerprint = shortHash(JSON.stringify([stamps, notes, sharedStamps]), 32);
  if (indexedFingerprint(state, wikiName) === fingerprint) return;
  const sections = (await readWikiSections(project)).map(buildWikiDocument);
  const ofSections = new Map(sections.map((document) => [document.subject, document])).values();
  const passages = await openPassageDocuments(project);
  const documents = (function* () {
    yield* ofSections;
    yield* passages;
  })();
  updateIndex(state, { connection: wikiName, documents, fingerprint });
}
