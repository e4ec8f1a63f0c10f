import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { readText, removeFile, temporaryPrefix, writeAtomically } from '../../src/store/files.ts';
import { read, temporaryFolder, write } from './git-project.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryFolder();
});

test('a write makes missing folders, keeps the mode, leaves nothing else behind', async () => {
  const path = join(dir, 'a/b/c.yaml');
  await writeAtomically(path, 'one\n', { within: dir });
  chmodSync(path, 0o640);
  await writeAtomically(path, 'two\n', { within: dir });
  expect(read(dir, 'a/b/c.yaml')).toBe('two\n');
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(join(dir, 'a/b'))).toEqual(['c.yaml']);
});

test('a name of the longest length is written, in any script', async () => {
  const names = [`${'a'.repeat(250)}.yaml`, `${'売'.repeat(84)}.md`, `${'🙂'.repeat(63)}.md`];
  for (const name of names) await writeAtomically(join(dir, name), 'one\n');
  expect(readdirSync(dir).toSorted()).toEqual(names.toSorted());
  const [first = '', second = ''] = ['b', 'c'].map((end) => temporaryPrefix('a'.repeat(250) + end));
  expect(first).not.toBe(second);
});

test('a write that is not due any more leaves the file and nothing else', async () => {
  const path = join(dir, 'a.yaml');
  await writeAtomically(path, 'one\n');
  const save = async () => {
    write(dir, 'a.yaml', 'mine\n');
    return Promise.resolve(false);
  };
  expect(await writeAtomically(path, 'two\n', { mayReplace: save })).toBe(false);
  expect(read(dir, 'a.yaml')).toBe('mine\n');
  expect(await writeAtomically(path, 'two\n', { mayReplace: () => Promise.resolve(true) })).toBe(
    true,
  );
  expect([read(dir, 'a.yaml'), readdirSync(dir)]).toEqual(['two\n', ['a.yaml']]);
});

test('a link that stays in the project is written through; one that leads out is refused', async () => {
  const outside = temporaryFolder();
  write(outside, 'secret', 'untouched\n');
  write(dir, 'real.yaml', 'one\n');
  symlinkSync('real.yaml', join(dir, 'inside.yaml'));
  symlinkSync(join(outside, 'secret'), join(dir, 'outside.yaml'));
  symlinkSync(outside, join(dir, 'folder'));
  symlinkSync(join(outside, 'new'), join(dir, 'dangling.yaml'));
  await writeAtomically(join(dir, 'inside.yaml'), 'two\n', { within: dir });
  expect(read(dir, 'real.yaml')).toBe('two\n');
  for (const path of ['outside.yaml', 'folder/new.yaml', 'folder/deeper/new.yaml']) {
    await expect(writeAtomically(join(dir, path), 'x', { within: dir })).rejects.toMatchObject({
      code: 'path_outside_project',
    });
  }
  await expect(readText(join(dir, 'outside.yaml'), dir)).rejects.toMatchObject({
    code: 'path_outside_project',
  });
  await expect(removeFile(join(dir, 'folder/secret'), dir)).rejects.toMatchObject({
    code: 'path_outside_project',
  });
  await expect(
    writeAtomically(join(dir, 'dangling.yaml'), 'x', { within: dir }),
  ).rejects.toMatchObject({
    code: 'broken_link',
  });
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(read(outside, 'secret')).toBe('untouched\n');
});

test('what is no text file says so', async () => {
  mkdirSync(join(dir, 'folder.yaml'));
  writeFileSync(join(dir, 'latin.yaml'), Buffer.from([0x61, 0xe9, 0x0a]));
  expect(await readText(join(dir, 'missing.yaml'))).toBeUndefined();
  await expect(readText(join(dir, 'folder.yaml'))).rejects.toMatchObject({ code: 'not_a_file' });
  await expect(readText(join(dir, 'latin.yaml'))).rejects.toMatchObject({ code: 'not_utf8' });
});

test('a pipe in the place of a file is refused, and nobody waits for what it holds', async () => {
  const pipe = join(dir, 'pipe.yaml');
  execFileSync('mkfifo', [pipe]);
  const reading = readText(pipe).catch((error: unknown) => error);
  const outcome = await Promise.race([reading, setTimeout(2000, 'still reading')]);
  // Whoever reads the pipe goes on once somebody has written to it.
  if (outcome === 'still reading') writeFileSync(pipe, '');
  expect(outcome).toMatchObject({ code: 'not_a_file' });
});

test('a folder whose name only begins like the project is outside of it', async () => {
  const root = temporaryFolder();
  write(root, 'project/ktx.yaml', '');
  write(root, 'project-evil/secret', 'untouched\n');
  symlinkSync(join(root, 'project-evil/secret'), join(root, 'project/link'));
  const within = join(root, 'project');
  const outside = { code: 'path_outside_project' };
  await expect(readText(join(within, 'link'), within)).rejects.toMatchObject(outside);
  await expect(writeAtomically(join(within, 'link'), 'x', { within })).rejects.toMatchObject(
    outside,
  );
  expect(read(root, 'project-evil/secret')).toBe('untouched\n');
});
