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
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
}

/**
 * What the text may mean, best first: an exact name, then by words (prefixes, and where a word is unknown its nearest
 * spellings), names above synonyms above descriptions. Total: any text is a valid question. The order is deterministic.
 */
export function searchIndex(
  { db }: State,
  text: string,
  { limit = 10, kinds = documentKinds, connections }: SearchOptions = {},
): SearchHit[] {
  ensureIndex(db);
  const asked = queryWords(text);
  if (asked.length === 0) return searchLiteral(db, text, { limit, kinds, connections });
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
      names: JSON.stringify(nameBoosts(text, asked)),
      words: matchTerms(db, asked).join(' OR '),
      connections: connections === undefined ? null : JSON.stringify(connections),
      limit: Math.max(1, Math.min(200, Math.floor(limit))),
    });
  return rows.map(({ document, score }) => {
    const found = JSON.parse(String(document)) as SearchDocument;
    return { ...found, score: Number(Number(score).toPrecision(6)) };
  });
}

/** Of a text without a word, an emoji say: what has it in its name, its synonyms, or what is said of it. */
function searchLiteral(
  db: DatabaseSync,
  text: string,
  { limit = 10, kinds = documentKinds, connections }: SearchOptions,
): SearchHit[] {
  const sign = text.trim();
  if (sign === '') return [];
  const rows = db
    .prepare(
      'SELECT document FROM search_documents_2 WHERE instr(document, ?) > 0 ORDER BY subject',
    )
    .all(sign);
  const found = rows
    .map(({ document }) => JSON.parse(String(document)) as SearchDocument)
    .filter((document) => {
      const texts = [
        document.name,
        document.description ?? '',
        ...(document.synonyms ?? []),
        ...(document.context ?? []),
      ];
      const isAsked =
        kinds.includes(document.kind) && (connections?.includes(document.connection) ?? true);
      return isAsked && texts.some((one) => one.includes(sign));
    });
  return found
    .slice(0, Math.max(1, Math.min(200, limit)))
    .map((document) => ({ ...document, score: kindWeights[document.kind] }));
}

/** Keys of the names that the question spells out, with what an exact hit adds: the whole of it, two words of it, one word. */
function nameBoosts(text: string, asked: readonly string[]): Readonly<Record<string, number>> {
  const single = asked.flatMap((word) => [toSingular(word), word]);
  const pairs = asked.slice(1).map((word, index) => `${asked[index]}${word}`);
  const whole = [asked.join(''), nameKey(text.slice(0, 200))];
  const worth = [
    single.map((key) => [key, 5]),
    pairs.map((key) => [key, 20]),
    whole.map((key) => [key, 100]),
  ];
  return Object.fromEntries(worth.flat());
}

/** FTS5 terms for each word: what begins with it or its singular; for an unknown word what contains it or is spelled nearly so. */
function matchTerms(db: DatabaseSync, asked: readonly string[]): string[] {
  const prefix = db.prepare(
    'SELECT term FROM search_terms_2 WHERE term >= ? ORDER BY term LIMIT 1',
  );
  const isKnown = (word: string) => String(prefix.get(word)?.['term'] ?? '').startsWith(word);
  let vocabulary: readonly string[] | undefined;
  return asked.flatMap((word) => {
    const forms = [...new Set([word, toSingular(word)])];
    const begins = forms.map((form) => `"${form}"*`);
    if (word.length < 3 || word.length > 40 || forms.some(isKnown)) return begins;
    vocabulary ??= Array.from(db.prepare('SELECT term FROM search_terms_2').iterate(), (row) =>
      String(row['term']),
    );
    return [...begins, ...similarTerms(word, vocabulary).map((term) => `"${term}"`)];
  });
}

/** The shortest terms that contain the word, and the terms nearest to it among those that share enough pairs of letters with it. */
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
