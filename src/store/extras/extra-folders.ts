import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shortHash } from '../../lib/hash.ts';
import type { ExtraName } from './extra-list.ts';

/** The folder with the exact versions and hashes of an extra. It ships with ktx. */
export function manifestFolder(name: ExtraName): string {
  return fileURLToPath(new URL(`../../../extras/${name}/`, import.meta.url));
}

/** `~/.local/share/ktx/extras`, or where the XDG variables and Windows put it. */
export function extrasFolder(): string {
  const { XDG_DATA_HOME: data = '', LOCALAPPDATA: local = '', HOME: home = '' } = process.env;
  if (isAbsolute(data)) return join(data, 'ktx', 'extras');
  if (process.platform === 'win32' && isAbsolute(local)) return join(local, 'ktx', 'extras');
  return join(home || homedir(), '.local', 'share', 'ktx', 'extras');
}

/**
 * Where the extra is installed, or would be. Its versions are part of the name, so that another
 * version of ktx finds its own.
 */
export function extraFolder(name: ExtraName): string {
  const lock = readFileSync(join(manifestFolder(name), 'package-lock.json'));
  return join(extrasFolder(), `${name}-${shortHash(lock.toString(), 10)}`);
}

/** A folder has its final name only once it is complete. */
export function isInstalled(name: ExtraName): boolean {
  return existsSync(extraFolder(name));
}

/** All folders of the extra: of any version of ktx, and of installations that did not end. */
export function foldersOf(name: ExtraName): readonly string[] {
  const folder = extrasFolder();
  if (!existsSync(folder)) return [];
  const pattern = new RegExp(`^${name}-[0-9a-f]{10}(\\.[0-9a-f]+)?$`);
  return readdirSync(folder)
    .filter((entry) => pattern.test(entry))
    .map((entry) => join(folder, entry));
}
