import { expect, test } from 'vitest';
import { shortHash } from '../../src/lib/hash.ts';
import { updateIndex } from '../../src/search/index.ts';
import { openState } from '../../src/store/state.ts';
import { ingestHere, shopProject } from '../ingest/ingest-project.ts';

/**
 * Whoever changes a table in `.ktx/state.db` raises `stateVersion` in src/store/state.ts, and both
 * values here; a new table changes the shape alone.
 */
const known = { version: 3, shape: 'fcbbadd5568e' };

test('tables of another shape have another version, so that no project keeps the old ones', async () => {
  const dir = shopProject();
  await ingestHere(dir, {
    updateIndex: async (state) =>
      void updateIndex(state, { connection: 'shop', documents: [], fingerprint: '' }),
  });
  const state = openState(dir);
  const query = `SELECT s.sql FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.name = s.name
    WHERE s.sql IS NOT NULL AND t.type IS NOT 'shadow' ORDER BY s.name`;
  const statements = state.db
    .prepare(query)
    .all()
    .map(({ sql }) => String(sql).replaceAll(/\s+/g, ' '));
  const version = state.db.prepare('PRAGMA user_version').get()?.['user_version'];
  state.close();
  for (const table of ['scan_memo', 'search_words', 'passed_probes'])
    expect(statements.join('\n')).toContain(table);
  expect({ version, shape: shortHash(statements.join('\n')) }).toEqual(known);
});
