import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { SearchDocument } from '../../src/search/documents.ts';
import { updateIndex } from '../../src/search/index.ts';
import { searchIndex } from '../../src/search/search.ts';
import { openState } from '../../src/store/state.ts';

const dataset = (name: string): SearchDocument => ({
  kind: 'dataset',
  connection: 'w',
  subject: `dataset:w.${name}`,
  name,
  parent: name,
  context: [],
  description: 'Parcels that came back.',
});

const page: SearchDocument = {
  kind: 'term',
  connection: 'w',
  subject: 'wiki:returns',
  name: 'How parcels come back',
  parent: 'wiki',
  context: ['Parcels are booked at the gate.'],
  refs: ['dataset:w.z_gate'],
};

function datasetsFor(documents: readonly SearchDocument[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'ktx-search-'));
  const state = openState(folder);
  onTestFinished(() => {
    state.close();
    rmSync(folder, { recursive: true, force: true });
  });
  updateIndex(state, { connection: 'w', documents, fingerprint: 'f' });
  const hits = searchIndex(state, 'parcels came back', { kinds: ['dataset'] });
  return hits.map(({ name }) => name);
}

test('a page that explains a table puts it before the tables that share its words', () => {
  const tables = ['a_gate', 'z_gate'].map((name) => dataset(name));
  expect(datasetsFor(tables)).toEqual(['a_gate', 'z_gate']);
  expect(datasetsFor([...tables, page])).toEqual(['z_gate', 'a_gate']);
});
