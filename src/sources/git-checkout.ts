import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { devNull } from 'node:os';
import { isAbsolute, join, parse, resolve } from 'node:path';
import { z } from 'zod';
import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import { isInside } from '../store/confined-file.ts';
import { createPrivateFolder } from '../store/directories.ts';
import { readText, writeAtomically } from '../store/files.ts';
import { git, gitOutput } from '../store/git.ts';
import { withdrawInside, withdrawSharedRights } from '../store/ownership/private-files.ts';
import { isSecretReference } from '../store/secrets.ts';

/**
 * The address of a repository. An address with a password must be a reference, because `ktx.yaml`
 * is in git.
 */
export const repositorySchema = z
  .string()
  .min(1)
  .refine(
    (url) => !/^-|^\w+::/.test(url) && !/^(?!https?:|ssh:|file:)\w[\w+.-]*:\/\//i.test(url),
    'this is not the address of a git repository that ktx reads: https, ssh, file or a path',
  )
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
  readonly projectDir: string;
  readonly cacheDir: string;
  readonly secrets: (reference: string) => string;
  readonly signal: AbortSignal;
}

/**
 * Puts the files of the branch into a folder of the cache, and gives the path of the wanted folder
 * in it. The files are fetched again only if the branch has another commit. Links are plain files
 * there.
 */
export async function checkOut(checkout: Checkout, context: CheckoutContext): Promise<string> {
  const { url, branch, path } = checkout;
  const isReference = isSecretReference(url) && !url.startsWith('file://');
  const address = resolveAddress(isReference ? context.secrets(url) : url, context);
  const name = `git-${shortHash(JSON.stringify([address, branch]), 16)}`;
  const target = { address, branch, copy: join(context.cacheDir, name) };
  try {
    await refreshCopy(target, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isGitError(error)) throw error;
    throw unreachable(url, error.message.replaceAll(address, url));
  }
  const folder = resolve(target.copy, path);
  if (isInside(folder, target.copy)) return folder;
  throw new UserError('path_outside', `${path} leads out of the repository ${url}.`, {
    hint: 'Set `path` to a folder inside of the repository.',
    exitCode: 2,
  });
}

interface CopyTarget {
  readonly address: string;
  readonly branch: string | undefined;
  /** Holds the files; the file `<copy>.commit` says of which commit. */
  readonly copy: string;
}

/**
 * A path starts at the project. Throws for an address with another protocol than those that ktx
 * reads.
 */
function resolveAddress(address: string, { projectDir }: CheckoutContext): string {
  if (allowedProtocols(address) !== '') return address;
  const isPath = !/^\w[\w+.-]*:/.test(address) || isAbsolute(address);
  if (isPath && !address.startsWith('-')) return resolve(projectDir, address);
  throw new UserError('repository_protocol', 'ktx reads no repository at an address like this.', {
    hint: 'Write https://…, ssh://…, user@host:path, file://… or a path.',
    exitCode: 2,
  });
}

/**
 * What `GIT_ALLOW_PROTOCOL` may have for an address; empty if it is a path or has another protocol.
 */
function allowedProtocols(address: string): string {
  // A person's own settings may rewrite https to ssh, or the other way.
  if (/^(?:https|ssh):\/\//i.test(address)) return 'https:ssh';
  if (/^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/]/i.test(address)) return 'http';
  if (/^[\w.-]+@[\w.-]+:(?!:)/.test(address)) return 'https:ssh';
  return /^file:\/\//i.test(address) ? 'file' : '';
}

/** The work stops when the signal is aborted, and after ten minutes. */
const longestFetch = 600_000;

async function refreshCopy(target: CopyTarget, context: CheckoutContext): Promise<void> {
  const limited = AbortSignal.any([context.signal, AbortSignal.timeout(longestFetch)]);
  const commitFile = `${target.copy}.commit`;
  const commit = await newestCommit(target, limited);
  const known = await readText(commitFile, context.cacheDir).catch(() => undefined);
  if (known === commit && existsSync(target.copy)) return;
  createPrivateFolder(context.cacheDir);
  await rm(commitFile, { force: true });
  const fresh = `${target.copy}.new`;
  await rm(fresh, { recursive: true, force: true });
  await watchSize(fresh, limited, (signal) => fetchFiles(target, fresh, signal));
  // Git creates files with the umask of the person.
  withdrawSharedRights(fresh);
  withdrawInside(fresh);
  await rm(target.copy, { recursive: true, force: true });
  await rename(fresh, target.copy);
  await writeAtomically(commitFile, commit, { within: context.cacheDir });
}

