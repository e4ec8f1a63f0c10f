import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SearchDocument } from '../../src/search/documents.ts';
import { updateIndex } from '../../src/search/index.ts';
import { searchIndex } from '../../src/search/search.ts';
import { openState } from '../../src/store/state.ts';

function* lots(count: number): Generator<SearchDocument> {
  for (let number = 0; number < count; number += 1) {
    const name = `weight_of_lot_${number}`;
    const subject = `field:w.parcels.${name}`;
    yield { kind: 'field', connection: 'w', subject, name, parent: 'parcels' };
  }
}

test('thousands of documents are made one by one; those that are gone are dropped', () => {
  const state = openState(mkdtempSync(join(tmpdir(), 'ktx-index-')));
  try {
    const update = (count: number) =>
      updateIndex(state, { connection: 'w', documents: lots(count), fingerprint: 'f' });
    const found = (text: string) => searchIndex(state, text, { limit: 1 }).map(({ name }) => name);
    expect(update(4500)).toEqual({ written: 4500, removed: 0 });
    expect(found('weight of lot 4499')).toEqual(['weight_of_lot_4499']);
    expect(update(4500)).toEqual({ written: 0, removed: 0 });
    expect(update(4000)).toEqual({ written: 0, removed: 500 });
    expect(found('weight of lot 2000')).toEqual(['weight_of_lot_2000']);
  } finally {
    state.close();
  }
});

test('a disk that is full says so, and leaves the index as it was', () => {
  const state = openState(mkdtempSync(join(tmpdir(), 'ktx-index-')));
  try {
    const update = (count: number) =>
      updateIndex(state, { connection: 'w', documents: lots(count), fingerprint: 'f' });
    update(10);
    state.db.exec('PRAGMA cache_size = 10; PRAGMA max_page_count = 200');
    expect(() => update(4500)).toThrow('database or disk is full');
    expect(searchIndex(state, 'weight of lot 9', { limit: 1 })).toMatchObject([
      { name: 'weight_of_lot_9' },
    ]);
    state.db.exec('PRAGMA max_page_count = 100000');
    expect(update(20)).toEqual({ written: 10, removed: 0 });
  } finally {
    state.close();
  }
});
