import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod, chown, mkdtemp, realpath, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { llmConfigSchema } from '../../src/llm/config.ts';
import { openClaudeCodeBackend } from '../../src/llm/claude-code/backend.ts';
import { askVersion } from '../../src/llm/claude-code/program/ask-version.ts';
import { bundledProgram } from '../../src/llm/claude-code/program/bundled-program.ts';
import {
  chooseProgram,
  type ProgramRequest,
} from '../../src/llm/claude-code/program/choose-program.ts';
import { rememberProgram } from '../../src/llm/claude-code/program/remember-program.ts';
import { placeInRange, testedVersions } from '../../src/llm/claude-code/program/tested-versions.ts';
import { ensureStateDirectory } from '../../src/store/directories.ts';
import { makeClaudeHome } from '../support/claude-home.ts';
import { openModelEndpoint } from '../support/model-endpoint.ts';
import { isRunning } from '../support/processes.ts';

const bundled = bundledProgram();
const own = testedVersions.newest;
const posix = process.platform !== 'win32';
const isRoot = process.getuid?.() === 0;

test('versions compare by number, and what is no version is in no range', () => {
  const range = { oldest: '2.1.142', newest: '2.1.330' };
  const places = ['2.1.141', '2.1.142', '2.1.99', '2.1.330', '2.1.331', '2.2.0', '10.0.0', '1.9.9'];
  expect(places.map((version) => placeInRange(version, range))).toEqual([
    'older',
    'inside',
    'older',
    'inside',
    'newer',
    'newer',
    'newer',
    'older',
  ]);
  for (const text of ['', '2.1', '2.1.330-beta', 'v2.1.330', '2.1.330.1', '2.1.1e3'])
    expect(placeInRange(text, range)).toBe('invalid');
});

