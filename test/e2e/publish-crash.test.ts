import { describe, expect, test } from 'vitest';
import { copyOf, ingestIn, shopProject, sql, stateOf } from '../ingest/ingest-project.ts';
import { read, run, write } from '../store/git-project.ts';

const description = 'What a customer bought, in one go.';

/** After a first ingest: a person's committed, uncommitted and staged work, and a database that moved on. */
async function projectWithWork(): Promise<string> {
  const dir = shopProject();
  await ingestIn(dir);
  edit(dir, 'customers', (text) => `${text.trimEnd()}\nsegments:\n  - name: northern\n    where: region = 'north'\n`);
  run(dir, 'commit', '-qam', 'a segment');
  edit(dir, 'orders', (text) => text.replace('fields:', `description: ${description}\nfields:`));
  write(dir, 'notes.txt', 'staged\n');
  run(dir, 'add', 'notes.txt');
  write(dir, 'notes.txt', 'staged and changed\n');
  sql(
    dir,
    `ALTER TABLE orders ADD COLUMN note TEXT; ALTER TABLE customers ADD COLUMN email TEXT; DROP TABLE coupons;
     CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders(id));
     INSERT INTO refunds SELECT id + 1000, id FROM orders LIMIT 40;`,
  );
  return dir;
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
    const whole = copyOf(project);
    const { steps } = await ingestIn(whole);
    const expected = stateOf(whole);
    expect(read(whole, 'semantic-layer/shop/orders.yaml')).toContain(description);
    expect(read(whole, 'semantic-layer/shop/orders.yaml')).toContain('note');
    expect(run(whole, 'show', 'HEAD:semantic-layer/shop/orders.yaml')).not.toContain(description);
    expect(run(whole, 'show', 'HEAD:semantic-layer/shop/orders.yaml')).toContain('note');
    expect(new Set(steps.map((step) => step.split(' ')[0]))).toEqual(
      new Set(['file_written', 'base_recorded', 'claims_written', 'file_removed', 'commit_made', 'index_refreshed']),
    );
    for (const position of steps.keys()) {
      const dir = copyOf(project);
      expect((await ingestIn(dir, position + 1)).killed).toBe(true);
      expect(read(dir, 'semantic-layer/shop/orders.yaml'), `after ${steps[position]}`).toContain(description);
      expect((await ingestIn(dir)).report.exitCode).toBe(0);
      expect(stateOf(dir), `killed after ${steps[position]}`).toEqual(expected);
      const again = await ingestIn(dir);
      expect(again.steps).toEqual([]);
      expect(again.report.commit).toEqual({ none: 'unchanged' });
    }
  }, 240_000);

  test('takes nothing of its own for a person’s, although the database moves on before the next run', async () => {
    const project = await projectWithWork();
    const moveOn = (dir: string) =>
      sql(dir, 'ALTER TABLE orders DROP COLUMN note; ALTER TABLE orders ADD COLUMN channel TEXT; DROP TABLE refunds;');
    const whole = copyOf(project);
    moveOn(whole);
    await ingestIn(whole);
    const expected = stateOf(whole);
    const { steps } = await ingestIn(copyOf(project));
    for (const position of steps.keys()) {
      const dir = copyOf(project);
      await ingestIn(dir, position + 1);
      moveOn(dir);
      await ingestIn(dir);
      expect(stateOf(dir), `killed after ${steps[position]}`).toEqual(expected);
    }
  }, 240_000);
});
