import type { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import type { IngestReport } from '../../src/ingest/report.ts';
import { openSource } from '../../src/sources/registry.ts';
import { openState } from '../../src/store/state.ts';
import { read, run, write } from '../store/git-project.ts';
import { copyOf, ingestHere, shopProject, sql, stateOf } from './ingest-project.ts';

const dbtYaml = (description: string) =>
  `models:\n  - name: orders\n    description: ${description}\n    columns:\n      - name: status\n        data_tests:\n          - accepted_values: {values: [open, paid]}\n`;

let dir: string;
beforeEach(async () => {
  dir = shopProject();
  write(dir, 'dbt/dbt_project.yml', 'name: shop\nmodel-paths: [models]\n');
  write(dir, 'dbt/models/orders.sql', 'select * from raw_orders\n');
  write(dir, 'dbt/models/models.yml', dbtYaml('What people bought.'));
  await ingest();
});

function ingest(): Promise<IngestReport> {
  const open = () => openSource({ driver: 'dbt', path: 'dbt', target_schema: 'main' });
  const sources = [{ name: 'transform', open, secrets: () => '', isAsked: true }];
  return ingestHere(dir, { sources });
}

/** Whether the run compared its inputs alone: nothing was rendered and checked. */
const isShort = ({ milliseconds }: IngestReport) => milliseconds.validate === undefined;

/** A report without what differs from run to run. */
function lasting({
  runId: _id,
  milliseconds: _times,
  wallMilliseconds: _wall,
  ...rest
}: IngestReport) {
  return rest;
}

function inState(change: (db: DatabaseSync) => void): void {
  const state = openState(dir);
  change(state.db);
  state.close();
}

test('a run that finds everything as the last one left it says and leaves the same as a whole run', async () => {
  const before = stateOf(dir);
  const short = await ingest();
  inState((db) => db.exec('DELETE FROM settled_run'));
  const whole = await ingest();
  expect([isShort(short), isShort(whole)]).toEqual([true, false]);
  expect(lasting(short)).toEqual(lasting(whole));
  expect(short.sources[0]?.items?.unchanged).toBe(3);
  expect(stateOf(dir)).toEqual(before);
  expect(isShort(await ingest())).toBe(true);
});

/** What can change between two runs. */
const changes: Readonly<Record<string, () => void>> = {
  'a file of the source': () => write(dir, 'dbt/models/models.yml', dbtYaml('What was sold.')),
  'a new file of the source': () => write(dir, 'dbt/models/more.yml', dbtYaml('Sold.')),
  'rows of a table': () => sql(dir, "UPDATE orders SET status = 'sent' WHERE id = 7"),
  'the structure of a table': () => sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT'),
  'the configuration': () => write(dir, 'ktx.yaml', `${read(dir, 'ktx.yaml')}# a remark\n`),
  'a dataset file': () => {
    const path = 'semantic-layer/shop/orders.yaml';
    write(dir, path, read(dir, path).replace('What people bought.', 'What a person wrote.'));
  },
  'the text of an item': () => write(dir, 'sources/transform/models/orders.sql', 'select 1\n'),
  'a file of claims': () => write(dir, 'claims/shop/orders.jsonl', ''),
  'a file of the same size': () => {
    const path = 'claims/shop/orders.jsonl';
    const text = read(dir, path);
    expect(text).toContain('"description"');
    write(dir, path, text.replace('"description"', '"definition_"'));
  },
  'a commit of a person': () => {
    write(dir, 'semantic-layer/shop/README.md', 'Ours.\n');
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'a remark');
  },
};

test.for(Object.entries(changes))('%s that changes is seen', async ([, change]) => {
  change();
  const original = dir;
  dir = copyOf(dir);
  inState((db) => db.exec('DELETE FROM settled_run'));
  await ingest();
  const wanted = stateOf(dir);
  dir = original;
  const report = await ingest();
  expect(isShort(report)).toBe(false);
  const { files, status } = stateOf(dir);
  expect({ files, status }).toEqual({ files: wanted['files'], status: wanted['status'] });
});

describe('what the last run noted', () => {
  const stored = () => {
    let value: unknown;
    inState((db) => (value = db.prepare('SELECT run FROM settled_run').get()?.['run']));
    return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0);
  };
  const note = (bytes: Uint8Array | string) =>
    inState((db) => db.prepare('UPDATE settled_run SET run = ?').run(bytes));
  const forged = JSON.stringify({ project: '', warehouses: {}, freshUntil: null, report: {} });

  test.for<readonly [string, () => Uint8Array | string]>([
    ['torn', () => stored().subarray(0, 200)],
    ['changed', () => stored().map((byte, index) => (index === 100 ? byte ^ 1 : byte))],
    ['written by somebody else', () => forged],
    ['empty', () => ''],
  ])('counts for nothing when it is %s', async ([, bytes]) => {
    expect(stored().length).toBeGreaterThan(200);
    note(bytes());
    const before = stateOf(dir);
    const report = await ingest();
    expect([isShort(report), report.commit.none]).toEqual([false, 'unchanged']);
    expect(stateOf(dir)).toEqual(before);
    expect(isShort(await ingest())).toBe(true);
  });

  test('is not used while git has a merge under way, nor for a part that failed', async () => {
    write(dir, '.git/MERGE_HEAD', run(dir, 'rev-parse', 'HEAD'));
    expect(isShort(await ingest())).toBe(false);
    run(dir, 'update-ref', '-d', 'MERGE_HEAD');
    write(dir, 'dbt/models/models.yml', 'models: [');
    const failed = await ingest();
    expect([isShort(failed), failed.exitCode]).toEqual([false, 3]);
    expect(isShort(await ingest())).toBe(false);
  });
});

test('a project with uncommitted changes is read as a whole', async () => {
  write(dir, 'wiki/ours.md', '# Ours\n');
  expect(isShort(await ingest())).toBe(false);
  expect(isShort(await ingest())).toBe(false);
});
