import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, describe, expect, test } from 'vitest';
import { openTranscript } from '../../src/chat/transcript.ts';
import { ensureStateDirectory, projectPaths } from '../../src/store/directories.ts';
import { writeAtomically } from '../../src/store/files.ts';
import { openJournal } from '../../src/store/journal.ts';
import { withProjectLock } from '../../src/store/lock.ts';
import { appendToLog } from '../../src/store/log.ts';
import { openState } from '../../src/store/state.ts';
import { ktxJson, shopProject } from '../cli/run-cli.ts';
import { run, temporaryFolder } from './git-project.ts';

/** Path and mode of everything in `.ktx` that somebody else could read or write. */
function sharedFiles(dir: string): string[] {
  const state = join(dir, '.ktx');
  return ['', ...readdirSync(state, { recursive: true, encoding: 'utf8' })]
    .map((path) => ({ path, mode: lstatSync(join(state, path)).mode & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ path, mode }) => `${mode.toString(8)} .ktx/${path}`);
}

function withoutUmask(): void {
  const before = process.umask(0o000);
  onTestFinished(() => void process.umask(before));
}

async function useEverything(dir: string): Promise<void> {
  await withProjectLock(dir, async () => undefined);
  const state = openState(dir);
  state.db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  const journal = openJournal(dir);
  journal.keep('a', 'paid');
  appendToLog(dir, 'tools', { tool: 'a' });
  appendToLog(dir, 'llm', { tool: 'a' });
  const turn = { agent: 'a', backend: 'b', model: 'm', message: 'hi' };
  const result = { text: '', toolCalls: [], evidence: [], stopReason: 'completed' } as never;
  expect(await openTranscript(dir, 'one').keep({ ...turn, result })).toBe(undefined);
  await writeAtomically(join(dir, '.ktx/evals/one.json'), '{}', { within: dir });
  await writeAtomically(join(dir, '.ktx/kept/run/wiki/page.md'), 'text', { within: dir });
  // While they are open, SQLite has files beside its databases.
  expect(existsSync(join(dir, '.ktx/state.db-wal'))).toBe(true);
  expect(sharedFiles(dir)).toEqual([]);
  state.close();
  journal.close();
}

describe('only the owner can read .ktx', () => {
  test('whatever the umask, for every writer', async () => {
    withoutUmask();
    const dir = temporaryFolder();
    await useEverything(dir);
    expect(readdirSync(join(dir, '.ktx')).sort()).toEqual(
      'chats evals id .gitignore journal.db kept lock.db lock.db.holder logs state.db'
        .split(' ')
        .sort(),
    );
    expect(sharedFiles(dir)).toEqual([]);
    await writeAtomically(join(dir, 'wiki.md'), 'shared');
    expect(statSync(join(dir, 'wiki.md')).mode & 0o777).toBe(0o666);
  });

  test('the journal and the files beside it, before anything else is written', () => {
    withoutUmask();
    const dir = temporaryFolder();
    const journal = openJournal(dir);
    journal.keep('a', 'paid');
    expect(existsSync(join(dir, '.ktx/journal.db-wal'))).toBe(true);
    expect(sharedFiles(dir)).toEqual([]);
    journal.close();
  });

  test('after a setup, a scan, an ingest and questions through the command line', async () => {
    withoutUmask();
    const cwd = await shopProject();
    for (const argv of [['scan'], ['ingest'], ['search', 'orders'], ['values', 'open'], ['check']])
      expect((await ktxJson(argv, { cwd })).code, argv.join(' ')).toBe(0);
    await ktxJson(['sql', 'SELECT 1'], { cwd });
    await ktxJson(['remember', 'A buyer is a customer.'], { cwd });
    expect(readdirSync(join(cwd, '.ktx'))).toContain('state.db');
    expect(sharedFiles(cwd)).toEqual([]);
  });

  test('also of what an older ktx left, without a walk once it is repaired', async () => {
    const dir = temporaryFolder();
    await useEverything(dir);
    const open = (folder: string): void => {
      chmodSync(folder, 0o755);
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory()) open(join(folder, entry.name));
        else chmodSync(join(folder, entry.name), 0o644);
    };
    open(join(dir, '.ktx'));
    expect(sharedFiles(dir).length).toBeGreaterThan(10);
    ensureStateDirectory(dir);
    expect(sharedFiles(dir)).toEqual([]);
    // Nobody can reach a file in a closed folder, so it is not looked for; a file that is written
    // to is closed.
    chmodSync(join(dir, '.ktx/chats/one.jsonl'), 0o644);
    chmodSync(join(dir, '.ktx/state.db'), 0o644);
    chmodSync(join(dir, '.ktx/logs/tools.jsonl'), 0o644);
    appendToLog(dir, 'tools', { tool: 'b' });
    expect(sharedFiles(dir)).toEqual(['644 .ktx/chats/one.jsonl']);
  });
});

