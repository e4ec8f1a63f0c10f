import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, ktx } from './run-cli.ts';

test('a file that becomes unreadable is named, and takes nothing away', async () => {
  const dir = folder();
  const run = (...argv: string[]) => ktx(argv, { cwd: dir });
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'data/orders.csv'), 'id,total\n1,2.5\n2,3.5\n');
  writeFileSync(join(dir, 'data/Größen.csv'), 'id;preis\n1;1,5\n');
  writeFileSync(join(dir, 'data/empty.csv'), '');
  const setup = await run('setup', '--driver', 'duckdb', '--path', './data');
  expect([setup.code, setup.stderr]).toEqual([
    0,
    expect.stringMatching(/not read: .*empty\.csv[^]*assumed: Größen\.csv is separated by ";"/),
  ]);
  const first = await run('ingest');
  expect([first.code, first.stdout]).toEqual([
    3,
    expect.stringMatching(/not read +\S*empty\.csv[^]*assumed +Größen\.csv preis has decimal/),
  ]);
  const dataset = join(dir, 'semantic-layer/warehouse/orders.yaml');
  expect(existsSync(join(dir, 'semantic-layer/warehouse/grossen.yaml'))).toBe(true);
  writeFileSync(join(dir, 'data/orders.csv'), '');
  expect([(await run('ingest')).code, existsSync(dataset)]).toEqual([3, true]);
  const query = await run('sl', 'query', '-m', 'orders.count');
  expect([query.code, query.stderr]).toEqual([1, expect.stringContaining('orders.csv')]);
  const other = await run('sl', 'query', '-m', 'grossen.count', '--format', 'csv');
  expect(other.stdout).toBe('grossen.count\n1\n');
  expect((await run('status')).stdout).toContain('not read: ');
  // Another machine has never seen the columns of the table.
  rmSync(join(dir, '.ktx/cache'), { recursive: true });
  const fresh = await run('ingest');
  expect([fresh.code, fresh.stderr]).toEqual([
    expect.any(Number),
    expect.stringMatching(/files_unread/),
  ]);
  expect(fresh.code).not.toBe(0);
  expect(existsSync(dataset)).toBe(true);
  rmSync(join(dir, 'data/orders.csv'));
  await run('ingest');
  expect(existsSync(dataset)).toBe(false);
});

test('a setup that goes on to an answer says once what it did not read and assumed', async () => {
  const dir = folder();
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'data/orders.csv'), 'id;total\n1;2\n2;3\n');
  writeFileSync(join(dir, 'data/empty.csv'), '');
  const place = ['--driver', 'duckdb', '--path', './data'];
  const { stdout, stderr } = await ktx(['setup', ...place, '--ingest'], { cwd: dir });
  const lines = (stdout + stderr).split('\n');
  expect(lines.filter((line) => /not read|assumed/.test(line))).toEqual([
    'not read: data/empty.csv could not be loaded: it has 0 bytes.',
    'assumed: orders.csv is separated by ";"',
  ]);
});
