import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { OpenSource } from '../../sources/registry.ts';
import type { FetchMemory, Item } from '../../sources/source.ts';
import { shortHash } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { hashItem } from './item-files.ts';

/** A fetch memory that the pipeline fills. */
export interface RecordingMemory extends FetchMemory {
  /** The item that an interrupted run read and did not publish; undefined if the project has it. */
  unpublished(key: string): Item | undefined;
  /**
   * Records the version of an object that was read, with an empty body if it has no content; on
   * disk when the call returns.
   */
  record(item: Item, stamp: string): void;
}

interface MemoryOptions {
  readonly connection: string;
  readonly source: Pick<OpenSource, 'extractor' | 'inThread'>;
  /** The items that the project has. */
  readonly stored: readonly Item[];
}

interface KnownVersion {
  readonly stamp: string;
  readonly hash: string;
  readonly readAt: number;
  readonly isUnpublished: boolean;
}

/**
 * Which version of each object the project has, in `state.db`, and the bodies of those that no run
 * has published yet. Counts only for the same configuration and the same extractor: another one may
 * read other things in the same version.
 */
export function openFetchMemory(
  db: DatabaseSync,
  { connection, source, stored }: MemoryOptions,
): RecordingMemory {
  db.exec(createTable);
  const fingerprint = shortHash(canonicalJson([source.extractor, source.inThread ?? null]), 16);
  db.prepare('DELETE FROM fetched_objects WHERE connection = ? AND fingerprint <> ?').run(
    connection,
    fingerprint,
  );
  const hashes = new Map(stored.map((item) => [item.key, hashItem(item)]));
  const unrecorded = unrecordedMemory(stored);
  dropPublishedBodies(db, connection, hashes);
  const known = readVersions(db, connection);
  const insert = db.prepare(
    'INSERT OR REPLACE INTO fetched_objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const select = db.prepare(
    'SELECT path, body FROM fetched_objects WHERE connection = ? AND key = ?',
  );
  return {
    keys: new Set(hashes.keys()),
    has: (key, body) => unrecorded.has(key, body),
    isKnown: (key, { stamp, maxAge }) => {
      const version = known.get(key);
      if (version?.stamp !== stamp || version.readAt < Date.now() - maxAge) return false;
      return version.isUnpublished || (hashes.get(key) ?? emptyHash) === version.hash;
    },
    unpublished: (key) =>
      known.get(key)?.isUnpublished === true ? readItem(select, connection, key) : undefined,
    record: (item, stamp) => {
      const { key, path, body } = item;
      const hash = hashItem(item);
      const unpublished = body === '' || hashes.get(key) === hash ? null : body;
      insert.run(connection, fingerprint, key, stamp, path, hash, unpublished, Date.now());
    },
  };
}

const emptyHash = hashItem({ body: '' });

const createTable = `CREATE TABLE IF NOT EXISTS fetched_objects (
  connection TEXT NOT NULL, fingerprint TEXT NOT NULL, key TEXT NOT NULL, stamp TEXT NOT NULL,
  path TEXT NOT NULL, hash TEXT NOT NULL, body TEXT, read_at INTEGER NOT NULL,
  PRIMARY KEY (connection, key)) STRICT`;

function dropPublishedBodies(
  db: DatabaseSync,
  connection: string,
  hashes: ReadonlyMap<string, string>,
): void {
  const drop = db.prepare(
    'UPDATE fetched_objects SET body = NULL WHERE connection = ? AND key = ?',
  );
  const rows = db
    .prepare('SELECT key, hash FROM fetched_objects WHERE connection = ? AND body IS NOT NULL')
    .all(connection);
  for (const { key, hash } of rows) {
    if (hashes.get(String(key)) === hash) drop.run(connection, String(key));
  }
}

function readVersions(db: DatabaseSync, connection: string): ReadonlyMap<string, KnownVersion> {
  const rows = db
    .prepare(
      'SELECT key, stamp, hash, read_at, body IS NOT NULL AS waiting FROM fetched_objects WHERE connection = ?',
    )
    .all(connection);
  return new Map(
    rows.map(({ key, stamp, hash, read_at: readAt, waiting }) => [
      String(key),
      {
        stamp: String(stamp),
        hash: String(hash),
        readAt: Number(readAt),
        isUnpublished: waiting === 1,
      },
    ]),
  );
}

function readItem(select: StatementSync, connection: string, key: string): Item | undefined {
  const row = select.get(connection, key);
  return row && { key, path: String(row['path']), body: String(row['body']) };
}

/** For a fetch that records nothing: every body is asked for. */
export function unrecordedMemory(stored: readonly Item[]): FetchMemory {
  const bodies = new Map(stored.map(({ key, body }) => [key, body]));
  const has = (key: string, body: string) => bodies.get(key) === body;
  return { keys: new Set(bodies.keys()), has, isKnown: () => false };
}
