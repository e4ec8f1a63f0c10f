import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { commitFiles, refreshIndex } from '../../src/store/commit/commit.ts';
import { demandOnCommits } from '../../src/store/commit/commit-policy.ts';
import {
  readFilesAtCommit,
  findRepository,
  git,
  headCommit,
  ignoredPaths,
  openRepository,
  unfinishedGitOperation,
} from '../../src/store/git.ts';
import { read, run, temporaryFolder, write } from './git-project.ts';
import { commitTarget } from '../../src/store/commit/commit-target.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryFolder();
});

async function commit(
  project: string,
  files: Record<string, string | undefined>,
  extra: { onDisk?: boolean; message?: string } = {},
) {
  const repository = await openRepository(project);
  const onDisk = extra.onDisk ?? true;
  for (const [path, text] of Object.entries(files)) {
    if (!onDisk) continue;
    if (text === undefined) rmSync(join(project, path), { force: true });
    else write(project, path, text);
  }
  const changes = Object.entries(files).map(([path, text]) => ({ path, text, onDisk }));
  const outcome = await commitFiles(repository, project, {
    target: await commitTarget(repository),
    changes,
    message: extra.message ?? 'ktx: ingest',
    runId: 'run_1',
  });
  await refreshIndex(repository, project);
  return outcome;
}

