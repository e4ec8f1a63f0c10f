import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { withProjectLock } from '../../src/store/lock.ts';
import { openState } from '../../src/store/state.ts';
import { read, run, temporaryFolder } from './git-project.ts';

const lockModule = new URL('../../src/store/lock.ts', import.meta.url).href;

async function holder(dir: string) {
  const script = `import { withProjectLock } from '${lockModule}';
    await withProjectLock(process.argv[1], async () => { console.log('held'); await new Promise((r) => setTimeout(r, 60_000)); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

test('a second process waits, hears who holds the lock, and gets it when that process is killed', async () => {
  const dir = temporaryFolder();
  const child = await holder(dir);
  await expect(withProjectLock(dir, async () => 'in', { waitMs: 0 })).rejects.toMatchObject({
    code: 'lock_busy',
    retryable: true,
    message: expect.stringContaining(`process ${child.pid}`) as string,
  });
  const messages: string[] = [];
  const waiting = withProjectLock(dir, async () => 'in', {
    onWait: (message) => messages.push(message),
  });
  await new Promise((done) => setTimeout(done, 150));
  child.kill('SIGKILL');
  expect(await waiting).toBe('in');
  expect(messages).toEqual([
    expect.stringMatching(
      /^Another ktx \(process \d+, since .+\) is working on this project; waiting for it\.$/,
    ),
  ]);
});

test('two in one process run one after the other, and a failure frees the lock', async () => {
  const dir = temporaryFolder();
  const log: string[] = [];
  const work = (name: string, fail = false) =>
    withProjectLock(dir, async () => {
      log.push(`${name} in`);
      await new Promise((done) => setTimeout(done, 20));
      log.push(`${name} out`);
      if (fail) throw new Error('no');
    });
  await Promise.allSettled([work('a', true), work('b')]);
  expect(log).toEqual(['a in', 'a out', 'b in', 'b out']);
});

test('the lock is free as soon as the work is done, also for the same process', async () => {
  const dir = temporaryFolder();
  const work = () => withProjectLock(dir, async () => 'done', { waitMs: 0 });
  expect(await work()).toBe('done');
  expect(await work()).toBe('done');
});

test('a wait can be aborted', async () => {
  const dir = temporaryFolder();
  const controller = new AbortController();
  await withProjectLock(dir, async () => {
    const waiting = withProjectLock(dir, async () => 'in', { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

test('nothing of .ktx can reach git', async () => {
  const dir = temporaryFolder();
  run(dir, 'init', '-q');
  await withProjectLock(dir, async () => undefined);
  expect(run(dir, 'status', '--porcelain')).toBe('');
});

test('state survives, and is made again where it is broken or of another version', () => {
  const dir = temporaryFolder();
  const rows = (sql: string) => {
    const state = openState(dir);
    try {
      state.db.exec('CREATE TABLE IF NOT EXISTS t (x)');
      state.db.exec(sql);
      return state.db.prepare('SELECT count(*) AS n FROM t').get()?.['n'];
    } finally {
      state.close();
    }
  };
  expect(rows('INSERT INTO t VALUES (1)')).toBe(1);
  expect(rows('INSERT INTO t VALUES (2)')).toBe(2);
  expect(rows('PRAGMA user_version = 999')).toBe(2);
  expect(rows('INSERT INTO t VALUES (3)')).toBe(1);
  writeFileSync(
    join(dir, '.ktx/state.db'),
    'this is no database, and long enough to be looked at as one'.repeat(99),
  );
  expect(rows('INSERT INTO t VALUES (4)')).toBe(1);
  expect(read(dir, '.ktx/.gitignore')).toBe('*\n');
});
