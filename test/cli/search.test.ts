import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { storeNote } from '../../src/sources/notes/inbox.ts';
import { ktx, ktxJson } from './run-cli.ts';

let cwd: string;

beforeAll(async () => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-search-')));
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  const columns = '(user_id INTEGER PRIMARY KEY, day TEXT, actions INTEGER)';
  for (const table of ['raw_user_activity', 'stg_user_activity', 'fct_user_activity'])
    db.exec(`CREATE TABLE ${table} ${columns}; INSERT INTO ${table} VALUES (1, '2026-01-01', 3);`);
  db.exec('CREATE TABLE parcels (id INTEGER PRIMARY KEY, weight REAL);');
  db.close();
  mkdirSync(join(cwd, 'handbook'));
  writeFileSync(
    join(cwd, 'handbook/measures.md'),
    '# Measures\n\nHow we look at the product.\n\n## Engagement\n\nMonthly active users are people who did something within 28 days. They are counted in `fct_user_activity`.\n',
  );
  writeFileSync(
    join(cwd, 'ktx.yaml'),
    'connections:\n  shop: {driver: sqlite, path: shop.db}\n  handbook: {driver: docs, path: handbook}\n',
  );
  const { code, stderr } = await ktx(['ingest'], { cwd });
  expect(code, stderr).toBe(0);
  return () => rmSync(cwd, { recursive: true, force: true });
});

interface Hit {
  readonly subject: string;
  readonly description?: string;
  readonly detail?: string;
}

async function hits(text: string): Promise<readonly Hit[]> {
  const { envelope } = await ktxJson(['search', text], { cwd });
  return (envelope.data as { readonly hits: readonly Hit[] }).hits;
}

test('prose is found without a model, with its place, and leads to the table that it names', async () => {
  const found = await hits('monthly active users engagement definition');
  expect(found.map(({ subject }) => subject).slice(0, 2)).toEqual(
    expect.arrayContaining([
      'passage:sources/handbook/measures.md:7',
      'dataset:shop.fct_user_activity',
    ]),
  );
  const passage = found.find(({ subject }) => subject.startsWith('passage:'));
  expect(passage?.description).toContain('did something within 28 days');
  expect(passage?.detail).toBe('sources/handbook/measures.md:7');
});

test('words of the same stem are found, and what people ask for comes before the steps to it', async () => {
  const order = (await hits('activities of users')).map(({ subject }) => subject);
  const at = (name: string) => order.indexOf(`dataset:shop.${name}`);
  expect(at('fct_user_activity')).toBeGreaterThanOrEqual(0);
  expect(at('fct_user_activity')).toBeLessThan(at('stg_user_activity'));
  expect(at('stg_user_activity')).toBeLessThan(at('raw_user_activity'));
});

test('a note is found before the next ingest and once after it', async () => {
  const note = 'The carrier loses a box now and then; compare with parcels that nobody signed for.';
  const findNote = async () =>
    (await hits('lost boxes of the carrier')).filter(({ description }) => description === note);
  expect(await findNote()).toEqual([]);
  await storeNote(cwd, note);
  for (const when of ['before', 'after']) {
    const found = await findNote();
    expect(
      found.map(({ subject }) => subject.split(':')[0]),
      when,
    ).toEqual(['passage']);
    if (when === 'before') expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  }
});

test('two words for one thing lead to each other', async () => {
  expect((await hits('shipment')).map(({ subject }) => subject)).toContain('dataset:shop.parcels');
});
