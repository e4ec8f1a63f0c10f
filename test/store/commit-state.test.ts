import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCommitState } from '../../src/project/open/commit-state.ts';
import { openState } from '../../src/store/state.ts';

let dir: string;
const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd: dir,
    encoding: 'utf8',
  }).trim();
const write = (path: string, text: string) => writeFileSync(join(dir, path), text);

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-commit-')));
  mkdirSync(join(dir, 'folder'));
  write('folder/a.yaml', 'a');
  write('folder/b.yaml', 'b');
});
afterEach(() => rmSync(dir, { recursive: true }));

test('what git says of files is asked again after every edit, commit and checkout', async () => {
  const paths = ['folder/a.yaml', 'folder/b.yaml'];
  const states = async () => {
    const first = await readCommitState(dir, paths);
    // The second answer may be the kept one.
    expect(await readCommitState(dir, paths)).toEqual(first);
    expect(first.commit).toBe(git('rev-parse', 'HEAD'));
    return first.uncommitted;
  };
  expect(await readCommitState(dir, paths)).toEqual({});
  git('init', '-q', '-b', 'main');
  expect(await readCommitState(dir, paths)).toEqual({ commit: undefined, uncommitted: paths });
  git('add', '-A');
  git('commit', '-qm', 'one');
  expect(await states()).toEqual([]);
  write('folder/a.yaml', 'edited');
  expect(await states()).toEqual(['folder/a.yaml']);
  git('commit', '-qam', 'two');
  expect(await states()).toEqual([]);
  git('commit', '-q', '--allow-empty', '-m', 'three');
  expect(await states()).toEqual([]);
  git('checkout', '-q', 'HEAD~2');
  expect(await states()).toEqual([]);
  git('update-ref', 'HEAD', 'main');
  expect(await states()).toEqual(['folder/a.yaml']);
  rmSync(join(dir, 'folder/b.yaml'));
  expect(await states()).toEqual(paths);
  expect((await readCommitState(dir, ['folder'])).uncommitted).toEqual(paths);
  write('folder/b.yaml', 'b');
  expect((await readCommitState(dir, ['folder'])).uncommitted).toEqual(['folder/a.yaml']);
});

test('without a repository git is asked once, and again when one appears', async () => {
  const paths = ['folder/a.yaml'];
  expect(await readCommitState(dir, paths)).toEqual({});
  const { PATH = '' } = process.env;
  process.env['PATH'] = '';
  try {
    expect(await readCommitState(dir, paths)).toEqual({});
    mkdirSync(join(dir, '.git'));
    expect((await readCommitState(dir, paths)).git).toContain('not installed');
  } finally {
    process.env['PATH'] = PATH;
  }
  git('init', '-q');
  expect(await readCommitState(join(dir, 'folder'), ['a.yaml'])).toMatchObject({
    uncommitted: ['a.yaml'],
  });
});

test('paths are whole: with spaces, new, staged and in a conflict', async () => {
  git('init', '-q', '-b', 'main');
  write('folder/in two.yaml', 'one');
  git('add', '-A');
  git('commit', '-qm', 'one');
  git('checkout', '-qb', 'other');
  write('folder/in two.yaml', 'two');
  git('commit', '-qam', 'two');
  git('checkout', '-q', 'main');
  write('folder/in two.yaml', 'three');
  git('commit', '-qam', 'three');
  expect(() => git('merge', 'other')).toThrow();
  write('folder/new file.yaml', '');
  write('folder/a.yaml', 'staged');
  git('add', 'folder/a.yaml');
  expect((await readCommitState(dir, ['folder'])).uncommitted?.toSorted()).toEqual([
    'folder/a.yaml',
    'folder/in two.yaml',
    'folder/new file.yaml',
  ]);
});

/** Asks like a process that has just begun, and cannot find git. */
async function askWithoutGit(paths: readonly string[]) {
  vi.resetModules();
  const fresh = await import('../../src/project/open/commit-state.ts');
  vi.stubEnv('PATH', '');
  try {
    return await fresh.readCommitState(dir, paths);
  } finally {
    vi.unstubAllEnvs();
  }
}

test('that files are as committed is kept for the next process, until anything changes', async () => {
  const paths = ['folder/a.yaml', 'folder/b.yaml'];
  git('init', '-q', '-b', 'main');
  openState(dir).close();
  write('.gitignore', '.ktx/\n');
  git('add', '-A');
  git('commit', '-qm', 'one');
  const settled = async () => {
    // Younger changes could share their time with another one.
    await sleep(1100);
    const state = await readCommitState(dir, paths);
    expect(await askWithoutGit(paths)).toEqual(state);
    expect(state).toEqual({ commit: git('rev-parse', 'HEAD'), uncommitted: [] });
  };
  await settled();
  const asksAgain = async () => expect((await askWithoutGit(paths)).git).toContain('not installed');
  write('folder/a.yaml', 'c');
  utimesSync(join(dir, 'folder/a.yaml'), 1, 1);
  await asksAgain();
  // What differs from the commit is not kept.
  await sleep(1100);
  expect((await readCommitState(dir, paths)).uncommitted).toEqual(['folder/a.yaml']);
  await asksAgain();
  git('commit', '-qam', 'two');
  await settled();
  // A tool that writes the branch itself leaves no line in git's log.
  write('.git/refs/heads/main', `${git('rev-parse', 'HEAD~1')}\n`);
  await asksAgain();
  git('reset', '-q', '--hard', 'HEAD');
  await settled();
  rmSync(join(dir, '.git'), { recursive: true });
  expect(await askWithoutGit(paths)).not.toHaveProperty('commit');
});
