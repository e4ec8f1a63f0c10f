import { createHash } from 'node:crypto';

/** A question of a benchmark, before its SQL has run. */
export interface ImportedQuestion {
  readonly id: string;
  readonly question: string;
  readonly sql: string;
  /** The database that the benchmark names; undefined if it names none. */
  readonly database: string | undefined;
  readonly evidence: string | undefined;
  readonly tags: readonly string[];
}

/** What could not become a case, and why. */
export interface LeftOutQuestion {
  /** Where it stands in the file. */
  readonly what: string;
  readonly why: string;
}

export interface ReadQuestions {
  readonly questions: readonly ImportedQuestion[];
  readonly left: readonly LeftOutQuestion[];
}

/** A text as a part of an id or as a tag: `Real Estate` becomes `real_estate`. */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 60);
}

/** The same for the same question, wherever it stands in its file. */
export function stableId(database: string | undefined, texts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 10);
  return [slugOf(database ?? ''), hash].filter((part) => part !== '').join('-');
}
