import type { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/error.ts';
import { embedWithStore } from '../../llm/embeddings/embed-with-store.ts';
import { cosineOf, unitVector } from '../../llm/embeddings/unit-vector.ts';
import { openVectorStore } from '../../llm/embeddings/vector-store.ts';
import type { KtxEmbeddingPort } from '../../llm/port/embedding.ts';
import type { TableFacts } from '../facts/table-facts.ts';
import type { NameParts } from './parse-name.ts';

/** The vectors of names: `buyer` and `customer` share no letter and mean nearly the same. */
export interface NameMeanings {
  /** Cosine of two names; undefined if one has no words. */
  similarity(a: NameParts, b: NameParts): number | undefined;
}

/** What comparing names by their meaning came to. */
interface NameComparison {
  /** Number of different names. */
  readonly total: number;
  readonly done: number;
  readonly calls: number;
  readonly failure?: UserError | undefined;
}

interface ComparedNames {
  /** Undefined if the names could not be embedded. */
  readonly meanings: NameMeanings | undefined;
  readonly comparison: NameComparison;
}

/** The words of a name, in order, without what only says that it is a key. */
const nameText = ({ entity }: NameParts): string => entity.join(' ');

/**
 * Embeds the names of tables and columns. Names hold no values of the warehouse. Without them the
 * scan goes on as it does without embeddings, and the failure is reported.
 */
export async function compareNames(
  tables: readonly TableFacts[],
  embeddings: KtxEmbeddingPort,
  { db, signal }: { readonly db: DatabaseSync; readonly signal: AbortSignal },
): Promise<ComparedNames> {
  const names = tables.flatMap(({ parts, columns }) => [
    parts,
    ...columns.map((column) => column.parts),
  ]);
  const texts = [...new Set(names.map(nameText))].filter((text) => text !== '').sort();
  const store = openVectorStore(db, embeddings, 'similarity');
  let calls = 0;
  try {
    const vectors = await embedWithStore(embeddings, store, {
      texts: texts.map((text) => ({ text, values: [] })),
      purpose: 'similarity',
      stage: 'names',
      signal,
      onMetrics: ({ apiCalls }) => void (calls += apiCalls),
    });
    const comparison = { total: texts.length, done: texts.length, calls };
    return { meanings: meaningsOf(vectors), comparison };
  } catch (error) {
    if (signal.aborted || !(error instanceof UserError)) throw error;
    return {
      meanings: undefined,
      comparison: { total: texts.length, done: 0, calls, failure: error },
    };
  }
}

function meaningsOf(vectors: ReadonlyMap<string, Float32Array>): NameMeanings {
  const units = new Map([...vectors].map(([text, vector]) => [text, unitVector(vector)]));
  return {
    similarity(a, b) {
      const [first, second] = [units.get(nameText(a)), units.get(nameText(b))];
      if (first === undefined || second === undefined) return undefined;
      return cosineOf(first, second);
    },
  };
}