test('the setting is auto, bundled or an absolute path', () => {
  const isValid = (program: string) => llmConfigSchema.safeParse({ provider: { program } }).success;
  expect(['auto', 'bundled', '/usr/bin/claude'].map(isValid)).toEqual([true, true, true]);
  expect(['claude', './claude', '../x/claude', ''].map(isValid)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

describe.skipIf(bundled === undefined || !posix)('the Claude Code program that runs', () => {
  /** A copy of the real program, outside of everything. */
  let installed: string;
  let shared: string;
  let root: string;
  let home: string;
  let projectDir: string;

  beforeAll(async () => {
    shared = await realpath(await mkdtemp(join(tmpdir(), 'ktx-test-program-')));
    installed = join(shared, 'versions', own);
    mkdirSync(dirname(installed));
    copyFileSync(bundled ?? '', installed);
    await chmod(installed, 0o755);
    return () => rm(shared, { recursive: true });
  });

  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'ktx-test-program-')));
    home = join(root, 'home');
    projectDir = join(home, 'work', 'project');
    for (const folder of ['.local/bin', 'tools'])
      mkdirSync(join(home, folder), { recursive: true });
    mkdirSync(projectDir, { recursive: true });
    return () => rm(root, { recursive: true });
  });

  const choose = (request: Partial<ProgramRequest> = {}) =>
    chooseProgram({
      env: { HOME: home, PATH: '/usr/bin:/bin' },
      projectDir,
      setting: 'auto',
      bundled,
      tested: { oldest: own, newest: own },
      ...request,
    });
  const onPath = (...folders: readonly string[]) => ({
    env: { HOME: home, PATH: [...folders, '/usr/bin'].join(':') },
  });
  /** A link to the real program, as installers make it. */
  const link = (folder: string, target = installed): string => {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'claude');
    symlinkSync(target, path);
    return path;
  };
  /** A program that leaves a trace when it runs, and claims to be the right one. */
  const script = (folder: string, line = `echo '${own} (Claude Code)'`): string => {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'claude');
    writeFileSync(path, `#!/bin/sh\ntouch '${root}/ran'\n${line}\n`, { mode: 0o755 });
    return path;
  };
  const hasRun = (): boolean => existsSync(join(root, 'ran'));

  test('is the own one, by its absolute path behind all links', async () => {
    link(join(home, '.local/bin'));
    expect(await choose()).toEqual({
      path: installed,
      kind: 'own',
      version: own,
      reason: expect.stringContaining('your own'),
    });
  });

  test('is the own one that PATH names first, before the usual places', async () => {
    link(join(home, '.local/bin'), '/nowhere');
    link(join(home, 'tools'));
    expect(await choose(onPath(join(home, 'tools')))).toMatchObject({ path: installed });
  });

  test('is the bundled one where there is no other, and where ktx.yaml says so', async () => {
    expect(await choose()).toMatchObject({
      path: bundled,
      kind: 'bundled',
      version: own,
      reason: 'no other one was found',
    });
    link(join(home, '.local/bin'));
    expect(await choose({ setting: 'bundled' })).toMatchObject({
      path: bundled,
      reason: 'llm.provider.program is bundled',
    });
  });

  test.for([
    ['older', { oldest: '9.0.0', newest: '9.1.0' }, 'claude update'],
    ['newer', { oldest: '1.0.0', newest: '1.9.0' }, undefined],
  ] as const)('is not the own one if it is %s than what is tested', async ([, tested, advice]) => {
    const reason = `is version ${own}, but ktx is tested with ${tested.oldest} to ${tested.newest}`;
    link(join(home, '.local/bin'));
    expect(await choose({ tested })).toMatchObject({
      kind: 'bundled',
      reason: expect.stringContaining(reason),
    });
    expect((await choose({ tested })).advice).toBe(advice);
    const setting = installed;
    await expect(choose({ tested, setting })).rejects.toMatchObject({
      code: 'llm_program',
      message: expect.stringContaining(reason),
    });
  });

  test('is never one of the project, however PATH leads there, and none of it is started', async () => {
    const repository = join(home, 'work');
    mkdirSync(join(repository, '.git'));
    writeFileSync(join(projectDir, '.env'), `PATH=${projectDir}\n`);
    script(projectDir);
    script(join(projectDir, 'bin'));
    script(join(projectDir, 'node_modules/.bin'));
    script(join(repository, 'tools'));
    script(join(repository, 'node_modules/.bin'));
    // Above the repository, where `npx` looks too.
    script(join(home, 'node_modules/.bin'));
    link(join(home, '.local/bin'), join(projectDir, 'bin/claude'));
    symlinkSync(join(projectDir, 'bin'), join(home, 'linked'));
    const cwd = process.cwd();
    process.chdir(projectDir);
    try {
      const folders = [
        '',
        '.',
        './bin',
        'node_modules/.bin',
        projectDir,
        join(projectDir, 'bin'),
        join(projectDir, 'node_modules/.bin'),
        join(repository, 'tools'),
        join(repository, 'node_modules/.bin/'),
        join(home, 'node_modules/.bin'),
        join(home, 'linked'),
        join(home, 'tools/../work/project/bin'),
      ];
      expect(await choose(onPath(...folders))).toMatchObject({
        kind: 'bundled',
        reason: 'no other one was found',
      });
    } finally {
      process.chdir(cwd);
    }
    const setting = join(projectDir, 'bin/claude');
    await expect(choose({ setting })).rejects.toThrow('belongs to the project');
    await expect(choose({ setting: join(home, '.local/bin/claude') })).rejects.toThrow(
      'belongs to the project',
    );
    expect(hasRun()).toBe(false);
  });

  test('may be in the home folder when that is a repository', async () => {
    mkdirSync(join(home, '.git'));
    link(join(home, '.local/bin'));
    expect(await choose()).toMatchObject({ kind: 'own' });
  });

  test('is none that others could change, and that is not even asked for its version', async () => {
    const path = script(join(home, 'tools'), '');
    const reason = async () => (await choose(onPath(join(home, 'tools')))).reason;
    await chmod(path, 0o757);
    expect(await reason()).toContain(`${path} everybody may write to`);
    await chmod(path, 0o755);
    await chmod(dirname(path), 0o777);
    expect(await reason()).toContain(
      `${path} is in ${dirname(path)}, which everybody may write to`,
    );
    await chmod(dirname(path), 0o755);
    await chmod(home, 0o777);
    expect(await reason()).toContain(`is in ${home}, which everybody may write to`);
    await chmod(home, 0o755);
    await chmod(path, 0o644);
    expect(await reason()).toContain('is not a program');
    expect(hasRun()).toBe(false);
  });

  test('is none whose link others could change', async () => {
    const path = link(join(home, 'tools'));
    await chmod(dirname(path), 0o777);
    expect(await choose(onPath(join(home, 'tools')))).toMatchObject({
      kind: 'bundled',
      reason: expect.stringContaining(`is in ${dirname(path)}, which everybody may write to`),
    });
  });

  test.skipIf(!isRoot)('is none of another user or group', async () => {
    const path = script(join(home, 'tools'), '');
    const reason = async () => (await choose(onPath(join(home, 'tools')))).reason;
    await chown(path, 4242, 0);
    expect(await reason()).toContain('belongs to another user');
    await chown(path, 0, 4242);
    await chmod(path, 0o775);
    expect(await reason()).toContain('a group may write to');
    await chown(path, 0, 0);
    await chown(dirname(path), 4242, 0);
    expect(await reason()).toContain('which belongs to another user');
    expect(hasRun()).toBe(false);
  });

  test('is no wrapper, unless ktx.yaml names it', async () => {
    const path = script(join(home, '.local/bin'));
    expect(await choose()).toMatchObject({
      kind: 'bundled',
      reason: expect.stringContaining('is a script'),
    });
    expect(hasRun()).toBe(false);
    expect(await choose({ setting: path })).toEqual({
      path,
      kind: 'named',
      version: own,
      reason: 'llm.provider.program names it',
    });
    const file = join(home, 'tools/cli.js');
    writeFileSync(file, `#!/usr/bin/env node\n`, { mode: 0o755 });
    await expect(choose({ setting: file })).rejects.toThrow('is a script');
    await expect(choose({ setting: join(home, 'missing') })).rejects.toMatchObject({
      code: 'llm_program',
      exitCode: 2,
      message: expect.stringContaining('does not exist'),
    });
  });

  test('is none that hangs when it is asked for its version, and what it started is gone', async () => {
    const line = `sleep 300 & echo $! > '${root}/pid'; echo $$ >> '${root}/pid'; sleep 300`;
    const setting = script(join(home, 'tools'), line);
    const started = performance.now();
    await expect(choose({ setting, limitMs: 700 })).rejects.toThrow(
      'did not answer --version within 0.7 s',
    );
    expect(performance.now() - started).toBeLessThan(30_000);
    const pids = readFileSync(join(root, 'pid'), 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(2);
    for (let tries = 0; pids.some(isRunning) && tries < 50; tries += 1) await sleep(20);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  test.for([
    ['another program', 'echo v24.1.0'],
    ['one that says more', `echo '${own} (Claude Code)'; echo more`],
    ['one that fails', 'exit 3'],
    ['one that floods', 'yes | head -c 100000000'],
    ['one that is silent', ':'],
  ])('is not %s', async ([, line]) => {
    const setting = script(join(home, 'tools'), line);
    await expect(choose({ setting })).rejects.toThrow('is not Claude Code');
  });

  test('is asked for its version with nothing of the environment, in an empty folder', async () => {
    process.env['KTX_TEST_SECRET'] = 'x';
    const path = script(join(home, 'tools'), `env > '${root}/env'; pwd >> '${root}/env'; ls -A`);
    // The folder is empty, so the script says nothing.
    expect(await askVersion(path)).toEqual({ problem: 'is not Claude Code' });
    delete process.env['KTX_TEST_SECRET'];
    const text = readFileSync(join(root, 'env'), 'utf8');
    expect(text).not.toMatch(/KTX_TEST_SECRET|ANTHROPIC|CLAUDE/);
    expect(text).not.toContain(process.cwd());
  });

  test('is asked once, and again when its file changes', async () => {
    ensureStateDirectory(projectDir);
    const line = `echo x >> '${root}/asked'; echo '${own} (Claude Code)'`;
    const setting = script(join(home, 'tools'), line);
    const asked = (): number => readFileSync(join(root, 'asked'), 'utf8').length / 2;
    await choose({ setting });
    await choose({ setting });
    expect(asked()).toBe(1);
    await utimes(setting, new Date(), new Date(Date.now() + 5000));
    await choose({ setting });
    expect(asked()).toBe(2);
    // A file of the same size and time, put there instead.
    writeFileSync(setting, `#!/bin/sh\n${line.replace('Claude Code', 'Fraud Code!')}\n`);
    await expect(choose({ setting })).rejects.toThrow('is not Claude Code');
  });

  test('is checked again in the middle of a run when its file is replaced', async () => {
    const setting = script(join(home, 'tools'));
    const program = rememberProgram(() => choose({ setting }));
    expect(await program()).toMatchObject({ path: setting });
    expect(await program()).toBe(await program());
    writeFileSync(setting, '#!/bin/sh\necho 1.0.0 \\(Claude Code\\)\n');
    await expect(program()).rejects.toThrow('is version 1.0.0');
  });

  test('is what the backend runs and reports', async () => {
    link(join(home, '.local/bin'));
    const endpoint = await openModelEndpoint();
    const machine = await makeClaudeHome(endpoint);
    const env = { ...machine.env, ...onPath().env };
    const backend = openClaudeCodeBackend({ projectDir, env });
    const account = await backend.account(new AbortController().signal);
    await backend.close();
    await endpoint.close();
    await machine.remove();
    expect(account?.program).toMatchObject({ path: installed, kind: 'own' });
  });
});
