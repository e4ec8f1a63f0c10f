import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import { git } from '../store/git.ts';
import { isSecretReference } from '../store/secrets.ts';

/** The address of a repository. An address with a password must be a reference, because `ktx.yaml` is in git. */
export const repositorySchema = z
  .string()
  .min(1)
  .refine((url) => !/^-|^\w+::/.test(url), 'this is not the address of a git repository')
  .refine(
    (url) => !/^\w+:\/\/[^/@]*:[^/@]+@/.test(url),
    'a password is never written into ktx.yaml: put the address into an environment variable and write env:NAME',
  );

export interface Checkout {
  /** An address, or a reference to one such as `env:NAME`. */
  readonly url: string;
  /** The default branch of the repository without it. */
  readonly branch?: string | undefined;
  /** A folder of the repository. */
  readonly path: string;
}

interface CheckoutContext {
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly signal: AbortSignal;
}

/** Checks the branch out into a clone in the cache, and gives the path of the folder. Links in the clone are plain files. */
export async function checkOut(checkout: Checkout, context: CheckoutContext): Promise<string> {
  const { url, branch, path } = checkout;
  const address = isSecretReference(url) && !url.startsWith('file://') ? context.secrets(url) : url;
  const name = `git-${shortHash(JSON.stringify([address, branch]), 16)}`;
  const target = { address, branch, clone: join(context.cacheDir, name) };
  try {
    await refreshClone(target, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isGitError(error)) throw error;
    throw unreachable(url, error.message.replaceAll(address, url));
  }
  const folder = resolve(target.clone, path);
  if (folder === target.clone || folder.startsWith(target.clone + sep)) return folder;
  throw new UserError('path_outside', `${path} leads out of the repository ${url}.`, {
    hint: 'Set `path` to a folder inside of the repository.',
    exitCode: 2,
  });
}

interface CloneTarget {
  readonly address: string;
  readonly branch: string | undefined;
  readonly clone: string;
}

async function refreshClone(target: CloneTarget, context: CheckoutContext): Promise<void> {
  if (!existsSync(target.clone)) return makeClone(target, context);
  try {
    await updateClone(target, context);
  } catch (error) {
    // A run that was killed leaves locks or half a clone, which git itself never cleans up.
    if (!isGitError(error) || context.signal.aborted) throw error;
    await makeClone(target, context);
  }
}

/** Only these protocols, so that an address starts no program on either side. */
const gitEnv = { GIT_ALLOW_PROTOCOL: 'https:http:ssh:git:file', GIT_LFS_SKIP_SMUDGE: '1' };
const noLinks = ['-c', 'core.symlinks=false'];
const newestOnly = ['--quiet', '--depth', '1', '--no-tags'];

async function updateClone(
  { address, branch, clone }: CloneTarget,
  { signal }: CheckoutContext,
): Promise<void> {
  // If the clone lost its own .git, git would find the project's repository above it and check out there.
  const env = { ...gitEnv, GIT_DIR: join(clone, '.git'), GIT_WORK_TREE: clone };
  await git(clone, ['fetch', ...newestOnly, '--', address, branch ?? 'HEAD'], { env, signal });
  const checkout = ['checkout', '--quiet', '--force', '--detach', 'FETCH_HEAD'];
  await git(clone, [...noLinks, ...checkout], { env, signal });
}

async function makeClone(
  { address, branch, clone }: CloneTarget,
  { cacheDir, signal }: CheckoutContext,
): Promise<void> {
  const fresh = `${clone}.new`;
  await mkdir(cacheDir, { recursive: true });
  await rm(fresh, { recursive: true, force: true });
  const branchOption = branch === undefined ? [] : ['--branch', branch];
  const options = [...newestOnly, '--single-branch', ...branchOption];
  await git(cacheDir, [...noLinks, 'clone', ...options, '--', address, fresh], {
    env: gitEnv,
    signal,
  });
  await rm(clone, { recursive: true, force: true });
  await rename(fresh, clone);
}

function unreachable(url: string, message: string): UserError {
  return new UserError(
    'repository_unreachable',
    `The repository ${url} cannot be read: ${message}`,
    {
      hint: 'Check the address and the branch. `git ls-remote` with the same address has to work in this shell.',
      retryable: true,
    },
  );
}

function isGitError(error: unknown): error is UserError {
  return error instanceof UserError && error.code === 'git_failed';
}
