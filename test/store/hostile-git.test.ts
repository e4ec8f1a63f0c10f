import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { readMergedClaims } from '../../src/ingest/fetch/merged-claims.ts';
import { readCommitState } from '../../src/project/open/commit-state.ts';
import { checkOut } from '../../src/sources/git-checkout.ts';
import { commitFiles, refreshIndex } from '../../src/store/commit/commit.ts';
import {
  findRepository,
  gitOutput,
  headCommit,
  ignoredPaths,
  readFilesAtCommit,
} from '../../src/store/git.ts';
import { run, temporaryFolder, write } from './git-project.ts';
import { commitTarget } from '../../src/store/commit/commit-target.ts';

let base: string;
let dir: string;
let canary: string;
let program: string;

beforeEach(() => {
  base = temporaryFolder();
  dir = join(base, 'proj');
  canary = join(base, 'canary');
  program = join(base, 'evil.sh');
  writeFileSync(program, `#!/bin/sh\necho "$0 $@" >> '${canary}'\ncat\n`);
  chmodSync(program, 0o755);
  mkdirSync(dir);
  run(dir, 'init', '-q', '-b', 'main');
  write(dir, 'ktx.yaml', 'connections: {}\n');
  write(dir, 'claims/a.jsonl', '1\n');
  write(dir, 'wiki/a.md', 'words\n');
  run(dir, 'add', '.');
  run(dir, 'commit', '-qm', 'start');
  return () => {
    // A git that was ended may leave the program that it ran, which waits for input.
    spawnSync('pkill', ['-f', base]);
    rmSync(base, { recursive: true, force: true });
  };
});

/**
 * Everything that ktx asks git about a project. A refusal is as good as an answer; a program that
 * runs is not.
 */
async function useProject(): Promise<string[]> {
  const errors: string[] = [];
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      errors.push((error as { code?: string }).code ?? String(error));
    }
  };
  write(dir, 'claims/a.jsonl', `${Math.random()}\n`);
  await attempt(async () => {
    const { git: refusal } = await readCommitState(dir, ['claims', 'wiki', 'ktx.yaml']);
    if (refusal !== undefined) errors.push(refusal);
  });
  await attempt(async () => {
    const repository = await findRepository(dir);
    if (repository === undefined) return;
    await ignoredPaths(repository, ['claims/a.jsonl']);
    await readMergedClaims(dir);
    const parent = await headCommit(repository);
    await readFilesAtCommit(repository, { commit: parent ?? 'HEAD', folders: ['claims', 'wiki'] });
    await gitOutput(repository.root, ['config', 'user.name'], { allow: [1] });
    const changes = [
      {
        path: 'claims/a.jsonl',
        text: readFileSync(join(dir, 'claims/a.jsonl'), 'utf8'),
        onDisk: true,
      },
      { path: 'claims/b.jsonl', text: `${Math.random()}\n`, onDisk: false },
    ];
    await commitFiles(repository, dir, {
      target: await commitTarget(repository),
      changes,
      message: 'ktx: ingest',
      runId: 'run_1',
    });
    await refreshIndex(repository, dir);
  });
  return errors;
}

const config = (...settings: [key: string, value: string][]) => {
  for (const [key, value] of settings) run(dir, 'config', key, value);
};