describe('where the project lies', () => {
  test('a folder without a repository gets one of its own, and its first commit', async () => {
    expect(await findRepository(dir)).toBeUndefined();
    expect(await commit(dir, { 'claims/a.jsonl': '{}\n' })).toMatchObject({ kind: 'committed' });
    expect(run(dir, 'log', '--format=%s|%(trailers:key=Ktx-Run)')).toBe(
      'ktx: ingest|Ktx-Run: run_1',
    );
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('a folder inside a larger repository commits there, below its own path', async () => {
    run(dir, 'init', '-q');
    write(dir, 'README', 'hello\n');
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'first');
    const project = join(dir, 'Daten für "alle"', 'ktx');
    mkdirSync(project, { recursive: true });
    await commit(project, { 'claims/é.jsonl': '{}\n' });
    expect(
      run(dir, '-c', 'core.quotePath=false', 'ls-tree', '-r', '-z', '--name-only', 'HEAD').split(
        '\0',
      ),
    ).toEqual(['Daten für "alle"/ktx/claims/é.jsonl', 'README', '']);
    expect(run(dir, 'status', '--porcelain')).toBe('');
    const repository = await openRepository(project);
    expect(
      await readFilesAtCommit(repository, { commit: 'HEAD', folders: ['claims', 'sources'] }),
    ).toEqual(new Map([['claims/é.jsonl', '{}\n']]));
  });

  test('a folder that the surrounding repository ignores gets a repository of its own', async () => {
    run(dir, 'init', '-q');
    write(dir, '.gitignore', 'demo/\n');
    mkdirSync(join(dir, 'demo'));
    await commit(join(dir, 'demo'), { 'claims/a.jsonl': '{}\n' });
    expect(existsSync(join(dir, 'demo', '.git'))).toBe(true);
    expect(run(join(dir, 'demo'), 'status', '--porcelain')).toBe('');
  });

  test('a repository that names its objects by SHA-256 takes changes and removals', async () => {
    run(dir, 'init', '-q', '--object-format=sha256');
    await commit(dir, { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n' });
    expect(
      await commit(
        dir,
        { 'claims/a.jsonl': undefined, 'claims/b.jsonl': '2\n' },
        { onDisk: false },
      ),
    ).toMatchObject({
      kind: 'committed',
    });
    expect(run(dir, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('claims/b.jsonl');
  });

  test('a linked worktree and a detached HEAD take the commit themselves', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    const linked = join(temporaryFolder(), 'linked');
    run(dir, 'worktree', 'add', '-q', '--detach', linked);
    await commit(linked, { 'claims/a.jsonl': '2\n' });
    expect(run(linked, 'show', 'HEAD:claims/a.jsonl')).toBe('2');
    expect(run(dir, 'show', 'HEAD:claims/a.jsonl')).toBe('1');
    expect(run(linked, 'status', '--porcelain')).toBe('');
  });
});

test('hooks are found from every folder, also through a link to one inside the repository', async () => {
  run(dir, 'init', '-q');
  const project = join(dir, 'data/ktx');
  mkdirSync(project, { recursive: true });
  const link = join(temporaryFolder(), 'link');
  symlinkSync(project, link);
  run(dir, 'commit', '--allow-empty', '-qm', 'start');
  run(dir, 'worktree', 'add', '-q', join(dir, 'other'));
  const folders = [dir, project, link, join(dir, 'other')];
  const demands = () =>
    Promise.all(folders.map(async (folder) => demandOnCommits(await openRepository(folder))));
  expect(await demands()).toEqual([undefined, undefined, undefined, undefined]);
  write(dir, '.git/hooks/pre-commit', '#!/bin/sh\n');
  chmodSync(join(dir, '.git/hooks/pre-commit'), 0o755);
  expect(await demands()).toEqual(['hook', 'hook', 'hook', 'hook']);
});

describe('what a person has', () => {
  test('staged, changed and untracked files elsewhere stay exactly as they are', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    write(dir, 'staged.txt', 'staged\n');
    run(dir, 'add', 'staged.txt');
    write(dir, 'staged.txt', 'staged, then changed\n');
    write(dir, 'untracked.txt', 'x\n');
    await commit(dir, { 'claims/a.jsonl': '2\n', 'claims/b.jsonl': 'new\n' });
    expect(run(dir, 'status', '--porcelain')).toBe('AM staged.txt\n?? untracked.txt');
    expect(run(dir, 'show', '--name-only', '--format=', 'HEAD')).toBe(
      'claims/a.jsonl\nclaims/b.jsonl',
    );
    expect(run(dir, 'show', ':staged.txt')).toBe('staged');
  });

  test('what the person staged of the very file stays staged', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n' });
    write(dir, 'claims/a.jsonl', 'mine\n');
    run(dir, 'add', 'claims/a.jsonl');
    await commit(dir, { 'claims/a.jsonl': '2\n', 'claims/b.jsonl': '2\n' });
    expect(run(dir, 'show', ':claims/a.jsonl')).toBe('mine');
    expect(run(dir, 'show', ':claims/b.jsonl')).toBe('2');
  });

  test('a staged deletion stays staged, of a file that is committed again and of one that is not', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n' });
    run(dir, 'rm', '-q', '--cached', 'claims/a.jsonl', 'claims/b.jsonl');
    const repository = await openRepository(dir);
    expect(await refreshIndex(repository, dir)).toBe(true);
    expect(run(dir, 'ls-files')).toBe('');
    await commit(dir, { 'claims/a.jsonl': '2\n', 'claims/c.jsonl': 'new\n' });
    await refreshIndex(repository, dir);
    expect(run(dir, 'status', '--porcelain').split('\n')).toEqual(
      expect.arrayContaining(['D  claims/a.jsonl', 'D  claims/b.jsonl']),
    );
    expect(run(dir, 'ls-files')).toBe('claims/c.jsonl');
    expect(run(dir, 'show', 'HEAD:claims/a.jsonl')).toBe('2');
  });

  test('a commit that differs from the file on disk leaves the difference uncommitted', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    write(dir, 'claims/a.jsonl', '2 and mine\n');
    await commit(dir, { 'claims/a.jsonl': '2\n' }, { onDisk: false });
    expect(run(dir, 'show', 'HEAD:claims/a.jsonl')).toBe('2');
    expect(run(dir, 'status', '--porcelain')).toBe(' M claims/a.jsonl');
    expect(read(dir, 'claims/a.jsonl')).toBe('2 and mine\n');
  });

  test('failing hooks, a file monitor and required signing do not stop a commit, and do not run', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'reference-transaction',
      'post-index-change',
      'prepare-commit-msg',
    ]) {
      write(
        dir,
        `.git/hooks/${hook}`,
        '#!/bin/sh\ntouch "$(git rev-parse --show-toplevel)/hook-ran"\nexit 1\n',
      );
      chmodSync(join(dir, '.git/hooks', hook), 0o755);
    }
    await git(dir, ['config', 'core.fsmonitor', '.git/hooks/pre-commit']);
    await git(dir, ['config', 'commit.gpgsign', 'true']);
    await git(dir, ['config', 'gpg.program', '/bin/false']);
    expect(await commit(dir, { 'claims/a.jsonl': '2\n' })).toMatchObject({ kind: 'committed' });
    expect(existsSync(join(dir, 'hook-ran'))).toBe(false);
    expect((await git(dir, ['status', '--porcelain'])).stdout.toString()).toBe('');
  });

  test('the files of a commit are as committed, whatever is on disk', async () => {
    const committed = { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n', 'claims/c.jsonl': '3\n' };
    await commit(dir, committed);
    write(dir, 'claims/a.jsonl', '2\n');
    rmSync(join(dir, 'claims/b.jsonl'));
    const repository = await openRepository(dir);
    expect(await readFilesAtCommit(repository, { commit: 'HEAD', folders: ['claims'] })).toEqual(
      new Map(Object.entries(committed)),
    );
  });

  test('a text that was read already counts only if it is the committed one', async () => {
    await commit(dir, {
      'claims/a.jsonl': '1\n',
      'claims/b.jsonl': '\uFFFD',
      'claims/c.jsonl': '3\n',
    });
    rmSync(join(dir, 'claims'), { recursive: true });
    const repository = await openRepository(dir);
    const known = new Map([
      ['claims/a.jsonl', '2\n'],
      // Stands for a file that could not be read.
      ['claims/b.jsonl', '\uD800'],
      ['claims/c.jsonl', '3\n'],
      ['claims/d.jsonl', '4\n'],
    ]);
    const files = await readFilesAtCommit(repository, {
      commit: 'HEAD',
      folders: ['claims'],
      known,
    });
    expect([...files]).toEqual([
      ['claims/a.jsonl', '1\n'],
      ['claims/b.jsonl', '\uFFFD'],
      ['claims/c.jsonl', '3\n'],
    ]);
  });

  test('line endings that git converts are no change', async () => {
    await openRepository(dir);
    await git(dir, ['config', 'core.autocrlf', 'true']);
    await commit(dir, { 'claims/a.jsonl': 'a\r\nb\r\n' });
    const repository = await openRepository(dir);
    expect(run(dir, 'cat-file', '-s', 'HEAD:claims/a.jsonl')).toBe('4');
    expect(await readFilesAtCommit(repository, { commit: 'HEAD', folders: ['claims'] })).toEqual(
      new Map([['claims/a.jsonl', 'a\nb\n']]),
    );
    expect(await commit(dir, { 'claims/a.jsonl': 'a\r\nb\r\n' })).toEqual({ kind: 'unchanged' });
  });
});

