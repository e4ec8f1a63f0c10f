import type { DatabaseSync } from 'node:sqlite';
import type { Measured } from './measure.ts';
import type { TableProfile } from './profile.ts';

/** What earlier scans measured, in `.ktx/state.db`: profiles by table, exact measurements by their statement and table versions. */
export interface ScanStore {
  profile(table: string): StoredProfile | undefined;
  saveProfile(table: string, profile: StoredProfile): void;
  measured(key: string): Measured | undefined;
  remember(key: string, measured: Measured): void;
  /** Forgets tables that are gone and measurements that this scan did not ask for. */
  prune(tables: ReadonlySet<string>): void;
}

export interface StoredProfile {
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly profile: TableProfile;
}

export function openScanStore(db: DatabaseSync, connection: string): ScanStore {
  db.exec(`
    CREATE TABLE IF NOT EXISTS scan_profile (connection TEXT, name TEXT, hash TEXT, at INTEGER, profile TEXT, PRIMARY KEY (connection, name));
    CREATE TABLE IF NOT EXISTS scan_measurement (connection TEXT, key TEXT, measured TEXT, PRIMARY KEY (connection, key));
  `);
  const used = new Set<string>();
  return {
    profile(table) {
      const row = db.prepare('SELECT hash, at, profile FROM scan_profile WHERE connection = ? AND name = ?').get(connection, table);
      return row === undefined ? undefined : { hash: String(row['hash']), at: Number(row['at']), profile: JSON.parse(String(row['profile'])) };
    },
    saveProfile(table, { hash, at, profile }) {
      db.prepare('INSERT OR REPLACE INTO scan_profile VALUES (?, ?, ?, ?, ?)').run(connection, table, hash, at, JSON.stringify(profile));
    },
    measured(key) {
      used.add(key);
      const row = db.prepare('SELECT measured FROM scan_measurement WHERE connection = ? AND key = ?').get(connection, key);
      return row === undefined ? undefined : JSON.parse(String(row['measured']));
    },
    remember(key, measured) {
      db.prepare('INSERT OR REPLACE INTO scan_measurement VALUES (?, ?, ?)').run(connection, key, JSON.stringify(measured));
    },
    prune(tables) {
      for (const { name } of db.prepare('SELECT name FROM scan_profile WHERE connection = ?').all(connection)) {
        if (!tables.has(String(name))) db.prepare('DELETE FROM scan_profile WHERE connection = ? AND name = ?').run(connection, String(name));
      }
      for (const { key } of db.prepare('SELECT key FROM scan_measurement WHERE connection = ?').all(connection)) {
        if (!used.has(String(key))) db.prepare('DELETE FROM scan_measurement WHERE connection = ? AND key = ?').run(connection, String(key));
      }
    },
  };
}