/** A trick, and what a person would type to fall for it. */
const tricks: Readonly<Record<string, readonly [plant: () => void, bait?: readonly string[]]>> = {
  'core.fsmonitor': [() => config(['core.fsmonitor', program]), ['status']],
  'core.hooksPath': [
    () => {
      config(['core.hooksPath', join(base, 'hooks')]);
      plantHooks(join(base, 'hooks'));
    },
    ['commit', '--allow-empty', '-m', 'x'],
  ],
  'hooks of the repository': [
    () => plantHooks(join(dir, '.git/hooks')),
    ['commit', '--allow-empty', '-m', 'x'],
  ],
  'filter.*.clean': [
    () => {
      config(['filter.evil.clean', program]);
      write(dir, '.gitattributes', '* filter=evil\n');
    },
    ['add', 'wiki'],
  ],
  'filter.*.clean of attributes in .git': [
    () => {
      config(['filter.evil.clean', program], ['filter.evil.required', 'true']);
      write(dir, '.git/info/attributes', 'claims/** filter=evil\n');
    },
    ['add', 'claims'],
  ],
  'filter.*.process': [
    () => {
      config(['filter.EVIL.process', program]);
      write(dir, '.gitattributes', '* filter=EVIL\n');
    },
  ],
  'a filter whose name has an equals sign': [
    () => {
      appendFileSync(join(dir, '.git/config'), `[filter "a=b"]\n\tclean = ${program}\n`);
      write(dir, '.gitattributes', '* filter=a=b\n');
    },
  ],
  'include.path': [
    () => {
      writeFileSync(
        join(base, 'more'),
        `[core]\n\tfsmonitor = ${program}\n[filter "x"]\n\tclean = ${program}\n`,
      );
      config(['include.path', join(base, 'more')]);
      write(dir, '.gitattributes', '* filter=x\n');
    },
    ['status'],
  ],
  'config.worktree': [
    () => {
      config(['extensions.worktreeConfig', 'true']);
      write(dir, '.git/config.worktree', `[core]\n\tfsmonitor = ${program}\n`);
    },
    ['status'],
  ],
  'programs for differences': [
    () => {
      config(['diff.external', program], ['diff.x.textconv', program], ['diff.x.command', program]);
      write(dir, '.gitattributes', '* diff=x merge=x\n');
      config(['merge.x.driver', program]);
    },
    ['diff'],
  ],
  'pager, editor and programs for keys and passwords': [
    () =>
      config(
        ['core.pager', program],
        ['pager.status', program],
        ['pager.config', program],
        ['core.editor', program],
        ['sequence.editor', program],
        ['core.sshCommand', program],
        ['core.askPass', program],
        ['credential.helper', `!${program}`],
        ['gpg.program', program],
        ['gpg.ssh.program', program],
        ['commit.gpgSign', 'true'],
        ['user.signingKey', 'x'],
        ['core.alternateRefsCommand', program],
        ['uploadpack.packObjectsHook', program],
        ['alias.status', `!${program}`],
        ['alias.config', `!${program}`],
        ['trace2.eventTarget', canary],
        ['interactive.diffFilter', program],
      ),
  ],
  'a program that shows signatures': [
    () => {
      const start = run(dir, 'rev-parse', 'HEAD');
      const unsigned = run(dir, 'cat-file', 'commit', start);
      const signed = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
        cwd: dir,
        input: `${unsigned.replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n\n')}\n`,
        encoding: 'utf8',
      }).trim();
      // After a merge, ktx reads the history.
      const parents = ['-p', start, '-p', signed];
      run(
        dir,
        'update-ref',
        'HEAD',
        run(dir, 'commit-tree', `${start}^{tree}`, ...parents, '-m', 'x'),
      );
      config(['log.showSignature', 'true'], ['gpg.program', program]);
    },
    ['log'],
  ],
  'a missing object that a remote has': [
    () => {
      const id = run(dir, 'rev-parse', 'HEAD:wiki/a.md');
      rmSync(join(dir, '.git/objects', id.slice(0, 2), id.slice(2)), { force: true });
      config(
        ['core.repositoryFormatVersion', '1'],
        ['extensions.partialClone', 'origin'],
        ['remote.origin.url', dir],
        ['remote.origin.promisor', 'true'],
        ['remote.origin.uploadpack', program],
      );
    },
    ['cat-file', '-p', 'HEAD:wiki/a.md'],
  ],
  'a missing object behind an address that is a program': [
    () => {
      const id = run(dir, 'rev-parse', 'HEAD:wiki/a.md');
      rmSync(join(dir, '.git/objects', id.slice(0, 2), id.slice(2)), { force: true });
      config(
        ['core.repositoryFormatVersion', '1'],
        ['extensions.partialClone', 'origin'],
        ['remote.origin.url', `ext::sh -c ${program}`],
        ['remote.origin.promisor', 'true'],
        ['protocol.ext.allow', 'always'],
        ['protocol.allow', 'always'],
      );
    },
    ['cat-file', '-p', 'HEAD:wiki/a.md'],
  ],
  'a submodule with settings of its own': [
    () => {
      const inner = join(dir, 'wiki/inner');
      mkdirSync(inner, { recursive: true });
      run(inner, 'init', '-q');
      write(inner, 'a', '1\n');
      run(inner, 'add', '.');
      run(inner, 'commit', '-qm', 'x');
      const id = run(inner, 'rev-parse', 'HEAD');
      run(dir, 'update-index', '--add', '--cacheinfo', `160000,${id},wiki/inner`);
      write(dir, '.gitmodules', '[submodule "inner"]\n\tpath = wiki/inner\n\turl = ./x\n');
      config(['submodule.inner.active', 'true'], ['submodule.inner.update', `!${program}`]);
      run(inner, 'config', 'core.fsmonitor', program);
    },
    ['status'],
  ],
  'a bare repository among the files': [
    () => {
      cpSync(join(dir, '.git'), join(base, 'kept'), { recursive: true });
      for (const name of ['HEAD', 'config', 'objects', 'refs', 'index'])
        cpSync(join(dir, '.git', name), join(dir, name), { recursive: true });
      rmSync(join(dir, '.git'), { recursive: true });
      writeFileSync(
        join(dir, 'config'),
        `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${dir}\n\tfsmonitor = ${program}\n`,
      );
    },
    ['status'],
  ],
};

