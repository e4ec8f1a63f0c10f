import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readTextOrNothing } from '../files.ts';
import { gitEnvironment, overrides } from '../git-isolation.ts';

/**
 * Changes whenever git writes the index of the working tree that contains the folder. Undefined if
 * there is none.
 */
export function gitIndexStamp(folder: string): string | undefined {
  const gitFolder = findGitFolder(resolve(folder));
  const index = gitFolder && statSync(join(gitFolder, 'index'), { throwIfNoEntry: false });
  return index && `${gitFolder} ${index.ino} ${index.size} ${index.mtimeMs}`;
}

function findGitFolder(folder: string): string | undefined {
  const path = join(folder, '.git');
  const info = statSync(path, { throwIfNoEntry: false });
  if (info?.isDirectory()) return path;
  // In a linked working tree and in a submodule `.git` is a file with the path of the folder.
  if (info?.isFile()) return resolve(folder, readTextOrNothing(path, folder).slice(8).trim());
  const parent = dirname(folder);
  return parent === folder ? undefined : findGitFolder(parent);
}

/**
 * The files at a path that git tracks, relative to the folder of the path. Empty if git is missing.
 */
export function trackedFiles(path: string): readonly string[] {
  // Only the index is read. The owner of the repository does not matter for that.
  const args = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--', basename(path)];
  try {
    const output = execFileSync('git', [...overrides, ...args], {
      cwd: dirname(path),
      env: gitEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    return output.split('\0').slice(0, -1);
  } catch {
    return [];
  }
}
