import type { DatabaseSync } from 'node:sqlite';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import type { State } from '../store/state.ts';
import type { DocumentKind, SearchDocument } from './documents.ts';
import { indexText, nameKey } from './words.ts';

/** How much a kind counts beside an equally good match of another kind: what a person wrote above what a database has. */
const boosts: Readonly<Record<DocumentKind, number>> = {
  metric: 1.6,
  dataset: 1.5,
  segment: 1.2,
  field: 1,
  table: 0.9,
  relationship: 0.8,
  column: 0.6,
};

/** Makes the tables of the index where they are missing. The suffix is the version of their shape. */
export function ensureIndex(db: DatabaseSync): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS search_documents_1 (
      id INTEGER PRIMARY KEY, connection TEXT NOT NULL, subject TEXT NOT NULL, hash TEXT NOT NULL, kind TEXT NOT NULL,
      name_key TEXT NOT NULL, boost REAL NOT NULL, document TEXT NOT NULL, UNIQUE (connection, subject));
    CREATE INDEX IF NOT EXISTS search_names_1 ON search_documents_1 (name_key);
    CREATE VIRTUAL TABLE IF NOT EXISTS search_words_1 USING fts5 (
      name, synonyms, description, context,
      content='', contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE IF NOT EXISTS search_terms_1 USING fts5vocab ('search_words_1', 'row');
    CREATE TABLE IF NOT EXISTS search_sources_1 (connection TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);`);
}

/** What `updateIndex` was last told that the documents of a connection were made from; undefined where never. */
export function indexedFingerprint(state: State, connection: string): string | undefined {
  ensureIndex(state.db);
  const row = state.db.prepare('SELECT fingerprint FROM search_sources_1 WHERE connection = ?').get(connection);
  return typeof row?.['fingerprint'] === 'string' ? row['fingerprint'] : undefined;
}

export interface IndexUpdate {
  readonly connection: string;
  /** All documents of the connection: what is indexed and not among them is removed. */
  readonly documents: Iterable<SearchDocument>;
  readonly fingerprint: string;
}

/** Brings the index of one connection up to date; writes only documents whose content changed, in one transaction. */
export function updateIndex(state: State, update: IndexUpdate): { written: number; removed: number } {
  const { db } = state;
  ensureIndex(db);
  db.exec('BEGIN IMMEDIATE');
  try {
    const known = knownDocuments(db, update.connection);
    const write = documentWriter(db);
    const remove = documentRemover(db);
    let written = 0;
    for (const [subject, document] of new Map(Array.from(update.documents, (each) => [each.subject, each]))) {
      const text = canonicalJson(document);
      const hash = shortHash(text, 16);
      const before = known.get(subject);
      known.delete(subject);
      if (before?.hash === hash) continue;
      if (before !== undefined) remove(before.id);
      write(document, { text, hash });
      written += 1;
    }
    for (const { id } of known.values()) remove(id);
    db.prepare('INSERT OR REPLACE INTO search_sources_1 VALUES (?, ?)').run(update.connection, update.fingerprint);
    db.exec('COMMIT');
    return { written, removed: known.size };
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function knownDocuments(db: DatabaseSync, connection: string): Map<string, { id: number; hash: string }> {
  const rows = db.prepare('SELECT subject, id, hash FROM search_documents_1 WHERE connection = ?').all(connection);
  return new Map(rows.map((row) => [String(row['subject']), { id: Number(row['id']), hash: String(row['hash']) }]));
}

function documentWriter(db: DatabaseSync) {
  const row = db.prepare(
    `INSERT INTO search_documents_1 (connection, subject, hash, kind, name_key, boost, document) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const text = db.prepare('INSERT INTO search_words_1 (rowid, name, synonyms, description, context) VALUES (?, ?, ?, ?, ?)');
  return (document: SearchDocument, content: { text: string; hash: string }): void => {
    const { connection, subject, kind, name } = document;
    const { lastInsertRowid } = row.run(
      connection, subject, content.hash, kind, nameKey(name), boosts[kind], content.text,
    ); // prettier-ignore
    text.run(
      lastInsertRowid,
      indexText([name]),
      indexText(document.synonyms ?? []),
      indexText([document.description ?? '']),
      indexText(document.context ?? []),
    );
  };
}

function documentRemover(db: DatabaseSync) {
  const row = db.prepare('DELETE FROM search_documents_1 WHERE id = ?');
  const text = db.prepare('DELETE FROM search_words_1 WHERE rowid = ?');
  return (id: number): void => {
    row.run(id);
    text.run(id);
  };
}
