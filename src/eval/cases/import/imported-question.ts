import { slug } from '../../../context/catalog/slug.ts';
import { shortHash } from '../../../lib/hash.ts';

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

/** The longest id of a case, as the schema of question sets has it. */
const longestId = 100;

/** An id or a tag of the parts, such as `schools-12`; valid whatever the parts are. */
export function toId(...parts: readonly string[]): string {
  const id = parts
    .map(slug)
    .join('-')
    .replace(/^[_-]+/, '');
  if (id !== '' && id.length <= longestId) return id;
  return `${id === '' ? 'x' : `${id.slice(0, 80)}-`}${shortHash(JSON.stringify(parts), 10)}`;
}

/** The same for the same question, wherever it stands in its file. */
export function stableId(database: string | undefined, texts: readonly string[]): string {
  const hash = shortHash(JSON.stringify(texts), 10);
  return database === undefined ? hash : toId(database, hash);
}
