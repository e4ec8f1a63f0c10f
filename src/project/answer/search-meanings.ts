import { UserError } from '../../lib/error.ts';
import { formatCount } from '../../lib/format-count.ts';
import { embedWithStore } from '../../llm/embeddings/embed-with-store.ts';
import { openVectorStore } from '../../llm/embeddings/vector-store.ts';
import type { KtxEmbeddingPort } from '../../llm/port/embedding.ts';
import { listIndexedSources } from '../../search/index.ts';
import { embedIndex } from '../../search/meanings/embed-index.ts';
import {
  loadMeaningIndex,
  type MeaningIndex,
  type NearDocument,
} from '../../search/meanings/meaning-index.ts';
import type { State } from '../../store/state.ts';
import type { Project } from '../open/open.ts';

interface FoundMeanings {
  readonly near?: readonly NearDocument[] | undefined;
  /** Why meanings were not compared, or not all of them. */
  readonly lexical?: string | undefined;
}

interface Question {
  readonly text: string;
  readonly signal: AbortSignal;
}

/** A person waits for a search: after this time it answers with what words find. */
const patienceMs = 5000;
/** A search embeds so many new texts itself; what is more waits for the next ingest. */
const fewTexts = 64;

/**
 * What has a near meaning, in a project with embeddings. A provider that is not approved, fails or
 * takes too long leaves the search to its words; the result says so.
 */
export async function findByMeaning(
  project: Project,
  state: State,
  { text, signal }: Question,
): Promise<FoundMeanings> {
  if (project.config.ingest.embeddings === undefined || text.trim() === '') return {};
  if (!(await project.trust.isEmbeddingsApproved()))
    return { lexical: 'the embeddings are not approved on this machine (ktx trust)' };
  const timeout = AbortSignal.timeout(patienceMs);
  try {
    const embeddings = await project.embeddings();
    if (embeddings === undefined) return {};
    try {
      const question = { text, signal: AbortSignal.any([signal, timeout]) };
      return await compareMeanings(project, state, { embeddings, question });
    } finally {
      embeddings.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return { lexical: 'the embeddings took longer than 5 s' };
    if (error instanceof UserError) return { lexical: error.message };
    throw error;
  }
}

async function compareMeanings(
  project: Project,
  state: State,
  { embeddings, question }: { embeddings: KtxEmbeddingPort; question: Question },
): Promise<FoundMeanings> {
  const { text, signal } = question;
  let index = loadIndex(project, state, embeddings);
  if (index.missing > 0 && index.missing <= fewTexts) {
    const { failure } = await embedIndex(state, embeddings, signal);
    if (failure !== undefined) throw failure;
    loaded.delete(project.config);
    index = loadIndex(project, state, embeddings);
  }
  const store = openVectorStore(state.db, embeddings, 'query');
  const vectors = await embedWithStore(embeddings, store, {
    texts: [{ text, values: [] }],
    purpose: 'query',
    stage: 'search',
    signal,
  });
  const vector = vectors.get(text);
  return {
    near: vector === undefined ? [] : index.nearest(vector),
    lexical:
      index.missing === 0
        ? undefined
        : `${formatCount(index.missing, 'text')} have no vector yet (ktx ingest)`,
  };
}

/**
 * A server answers many searches: the vectors are read again only if the index has changed. All
 * views of a project have one configuration, so one index.
 */
const loaded = new WeakMap<
  Project['config'],
  { readonly stamp: string; readonly index: MeaningIndex }
>();

function loadIndex(project: Project, state: State, embeddings: KtxEmbeddingPort): MeaningIndex {
  const stamp = JSON.stringify([embeddings.fingerprint, listIndexedSources(state)]);
  const known = loaded.get(project.config);
  if (known?.stamp === stamp) return known.index;
  const index = loadMeaningIndex(state.db, openVectorStore(state.db, embeddings, 'document'));
  if (index.missing === 0) loaded.set(project.config, { stamp, index });
  return index;
}
