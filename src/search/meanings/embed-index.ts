import { UserError } from '../../lib/error.ts';
import { embedWithStore } from '../../llm/embeddings/embed-with-store.ts';
import { openVectorStore } from '../../llm/embeddings/vector-store.ts';
import type { KtxEmbeddingPort } from '../../llm/port/embedding.ts';
import type { State } from '../../store/state.ts';
import { ensureIndex } from '../index.ts';

/** What became of the texts of the index that have a meaning. */
export interface EmbeddedIndex {
  readonly total: number;
  /** How many have a vector now. */
  readonly done: number;
  /** Requests that reached the provider. */
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

/**
 * Embeds the texts of the index that have no vector yet. A failure of the provider is part of the
 * result: what was embedded before it is kept, and the next call goes on.
 */
export async function embedIndex(
  { db }: State,
  embeddings: KtxEmbeddingPort,
  signal: AbortSignal,
): Promise<EmbeddedIndex> {
  ensureIndex(db);
  const rows = db
    .prepare('SELECT DISTINCT meaning FROM search_documents_4 WHERE meaning IS NOT NULL ORDER BY 1')
    .all();
  const texts = rows.map(({ meaning }) => ({ text: String(meaning), values: [] }));
  const store = openVectorStore(db, embeddings, 'document');
  let calls = 0;
  try {
    await embedWithStore(embeddings, store, {
      texts,
      purpose: 'document',
      stage: 'search',
      signal,
      onMetrics: ({ apiCalls }) => void (calls += apiCalls),
    });
    return { total: texts.length, done: texts.length, calls };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    const done = texts.filter(({ text }) => store.load(text) !== undefined).length;
    return { total: texts.length, done, calls, failure: error };
  }
}
