import type { DatabaseSync } from 'node:sqlite';
import { canonicalJson } from '../lib/json.ts';
import type { State } from '../store/state.ts';
import type { SearchDocument } from './documents.ts';
import { indexText, nameKey } from './words.ts';

/** Makes the tables of the index where they are missing. The suffix is the version of their shape. */
export function ensureIndex(db: DatabaseSync): void {
  db.exec(`
    CREATE TABLE IF NOT EXISTS search_documents_2 (
      id INTEGER PRIMARY KEY, connection TEXT NOT NULL, subject TEXT NOT NULL, kind TEXT NOT NULL,
      name_key TEXT NOT NULL, document TEXT NOT NULL, UNIQUE (connection, subject));
    CREATE VIRTUAL TABLE IF NOT EXISTS search_words_2 USING fts5 (
      name, synonyms, description, context,
      content='', contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE IF NOT EXISTS search_terms_2 USING fts5vocab ('search_words_2', 'row');
    CREATE TRIGGER IF NOT EXISTS search_removed_2 AFTER DELETE ON search_documents_2 BEGIN
      DELETE FROM search_words_2 WHERE rowid = old.id; END;
    CREATE TRIGGER IF NOT EXISTS search_changed_2 AFTER UPDATE ON search_documents_2 BEGIN
      DELETE FROM search_words_2 WHERE rowid = old.id; END;
    CREATE TABLE IF NOT EXISTS search_sources_2 (connection TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);`);
}

/** What `updateIndex` was last told that the documents of a connection were made from; undefined where never. */
export function indexedFingerprint(state: State, connection: string): string | undefined {
  ensureIndex(state.db);
  const row = state.db
    .prepare('SELECT fingerprint FROM search_sources_2 WHERE connection = ?')
    .get(connection);
  return row && String(row['fingerprint']);
}

interface IndexUpdate {
  readonly connection: string;
  /** All documents of the connection: what is indexed and not among them is removed. */
  readonly documents: readonly SearchDocument[];
  readonly fingerprint: string;
}

/** Brings the index of one connection up to date; writes only documents whose content changed, in one transaction. */
export function updateIndex(
  { db }: State,
  update: IndexUpdate,
): { written: number; removed: number } {
  ensureIndex(db);
  db.exec('BEGIN IMMEDIATE');
  try {
    const changes = writeDocuments(db, update);
    db.exec('COMMIT');
    return changes;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

function writeDocuments(
  db: DatabaseSync,
  { connection, documents, fingerprint }: IndexUpdate,
): { written: number; removed: number } {
  const writeDocument = db.prepare(
    `INSERT INTO search_documents_2 (connection, subject, kind, name_key, document) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET kind = excluded.kind, name_key = excluded.name_key, document = excluded.document
     WHERE document <> excluded.document RETURNING id`,
  );
  const writeWords = db.prepare(
    'INSERT INTO search_words_2 (rowid, name, synonyms, description, context) VALUES (?, ?, ?, ?, ?)',
  );
  const changed = documents.flatMap((document) => {
    const { subject, kind, name } = document;
    const row = writeDocument.get(
      connection,
      subject,
      kind,
      nameKey(name),
      canonicalJson(document),
    );
    return row === undefined ? [] : [{ id: Number(row['id']), document }];
  });
  // Apart from the documents: FTS5 flushes what it holds whenever another statement in the transaction may have to be undone.
  for (const { id, document } of changed) {
    const { name, synonyms = [], description = '', context = [] } = document;
    writeWords.run(id, ...[[name], synonyms, [description], context].map(indexText));
  }
  const subjects = JSON.stringify(documents.map(({ subject }) => subject));
  const { changes } = db
    .prepare(
      'DELETE FROM search_documents_2 WHERE connection = ? AND subject NOT IN (SELECT value FROM json_each(?))',
    )
    .run(connection, subjects);
  db.prepare('INSERT OR REPLACE INTO search_sources_2 VALUES (?, ?)').run(connection, fingerprint);
  return { written: changed.length, removed: Number(changes) };
}
