import type { DatabaseSync } from 'node:sqlite';
import type { ScanFindings } from '../context/catalog/catalog.ts';
import type { HistoryStatement } from './history/collect-statements.ts';
import type { HistorySummary } from './history/summarize-history.ts';
import type { TableProfile } from './profile/table-profile.ts';
import { openSealedText, sealText } from '../store/ownership/sealed-text.ts';
import { tableKey, type TableRef } from '../sql/dialect.ts';
import { createValuesTable, saveValues } from './profile/value-dictionary.ts';

/**
 * Results of earlier scans in `.ktx/state.db`: profiles by table, exact measurements by their
 * statement and the versions of its tables, keys and links by the versions of all tables. All of it
 * is sealed: hashes of sketches and ranges of numbers would give away values of columns that have
 * few possible ones.
 */
export type ScanStore = ReturnType<typeof openScanStore>;

export interface StoredProfile {
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly profile: TableProfile;
}

/** The numbers that one measurement returned. */
export type MeasuredNumbers = readonly number[];

/** What is kept of a query history: templates of statements, or what they say. */
export interface StoredHistory {
  readonly statements?: readonly HistoryStatement[];
  readonly summary?: HistorySummary;
}

/** The keys and links that follow from the profiles. */
type StoredAnalysis = Pick<ScanFindings, 'primaryKeys' | 'links'>;

export function openScanStore(db: DatabaseSync, connection: string) {
  db.exec(
    'CREATE TABLE IF NOT EXISTS scan_memo (connection TEXT, key TEXT, value TEXT, PRIMARY KEY (connection, key))',
  );
  db.exec(createValuesTable);
  const select = db.prepare('SELECT value FROM scan_memo WHERE connection = ? AND key = ?');
  const insert = db.prepare('INSERT OR REPLACE INTO scan_memo VALUES (?, ?, ?)');
  const deleteUnused = db.prepare(
    'DELETE FROM scan_memo WHERE connection = ? AND key NOT IN (SELECT value FROM json_each(?))',
  );
  const deleteUnusedValues = db.prepare(
    'DELETE FROM scan_values WHERE connection = ? AND place NOT IN (SELECT value FROM json_each(?))',
  );
  const selectTables = db.prepare(
    "SELECT key FROM scan_memo WHERE connection = ? AND key LIKE '[%'",
  );
  const deleteColumn = db.prepare(
    'DELETE FROM scan_values WHERE connection = ? AND place = ? AND name = ?',
  );
  const usedKeys = new Set<string>();
  const load = (key: string) => {
    usedKeys.add(key);
    const row = select.get(connection, key);
    const text = row && openSealedText(db, row['value']);
    return text === undefined ? undefined : JSON.parse(text);
  };
  return {
    profile: (table: string): StoredProfile | undefined => load(table),
    measured: (key: string): MeasuredNumbers | undefined => load(key),
    analysis: (key: string): StoredAnalysis | undefined => load(key),
    history: (key: string): StoredHistory | undefined => load(key),
    save(key: string, value: MeasuredNumbers | StoredAnalysis | StoredHistory): void {
      insert.run(connection, key, sealText(db, JSON.stringify(value)));
    },
    /** Saves all of them, or none. */
    saveProfiles(profiles: Iterable<readonly [table: string, value: StoredProfile]>): void {
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const [table, value] of profiles) {
          insert.run(connection, table, sealText(db, JSON.stringify(value)));
          saveValues(db, { connection, table, profile: value.profile });
        }
        db.exec('COMMIT');
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    /** The keys of all tables that have a profile. */
    profiledTables: (): readonly string[] =>
      selectTables.all(connection).map(({ key }) => String(key)),
    /** Deletes the values of one column from the dictionary. */
    forgetColumn(table: TableRef, column: string): void {
      deleteColumn.run(connection, tableKey(table), column);
    },
    /**
     * Deletes what this scan did not load: dropped tables, and measurements of rows that have
     * changed.
     */
    prune(): void {
      deleteUnused.run(connection, JSON.stringify([...usedKeys]));
      deleteUnusedValues.run(connection, JSON.stringify([...usedKeys]));
    },
  };
}
