import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../lib/hash.ts';
import { readVersion } from '../lib/version.ts';

/**
 * Changes with the version of the package, and with any file of its code and prompts that is
 * written anew: what one ktx found out is not taken for what another would find out.
 */
export function readPackageStamp(): string {
  stamp ??= computePackageStamp();
  return stamp;
}

/** Of the code that this process runs. */
let stamp: string | undefined;

function computePackageStamp(): string {
  const code = join(import.meta.dirname, '..');
  const folders = [code, join(code, '../prompts')];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  const stamps = files.sort().map((path) => {
    const { size, mtimeMs } = statSync(path);
    return [path, size, mtimeMs];
  });
  return shortHash(JSON.stringify([readVersion(), stamps]), 32);
}
