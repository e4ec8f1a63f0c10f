import type { DatabaseSync } from 'node:sqlite';
import { shortHash } from '../lib/hash.ts';
import { canonicalJson } from '../lib/json.ts';
import type { State } from '../store/state.ts';
import type { SearchDocument } from './documents.ts';
import { meaningText } from './meanings/meaning-text.ts';
import { indexText, nameKey, plainText } from './words.ts';

/**
 * Creates the tables of the index if they are missing, and drops those of the version before. The
 * suffix of their names is the version of their schema.
 */
export function ensureIndex(db: DatabaseSync): void {
  db.exec(`
    ${['documents', 'terms', 'roots', 'words', 'stems', 'sources'].map((table) => `DROP TABLE IF EXISTS search_${table}_3;`).join(' ')}
    CREATE TABLE IF NOT EXISTS search_documents_4 (
      id INTEGER PRIMARY KEY, connection TEXT NOT NULL, subject TEXT NOT NULL, kind TEXT NOT NULL,
      name_key TEXT NOT NULL, document TEXT NOT NULL, meaning TEXT, UNIQUE (connection, subject));
    CREATE INDEX IF NOT EXISTS search_subjects_4 ON search_documents_4 (subject);
    CREATE INDEX IF NOT EXISTS search_names_4 ON search_documents_4 (name_key);
    CREATE VIRTUAL TABLE IF NOT EXISTS search_words_4 USING fts5 (
      name, synonyms, description, context,
      content='', contentless_delete=1, prefix='2 3', tokenize='unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE IF NOT EXISTS search_stems_4 USING fts5 (
      name, synonyms, description, context, members,
      content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE IF NOT EXISTS search_roots_4 USING fts5vocab ('search_stems_4', 'row');
    CREATE VIRTUAL TABLE IF NOT EXISTS search_terms_4 USING fts5vocab ('search_words_4', 'row');
    CREATE TRIGGER IF NOT EXISTS search_removed_4 AFTER DELETE ON search_documents_4 BEGIN
      DELETE FROM search_words_4 WHERE rowid = old.id; DELETE FROM search_stems_4 WHERE rowid = old.id; END;
    CREATE TRIGGER IF NOT EXISTS search_changed_4 AFTER UPDATE ON search_documents_4 BEGIN
      DELETE FROM search_words_4 WHERE rowid = old.id; DELETE FROM search_stems_4 WHERE rowid = old.id; END;
    CREATE TABLE IF NOT EXISTS search_sources_4 (connection TEXT PRIMARY KEY, fingerprint TEXT NOT NULL);`);
}

/** The fingerprint of the last `updateIndex` of a connection; undefined if there was none. */
export function indexedFingerprint(state: State, connection: string): string | undefined {
  ensureIndex(state.db);
  const row = state.db
    .prepare('SELECT fingerprint FROM search_sources_4 WHERE connection = ?')
    .get(connection);
  return row && String(row['fingerprint']);
}

/** The connections in the index, each with the fingerprint of its last update. */
export function listIndexedSources({ db }: State): readonly unknown[] {
  return db.prepare('SELECT connection, fingerprint FROM search_sources_4 ORDER BY 1').all();
}

interface IndexUpdate {
  readonly connection: string;
  /** All documents of the connection; others are removed from the index. */
  readonly documents: Iterable<SearchDocument>;
  /** Identifies what the documents were made from. */
  readonly fingerprint: string;
}

/**
 * Updates the index of one connection in one transaction. Only documents whose content changed are
 * written.
 */
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
    // A full disk has rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** How many documents are in memory together. */
const writtenTogether = 2000;

function writeDocuments(
  db: DatabaseSync,
  { connection, documents, fingerprint }: IndexUpdate,
): { written: number; removed: number } {
  const write = openDocumentWriter(db, connection);
  const subjects: string[] = [];
  let written = 0;
  let together: SearchDocument[] = [];
  for (const document of documents) {
    subjects.push(document.subject);
    together.push(document);
    if (together.length < writtenTogether) continue;
    written += write(together);
    together = [];
  }
  written += write(together);
  const { changes } = db
    .prepare(
      'DELETE FROM search_documents_4 WHERE connection = ? AND subject NOT IN (SELECT value FROM json_each(?))',
    )
    .run(connection, JSON.stringify(subjects));
  db.prepare('INSERT OR REPLACE INTO search_sources_4 VALUES (?, ?)').run(connection, fingerprint);
  return { written, removed: Number(changes) };
}

/** A function that writes the documents that changed, and returns how many. */
function openDocumentWriter(db: DatabaseSync, connection: string) {
  const writeDocument = db.prepare(
    `INSERT INTO search_documents_4 (connection, subject, kind, name_key, document, meaning)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET kind = excluded.kind, name_key = excluded.name_key,
       document = excluded.document, meaning = excluded.meaning
     WHERE document <> excluded.document RETURNING id`,
  );
  const writeWords = db.prepare(
    'INSERT INTO search_words_4 (rowid, name, synonyms, description, context) VALUES (?, ?, ?, ?, ?)',
  );
  const writeStems = db.prepare(
    'INSERT INTO search_stems_4 (rowid, name, synonyms, description, context, members) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return (documents: readonly SearchDocument[]): number => {
    const changed = documents.flatMap((document) => {
      const { subject, kind, name } = document;
      const texts = [storedForm(document), meaningText(document) ?? null] as const;
      const row = writeDocument.get(connection, subject, kind, nameKey(name), ...texts);
      return row === undefined ? [] : [{ id: Number(row['id']), document }];
    });
    // A loop of its own: FTS5 flushes its buffer whenever another statement of the transaction
    // could be rolled back.
    for (const { id, document } of changed) {
      const { name, synonyms = [], description = '', context = [] } = document;
      writeWords.run(id, ...[[name], synonyms, [description], context].map(indexText));
    }
    for (const { id, document } of changed) {
      const { name, synonyms = [], description = '', context = [], members = [] } = document;
      writeStems.run(id, ...[[name], synonyms, [description], context, members].map(plainText));
    }
    return changed.length;
  };
}

/** Without what nobody reads again: of the members, whether they changed. */
function storedForm({ members, ...document }: SearchDocument): string {
  const stored =
    members === undefined ? document : { ...document, members: [shortHash(members.join('\n'))] };
  return canonicalJson(stored);
}