function plantHooks(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of [
    'pre-commit',
    'post-commit',
    'prepare-commit-msg',
    'commit-msg',
    'post-index-change',
    'reference-transaction',
    'post-checkout',
    'fsmonitor-watchman',
  ])
    cpSync(program, join(folder, name));
}

const unix = process.platform === 'win32' ? test.skip : test;

describe('a hostile repository runs nothing', () => {
  for (const [name, [plant, bait]] of Object.entries(tricks)) {
    unix(name, async () => {
      plant();
      rmSync(canary, { force: true });
      await useProject();
      expect(existsSync(canary) ? readFileSync(canary, 'utf8') : '').toBe('');
      if (bait === undefined) return;
      try {
        execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@example.org', ...bait], {
          cwd: dir,
          stdio: 'pipe',
          input: '',
          timeout: 1500,
          killSignal: 'SIGKILL',
        });
      } catch {
        // The trick may break the command after its program has run.
      }
      if (name !== 'programs for differences')
        expect([name, existsSync(canary)]).toEqual([name, true]);
    });
  }
});

test('a working tree elsewhere is refused, and its files stay as they are', async () => {
  const home = join(base, 'home');
  write(home, 'claims/a.jsonl', 'mine\n');
  config(['core.worktree', home]);
  await expect(findRepository(dir)).rejects.toMatchObject({ code: 'git_tree_elsewhere' });
  expect((await readCommitState(dir, ['claims'])).git).toContain(home);
  config(['core.worktree', base]);
  await expect(findRepository(dir)).rejects.toMatchObject({ code: 'git_tree_elsewhere' });
  expect(readFileSync(join(home, 'claims/a.jsonl'), 'utf8')).toBe('mine\n');
});

test('the repository of another folder is refused, and gets no commit', async () => {
  const other = join(base, 'victim');
  const clone = join(base, 'clone');
  mkdirSync(other);
  run(other, 'init', '-q');
  write(clone, '.git', `gitdir: ${join(other, '.git')}\n`);
  await expect(findRepository(clone)).rejects.toMatchObject({ code: 'git_tree_elsewhere' });
});

