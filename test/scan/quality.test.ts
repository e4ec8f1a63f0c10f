import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { generateDatabase } from '../../bench/relationships/generate/schema-generator.ts';
import { writeDatabase } from '../../bench/relationships/write-database.ts';
import { publicSeen, publicUnseen } from '../../bench/relationships/public-schemas.ts';
import { heldOut } from '../../bench/relationships/held-out.ts';
import {
  f1,
  fixtureDatabase,
  scanFile,
  scoreOf,
  total,
  withoutDeclarations,
  type Score,
} from '../../bench/relationships/score.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-quality-'));
afterAll(() => rmSync(dir, { recursive: true }));
const real = ['chinook', 'northwind', 'sakila'].map((name) => ({
  name,
  ...fixtureDatabase(name, dir),
}));

async function scoreReal(ignored: 'all' | 'links'): Promise<Score[]> {
  const scores: Score[] = [];
  for (const { name, path, truth } of real)
    scores.push(scoreOf(name, await scanFile(path, ignored), truth));
  return scores;
}

function expectFloor(scores: readonly Score[], floor: number): void {
  const sum = total(scores);
  expect(f1(sum)).toBeGreaterThanOrEqual(floor);
  expect(sum.hits / sum.accepted).toBeGreaterThanOrEqual(0.95);
  for (const { queries, bound } of scores) expect(queries).toBeLessThanOrEqual(bound);
}

describe('links of real databases', () => {
  test('reach the floor with all keys hidden, and with primary keys known are no worse', async () => {
    const hidden = await scoreReal('all');
    expectFloor(hidden, 0.9);
    // Three of the forty tables have no rows: their keys are guesses.
    expect(total(hidden).keyHits / total(hidden).keys).toBeGreaterThanOrEqual(0.92);
    const known = await scoreReal('links');
    expectFloor(known, 0.93);
    for (const [index, score] of known.entries())
      expect(f1(score)).toBeGreaterThanOrEqual(f1(hidden[index] ?? score));
  });

  test('are the same in a copy that declares nothing', async () => {
    const [database] = real;
    if (!database) throw new Error('no fixture');
    const ignored = scoreOf('ignored', await scanFile(database.path, 'all'), database.truth);
    const bare = scoreOf(
      'bare',
      await scanFile(withoutDeclarations(database.path), undefined),
      database.truth,
    );
    expect(bare.hits).toBe(ignored.hits);
    expect(bare.accepted).toBe(ignored.accepted);
  });
});

describe('links of schemas that nothing was trained on', () => {
  test.each(Object.entries(heldOut))('%s', async (name, make) => {
    const schema = make();
    const path = join(dir, `${name}.sqlite`);
    writeDatabase(path, schema);
    const score = scoreOf(name, await scanFile(path, 'all'), schema.truth);
    expect(f1(score), JSON.stringify([score.missed, score.wrong])).toBeGreaterThanOrEqual(0.85);
    expect(score.hits / score.accepted).toBeGreaterThanOrEqual(0.9);
  });

  const sets = { seen: publicSeen, unseen: publicUnseen };
  test.each(Object.entries(sets))('public schemas, %s', async (_, set) => {
    const scores: Score[] = [];
    for (const [name, make] of Object.entries(set)) {
      const schema = make();
      const path = join(dir, `public-${name}.sqlite`);
      writeDatabase(path, schema);
      scores.push(scoreOf(name, await scanFile(path, 'all'), schema.truth));
    }
    expectFloor(scores, 0.94);
  });

  test('a dozen generated schemas of other seeds', async () => {
    const scores: Score[] = [];
    for (let seed = 9000; seed < 9012; seed += 1) {
      const schema = generateDatabase(seed);
      const path = join(dir, `${seed}.sqlite`);
      writeDatabase(path, schema);
      scores.push(scoreOf(String(seed), await scanFile(path, 'all'), schema.truth));
    }
    expectFloor(scores, 0.85);
  });
});
