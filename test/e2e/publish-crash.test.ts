import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  copyOf,
  ingestHere,
  ingestIn,
  shopProject,
  sql,
  stateOf,
} from '../ingest/ingest-project.ts';
import { read, run, write } from '../store/git-project.ts';
import { ensureStateDirectory } from '../../src/store/directories.ts';

const description = 'What a customer bought, in one go.';

/**
 * After a first ingest: a person's committed, uncommitted and staged work, and a database that
 * moved on.
 */
async function projectWithWork(): Promise<string> {
  const dir = shopProject();
  await ingestHere(dir);
  edit(
    dir,
    'customers',
    (text) => `${text.trimEnd()}\nsegments:\n  - name: northern\n    where: region = 'north'\n`,
  );
  run(dir, 'commit', '-qam', 'a segment');
  edit(dir, 'orders', (text) => text.replace('fields:', `description: ${description}\nfields:`));
  write(dir, 'notes.txt', 'staged\n');
  run(dir, 'add', 'notes.txt');
  write(dir, 'notes.txt', 'staged and changed\n');
  sql(
    dir,
    `ALTER TABLE orders ADD COLUMN note TEXT; DROP TABLE coupons;
     CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id));
     INSERT INTO refunds SELECT id + 1000, id FROM orders LIMIT 40;`,
  );
  return dir;
}

/**
 * For each step that is wanted: a copy of the project in which an ingest was killed right after it.
 * Two at a time.
 */
async function killedAt(
  project: string,
  steps: readonly (readonly [number, string])[],
  check: (dir: string, after: string) => Promise<void>,
) {
  const queue = steps.values();
  const work = async (): Promise<void> => {
    for (const [position, step] of queue) {
      const dir = copyOf(project);
      expect((await ingestIn(dir, position + 1)).killed).toBe(true);
      await check(dir, `killed after ${step}`);
    }
  };
  await Promise.all([work(), work()]);
}

/**
 * What an ingest of the project does when nothing kills it. Its profiles are kept for the copies:
 * they are no part of publishing.
 */
async function unkilled(project: string) {
  const dir = copyOf(project);
  const { steps } = await ingestIn(dir);
  cpSync(join(dir, '.ktx/state.db'), join(project, '.ktx/state.db'));
  return { dir, steps: [...steps.entries()], expected: stateOf(dir) };
}

function edit(dir: string, dataset: string, change: (text: string) => string): void {
  const path = `semantic-layer/shop/${dataset}.yaml`;
  const text = read(dir, path);
  expect(change(text)).not.toBe(text);
  write(dir, path, change(text));
}

describe('an ingest that is killed', () => {
  test('at any step of publishing loses nothing, and the next run ends where an unkilled one does', async () => {
    const project = await projectWithWork();
    const { dir: whole, steps, expected } = await unkilled(project);
    expect(read(whole, 'semantic-layer/shop/orders.yaml')).toContain(description);
    expect(read(whole, 'semantic-layer/shop/orders.yaml')).toContain('note');
    expect(run(whole, 'show', 'HEAD:semantic-layer/shop/orders.yaml')).not.toContain(description);
    expect(run(whole, 'show', 'HEAD:semantic-layer/shop/orders.yaml')).toContain('note');
    expect(new Set(steps.map(([, step]) => step.split(' ')[0]))).toEqual(
      new Set([
        'file_written',
        'base_recorded',
        'claims_written',
        'file_removed',
        'commit_made',
        'index_refreshed',
      ]),
    );
    await killedAt(project, steps, async (dir, after) => {
      expect(read(dir, 'semantic-layer/shop/orders.yaml'), after).toContain(description);
      expect((await ingestHere(dir)).exitCode).toBe(0);
      expect(stateOf(dir), after).toEqual(expected);
    });
    expect((await ingestHere(whole)).commit).toEqual({ none: 'unchanged' });
    expect(stateOf(whole)).toEqual(expected);
  });

  test('in its very first run, before git knows any of it, is completed by the next', async () => {
    const project = shopProject();
    ensureStateDirectory(project);
    const { steps, expected } = await unkilled(project);
    const sample = steps.filter(([position]) => position % 4 === 1);
    await killedAt(project, sample, async (dir, after) => {
      expect((await ingestHere(dir)).keptEdits).toEqual([]);
      expect(stateOf(dir), after).toEqual(expected);
    });
  });

  test('takes nothing of its own for a person’s, although the database moves on before the next run', async () => {
    const project = await projectWithWork();
    const moveOn = (dir: string) =>
      sql(
        dir,
        'ALTER TABLE orders DROP COLUMN note; ALTER TABLE orders ADD COLUMN channel TEXT; DROP TABLE refunds;',
      );
    const whole = copyOf(project);
    moveOn(whole);
    await ingestHere(whole);
    const expected = stateOf(whole);
    const { steps } = await unkilled(project);
    const telling = [
      'base_recorded claims/shop/orders',
      'file_written semantic',
      'file_removed claims',
      'commit_made',
    ];
    const sample = steps.filter(([, step]) => telling.some((start) => step.startsWith(start)));
    await killedAt(project, sample, async (dir, after) => {
      moveOn(dir);
      await ingestHere(dir);
      expect(stateOf(dir), after).toEqual(expected);
    });
  });
});
