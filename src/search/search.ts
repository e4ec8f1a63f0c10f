import type { DatabaseSync } from 'node:sqlite';
import { nearest } from '../lib/suggest.ts';
import type { State } from '../store/state.ts';
import { type DocumentKind, documentKinds, kindWeights, type SearchDocument } from './documents.ts';
import { settleCopies } from './families.ts';
import { ensureIndex } from './index.ts';
import type { NearDocument } from './meanings/meaning-index.ts';
import { stripEndings } from './languages.ts';
import { type IndexWords, type QuestionWords, readQuestion } from './question.ts';
import { nameKey, toSingular } from './words.ts';

export interface SearchOptions {
  /** 1..200. */
  readonly limit?: number | undefined;
  readonly kinds?: readonly DocumentKind[] | undefined;
  readonly connections?: readonly string[] | undefined;
  /** Documents that mean much the same as the text, nearest first. */
  readonly near?: readonly NearDocument[] | undefined;
  /** A lane that is left out, so that its worth can be measured. */
  readonly without?: SearchLane | undefined;
}

/** A way by which a question leads to documents, beside the stems of its words. */
type SearchLane = 'weak words' | 'languages' | 'related words' | 'copies';

export interface SearchHit extends SearchDocument {
  /** Higher is better; comparable only within one result. */
  readonly score: number;
}

/**
 * Searches the index, best match first: exact names, then words and their prefixes, then words of
 * the same stem; an unknown word matches its nearest spellings. Words of other languages and for
 * the same thing count less, and least those that only say when or how many. What has a near
 * meaning counts as well, and what a page or a term is about counts as found with it. Steps of a
 * transformation give way to the best of them. Any text is valid. The order is stable.
 */
export function searchIndex(
  { db }: State,
  text: string,
  { limit = 10, kinds = documentKinds, connections, near = [], without }: SearchOptions = {},
): SearchHit[] {
  ensureIndex(db);
  const words = withoutLane(readQuestion(text, readIndexWords(db)), without);
  if (words.strong.length === 0) return searchLiteral(db, text, { limit, kinds, connections });
  const candidates = findDocuments(db, text, words);
  addNear(db, candidates, near);
  spreadAlongRefs(db, candidates);
  const isWanted = ({ document: { kind, connection } }: FoundDocument) =>
    kinds.includes(kind) && (connections?.includes(connection) ?? true);
  const scored = [...candidates.values()].filter(isWanted).map(({ document, score }) => {
    const { kind, prior = 1 } = document;
    return { ...document, score: Number((score * kindWeights[kind] * prior).toPrecision(6)) };
  });
  const settled = without === 'copies' ? scored : settleCopies(scored);
  return settled
    .toSorted((a, b) => b.score - a.score || (a.subject < b.subject ? -1 : 1))
    .slice(0, Math.max(1, Math.min(200, Math.floor(limit))));
}

function withoutLane(words: QuestionWords, lane: SearchLane | undefined): QuestionWords {
  if (lane === 'weak words') return { ...words, weak: [] };
  if (lane === 'languages') return { ...words, forms: [], translated: [] };
  return lane === 'related words' ? { ...words, related: [] } : words;
}

interface FoundDocument {
  readonly document: SearchDocument;
  /** The part of the score that comes from words, without that of an exact name. */
  readonly rank: number;
  score: number;
}

type FoundDocuments = Map<string, FoundDocument>;

/** Enough that weights and priors cannot lift what is left out to the first hits. */
const mostFound = 300;

