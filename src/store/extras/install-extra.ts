import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { UserError } from '../../lib/error.ts';
import { extraFolder, foldersOf, isInstalled, manifestFolder } from './extra-folders.ts';
import type { ExtraName } from './extra-list.ts';

/** Characters of what npm says about a failure. */
const longestReason = 600;

/**
 * Fetches an extra with npm: the versions and hashes of the list that ships with ktx, without any
 * install script. The folder gets its name when it is complete. Throws `extra_failed`.
 */
export async function installExtra(name: ExtraName, signal: AbortSignal): Promise<string> {
  const folder = extraFolder(name);
  if (isInstalled(name)) return folder;
  const unfinished = `${folder}.${randomBytes(4).toString('hex')}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(manifestFolder(name), file), join(unfinished, file));
    await runNpm(name, unfinished, signal);
    for (const old of foldersOf(name).filter((path) => path !== unfinished))
      rmSync(old, { recursive: true, force: true });
    renameSync(unfinished, folder);
    return folder;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Removes an extra, of whatever version. Returns the folders. */
export function removeExtra(name: ExtraName): readonly string[] {
  const folders = foldersOf(name);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  return folders;
}

async function runNpm(name: ExtraName, cwd: string, signal: AbortSignal): Promise<void> {
  const options = ['ci', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const isWindows = process.platform === 'win32';
  const child = spawn('npm', [...options, '--loglevel=error'], {
    cwd,
    env: { ...process.env, PATH: pathWithoutProject() },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    // npm is a script there. The options have nothing that a shell could misread.
    shell: isWindows,
  });
  let reason = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    reason = `${reason}${text}`.slice(0, longestReason);
  });
  child.once('error', (error) => reject(signal.aborted ? error : failedError(name, error.message)));
  child.once('close', (code) =>
    code === 0 ? resolve() : reject(failedError(name, reason.trim() || `npm ended with ${code}`)),
  );
  return promise;
}

/** Without the folders that `npx` and `npm run` add: a cloned project must not choose npm. */
function pathWithoutProject(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(
      (folder) =>
        isAbsolute(folder) &&
        !(basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules'),
    )
    .join(delimiter);
}

function failedError(name: ExtraName, reason: string): UserError {
  return new UserError('extra_failed', `The extra ${name} could not be fetched: ${reason}`, {
    hint: 'Check the network and the proxy of npm; nothing was left behind. Then repeat the command.',
    retryable: true,
  });
}
