import type { DatabaseSync } from 'node:sqlite';
import { nearest } from '../lib/suggest.ts';
import type { State } from '../store/state.ts';
import { type DocumentKind, documentKinds, type SearchDocument } from './documents.ts';
import { ensureIndex } from './index.ts';
import { nameKey, queryWords, singular } from './words.ts';

export interface SearchOptions {
  /** 1..200, 10 where left out. */
  readonly limit?: number | undefined;
  readonly kinds?: readonly DocumentKind[] | undefined;
  readonly connections?: readonly string[] | undefined;
}

export interface SearchHit extends SearchDocument {
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
}

/**
 * What the text may mean, best first: an exact name, then by words (prefixes, and where a word is unknown its nearest
 * spellings), names above synonyms above descriptions. Total: any text is a valid question. The order is deterministic.
 */
export function search(state: State, text: string, options: SearchOptions = {}): SearchHit[] {
  ensureIndex(state.db);
  const asked = queryWords(text);
  if (asked.length === 0) return [];
  const limit = Math.max(1, Math.min(200, Math.floor(options.limit ?? 10)));
  const keys = askedKeys(text, asked);
  const match = spellings(state.db, asked).join(' OR ');
  return candidates(state.db, { match, keys: [...keys.keys()], take: limit * 4 + 20, options })
    .map(({ document, score, boost, key }) => ({ ...document, score: round(score + boost * (keys.get(key) ?? 0)) }))
    .sort((a, b) => b.score - a.score || kindOrder(a) - kindOrder(b) || compare(a.subject, b.subject))
    .slice(0, limit);
}

/** Name keys that the question spells out, with what an exact hit adds: the whole of it, two words of it, one word. */
function askedKeys(text: string, asked: readonly string[]): Map<string, number> {
  const keys = new Map<string, number>();
  for (const word of asked) for (const form of [singular(word), word]) keys.set(form, 5);
  asked.slice(1).forEach((word, index) => keys.set(`${asked[index]}${word}`, 20));
  keys.set(asked.join(''), 100);
  keys.set(nameKey(text.slice(0, 200)), 100);
  return keys;
}

/** FTS5 terms for each word: what begins with it or its singular; for an unknown word what contains it or is spelled nearly so. */
function spellings(db: DatabaseSync, asked: readonly string[]): string[] {
  const prefix = db.prepare('SELECT term FROM search_terms_1 WHERE term >= ? ORDER BY term LIMIT 1');
  const isKnown = (word: string) => String(prefix.get(word)?.['term'] ?? '').startsWith(word);
  let vocabulary: readonly string[] | undefined;
  return asked.flatMap((word) => {
    const forms = [...new Set([word, singular(word)])];
    const begins = forms.map((form) => `"${form}"*`);
    if (word.length < 3 || word.length > 40 || forms.some(isKnown)) return begins;
    vocabulary ??= db
      .prepare('SELECT term FROM search_terms_1')
      .all()
      .map((row) => String(row['term']));
    return [...begins, ...similar(word, vocabulary).map((term) => `"${term}"`)];
  });
}

function similar(word: string, vocabulary: readonly string[]): string[] {
  const containing = vocabulary.filter((term) => term.includes(word));
  const near = vocabulary.filter((term) => Math.abs(term.length - word.length) <= 2 && sharedPairs(term, word) >= (word.length - 1) * 0.4);
  return [...containing.sort((a, b) => a.length - b.length || compare(a, b)).slice(0, 12), ...nearest(word, near, 4)];
}

function sharedPairs(a: string, b: string): number {
  let shared = 0;
  for (let index = 0; index + 2 <= b.length; index += 1) if (a.includes(b.slice(index, index + 2))) shared += 1;
  return shared;
}

interface Candidate {
  readonly document: SearchDocument;
  readonly score: number;
  readonly boost: number;
  readonly key: string;
}

function candidates(db: DatabaseSync, ask: { match: string; keys: readonly string[]; take: number; options: SearchOptions }): Candidate[] {
  const { kinds = documentKinds, connections } = ask.options;
  const rows = db
    .prepare(
      `SELECT d.document, d.name_key, d.boost, -w.score * d.boost AS score
       FROM (SELECT rowid AS id, bm25(search_words_1, 10.0, 6.0, 1.0, 2.0) AS score FROM search_words_1
             WHERE search_words_1 MATCH :match) AS w
       JOIN search_documents_1 AS d ON d.id = w.id
       WHERE d.kind IN (SELECT value FROM json_each(:kinds)) AND (:connections IS NULL OR d.connection IN (SELECT value FROM json_each(:connections)))
       ORDER BY d.name_key IN (SELECT value FROM json_each(:keys)) DESC, score DESC, d.subject
       LIMIT :take`,
    )
    .all({
      match: ask.match,
      kinds: JSON.stringify(kinds),
      keys: JSON.stringify(ask.keys),
      connections: connections === undefined ? null : JSON.stringify(connections),
      take: ask.take,
    });
  return rows.map((row) => ({
    document: JSON.parse(String(row['document'])) as SearchDocument,
    score: Number(row['score']),
    boost: Number(row['boost']),
    key: String(row['name_key']),
  }));
}

function kindOrder(hit: SearchHit): number {
  return documentKinds.indexOf(hit.kind);
}

function round(score: number): number {
  return Number(score.toPrecision(6));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
