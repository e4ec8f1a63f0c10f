import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../lock.ts';
import {
  extraFolder,
  extrasFolder,
  foldersOf,
  isInstalled,
  manifestFolder,
} from './extra-folders.ts';
import type { ExtraName } from './extra-list.ts';
import { installPackages } from './install-packages.ts';

interface InstallOptions {
  readonly signal: AbortSignal;
  /** Called once, with a message for a person, if another process works on the extra. */
  readonly onWait?: (message: string) => void;
}

/**
 * Fetches an extra with npm: the versions and hashes of the list that ships with ktx, without any
 * install script. The folder gets its name when it is complete. Of two processes, the second waits
 * and finds what the first has fetched. Throws `extra_failed`.
 */
export async function installExtra(name: ExtraName, options: InstallOptions): Promise<string> {
  const folder = extraFolder(name);
  if (isInstalled(name)) return folder;
  await withExtraLock(name, options, async () => {
    if (isInstalled(name)) return;
    // What is left of installations that did not end, and other versions.
    const leftovers = foldersOf(name);
    const unfinished = unfinishedFolder(name);
    mkdirSync(unfinished, { mode: 0o700 });
    try {
      for (const file of ['package.json', 'package-lock.json'])
        copyFileSync(join(manifestFolder(name), file), join(unfinished, file));
      await installPackages(name, unfinished, options.signal);
      renameSync(unfinished, folder);
    } finally {
      for (const path of [unfinished, ...leftovers]) removeFolder(name, path);
    }
  });
  return folder;
}

/** Removes an extra, of whatever version. Returns the folders. */
export async function removeExtra(
  name: ExtraName,
  options: InstallOptions,
): Promise<readonly string[]> {
  if (foldersOf(name).length === 0) return [];
  return withExtraLock(name, options, async () =>
    foldersOf(name).filter((path) => removeFolder(name, path)),
  );
}

async function withExtraLock<T>(
  name: ExtraName,
  options: InstallOptions,
  run: () => Promise<T>,
): Promise<T> {
  const folder = extrasFolder();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lockFile = {
    path: join(folder, `${name}.lock`),
    within: folder,
    work: `is fetching or removing the extra ${name}`,
  };
  return withFileLock(lockFile, run, options);
}

/** A folder that nothing looks into for packages. */
function unfinishedFolder(name: ExtraName): string {
  return `${extraFolder(name)}.${randomBytes(4).toString('hex')}`;
}

/**
 * Renames the folder first: half of it must not count as installed. False if something is left:
 * npm of a ktx that was killed may go on writing there for a moment. The next installation removes
 * it.
 */
function removeFolder(name: ExtraName, path: string): boolean {
  const away = unfinishedFolder(name);
  try {
    renameSync(path, away);
    rmSync(away, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