describe('a .ktx that this machine did not make', () => {
  /** A project with state, as a stranger packs it. */
  async function strangersProject(): Promise<string> {
    const dir = temporaryFolder();
    const own = temporaryFolder();
    const before = process.env['XDG_STATE_HOME'];
    process.env['XDG_STATE_HOME'] = join(own, 'strangers-home');
    await useEverything(own);
    if (before === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before;
    cpSync(join(own, '.ktx'), join(dir, '.ktx'), { recursive: true });
    return dir;
  }
  const codeOf = (call: () => unknown): unknown => {
    try {
      call();
      return undefined;
    } catch (error) {
      return (error as { code?: unknown }).code;
    }
  };

  test('is not read and not written, with or without an id', async () => {
    for (const change of ['', 'id removed', 'id invented', 'id is a folder']) {
      const dir = await strangersProject();
      const id = join(dir, '.ktx/id');
      if (change !== '') rmSync(id);
      if (change === 'id invented') writeFileSync(id, `${'0'.repeat(32)}\n`);
      if (change === 'id is a folder') mkdirSync(id);
      const before = readFileSync(join(dir, '.ktx/journal.db'));
      for (const use of [
        () => openState(dir),
        () => openJournal(dir),
        () => appendToLog(dir, 'llm', {}),
        () => projectPaths(dir).chats,
        () => projectPaths(dir).evals,
        () => projectPaths(dir).cache,
        () => projectPaths(dir).notes,
        () => openTranscript(dir, 'one'),
      ])
        expect(codeOf(use), `${change} ${use.toString()}`).toBe('state_foreign');
      await expect(withProjectLock(dir, async () => 1)).rejects.toMatchObject({
        code: 'state_foreign',
      });
      expect(readFileSync(join(dir, '.ktx/journal.db'))).toEqual(before);
    }
  });

  test('with a pipe in place of its id does not hang', () => {
    const dir = temporaryFolder();
    mkdirSync(join(dir, '.ktx'));
    execFileSync('sh', ['-c', 'mkfifo .ktx/id'], { cwd: dir });
    expect(codeOf(() => openState(dir))).toBe('state_foreign');
  });

  test('can be kept by a person, or set aside without loss', async () => {
    const kept = await strangersProject();
    writeFileSync(join(kept, 'ktx.yaml'), 'connections: {}\n');
    chmodSync(join(kept, '.ktx'), 0o755);
    chmodSync(join(kept, '.ktx/chats'), 0o755);
    chmodSync(join(kept, '.ktx/chats/one.jsonl'), 0o644);
    expect((await ktxJson(['state', 'show'], { cwd: kept })).envelope.data).toMatchObject({
      status: 'foreign',
    });
    expect((await ktxJson(['state', 'keep'], { cwd: kept })).code).toBe(0);
    expect(openJournal(kept).result('a')).toBe('paid');
    expect(sharedFiles(kept)).toEqual([]);

    const aside = await strangersProject();
    writeFileSync(join(aside, 'ktx.yaml'), 'connections: {}\n');
    run(aside, 'init', '-q');
    const { code, envelope } = await ktxJson(['state', 'set-aside'], { cwd: aside });
    expect(code).toBe(0);
    const { path } = envelope.data as { path: string };
    expect(existsSync(join(path, 'journal.db'))).toBe(true);
    expect(run(aside, 'status', '--porcelain', '--', '.ktx*')).toBe('');
    expect(openJournal(aside).result('a')).toBe(undefined);
    expect((await ktxJson(['state', 'show'], { cwd: aside })).envelope.data).toMatchObject({
      status: 'own',
    });
  });

  test('stops a command with exit code 4 and the next step; doctor says the same', async () => {
    const cwd = await shopProject();
    rmSync(join(cwd, '.ktx'), { recursive: true });
    cpSync(join(await strangersProject(), '.ktx'), join(cwd, '.ktx'), { recursive: true });
    const { code, envelope } = await ktxJson(['scan'], { cwd });
    expect({ code, error: envelope.error?.code }).toEqual({ code: 4, error: 'state_foreign' });
    expect(envelope.error?.hint).toContain('ktx state set-aside');
    const doctor = await ktxJson(['doctor'], { cwd });
    expect(JSON.stringify(doctor.envelope)).toContain('local state');
    expect(doctor.code).toBe(1);
  });
});

test('a .ktx that git tracks is not used, also if this machine made it', async () => {
  const dir = temporaryFolder();
  run(dir, 'init', '-q');
  const state = openState(dir);
  state.close();
  run(dir, 'add', '--force', '.ktx/state.db');
  expect(() => openState(dir)).toThrow(expect.objectContaining({ code: 'state_in_git' }));
  // The project can be a folder of the repository, and the repository can be a linked working tree.
  run(dir, 'rm', '-q', '--cached', '.ktx/state.db');
  openState(dir).close();
  const below = join(dir, 'a/b');
  mkdirSync(below, { recursive: true });
  openState(below).close();
  run(dir, 'add', '--force', 'a/b/.ktx/id');
  expect(() => openState(below)).toThrow(expect.objectContaining({ code: 'state_in_git' }));
  openState(dir).close();
});

test('two processes that create .ktx at once agree on one', async () => {
  const dir = temporaryFolder();
  const script = `import { openState } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/state.ts'))};
    openState(process.argv[1]).close();`;
  const { spawn } = await import('node:child_process');
  const codes = await Promise.all(
    [1, 2, 3, 4].map(
      () =>
        new Promise((done) => {
          spawn(process.execPath, ['--input-type=module', '-e', script, dir], {
            stdio: 'inherit',
          }).on('exit', done);
        }),
    ),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  expect(readdirSync(dir)).toEqual(['.ktx']);
});