describe('races and repeats', () => {
  test('a HEAD that moved meanwhile is reported, and nothing of it is overwritten', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    const repository = await openRepository(dir);
    run(dir, 'commit', '--allow-empty', '-qm', 'someone else');
    const changes = [{ path: 'claims/a.jsonl', text: '2\n', onDisk: false }];
    expect(
      await commitFiles(repository, dir, {
        target: await commitTarget(repository),
        changes,
        message: 'late',
        runId: 'run_2',
      }),
    ).toEqual({
      kind: 'raced',
    });
    expect(run(dir, 'log', '-1', '--format=%s')).toBe('someone else');
  });

  test('a file that changed meanwhile is not committed', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n' });
    const repository = await openRepository(dir);
    const parent = await headCommit(repository);
    write(dir, 'claims/a.jsonl', 'saved by a person\n');
    const changes = [{ path: 'claims/a.jsonl', text: '2\n', onDisk: true }];
    expect(
      await commitFiles(repository, dir, {
        target: await commitTarget(repository),
        changes,
        message: 'late',
        runId: 'run_2',
      }),
    ).toEqual({ kind: 'raced' });
    expect(await headCommit(repository)).toBe(parent);
  });

  test('a first commit is refused where someone else made one meanwhile', async () => {
    const repository = await openRepository(dir);
    run(dir, 'commit', '--allow-empty', '-qm', 'someone else');
    const changes = [{ path: 'claims/a.jsonl', text: '2\n', onDisk: false }];
    expect(
      await commitFiles(repository, dir, {
        target: await commitTarget(repository),
        changes,
        message: 'late',
        runId: 'run_2',
      }),
    ).toEqual({ kind: 'raced' });
  });

  test('the same files again make no commit; removing them makes one', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n' });
    expect(await commit(dir, { 'claims/a.jsonl': '1\n' })).toEqual({ kind: 'unchanged' });
    expect(await commit(dir, { 'claims/a.jsonl': undefined })).toMatchObject({ kind: 'committed' });
    expect(run(dir, 'ls-files')).toBe('claims/b.jsonl');
    expect(run(dir, 'status', '--porcelain')).toBe('');
  });

  test('an index that a killed run left behind is brought up to date later', async () => {
    await commit(dir, { 'claims/a.jsonl': '1\n', 'claims/b.jsonl': '1\n' });
    const repository = await openRepository(dir);
    const changes = ['claims/a.jsonl', 'claims/new.jsonl'].map((path) => ({
      path,
      text: '2\n',
      onDisk: true,
    }));
    for (const { path, text } of changes) write(dir, path, text);
    run(dir, 'rm', '-q', '--cached', 'claims/b.jsonl');
    await commitFiles(repository, dir, {
      target: await commitTarget(repository),
      changes,
      message: 'm',
      runId: 'r',
    });
    expect(run(dir, 'diff', '--cached', '--name-only')).toBe(
      'claims/a.jsonl\nclaims/b.jsonl\nclaims/new.jsonl',
    );
    await refreshIndex(repository, dir);
    expect(run(dir, 'diff', '--cached', '--name-status')).toBe('D\tclaims/b.jsonl');
  });
});