/**
 * A folder in which git finds no repository: the settings of the project's own one must not count
 * for others.
 */
const nowhere = parse(process.cwd()).root;

function gitOptions(address: string, signal: AbortSignal) {
  const protocols = allowedProtocols(address) || 'file';
  return { env: { GIT_ALLOW_PROTOCOL: protocols, GIT_LFS_SKIP_SMUDGE: '1' }, signal };
}

async function newestCommit({ address, branch }: CopyTarget, signal: AbortSignal): Promise<string> {
  const names = branch === undefined ? ['HEAD'] : [`refs/heads/${branch}`, `refs/tags/${branch}`];
  const call = gitOptions(address, signal);
  const listed = await gitOutput(nowhere, ['ls-remote', '--quiet', '--', address, ...names], call);
  // An id of a commit, or of a tag, which changes with its commit.
  const id = /^([0-9a-f]{40,64})\t/.exec(listed)?.[1];
  if (id !== undefined) return id;
  throw new UserError('git_failed', `git found no branch ${branch ?? 'HEAD'}.`);
}

const newestOnly = ['--quiet', '--depth', '1', '--no-tags', '--single-branch', '--no-local'];

/** Fetches the files into a folder without a repository. */
async function fetchFiles(target: CopyTarget, fresh: string, signal: AbortSignal): Promise<void> {
  const { address, branch } = target;
  const call = gitOptions(address, signal);
  const branchOption = branch === undefined ? [] : ['--branch', branch];
  const settings = ['-c', 'core.symlinks=false', '-c', 'init.templateDir='];
  const options = [...newestOnly, ...branchOption, '--no-checkout', '--template='];
  await git(nowhere, [...settings, 'clone', ...options, '--', address, fresh], call);
  const gitDir = join(fresh, '.git');
  await requireFewFiles(gitDir, signal);
  // Without the settings of the person: filters and hooks have programs that the files could
  // choose.
  const env = {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: fresh,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '0',
  };
  await git(fresh, [...settings, 'checkout', '--quiet', '--force', '--detach'], { env, signal });
  await rm(gitDir, { recursive: true, force: true });
}

const mostFiles = 200_000;

/**
 * A few folders that contain each other are small in git, and more files than a disk has room for.
 */
async function requireFewFiles(gitDir: string, signal: AbortSignal): Promise<void> {
  const env = { GIT_DIR: gitDir };
  const maxBytes = 100_000_000;
  const listing = ['ls-tree', '-r', '-t', '-z', '--name-only', 'HEAD'];
  const listed = await git(gitDir, listing, { env, signal, maxBytes }).catch((error: unknown) => {
    if (error instanceof UserError && error.message.includes('maxBuffer')) return undefined;
    throw error;
  });
  const count = listed?.stdout.toString('latin1').split('\0').length ?? Infinity;
  if (count > mostFiles) throw tooLarge(`more than ${mostFiles} files`);
}

/** In bytes. */
const largestCopy = 2_000_000_000;

/** Runs `work`, and stops it when the folder holds too much. */
async function watchSize<Result>(
  folder: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const full = new AbortController();
  const timer = setInterval(() => {
    if (folderSize(folder) > largestCopy) full.abort();
  }, 2000);
  try {
    return await work(AbortSignal.any([signal, full.signal]));
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (full.signal.aborted) throw tooLarge(`more than ${largestCopy / 1e9} GB`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function folderSize(folder: string): number {
  try {
    const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .reduce((sum, file) => sum + (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  } catch {
    // Git renames and removes files while it works.
    return 0;
  }
}

function tooLarge(what: string): UserError {
  return new UserError('repository_too_large', `The repository has ${what}.`, {
    hint: 'Clone it yourself, and set `path` to the folder that ktx should read.',
    exitCode: 2,
  });
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
