import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import { git } from '../store/git.ts';
import { isSecretReference } from '../store/secrets.ts';

/** The address of a repository; one with a password in it is a reference, since `ktx.yaml` is in git. */
export const repositorySchema = z
  .string()
  .min(1)
  .refine((url) => !/^-|^\w+::/.test(url), 'this is no address of a git repository')
  .refine(
    (url) => !/^\w+:\/\/[^/@]*:[^/@]+@/.test(url),
    'a password is never written into ktx.yaml: put the address into an environment variable and write env:NAME',
  );

export interface Checkout {
  /** An address, or a reference to one. */
  readonly url: string;
  /** The repository's own choice where it is left out. */
  readonly branch?: string | undefined;
  /** Folder in the repository. */
  readonly path: string;
}

interface Place {
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly signal: AbortSignal;
}

/** What runs at the far end or here on its behalf is never started: these speak git, nothing else. */
const env = { GIT_ALLOW_PROTOCOL: 'https:http:ssh:git:file', GIT_LFS_SKIP_SMUDGE: '1' };

/** The folder as the branch has it now, in a clone in the cache. Links in it are plain files. */
export async function checkOut(
  { url, branch, path }: Checkout,
  { cacheDir, secrets, signal }: Place,
): Promise<string> {
  const address = isSecretReference(url) && !url.startsWith('file://') ? secrets(url) : url;
  const clone = join(cacheDir, `git-${shortHash(JSON.stringify([address, branch]), 16)}`);
  const call = { env, signal };
  const plain = ['-c', 'core.symlinks=false'];
  const update = async () => {
    // Named, never looked for: from a clone without its own, git would find the repository of the project and check out there.
    const own = { env: { ...env, GIT_DIR: join(clone, '.git'), GIT_WORK_TREE: clone }, signal };
    await git(
      clone,
      ['fetch', '--quiet', '--depth', '1', '--no-tags', '--', address, branch ?? 'HEAD'],
      own,
    );
    await git(clone, [...plain, 'checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD'], own);
  };
  const cloneAnew = async () => {
    await mkdir(cacheDir, { recursive: true });
    await rm(`${clone}.new`, { recursive: true, force: true });
    const chosen = branch === undefined ? [] : ['--branch', branch];
    await git(
      cacheDir,
      [
        ...plain,
        'clone',
        '--quiet',
        '--depth',
        '1',
        '--no-tags',
        '--single-branch',
        ...chosen,
        '--',
        address,
        `${clone}.new`,
      ],
      call,
    );
    await rm(clone, { recursive: true, force: true });
    await rename(`${clone}.new`, clone);
  };
  try {
    // A run that was killed leaves a clone with locks in it, or half of one: git itself never takes them away.
    if (existsSync(clone))
      await update().catch((error: unknown) =>
        isGits(error) && !signal.aborted ? cloneAnew() : Promise.reject(error),
      );
    else await cloneAnew();
  } catch (error) {
    signal.throwIfAborted();
    if (!isGits(error)) throw error;
    const said = error.message.replaceAll(address, url);
    const hint =
      'Check the address and the branch, and that git can reach it by itself (git ls-remote).';
    throw new UserError('repository_unreachable', `The repository ${url} cannot be read: ${said}`, {
      hint,
      retryable: true,
    });
  }
  const folder = resolve(clone, path);
  if (folder === clone || folder.startsWith(clone + sep)) return folder;
  throw new UserError('path_outside', `${path} leads out of the repository ${url}.`, {
    hint: 'Name a folder in it.',
    exitCode: 2,
  });
}

function isGits(error: unknown): error is UserError {
  return error instanceof UserError && error.code === 'git_failed';
}