test('variables of another git process, or of a file of variables, lead git nowhere else', async () => {
  const other = join(base, 'other');
  mkdirSync(other);
  run(other, 'init', '-q');
  try {
    const variables = {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(base, 'index'),
      GIT_EXTERNAL_DIFF: program,
      GIT_PAGER: program,
      GIT_EDITOR: program,
      GIT_EXEC_PATH: base,
      GIT_TEMPLATE_DIR: base,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: other,
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${program}'`,
    };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(await useProject()).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
  expect(existsSync(canary)).toBe(false);
  expect(run(dir, 'log', '-1', '--format=%s')).toBe('ktx: ingest');
});

test('what a filter would change is not committed without it, and the message says what to write', async () => {
  config(['filter.crypt.clean', program]);
  write(dir, '.gitattributes', 'claims/** filter=crypt\n');
  expect(await useProject()).toEqual(['git_filter']);
  expect(run(dir, 'log', '-1', '--format=%s')).toBe('start');
  write(dir, '.gitattributes', 'claims/** filter=crypt\nclaims/** !filter\n');
  expect(await useProject()).toEqual([]);
  expect(run(dir, 'log', '-1', '--format=%s')).toBe('ktx: ingest');
  expect(existsSync(canary)).toBe(false);
});

describe('a repository that is fetched', () => {
  let remote: string;
  let cacheDir: string;
  const fetchFrom = (url: string, branch?: string) =>
    checkOut(
      { url, branch, path: '.' },
      { projectDir: dir, cacheDir, secrets: () => url, signal: AbortSignal.timeout(60_000) },
    );

  beforeEach(() => {
    remote = join(base, 'remote');
    cacheDir = join(dir, '.ktx/cache');
    mkdirSync(cacheDir, { recursive: true });
    write(remote, 'models/a.sql', 'select 1\n');
    run(remote, 'init', '-q', '-b', 'main');
    run(remote, 'add', '.');
    run(remote, 'commit', '-qm', 'start');
  });

  unix('meets no settings of the project around it', async () => {
    const evil = join(base, 'evil');
    cpSync(remote, evil, { recursive: true });
    write(evil, 'models/a.sql', 'select evil\n');
    run(evil, 'commit', '-qam', 'evil');
    config(
      [`url.${evil}.insteadOf`, remote],
      ['core.sshCommand', program],
      ['credential.helper', `!${program}`],
      ['core.hooksPath', join(base, 'hooks')],
      ['init.templateDir', join(base, 'template')],
    );
    plantHooks(join(base, 'hooks'));
    plantHooks(join(base, 'template/hooks'));
    const folder = await fetchFrom(remote);
    expect(readFileSync(join(folder, 'models/a.sql'), 'utf8')).toBe('select 1\n');
    await expect(fetchFrom('ssh://nobody@127.0.0.1:1/x')).rejects.toMatchObject({
      code: 'repository_unreachable',
    });
    expect(existsSync(canary)).toBe(false);
  });

  unix('runs no filter that its attributes choose from a person’s settings', async () => {
    const home = join(base, 'home');
    write(home, '.gitconfig', `[filter "tool"]\n\tsmudge = ${program}\n\trequired = true\n`);
    write(remote, '.gitattributes', '* filter=tool\n');
    run(remote, 'add', '.');
    run(remote, 'commit', '-qm', 'attributes');
    try {
      vi.stubEnv('HOME', home);
      vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, '.gitconfig'));
      const folder = await fetchFrom(remote);
      expect(readFileSync(join(folder, 'models/a.sql'), 'utf8')).toBe('select 1\n');
      expect(existsSync(canary)).toBe(false);
      execFileSync('git', ['clone', '-q', remote, join(base, 'plain')], { stdio: 'pipe' });
      expect(existsSync(canary)).toBe(true);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test('leaves files only, is not fetched again unchanged, and takes nothing from a planted clone', async () => {
    const folder = await fetchFrom(remote);
    expect(existsSync(join(folder, '.git'))).toBe(false);
    write(folder, 'models/mark.sql', 'still here\n');
    await fetchFrom(remote);
    expect(existsSync(join(folder, 'models/mark.sql'))).toBe(true);
    // As a repository with .ktx in it would have it.
    run(folder, 'init', '-q');
    for (const key of ['core.fsmonitor', 'core.sshCommand']) run(folder, 'config', key, program);
    plantHooks(join(folder, '.git/hooks'));
    write(remote, 'models/b.sql', 'select 2\n');
    run(remote, 'add', '.');
    run(remote, 'commit', '-qm', 'more');
    await fetchFrom(remote);
    expect(existsSync(join(folder, 'models/b.sql'))).toBe(true);
    expect([existsSync(join(folder, 'models/mark.sql')), existsSync(canary)]).toEqual([
      false,
      false,
    ]);
  });

  test('is read at the protocols that ktx knows, and at no other', async () => {
    for (const url of [
      'ext::sh -c evil',
      'git://example.org/x',
      'http://example.org/x',
      'fd::17',
      '-x',
    ])
      await expect(fetchFrom(url)).rejects.toMatchObject({ code: 'repository_protocol' });
    expect(await fetchFrom(`file://${remote}`)).toContain('git-');
    renameSync(remote, join(dir, 'vendored'));
    expect(await fetchFrom('vendored')).toContain('git-');
  });

  test('of more files than a disk has room for is refused before one is written', async () => {
    const blob = run(remote, 'rev-parse', 'HEAD:models/a.sql');
    const makeTree = (lines: string) =>
      execFileSync('git', ['mktree'], { cwd: remote, input: lines, encoding: 'utf8' }).trim();
    const ten = (kind: string, id: string) =>
      Array.from({ length: 12 }, (_, index) => `${kind} ${id}\tf${index}\n`).join('');
    let tree = makeTree(ten('100644 blob', blob));
    for (let level = 0; level < 5; level += 1) tree = makeTree(ten('040000 tree', tree));
    run(remote, 'update-ref', 'refs/heads/bomb', run(remote, 'commit-tree', tree, '-m', 'bomb'));
    await expect(fetchFrom(remote, 'bomb')).rejects.toMatchObject({
      code: 'repository_too_large',
    });
    expect(existsSync(join(cacheDir, 'git-x'))).toBe(false);
  });
});
