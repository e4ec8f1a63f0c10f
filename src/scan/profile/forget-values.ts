import type { DatabaseSync } from 'node:sqlite';
import type { TableRef } from '../../sql/dialect.ts';
import { openScanStore } from '../scan-store.ts';
import { columnPolicy, type PolicySource, profileUnder } from './column-policy.ts';
import { readValueDictionary } from './value-dictionary.ts';

/**
 * Deletes what the scan stored of columns whose values people now keep back: from the value
 * dictionary, and from the profiles.
 */
export function forgetValues(db: DatabaseSync, source: PolicySource): void {
  const { labels, connection } = source;
  const store = openScanStore(db, connection);
  for (const { table, column } of readValueDictionary(db, connection)) {
    const { personal, isWithheld } = columnPolicy(source, table, column);
    if (personal === true || isWithheld) store.forgetColumn(table, column);
  }
  for (const key of store.profiledTables()) {
    const table = tableFromKey(key);
    const stored = labels.closes(connection, table) ? store.profile(key) : undefined;
    if (stored === undefined) continue;
    const { profile, isStricter } = profileUnder(stored.profile, (column) =>
      columnPolicy(source, table, column),
    );
    if (isStricter) store.saveProfiles([[key, { ...stored, profile }]]);
  }
}

function tableFromKey(key: string): TableRef {
  const [catalog, schema, table] = JSON.parse(key) as [string | null, string, string];
  return { ...(catalog === null ? {} : { catalog }), schema, table };
}
