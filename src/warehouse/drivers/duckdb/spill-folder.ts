import { existsSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { shortHash } from '../../../lib/hash.ts';
import { createPrivateFolder, projectPaths } from '../../../store/directories.ts';
import type { OpenContext } from '../../driver.ts';

type SpillPlace = Pick<OpenContext, 'cacheDir' | 'projectDir'>;

let folders = 0;
const host = shortHash(hostname(), 8);
const pattern = new RegExp(`^spill-${host}-(\\d+)-\\d+\\.tmp$`);

/**
 * A path for a folder in which DuckDB puts what does not fit into memory: of this process and this
 * database alone, since files of two would have the same names. DuckDB makes the folder when it
 * needs it, and removes it; those of processes that were killed are removed here.
 */
export function spillFolder({ cacheDir, projectDir }: SpillPlace): string {
  try {
    // DuckDB makes the last folder of a path only. Where setup only tries a connection there is no
    // project yet, and nothing is left behind.
    if (existsSync(projectPaths(projectDir).config)) createPrivateFolder(cacheDir);
    for (const name of readdirSync(cacheDir)) {
      const pid = pattern.exec(name)?.[1];
      if (pid !== undefined && !isRunning(Number(pid)))
        rmSync(join(cacheDir, name), { recursive: true, force: true });
    }
  } catch {
    // Where nothing can be written, all that fits into memory still works.
  }
  return join(cacheDir, `spill-${host}-${process.pid}-${folders++}.tmp`);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, and is another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
