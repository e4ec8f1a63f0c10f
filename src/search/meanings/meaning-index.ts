import type { DatabaseSync } from 'node:sqlite';
import { cosineOf, unitVector } from '../../llm/embeddings/unit-vector.ts';
import type { VectorStore } from '../../llm/embeddings/vector-store.ts';

/** A document whose text means much the same as a question. */
export interface NearDocument {
  readonly connection: string;
  readonly subject: string;
  /** From 0 to 1, comparable only within one result. */
  readonly likeness: number;
}

/** The vectors of all documents of an index, in memory. */
export interface MeaningIndex {
  /** How many documents have a text and no vector. */
  readonly missing: number;
  /** Nearest first. */
  nearest(question: Float32Array): NearDocument[];
}

/** More add nothing to the first hits. */
const mostNear = 50;

export function loadMeaningIndex(db: DatabaseSync, store: VectorStore): MeaningIndex {
  const rows = db
    .prepare(
      'SELECT connection, subject, meaning FROM search_documents_4 WHERE meaning IS NOT NULL',
    )
    .all();
  const vectors = new Map<string, Float32Array | undefined>();
  const documents = rows.flatMap(({ connection, subject, meaning }) => {
    const text = String(meaning);
    if (!vectors.has(text)) vectors.set(text, loadUnitVector(store, text));
    const vector = vectors.get(text);
    return vector === undefined
      ? []
      : [{ connection: String(connection), subject: String(subject), vector }];
  });
  return {
    missing: rows.length - documents.length,
    nearest(question) {
      const unit = unitVector(question);
      if (unit === undefined || documents.length === 0) return [];
      const cosines = documents.map(({ vector }) => cosineOf(vector, unit));
      const likenesses = standardize(cosines);
      return documents
        .map(({ connection, subject }, index) => {
          return { connection, subject, likeness: likenesses[index] ?? 0 };
        })
        .filter(({ likeness }) => likeness > 0)
        .sort((a, b) => b.likeness - a.likeness || (a.subject < b.subject ? -1 : 1))
        .slice(0, mostNear);
    },
  };
}

/**
 * Each model has cosines of its own for texts that have nothing in common. So a cosine counts by
 * its distance from the mean in standard deviations: nothing up to one, fully from four on.
 */
function standardize(cosines: readonly number[]): readonly number[] {
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  const variance = cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / cosines.length;
  const deviation = Math.sqrt(variance);
  if (deviation < 1e-9) return cosines.map(() => 0);
  return cosines.map((cosine) => Math.min(1, Math.max(0, ((cosine - mean) / deviation - 1) / 3)));
}

function loadUnitVector(store: VectorStore, text: string): Float32Array | undefined {
  const vector = store.load(text);
  return vector && unitVector(vector);
}
