import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { folder, ktxJson } from '../cli/run-cli.ts';
import { openEmbeddingEndpoint, refuse, vectorOf, vectors } from '../support/embedding-endpoint.ts';

/** Twelve tables, so that one near meaning stands out. */
const tables =
  'shipments invoices warehouses planets rivers bridges forests engines letters museums violins windows';

/** A model that knows that a museum shows exhibitions. */
const model = (text: string): number[] =>
  vectorOf(text.toLowerCase().replaceAll(/exhibitions?|museums?/g, 'museum'));
const answers = (asked: Parameters<typeof vectors>[0]) => vectors(asked, { vectorOf: model });

const found = z.looseObject({
  data: z.looseObject({
    hits: z.array(z.looseObject({ subject: z.string() })),
    lexical: z.string().optional(),
  }),
});

async function search(dir: string, ...words: string[]) {
  const { envelope, code } = await ktxJson(['search', ...words], { cwd: dir });
  expect(code).toBe(0);
  const { hits, lexical } = found.parse(envelope).data;
  return { subjects: hits.map(({ subject }) => subject), lexical };
}

const configure = (dir: string, url: string): void =>
  appendFileSync(
    join(dir, 'ktx.yaml'),
    `ingest: {embeddings: {provider: openai, model: small, base_url: "${url}"}}\n`,
  );

const ingest = (dir: string) => ktxJson(['ingest', '--no-commit'], { cwd: dir });

async function shop(): Promise<string> {
  const dir = folder();
  const db = new DatabaseSync(join(dir, 'shop.db'));
  for (const name of tables.split(' '))
    db.exec(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY, label TEXT);
      INSERT INTO ${name} VALUES (1, 'Oslo'), (2, 'Bergen'), (3, 'Tromsø');`);
  db.close();
  writeFileSync(join(dir, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
  const { code } = await ingest(dir);
  expect(code).toBe(0);
  return dir;
}

test('a word that stands nowhere finds what means the same; each text is sent once', async () => {
  const dir = await shop();
  expect((await search(dir, 'exhibitions')).subjects).not.toContain('dataset:shop.museums');
  await using endpoint = await openEmbeddingEndpoint(answers);
  configure(dir, endpoint.url);
  expect((await ingest(dir)).code).toBe(0);
  const sent = () => endpoint.requests.flatMap(({ texts }) => texts);
  expect(sent().some((text) => text.startsWith('museums'))).toBe(true);
  // No value of the warehouse.
  expect(sent().join()).not.toMatch(/Oslo|Bergen/);
  const { subjects, lexical } = await search(dir, 'exhibitions');
  expect(subjects[0]).toBe('dataset:shop.museums');
  expect(lexical).toBeUndefined();
  const before = sent().length;
  expect((await search(dir, 'exhibitions')).subjects).toEqual(subjects);
  expect((await search(dir, 'exhibitions', '--no-embeddings')).subjects).toEqual([]);
  expect((await ingest(dir)).code).toBe(0);
  expect(sent()).toHaveLength(before);

  // An exact name stays first, whatever the model thinks is near.
  expect((await search(dir, 'rivers')).subjects[0]).toBe('dataset:shop.rivers');

  // A text that a person has just changed is embedded by the search.
  const file = join(dir, 'semantic-layer/shop/windows.yaml');
  appendFileSync(file, 'description: Where exhibitions are announced.\n');
  const after = await search(dir, 'exhibitions');
  expect(after.lexical).toBeUndefined();
  expect(after.subjects.slice(0, 2)).toContain('dataset:shop.windows');
  expect(sent().length).toBeGreaterThan(before);

  // A provider that fails leaves what words find, and the search says so.
  endpoint.play(() => refuse(401, { message: 'bad key' }));
  const lexicalOnly = await search(dir, 'museums of the month');
  expect(lexicalOnly.subjects[0]).toBe('dataset:shop.museums');
  expect(lexicalOnly.lexical).toMatch(/small/);
  appendFileSync(join(dir, 'semantic-layer/shop/rivers.yaml'), 'description: Long waters.\n');
  const { code, envelope } = await ingest(dir);
  expect(code).toBe(4);
  expect(JSON.stringify(envelope)).toMatch(/texts have a vector for the search/);
});
