import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { IngestReport } from '../../src/ingest/report.ts';
import { shopProject, sql } from '../ingest/ingest-project.ts';
import { run, write } from '../store/git-project.ts';
import { approve } from '../support/approve.ts';
import { ktx, ktxJson } from './run-cli.ts';

let dir: string;
beforeEach(async () => {
  dir = shopProject();
  await approve(dir);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function ingest(...args: readonly string[]) {
  const { code, envelope } = await ktxJson(['ingest', ...args], { cwd: dir });
  return { code, error: envelope.error, ...(envelope.data as IngestReport) };
}
const subjects = (ref: string) => run(dir, 'log', '--format=%s', ref).trim().split('\n');

test('commits on a new branch; what is checked out, and its index, stay', async () => {
  const { code, stdout, stderr } = await ktx(['ingest', '--branch', 'ktx/update'], { cwd: dir });
  const id = run(dir, 'rev-parse', 'ktx/update').trim();
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`commit ${id.slice(0, 10)} on ktx/update`),
  ]);
  expect(stdout + stderr).toContain('git push -u origin ktx/update');
  expect(subjects('ktx/update')).toEqual(['ktx: update shop', 'start']);
  expect(subjects('HEAD')).toEqual(['start']);
  expect(run(dir, 'symbolic-ref', 'HEAD').trim()).toBe('refs/heads/main');
  expect(run(dir, 'diff', '--cached', '--name-only')).toBe('');
  expect(run(dir, 'ls-tree', '-r', '--name-only', 'ktx/update')).toContain(
    'semantic-layer/shop/orders.yaml',
  );
  // Nothing is new: no second commit.
  expect((await ingest('--branch', 'ktx/update')).commit.id).toBeUndefined();
});

test('goes on from the branch while nobody has merged it, then from what is checked out', async () => {
  await ingest('--branch', 'ktx/update');
  write(dir, 'README.md', 'ours\n');
  run(dir, 'add', 'README.md');
  run(dir, 'commit', '-qm', 'readme');
  sql(dir, 'CREATE TABLE refunds (id INTEGER PRIMARY KEY, order_id INTEGER)');
  await ingest('--branch', 'ktx/update');
  expect(subjects('ktx/update')).toEqual(['ktx: update shop', 'ktx: update shop', 'start']);
  // The merge on the server of git, and the pull of its result.
  run(dir, 'stash', '-qu');
  run(dir, 'merge', '-q', '--no-edit', 'ktx/update');
  run(dir, 'stash', 'drop', '-q');
  sql(dir, 'CREATE TABLE shops (id INTEGER PRIMARY KEY, city TEXT)');
  const { commit } = await ingest('--branch', 'ktx/update');
  expect(run(dir, 'rev-parse', 'ktx/update^').trim()).toBe(run(dir, 'rev-parse', 'HEAD').trim());
  expect(run(dir, 'diff', '--name-only', 'HEAD', commit.id ?? '')).toContain('shops.yaml');
});

test('a name that git does not take, and a branch of another worktree, cost nothing', async () => {
  for (const name of ['two words', '-d', 'a..b', '', 'x.lock'])
    expect(await ingest(`--branch=${name}`)).toMatchObject({
      code: 2,
      error: { code: 'branch_invalid' },
    });
  const other = mkdtempSync(join(tmpdir(), 'ktx-worktree-'));
  run(dir, 'worktree', 'add', '-q', '-b', 'theirs', join(other, 'tree'));
  expect((await ingest('--branch', 'theirs')).error).toMatchObject({
    code: 'branch_checked_out',
    message: expect.stringContaining(join(other, 'tree')) as unknown,
  });
  rmSync(other, { recursive: true });
  expect((await ingest('--branch', 'a', '--no-commit')).error?.code).toBe('usage');
  expect(subjects('--all')).toEqual(['start']);
});

test('the branch that is checked out is committed on as without the option', async () => {
  const { commit } = await ingest('--branch', 'main');
  expect(commit.branch).toBeUndefined();
  expect(subjects('HEAD')).toEqual(['ktx: update shop', 'start']);
  expect(run(dir, 'status', '--porcelain')).toBe('');
});

test('commits on a branch that is named where the project only writes', async () => {
  write(dir, 'ktx.yaml', 'connections:\n  shop: {driver: sqlite, path: shop.sqlite}\ngit: write\n');
  await approve(dir);
  expect((await ingest('--branch', 'ktx/update')).commit.branch).toBe('ktx/update');
  expect((await ingest()).commit.id).toBeUndefined();
  expect(subjects('HEAD')).toEqual(['start']);
});

test('does not go past the hooks of a repository', async () => {
  write(dir, '.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n');
  chmodSync(join(dir, '.git/hooks/pre-commit'), 0o755);
  const { commit } = await ingest('--branch', 'ktx/update');
  expect(commit.none).toContain('commit hooks');
  expect(() =>
    execFileSync('git', ['rev-parse', '--verify', '--quiet', 'ktx/update'], { cwd: dir }),
  ).toThrow();
});
