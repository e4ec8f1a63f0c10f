import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseMutants } from '../scripts/mutate/choose-mutants.ts';
import { runTests } from '../scripts/mutate/run-tests.ts';
import { mutants } from '../scripts/mutate/mutants.ts';

const root = join(import.meta.dirname, '..');

describe('the mutants of `npm run mutate`', () => {
  test('are at least 120, each with a name of its own and a reason', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(120);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(mutants.filter(({ why }) => why.length < 20)).toEqual([]);
  });

  test('change exactly one place of the source as it is now', () => {
    const stale = mutants.filter(({ file, find, replace }) => {
      const path = join(root, 'src', file);
      if (!existsSync(path) || find === replace) return true;
      return readFileSync(path, 'utf8').split(find).length !== 2;
    });
    expect(stale.map(({ name, file, find }) => `${name}: ${file}: ${find}`)).toEqual([]);
  });

  test('name tests that exist', () => {
    const missing = mutants.flatMap(({ tests }) =>
      tests.filter((file) => !existsSync(join(root, 'test', file))),
    );
    expect(missing).toEqual([]);
  });
});

describe('a run of `npm run mutate`', () => {
  const choose = (fifth: string | undefined, now = 0, words: readonly string[] = []) =>
    chooseMutants(mutants, { fifth, now, words }).map(({ name }) => name);

  test('tries every mutant once in five days, or those that are named', () => {
    const all = mutants.map(({ name }) => name);
    const week = [0, 1, 2, 3, 4].map((day) => choose('', day * 86_400_000));
    expect(week.flat().toSorted()).toEqual(all.toSorted());
    expect(choose('3')).toEqual(week[3]);
    expect(choose(undefined)).toEqual(all);
    expect(choose(undefined, 0, ['gate-nul', 'grade-cited'])).toEqual(['gate-nul', 'grade-cited']);
    expect(() => choose('5')).toThrow('--fifth=5: use 0, 1, 2, 3 or 4');
  });

  test('names the test that fails, and leaves nothing running and no file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ktx-test-mutate-'));
    const project = join(folder, 'project');
    mkdirSync(join(project, 'test'), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    // What a fault can leave running: a process that holds the output of the tests open, and one
    // in a group of its own.
    writeFileSync(
      join(project, 'test/leaks.test.ts'),
      `import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      import { tmpdir } from 'node:os';
      import { expect, test } from 'vitest';
      test('starts a process', () => {
        const child = spawn('sleep', ['600'], { stdio: 'inherit' });
        const alone = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
        child.unref();
        alone.unref();
        writeFileSync(${JSON.stringify(join(project, 'pids'))}, [child.pid, alone.pid].join(' '));
        writeFileSync(tmpdir() + '/left', '');
      });
      test('and fails', () => expect(1).toBe(2));`,
    );
    const signal = new AbortController().signal;
    const options = { project, env: process.env, timeoutMs: 60_000, signal };
    expect(await runTests({ ...options, tests: ['leaks.test.ts'] })).toMatchObject({
      outcome: 'failed',
      failure: 'leaks.test.ts > and fails',
    });
    const pids = readFileSync(join(project, 'pids'), 'utf8').split(' ').map(Number);
    await expect.poll(() => pids.filter(isRunning)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['project']);

    // Interrupted, it does not wait for the tests.
    const endless = `import { test } from 'vitest';\ntest('ends in an hour', { timeout: 4e6 }, () => new Promise((done) => setTimeout(done, 36e5)));`;
    writeFileSync(join(project, 'test/endless.test.ts'), endless);
    const tests = ['endless.test.ts'];
    expect(await runTests({ ...options, tests, signal: AbortSignal.timeout(1000) })).toMatchObject({
      outcome: 'interrupted',
    });
    // Neither does it wait longer than it may.
    const late = await runTests({ ...options, tests, timeoutMs: 1000 });
    expect(late).toMatchObject({ outcome: 'timeout' });
    expect(late.ms).toBeGreaterThan(1000);
    rmSync(folder, { recursive: true });
  });
});

/** A process that ended can stay in the list, as a zombie. */
function isRunning(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^[^Z]/.test(state.stdout.trim());
}