function findDocuments(db: DatabaseSync, text: string, words: QuestionWords): FoundDocuments {
  const ranks = new Map<number, number>();
  for (const { match, table, share } of wordLanes(db, words))
    for (const { id, rank } of db.prepare(laneQueries[table]).all(match, mostFound))
      ranks.set(Number(id), (ranks.get(Number(id)) ?? 0) + share * Number(rank));
  const boosts = nameBoosts(text, words);
  const rows = db
    .prepare(
      `SELECT id, name_key, connection, subject, document FROM search_documents_4
       WHERE id IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify([...ranks.keys()]));
  return new Map(
    rows.map(({ id, name_key: key, connection, subject, document }) => {
      const rank = ranks.get(Number(id)) ?? 0;
      const score = rank + (boosts.get(String(key)) ?? 0);
      const found = { document: parseDocument(document), rank, score };
      return [candidateKey(String(connection), String(subject)), found];
    }),
  );
}

const laneQueries = {
  words: `SELECT rowid AS id, -bm25(search_words_4, 10.0, 6.0, 1.0, 2.0) AS rank FROM search_words_4
    WHERE search_words_4 MATCH ? ORDER BY rank DESC LIMIT ?`,
  stems: `SELECT rowid AS id, -bm25(search_stems_4, 8.0, 6.0, 3.0, 1.5, 1.5) AS rank FROM search_stems_4
    WHERE search_stems_4 MATCH ? ORDER BY rank DESC LIMIT ?`,
} as const;

interface WordLane {
  readonly table: keyof typeof laneQueries;
  /** A query of FTS5. */
  readonly match: string;
  /** What a match counts. */
  readonly share: number;
}

function wordLanes(db: DatabaseSync, words: QuestionWords): readonly WordLane[] {
  const { strong, forms, weak, translated, related } = words;
  const lanes: readonly WordLane[] = [
    // Spelling finds beginnings of words and misspelt ones; stems say what a text is about.
    { table: 'words', share: 0.25, match: matchTerms(db, strong).join(' OR ') },
    { table: 'stems', share: 1, match: anyOf([...strong, ...forms]) },
    { table: 'stems', share: weakShare, match: anyOf(weak) },
    { table: 'stems', share: translatedShare, match: anyOf(translated) },
    { table: 'stems', share: relatedShare, match: anyOf(related) },
  ];
  return lanes.filter(({ match }) => match !== '');
}

const weakShare = 0.3;
/** What the same thing is called in another language. */
const translatedShare = 0.6;
/** Words that mean much the same, see `synonyms.txt`. */
const relatedShare = 0.45;

/** As `updateIndex` stores it. */
function parseDocument(stored: unknown): SearchDocument {
  return { ...(JSON.parse(String(stored)) as SearchDocument), members: undefined };
}

function readIndexWords(db: DatabaseSync): IndexWords {
  const findName = db.prepare(
    'SELECT 1 FROM search_documents_4 WHERE name_key IN (?, ?, ?) LIMIT 1',
  );
  const findForms = db.prepare(
    'SELECT term FROM search_terms_4 WHERE term >= ? AND term < ? LIMIT 200',
  );
  return {
    // What is the name of something needs no other words for it.
    isName: (word) => findName.get(word, toSingular(word), `${word}s`) !== undefined,
    formsOf(word) {
      const stem = stripEndings(word);
      const terms = findForms.all(stem, `${stem}\uffff`).map(({ term }) => String(term));
      return terms.filter((term) => stripEndings(term) === stem);
    },
  };
}

/** A query of FTS5; empty for no words. */
function anyOf(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' OR ');
}

function candidateKey(connection: string, subject: string): string {
  return `${connection} ${subject}`;
}

/** What the nearest meaning counts, beside the best match by words. */
const nearShare = 0.8;

/** Adds the documents of a near meaning. Without any match by words they alone decide. */
function addNear(
  db: DatabaseSync,
  candidates: FoundDocuments,
  near: readonly NearDocument[],
): void {
  const best = Math.max(1, ...[...candidates.values()].map(({ rank }) => rank));
  const find = db.prepare(
    'SELECT document FROM search_documents_4 WHERE connection = ? AND subject = ?',
  );
  near.forEach(({ connection, subject, likeness }, index) => {
    const share = (best * nearShare * likeness) / (1 + index / 10);
    const key = candidateKey(connection, subject);
    const known = candidates.get(key);
    if (known !== undefined) known.score += share;
    else {
      const row = find.get(connection, subject);
      if (row !== undefined)
        candidates.set(key, { document: parseDocument(row['document']), rank: 0, score: share });
    }
  });
}

/** What a text that names several subjects gives to each of them. */
const refShare = 0.9;

/** Adds the score of pages and terms to the subjects that they are about. */
function spreadAlongRefs(db: DatabaseSync, candidates: FoundDocuments): void {
  const find = db.prepare('SELECT document FROM search_documents_4 WHERE subject = ?');
  const best = new Map<string, number>();
  for (const { document, score } of candidates.values()) {
    const { refs = [] } = document;
    for (const ref of refs)
      best.set(ref, Math.max(best.get(ref) ?? 0, (score * refShare) / Math.sqrt(refs.length)));
  }
  const strongest = [...best].toSorted(([, a], [, b]) => b - a).slice(0, 100);
  for (const [subject, share] of strongest)
    for (const row of find.all(subject)) {
      const document = parseDocument(row['document']);
      const key = candidateKey(document.connection, subject);
      const known = candidates.get(key);
      if (known === undefined) candidates.set(key, { document, rank: 0, score: share });
      else known.score += share;
    }
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
      'SELECT document FROM search_documents_4 WHERE instr(document, ?) > 0 ORDER BY subject',
    )
    .all(literal);
  const matches = rows
    .map(({ document }) => parseDocument(document))
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
function nameBoosts(
  text: string,
  { strong, forms, weak, translated, related }: QuestionWords,
): ReadonlyMap<string, number> {
  const single = strong.flatMap((word) => [toSingular(word), word]);
  const pairs = strong.slice(1).map((word, index) => `${strong[index]}${word}`);
  const whole = [strong.join(''), nameKey(text.slice(0, 200))];
  return new Map([
    ...weak.map((key) => [key, 1] as const),
    // Two words for one thing count almost as one: turnover is revenue.
    ...[...related, ...translated, ...forms].map((key) => [key, 4] as const),
    ...single.map((key) => [key, 5] as const),
    ...pairs.map((key) => [key, 20] as const),
    ...whole.map((key) => [key, 100] as const),
  ]);
}

/**
 * FTS5 terms for each word: its prefix and that of its singular; for an unknown word also similar
 * terms of the index.
 */
function matchTerms(db: DatabaseSync, words: readonly string[]): string[] {
  const prefix = db.prepare(
    'SELECT term FROM search_terms_4 WHERE term >= ? ORDER BY term LIMIT 1',
  );
  const isKnown = (word: string) => String(prefix.get(word)?.['term'] ?? '').startsWith(word);
  let vocabulary: readonly string[] | undefined;
  return words.flatMap((word) => {
    const forms = [...new Set([word, toSingular(word)])];
    const begins = forms.map((form) => `"${form}"*`);
    if (word.length < 3 || word.length > 40 || forms.some(isKnown)) return begins;
    vocabulary ??= readVocabulary(db);
    return [...begins, ...similarTerms(word, vocabulary).map((term) => `"${term}"`)];
  });
}

function readVocabulary(db: DatabaseSync): readonly string[] {
  const [row] = db.prepare("SELECT group_concat(term, ' ') AS terms FROM search_terms_4").all();
  return String(row?.['terms'] ?? '').split(' ');
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
