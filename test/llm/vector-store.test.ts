import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { embedWithStore } from '../../src/llm/embeddings/embed-with-store.ts';
import { openVectorStore } from '../../src/llm/embeddings/vector-store.ts';
import type { KtxEmbedInput } from '../../src/llm/port/embedding.ts';
import { openState } from '../../src/store/state.ts';
import { vectorOf } from '../support/embedding-endpoint.ts';

const here = () => mkdtempSync(join(tmpdir(), 'ktx-vectors-'));
const model = { fingerprint: 'abc' };
const secret = 'the salary of ada lovelace';

test('a stored vector keeps its direction, and neither it nor its text can be read from the file', () => {
  const dir = here();
  const state = openState(dir);
  const vector = Float32Array.from({ length: 300 }, (_, n) => Math.sin(n * n) / 10);
  openVectorStore(state.db, model, 'document').save(secret, vector);
  const stored = openVectorStore(state.db, model, 'document').load(secret) ?? new Float32Array();
  const dot = vector.reduce((sum, number, n) => sum + number * (stored[n] ?? 0), 0);
  expect(dot / (Math.hypot(...vector) * Math.hypot(...stored))).toBeGreaterThan(0.9995);
  state.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  state.close();
  const bytes = readFileSync(join(dir, '.ktx/state.db'));
  expect(bytes.includes('salary')).toBe(false);
  const packed = Buffer.from(
    [...vector].slice(0, 16).map((number) => Math.round((number / 0.1) * 127)),
  );
  expect(bytes.includes(packed)).toBe(false);
  expect(statSync(join(dir, '.ktx/state.db')).mode & 0o777).toBe(0o600);
});

test('vectors of another model or purpose are not used, and those of another model are deleted', () => {
  const state = openState(here());
  const vector = Float32Array.from([1, 2, 3]);
  const count = () => state.db.prepare('SELECT count(*) AS n FROM vectors').get()?.['n'];
  openVectorStore(state.db, model, 'document').save(secret, vector);
  expect(openVectorStore(state.db, model, 'query').load(secret)).toBeUndefined();
  expect(count()).toBe(1);
  expect(
    openVectorStore(state.db, { fingerprint: 'other' }, 'document').load(secret),
  ).toBeUndefined();
  expect(count()).toBe(0);
  state.close();
});

test('a vector that nothing asked for in 90 days is deleted; one that was asked for stays', () => {
  const state = openState(here());
  const store = openVectorStore(state.db, model, 'document');
  store.save('old', Float32Array.from([1]));
  store.save('used', Float32Array.from([1]));
  state.db.exec("UPDATE vectors SET used = '2020-01-01'");
  expect(store.load('used')).toBeDefined();
  const later = openVectorStore(state.db, model, 'document');
  expect([later.load('old'), later.load('used')]).toEqual([undefined, Float32Array.from([1])]);
  state.close();
});

test('each text is embedded once, and what was paid for before a failure is kept', async () => {
  const state = openState(here());
  const store = openVectorStore(state.db, model, 'document');
  const sent: string[] = [];
  let left = 1;
  const embed = async ({ texts }: KtxEmbedInput) => {
    if (left === 0) throw new Error('network');
    left -= 1;
    sent.push(...texts.map(({ text }) => text));
    return { vectors: texts.map(({ text }) => Float32Array.from(vectorOf(text))), shortened: 0 };
  };
  const words = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      text: `text ${n % 2100} ${'x'.repeat(n % 7)}`,
      values: [],
    }));
  const input = { texts: words(2100), purpose: 'document', stage: 'test' } as const;
  await expect(embedWithStore({ embed }, store, input)).rejects.toThrow('network');
  expect(sent).toHaveLength(2048);
  left = 9;
  const found = await embedWithStore({ embed }, store, input);
  expect(sent).toHaveLength(2100);
  const again = await embedWithStore({ embed }, store, input);
  expect(sent).toHaveLength(2100);
  expect(again).toEqual(found);
  expect(found.size).toBe(2100);
  state.close();
});
