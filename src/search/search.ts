import type { DatabaseSync } from 'node:sqlite';
import { nearest } from '../lib/suggest.ts';
import type { State } from '../store/state.ts';
import { type DocumentKind, documentKinds, kindWeights, type SearchDocument } from './documents.ts';
import { ensureIndex } from './index.ts';
import { nameKey, queryWords, toSingular } from './words.ts';

export interface SearchOptions {
  /** 1..200. */
  readonly limit?: number | undefined;
  readonly kinds?: readonly DocumentKind[] | undefined;
  readonly connections?: readonly string[] | undefined;
}

export interface SearchHit extends SearchDocument {
  /** Higher is better; comparable only within one result. */
  readonly score: number;
}

/**
 * Searches the index, best match first: exact names, then words and their prefixes; an unknown word
 * matches its nearest spellings. Names count more than synonyms, synonyms more than descriptions.
 * Any text is valid. The order is stable.
 */
export function searchIndex(
  { db }: State,
  text: string,
  { limit = 10, kinds = documentKinds, connections }: SearchOptions = {},
): SearchHit[] {
  ensureIndex(db);
  const words = queryWords(text);
  if (words.length === 0) return searchLiteral(db, text, { limit, kinds, connections });
  const rows = db
    .prepare(
      `WITH weights AS MATERIALIZED (SELECT key AS kind, value AS weight FROM json_each(:kinds)),
            names AS MATERIALIZED (SELECT key AS name_key, value AS worth FROM json_each(:names)),
            found AS MATERIALIZED (
              SELECT rowid AS id, bm25(search_words_2, 10.0, 6.0, 1.0, 2.0) AS rank FROM search_words_2 WHERE search_words_2 MATCH :words)
       SELECT document, weight * (coalesce(worth, 0) - rank) AS score
       FROM found JOIN search_documents_2 USING (id) JOIN weights USING (kind) LEFT JOIN names USING (name_key)
       WHERE :connections IS NULL OR connection IN (SELECT value FROM json_each(:connections))
       ORDER BY score DESC, subject LIMIT :limit`,
    )
    .all({
      kinds: JSON.stringify(Object.fromEntries(kinds.map((kind) => [kind, kindWeights[kind]]))),
      names: JSON.stringify(nameBoosts(text, words)),
      words: matchTerms(db, words).join(' OR '),
      connections: connections === undefined ? null : JSON.stringify(connections),
      limit: Math.max(1, Math.min(200, Math.floor(limit))),
    });
  return rows.map(({ document, score }) => {
    const hit = JSON.parse(String(document)) as SearchDocument;
    return { ...hit, score: Number(Number(score).toPrecision(6)) };
  });
}

/**
 * Finds a text that has no word in it, such as an emoji, literally in names, synonyms, descriptions
 * and context.
 */
function searchLiteral(
  db: DatabaseSync,
  text: string,
  { limit = 10, kinds = documentKinds, connections }: SearchOptions,
): SearchHit[] {
  const literal = text.trim();
  if (literal === '') return [];
  const rows = db
    .prepare(
      'SELECT document FROM search_documents_2 WHERE instr(document, ?) > 0 ORDER BY subject',
    )
    .all(literal);
  const matches = rows
    .map(({ document }) => JSON.parse(String(document)) as SearchDocument)
    .filter((document) => {
      const texts = [
        document.name,
        document.description ?? '',
        ...(document.synonyms ?? []),
        ...(document.context ?? []),
      ];
      const isWanted =
        kinds.includes(document.kind) && (connections?.includes(document.connection) ?? true);
      return isWanted && texts.some((field) => field.includes(literal));
    });
  return matches
    .slice(0, Math.max(1, Math.min(200, limit)))
    .map((document) => ({ ...document, score: kindWeights[document.kind] }));
}

/**
 * The score that an exact name adds, by name key: for the whole text, two adjacent words, or one
 * word of it.
 */
function nameBoosts(text: string, words: readonly string[]): Readonly<Record<string, number>> {
  const single = words.flatMap((word) => [toSingular(word), word]);
  const pairs = words.slice(1).map((word, index) => `${words[index]}${word}`);
  const whole = [words.join(''), nameKey(text.slice(0, 200))];
  const boosts = [
    single.map((key) => [key, 5]),
    pairs.map((key) => [key, 20]),
    whole.map((key) => [key, 100]),
  ];
  return Object.fromEntries(boosts.flat());
}

/**
 * FTS5 terms for each word: its prefix and that of its singular; for an unknown word also similar
 * terms of the index.
 */
function matchTerms(db: DatabaseSync, words: readonly string[]): string[] {
  const prefix = db.prepare(
    'SELECT term FROM search_terms_2 WHERE term >= ? ORDER BY term LIMIT 1',
  );
  const isKnown = (word: string) => String(prefix.get(word)?.['term'] ?? '').startsWith(word);
  let vocabulary: readonly string[] | undefined;
  return words.flatMap((word) => {
    const forms = [...new Set([word, toSingular(word)])];
    const begins = forms.map((form) => `"${form}"*`);
    if (word.length < 3 || word.length > 40 || forms.some(isKnown)) return begins;
    vocabulary ??= Array.from(db.prepare('SELECT term FROM search_terms_2').iterate(), (row) =>
      String(row['term']),
    );
    return [...begins, ...similarTerms(word, vocabulary).map((term) => `"${term}"`)];
  });
}

/**
 * The shortest terms that contain the word, and the nearest of those that share at least 40 % of
 * its letter pairs.
 */
function similarTerms(word: string, vocabulary: readonly string[]): string[] {
  const containing = vocabulary
    .filter((term) => term.includes(word))
    .sort((a, b) => a.length - b.length);
  const pairs = Array.from({ length: word.length - 1 }, (_, index) => word.slice(index, index + 2));
  const sharesPairs = (term: string) =>
    pairs.filter((pair) => term.includes(pair)).length >= pairs.length * 0.4;
  const near = vocabulary.filter(
    (term) => Math.abs(term.length - word.length) <= 2 && sharesPairs(term),
  );
  return [...containing.slice(0, 12), ...nearest(word, near, 4)];
}
