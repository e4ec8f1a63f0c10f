import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { folder, ktxJson } from '../cli/run-cli.ts';
import { openEmbeddingEndpoint, refuse, vectorOf, vectors } from '../support/embedding-endpoint.ts';

/**
 * So many tables number their rows alike that values say nothing about which one a column refers
 * to.
 */
const others = 'planet river bridge forest engine ticket letter museum violin carpet window garden';

function shop(): string {
  const dir = folder();
  const db = new DatabaseSync(join(dir, 'shop.db'));
  const rows = (row: (n: number) => string, count: number): string =>
    Array.from({ length: count }, (_, n) => `(${row(n + 1)})`).join(', ');
  for (const name of ['article', ...others.split(' ')])
    db.exec(`CREATE TABLE ${name} (id INTEGER PRIMARY KEY, label TEXT);
      INSERT INTO ${name} VALUES ${rows((n) => `${n}, '${name} no. ${n}'`, 300)};`);
  db.exec(`CREATE TABLE purchases (purchase_no INTEGER PRIMARY KEY, merchandise_id INTEGER, note TEXT);
    INSERT INTO purchases VALUES ${rows((n) => `${n + 1000}, ${((n * 7) % 300) + 1}, 'n ${n}'`, 900)};`);
  db.close();
  writeFileSync(join(dir, 'ktx.yaml'), 'connections:\n  shop: {driver: sqlite, path: shop.db}\n');
  return dir;
}

/** A model that knows that merchandise is made of articles. */
const synonyms = (text: string): number[] => vectorOf(text.replaceAll('merchandise', 'article'));

const scanned = z.looseObject({
  data: z.looseObject({
    links: z.array(
      z.looseObject({
        from: z.unknown(),
        to: z.looseObject({ table: z.string() }),
        probability: z.number(),
        status: z.string(),
      }),
    ),
    notes: z.array(z.string()),
  }),
});

async function scan(cwd: string, env: Record<string, string> = {}) {
  const { envelope, code } = await ktxJson(['scan'], { cwd, env });
  expect(code).toBe(0);
  const { links, notes } = scanned.parse(envelope).data;
  const ofColumn = links.filter(({ from }) => JSON.stringify(from).includes('merchandise_id'));
  const toArticle = ofColumn.find(({ to }) => to.table === 'article');
  return { links, notes, probability: toArticle?.probability ?? 0, status: toArticle?.status };
}

const configure = (dir: string, url: string, model = 'small'): void =>
  appendFileSync(
    join(dir, 'ktx.yaml'),
    `ingest: {embeddings: {provider: openai, model: ${model}, base_url: "${url}"}}\n`,
  );

describe('names that share no word', () => {
  test('are compared by their meaning where embeddings are configured, once for each name', async () => {
    await using endpoint = await openEmbeddingEndpoint((asked) =>
      vectors(asked, { vectorOf: synonyms }),
    );
    const dir = shop();
    const without = await scan(dir);
    configure(dir, endpoint.url);
    const withMeaning = await scan(dir);
    expect(without.status).not.toBe('accepted');
    expect(withMeaning.probability).toBeGreaterThan(without.probability + 0.1);
    const sent = endpoint.requests.flatMap(({ texts }) => texts);
    expect(sent).toContain('merchandise');
    expect(new Set(sent).size).toBe(sent.length);
    // Names only: no value of the warehouse.
    expect(sent.join()).not.toMatch(/\d/);
    expect((await scan(dir)).links).toEqual(withMeaning.links);
    expect(endpoint.requests.flatMap(({ texts }) => texts)).toEqual(sent);
    // A new column: only its name is new.
    new DatabaseSync(join(dir, 'shop.db')).exec('ALTER TABLE planet ADD COLUMN moon_colour TEXT');
    await scan(dir);
    expect(endpoint.requests.flatMap(({ texts }) => texts)).toEqual([...sent, 'moon colour']);
  });

  test('do not lower any probability if no name is near another', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const dir = shop();
    const without = await scan(dir);
    configure(dir, endpoint.url);
    const { links } = await scan(dir);
    for (const link of without.links) {
      const same = links.find(
        ({ from, to }) => JSON.stringify([from, to]) === JSON.stringify([link.from, link.to]),
      );
      expect(same?.probability ?? 0).toBeGreaterThanOrEqual(link.probability);
    }
  });

  test('are compared by their words if the provider fails; the scan says so and tries again', async () => {
    await using endpoint = await openEmbeddingEndpoint(() =>
      refuse(401, { code: 'invalid_api_key' }),
    );
    const dir = shop();
    const without = await scan(dir);
    configure(dir, endpoint.url);
    const failed = await scan(dir);
    expect(failed.links).toEqual(without.links);
    expect(failed.notes.join()).toMatch(
      /names are compared by their words alone: Embeddings by small/,
    );
    endpoint.play((asked) => vectors(asked, { vectorOf: synonyms }));
    expect((await scan(dir)).probability).toBeGreaterThan(without.probability + 0.1);
  });

  test('are never sent before a person has approved the provider', async () => {
    await using endpoint = await openEmbeddingEndpoint();
    const dir = shop();
    configure(dir, endpoint.url);
    const { envelope, code } = await ktxJson(['scan'], { cwd: dir, approved: false });
    expect(code).toBe(4);
    expect(envelope.error?.code).toBe('trust_required');
    expect(endpoint.requests).toEqual([]);
  });

  test('an ingest goes on without them, tells which part failed, and uses none with --no-llm', async () => {
    await using endpoint = await openEmbeddingEndpoint(() =>
      refuse(401, { code: 'invalid_api_key' }),
    );
    const dir = shop();
    configure(dir, endpoint.url);
    const without = await ktxJson(['ingest', '--no-llm'], { cwd: dir });
    expect(without.code).toBe(0);
    expect(endpoint.requests).toEqual([]);
    const failed = await ktxJson(['ingest'], { cwd: dir });
    expect(failed.code).toBe(4);
    expect(failed.envelope.error?.message).toMatch(
      /0 of \d+ names compared by their meaning: Embeddings by small/,
    );
  });
});
