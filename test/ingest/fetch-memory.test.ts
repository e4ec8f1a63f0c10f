import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openFetchMemory } from '../../src/ingest/fetch/fetch-memory.ts';
import type { Item } from '../../src/sources/source.ts';

const db = new DatabaseSync(':memory:');
const page: Item = { key: 'pages/1.md', path: 'pages/1.md', body: '# One\n' };
const empty: Item = { key: 'pages/2.md', path: 'pages/2.md', body: '' };
const version = { stamp: 'v1', maxAge: 60_000 };

const open = (stored: readonly Item[], extractor = 'notion@1') =>
  openFetchMemory(db, { connection: 'notion', source: { extractor }, stored });

test('a body is asked for again unless the project has it in this version', () => {
  const first = open([]);
  expect(first.isKnown(page.key, version)).toBe(false);
  first.record(page, 'v1');
  first.record(empty, 'v1');

  // The run was interrupted: nothing of it is in the project yet.
  const resumed = open([]);
  expect(resumed.isKnown(page.key, version)).toBe(true);
  expect(resumed.unpublished(page.key)).toEqual(page);
  expect(resumed.isKnown(page.key, { ...version, stamp: 'v2' })).toBe(false);
  expect(resumed.isKnown(page.key, { ...version, maxAge: -1 })).toBe(false);
  expect(resumed.isKnown(empty.key, version)).toBe(true);
  expect(resumed.unpublished(empty.key)).toBeUndefined();

  const published = open([page]);
  expect(published.isKnown(page.key, version)).toBe(true);
  expect(published.unpublished(page.key)).toBeUndefined();
  const [{ body } = {}] = db
    .prepare('SELECT body FROM fetched_objects WHERE key = ?')
    .all(page.key);
  expect(body).toBeNull();

  // Another branch has an older text, or a person changed it; or the page is gone from the project.
  expect(open([{ ...page, body: '# Another\n' }]).isKnown(page.key, version)).toBe(false);
  expect(open([]).isKnown(page.key, version)).toBe(false);

  expect(open([page], 'notion@2').isKnown(page.key, version)).toBe(false);
});
