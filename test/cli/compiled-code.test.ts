import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startKtx } from '../support/ktx-process.ts';

/** Windows has a temporary folder for each user. */
const onUnix = test.skipIf(process.getuid === undefined);

let shared: string;
let own: string;

beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), 'ktx-shared-'));
  own = join(shared, `ktx-compiled-${process.getuid?.()}`);
});
afterEach(() => rmSync(shared, { recursive: true, force: true }));

onUnix('compiled code lies in a folder that no other user can write', async () => {
  expect(await help()).toBe(0);
  expect(statSync(own).mode & 0o777).toBe(0o700);
  expect(filesIn(own)).toBeGreaterThan(0);
  expect(existsSync(join(shared, 'node-compile-cache'))).toBe(false);
});

onUnix('a folder that others can write keeps no compiled code and gives none', async () => {
  mkdirSync(own);
  chmodSync(own, 0o777);
  expect(await help()).toBe(0);
  expect(filesIn(own)).toBe(0);
});

onUnix('nor does a link in its place', async () => {
  const elsewhere = join(shared, 'elsewhere');
  mkdirSync(elsewhere, { mode: 0o700 });
  symlinkSync(elsewhere, own);
  expect(await help()).toBe(0);
  expect(filesIn(elsewhere)).toBe(0);
});

onUnix('nor does a file in its place, or a temporary folder that is not there', async () => {
  symlinkSync(join(shared, 'nowhere'), own);
  expect(await help()).toBe(0);
  expect(await help({ TMPDIR: join(shared, 'missing') })).toBe(0);
});

onUnix("the person's own choice of a folder goes first", async () => {
  const chosen = join(shared, 'chosen');
  expect(await help({ NODE_COMPILE_CACHE: chosen })).toBe(0);
  expect(filesIn(chosen)).toBeGreaterThan(0);
  expect(existsSync(own)).toBe(false);
});

async function help(added: NodeJS.ProcessEnv = {}): Promise<number | null> {
  const { PATH } = process.env;
  const env = { PATH, HOME: shared, TMPDIR: shared, ...added };
  return (await startKtx(['--help'], { cwd: shared, env }).ended).code;
}

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  ).length;
}
