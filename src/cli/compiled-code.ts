import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets Node keep what it compiles from here on for the next start. Node runs such files unseen, and
 * its own place for them is a folder that whoever comes first on the machine may create: ktx has
 * one that no other user can write, or starts without. The person's NODE_COMPILE_CACHE goes first.
 */
export function keepCompiledCode(): void {
  const user = process.getuid?.();
  if (user === undefined || process.env['NODE_COMPILE_CACHE'] !== undefined) {
    enableCompileCache();
    return;
  }
  const folder = join(tmpdir(), `ktx-compiled-${user}`);
  if (isOnlyOf(user, folder)) enableCompileCache(folder);
}

function isOnlyOf(user: number, folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or cannot be: what is there decides.
  }
  const info = lstatSync(folder, { throwIfNoEntry: false });
  return info?.isDirectory() === true && info.uid === user && (info.mode & 0o022) === 0;
}