describe('what stands in the way', () => {
  test.each(['merge', 'rebase', 'cherry-pick'])('a %s under way is seen', async (operation) => {
    run(dir, 'init', '-q', '-b', 'main');
    write(dir, 'a', '0\n');
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'base');
    run(dir, 'checkout', '-qb', 'other');
    write(dir, 'a', '1\n');
    run(dir, 'commit', '-qam', 'theirs');
    run(dir, 'checkout', '-q', 'main');
    write(dir, 'a', '2\n');
    run(dir, 'commit', '-qam', 'ours');
    const repository = await openRepository(dir);
    expect(unfinishedGitOperation(repository)).toBeUndefined();
    expect(() => run(dir, operation, 'other')).toThrow(operation);
    expect(unfinishedGitOperation(repository)).toBe(operation);
  });

  test('ignored paths are known; tracked ones are not among them', async () => {
    const repository = await openRepository(dir);
    write(dir, '.gitignore', 'sources/\n');
    expect(await ignoredPaths(repository, ['sources/a.jsonl', 'claims/a.jsonl'])).toEqual(
      new Set(['sources/a.jsonl']),
    );
  });

  test('an unknown identity becomes ktx', async () => {
    try {
      for (const name of ['HOME', 'XDG_CONFIG_HOME']) vi.stubEnv(name, dir);
      vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
      for (const name of [
        'GIT_AUTHOR_NAME',
        'GIT_AUTHOR_EMAIL',
        'GIT_COMMITTER_NAME',
        'GIT_COMMITTER_EMAIL',
        'EMAIL',
      ])
        vi.stubEnv(name, undefined);
      await commit(dir, { 'claims/a.jsonl': '1\n' });
      expect(run(dir, 'log', '--format=%an <%ae> %cn <%ce>')).toBe(
        'ktx <ktx@localhost> ktx <ktx@localhost>',
      );
      await git(dir, ['config', 'user.name', 'Grace']);
      await git(dir, ['config', 'user.email', 'grace@example.org']);
      await commit(dir, { 'claims/a.jsonl': '2\n' });
      expect(run(dir, 'log', '-1', '--format=%an <%ae>')).toBe('Grace <grace@example.org>');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('variables of a git hook that runs ktx lead it to no other repository', async () => {
    const outer = temporaryFolder();
    run(outer, 'init', '-q');
    try {
      vi.stubEnv('GIT_DIR', join(outer, '.git'));
      vi.stubEnv('GIT_WORK_TREE', outer);
      vi.stubEnv('GIT_INDEX_FILE', join(outer, '.git/index'));
      await commit(dir, { 'claims/a.jsonl': '1\n' });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(run(dir, 'ls-files')).toBe('claims/a.jsonl');
    expect(run(dir, 'status', '--porcelain')).toBe('');
    expect(run(outer, 'for-each-ref')).toBe('');
    expect(existsSync(join(outer, '.git/index'))).toBe(false);
  });

  test('a missing git says so', async () => {
    const path = process.env['PATH'];
    try {
      process.env['PATH'] = dir;
      await expect(openRepository(dir)).rejects.toMatchObject({ code: 'git_missing' });
    } finally {
      process.env['PATH'] = path;
    }
  });
});

test('no new repository is begun over one that has lost its HEAD', async () => {
  await commit(dir, { 'a.txt': 'one\n' });
  const head = read(dir, '.git/HEAD');
  rmSync(join(dir, '.git/HEAD'));
  await expect(openRepository(dir)).rejects.toMatchObject({ code: 'git_damaged' });
  expect(existsSync(join(dir, '.git/HEAD'))).toBe(false);
  write(dir, '.git/HEAD', head);
  expect((await openRepository(dir)).head).toBeDefined();

  // What an interrupted `git init` leaves is no history.
  const begun = temporaryFolder();
  mkdirSync(join(begun, '.git/objects/pack'), { recursive: true });
  mkdirSync(join(begun, '.git/refs/heads'), { recursive: true });
  expect((await openRepository(begun)).head).toBeUndefined();
});
