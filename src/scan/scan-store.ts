import type { DatabaseSync } from 'node:sqlite';
import type { ScanFindings } from '../context/catalog/catalog.ts';
import type { Measured } from './facts/measure.ts';
import type { TableProfile } from './profile/profile-table.ts';
import { keepValues, valuesTable } from './profile/value-dictionary.ts';

/** What earlier scans measured, in `.ktx/state.db`: profiles by table, exact measurements by their statement and table versions, keys and links by all of them. */
export type ScanStore = ReturnType<typeof openScanStore>;

/** `at` in milliseconds since 1970. */
export type StoredProfile = {
  readonly hash: string;
  readonly at: number;
  readonly profile: TableProfile;
};

/** What follows from the tables as they are. */
type Analysis = Pick<ScanFindings, 'primaryKeys' | 'links'>;

export function openScanStore(db: DatabaseSync, connection: string) {
  db.exec(
    'CREATE TABLE IF NOT EXISTS scan_memo (connection TEXT, key TEXT, value TEXT, PRIMARY KEY (connection, key))',
  );
  db.exec(valuesTable);
  const select = db.prepare('SELECT value FROM scan_memo WHERE connection = ? AND key = ?');
  const insert = db.prepare('INSERT OR REPLACE INTO scan_memo VALUES (?, ?, ?)');
  const remove = db.prepare(
    'DELETE FROM scan_memo WHERE connection = ? AND key NOT IN (SELECT value FROM json_each(?))',
  );
  const removeValues = db.prepare(
    'DELETE FROM scan_values WHERE connection = ? AND place NOT IN (SELECT value FROM json_each(?))',
  );
  const used = new Set<string>();
  const read = (key: string) => {
    used.add(key);
    const row = select.get(connection, key);
    return row === undefined ? undefined : JSON.parse(String(row['value']));
  };
  return {
    profile: (table: string): StoredProfile | undefined => read(table),
    measured: (key: string): Measured | undefined => read(key),
    analysis: (key: string): Analysis | undefined => read(key),
    save(key: string, value: Measured | Analysis): void {
      insert.run(connection, key, JSON.stringify(value));
    },
    saveProfile(table: string, value: StoredProfile): void {
      insert.run(connection, table, JSON.stringify(value));
      keepValues(db, { connection, table, profile: value.profile });
    },
    /** Forgets what this scan did not ask for: tables that are gone, measurements of other rows. */
    prune(): void {
      remove.run(connection, JSON.stringify([...used]));
      removeValues.run(connection, JSON.stringify([...used]));
    },
  };
}
