import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  listConfinedFolder,
  readConfinedFile,
  readConfinedFileSync,
  resolveConfiguredPath,
} from '../../src/store/confined-file.ts';
import { temporaryFolder, write } from './git-project.ts';

let base: string;
let dir: string;
const secret = 'password: hunter2\n';
beforeEach(() => {
  base = temporaryFolder();
  dir = join(base, 'proj');
  mkdirSync(join(dir, 'docs'), { recursive: true });
  write(base, 'secret.md', secret);
  write(base, 'proj-evil/secret.md', secret);
});

/** What both readers say: the text, or the code of the refusal. */
async function readBoth(path: string, maxBytes = 1000): Promise<string> {
  const limits = { within: dir, maxBytes };
  const [found, foundSync] = [
    await readConfinedFile(join(dir, path), limits),
    readConfinedFileSync(join(dir, path), limits),
  ];
  if (found.kind === 'read') {
    expect(foundSync.kind === 'read' && foundSync.bytes.equals(found.bytes)).toBe(true);
    return found.bytes.toString('utf8');
  }
  expect(foundSync).toEqual(found);
  return found.kind === 'refused' ? found.code : found.kind;
}

const unix = process.platform === 'win32' ? test.skip : test;

describe('a file of others', () => {
  test('is read, also through links that stay in the folder', async () => {
    write(dir, 'docs/real.md', 'words\n');
    symlinkSync('real.md', join(dir, 'docs/file.md'));
    symlinkSync('docs', join(dir, 'folder'));
    symlinkSync(join(dir, 'folder'), join(dir, 'chain'));
    linkSync(join(dir, 'docs/real.md'), join(dir, 'hard.md'));
    for (const path of [
      'docs/real.md',
      'docs/file.md',
      'folder/real.md',
      'chain/file.md',
      'hard.md',
    ])
      expect(await readBoth(path)).toBe('words\n');
    expect(await readBoth('absent.md')).toBe('missing');
    expect(await readBoth('docs/real.md/below')).toBe('missing');
  });

  test('is refused where it, or a folder above it, is a link that leaves the folder', async () => {
    symlinkSync(join(base, 'secret.md'), join(dir, 'file.md'));
    symlinkSync('../proj-evil/secret.md', join(dir, 'neighbour.md'));
    symlinkSync(base, join(dir, 'above'));
    symlinkSync('above', join(dir, 'chain'));
    symlinkSync('/proc/self/environ', join(dir, 'environ'));
    symlinkSync('absent', join(dir, 'dangling'));
    symlinkSync('circle', join(dir, 'circle'));
    for (const path of [
      'file.md',
      'neighbour.md',
      'above/secret.md',
      'chain/secret.md',
      '../secret.md',
    ])
      expect([path, await readBoth(path)]).toEqual([path, 'outside']);
    if (existsSync('/proc/self/environ')) expect(await readBoth('environ')).toBe('outside');
    expect([await readBoth('dangling'), await readBoth('circle')]).toEqual([
      'broken_link',
      'broken_link',
    ]);
  });

  unix('is never waited for: pipes, sockets and folders are refused', async () => {
    execFileSync('mkfifo', [join(dir, 'pipe.md')]);
    const server = createServer().listen(join(dir, 'socket.md'));
    await new Promise((listening) => server.on('listening', listening));
    try {
      for (const path of ['pipe.md', 'socket.md', 'docs'])
        expect([path, await readBoth(path)]).toEqual([path, 'not_a_file']);
    } finally {
      server.close();
    }
  });

  test('is read up to its limit', async () => {
    writeFileSync(join(dir, 'small.md'), 'x'.repeat(1000));
    expect(await readBoth('small.md')).toHaveLength(1000);
    appendFileSync(join(dir, 'small.md'), 'x');
    expect(await readBoth('small.md')).toBe('too_large');
    truncateSync(join(dir, 'small.md'), 5_000_000_000);
    expect(await readBoth('small.md')).toBe('too_large');
    const wide = 'wide text, more than one buffer holds\n'.repeat(250_000);
    writeFileSync(join(dir, 'wide.md'), wide);
    expect((await readBoth('wide.md', 10_000_000)) === wide).toBe(true);
  });

  unix('that says it is empty ends at the limit all the same', async () => {
    if (!existsSync('/proc/self/maps')) return;
    const limits = { within: '/proc', maxBytes: 100 };
    expect(await readConfinedFile('/proc/self/maps', limits)).toMatchObject({ code: 'too_large' });
  });
});

/** Swaps `proj/docs` with a link to a folder outside as fast as it can. */
const swapper = `
const { renameSync } = require('node:fs');
const { workerData: { dir, stop } } = require('node:worker_threads');
const path = (name) => dir + '/' + name;
while (Atomics.load(stop, 0) === 0) {
  renameSync(path('docs'), path('kept'));
  renameSync(path('link'), path('docs'));
  renameSync(path('docs'), path('link'));
  renameSync(path('kept'), path('docs'));
}`;

unix('a parent folder that turns into a link during the read opens no other file', async () => {
  write(dir, 'docs/secret.md', 'words\n');
  symlinkSync(base, join(dir, 'link'));
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(swapper, { eval: true, workerData: { dir, stop } });
  const ended = new Promise((exit) => worker.on('exit', exit));
  const seen = new Map<string, number>();
  const limits = { within: dir, maxBytes: 1000 };
  const until = Date.now() + 1000;
  while (Date.now() < until) {
    for (const found of [
      readConfinedFileSync(join(dir, 'docs/secret.md'), limits),
      await readConfinedFile(join(dir, 'docs/secret.md'), limits),
    ]) {
      const outcome = found.kind === 'read' ? found.bytes.toString('utf8') : found.kind;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
  }
  Atomics.store(stop, 0, 1);
  await ended;
  expect(seen.get('words\n')).toBeGreaterThan(10);
  expect(seen.get('refused')).toBeGreaterThan(10);
  expect([...seen.keys()]).not.toContain(secret);
});

describe('a path of ktx.yaml', () => {
  test('that is written as outside is the decision of who approved it', async () => {
    expect(await resolveConfiguredPath(dir, '../secret.md')).toBe(join(base, 'secret.md'));
    expect(await resolveConfiguredPath(dir, join(base, 'proj-evil'))).toBe(join(base, 'proj-evil'));
    expect(await resolveConfiguredPath(dir, 'absent')).toBeUndefined();
  });

  test('that is written as inside does not leave the project through a link', async () => {
    symlinkSync('../proj-evil', join(dir, 'data'));
    symlinkSync('docs', join(dir, 'handbook'));
    expect(await resolveConfiguredPath(dir, 'handbook')).toBe(join(dir, 'docs'));
    for (const path of ['data', './data/secret.md', join(dir, 'data')])
      await expect(resolveConfiguredPath(dir, path)).rejects.toMatchObject({
        code: 'path_outside_project',
        hint: expect.stringContaining(join(base, 'proj-evil')),
      });
  });
});

test('a folder is listed only where it is inside', async () => {
  write(dir, 'docs/a.md', 'words\n');
  symlinkSync(base, join(dir, 'above'));
  expect((await listConfinedFolder(join(dir, 'docs'), dir))?.map(({ name }) => name)).toEqual([
    'a.md',
  ]);
  expect(await listConfinedFolder(join(dir, 'absent'), dir)).toBeUndefined();
  await expect(listConfinedFolder(join(dir, 'above'), dir)).rejects.toMatchObject({
    code: 'path_outside_project',
  });
  expect(readFileSync(join(base, 'secret.md'), 'utf8')).toBe(secret);
});
